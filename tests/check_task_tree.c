/* Which tasks of a run are shown, and under which. */
#include "analysis/query/task_tree.h"

#include <string.h>

#include "tests/suite.h"

#define TASKS_MAX 20

/* Of tasks 1, 2, ...; by id is by index. */
static struct report_task tasks[TASKS_MAX];
static size_t by_id[TASKS_MAX];
static struct report report;
static struct task_tree tree;

static void begin(void)
{
	memset(tasks, 0, sizeof(tasks));
}

static void make(size_t count, size_t most)
{
	for (size_t i = 0; i < count; i++) {
		by_id[i] = i;
		tasks[i].id = (int64_t)i + 1;
		tasks[i].begin_boot_ns = (int64_t)i;
	}
	report = (struct report){.tasks = tasks, .by_id = by_id, .task_count = count};
	ck_assert_int_eq(task_tree_make(&tree, &report, most), 0);
}

static void assert_order(const char *expected)
{
	char text[200] = "", *end = text;

	for (size_t i = 0; i < tree.shown_count; i++)
		end += sprintf(end, "%s%lld@%u", i ? " " : "", (long long)tasks[tree.order[i]].id,
			       tree.nodes[tree.order[i]].level);
	ck_assert_str_eq(text, expected);
	task_tree_free(&tree);
}

TEST(a_task_is_below_its_parent)
{
	tasks[2].parent_task_id = 1;
	tasks[3].parent_task_id = 3;
	make(4, SIZE_MAX);
	assert_order("1@1 3@2 4@3 2@1");
}

TEST(a_task_is_not_below_the_run_itself_or_an_unknown_one)
{
	tasks[0].is_main = true;
	tasks[1].parent_task_id = 1;
	tasks[2].parent_task_id = 77;
	make(3, SIZE_MAX);
	assert_order("1@1 2@1 3@1");
}

TEST(a_cycle_is_cut)
{
	tasks[0].parent_task_id = 2;
	tasks[1].parent_task_id = 1;
	tasks[2].parent_task_id = 3;
	make(3, SIZE_MAX);
	assert_order("2@1 1@2 3@1");
}

TEST(what_is_too_deep_is_beside_its_parent)
{
	for (size_t i = 1; i < 16; i++)
		tasks[i].parent_task_id = (int64_t)i;
	make(16, SIZE_MAX);
	for (size_t i = 0; i < 16; i++)
		ck_assert_uint_le(tree.nodes[i].level, TASK_TREE_DEPTH_MAX);
	ck_assert_uint_eq(tree.shown_count, 16);
	task_tree_free(&tree);
}

TEST(the_failed_with_their_parents_are_shown_first_then_the_longest)
{
	for (size_t i = 0; i < 5; i++)
		tasks[i].end_boot_ns = 100 + (int64_t)i * 10;
	tasks[1].failed = true;
	tasks[1].parent_task_id = 1;
	make(5, 3);
	ck_assert_uint_eq(tree.hidden.task_count, 2);
	ck_assert_uint_eq(tree.hidden.failed_count, 0);
	assert_order("1@1 2@2 5@1");
	tasks[2].failed = tasks[3].failed = true;
	make(5, 2);
	ck_assert_uint_eq(tree.hidden.task_count, 3);
	ck_assert_uint_eq(tree.hidden.failed_count, 2);
	assert_order("1@1 2@2");
}

int main(void)
{
	return suite_run("task_tree", begin, NULL);
}
