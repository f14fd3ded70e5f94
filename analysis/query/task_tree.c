/* Which tasks of a run are shown, and under which. See task_tree.h. */
#include "analysis/query/task_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/param.h>

/* Whether `index` may be nested in `parent`: not itself, no cycle, not too deep. */
static bool may_nest(const struct task_tree *tree, size_t index, size_t parent)
{
	if (parent == REPORT_NO_TASK || tree->report->tasks[parent].is_main)
		return false;
	for (unsigned depth = 1; parent != tree->root; depth++) {
		if (parent == index || depth >= TASK_TREE_DEPTH_MAX)
			return false;
		parent = tree->nodes[parent].parent;
	}
	return true;
}

/* Finds every task's parent: the task that its orchestrator belongs to, unless that is the run's
 * pseudo-task. */
static void parents_find(struct task_tree *tree)
{
	for (size_t i = 0; i <= tree->root; i++)
		tree->nodes[i] = (struct task_node){tree->root, tree->root, tree->root};
	for (size_t i = 0; i < tree->root; i++) {
		size_t parent = report_find_task(tree->report, tree->report->tasks[i].parent_task_id);

		if (may_nest(tree, i, parent))
			tree->nodes[i].parent = parent;
	}
}

/* The pseudo-task first, then failed tasks (and their ancestors) by start, then the longest. */
static int compare_interest(const void *left, const void *right, void *context)
{
	const struct task_tree *tree = context;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	const struct report_task *first = &tree->report->tasks[a], *second = &tree->report->tasks[b];
	int64_t first_ns = report_wall_ns(tree->report, first->begin_boot_ns, first->end_boot_ns);
	int64_t second_ns = report_wall_ns(tree->report, second->begin_boot_ns, second->end_boot_ns);

	if (first->is_main != second->is_main)
		return first->is_main ? -1 : 1;
	if (tree->nodes[a].failed != tree->nodes[b].failed)
		return tree->nodes[a].failed ? -1 : 1;
	if (!tree->nodes[a].failed && first_ns != second_ns)
		return first_ns > second_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Chooses all tasks, by start; if there are more than `most`, the most interesting ones, each with its
 * ancestors. Counts the others. */
static void tasks_choose(struct task_tree *tree, size_t most)
{
	size_t shown = 0;

	for (size_t i = 0; i < tree->root; i++) {
		tree->order[i] = i;
		if (!tree->report->tasks[i].failed)
			continue;
		for (size_t at = i; at != tree->root && !tree->nodes[at].failed; at = tree->nodes[at].parent)
			tree->nodes[at].failed = true;
	}
	if (tree->root > most)
		qsort_r(tree->order, tree->root, sizeof(*tree->order), compare_interest, tree);
	for (size_t i = 0; i < tree->root && shown < most; i++)
		for (size_t at = tree->order[i]; at != tree->root && !tree->nodes[at].shown;
		     at = tree->nodes[at].parent) {
			tree->nodes[at].shown = true;
			shown++;
		}
	tree->hidden.task_count = tree->root - shown;
	for (size_t i = 0; i < tree->root; i++)
		tree->hidden.failed_count += !tree->nodes[i].shown && tree->report->tasks[i].failed;
}

/* Links children in the order in which they are shown. Then sets `order` to the tasks that are shown, each
 * before its descendants. */
static void order_make(struct task_tree *tree)
{
	struct task_node *nodes = tree->nodes;
	size_t root = tree->root, at;

	for (size_t i = root; i-- > 0;) {
		at = tree->order[i];
		if (!nodes[at].shown)
			continue;
		nodes[at].next = nodes[nodes[at].parent].first_child;
		nodes[nodes[at].parent].first_child = at;
	}
	for (at = nodes[root].first_child; at != root;) {
		tree->order[tree->shown_count++] = at;
		nodes[at].level = MIN(nodes[nodes[at].parent].level + 1, TASK_TREE_DEPTH_MAX);
		if (nodes[at].first_child != root) {
			at = nodes[at].first_child;
			continue;
		}
		while (at != root && nodes[at].next == root)
			at = nodes[at].parent;
		at = nodes[at].next;
	}
}

int task_tree_make(struct task_tree *tree, const struct report *report, size_t most)
{
	*tree = (struct task_tree){
		.report = report,
		.root = report->task_count,
		.nodes = calloc(report->task_count + 1, sizeof(*tree->nodes)),
		.order = calloc(report->task_count + 1, sizeof(*tree->order)),
	};
	if (!tree->nodes || !tree->order)
		return -ENOMEM;
	parents_find(tree);
	tasks_choose(tree, most);
	order_make(tree);
	return 0;
}

void task_tree_free(struct task_tree *tree)
{
	free(tree->nodes);
	free(tree->order);
}
