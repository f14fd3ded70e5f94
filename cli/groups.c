/* The tasks or the tools of a run grouped by their names, one line a name. See
 * figures.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/figures.h"
#include "cli/units.h"

/* One task or tool, before it is grouped. */
struct member {
	const char *name;
	int64_t task_id; /* of a tool */
	size_t order; /* as in the report */
	struct figures figures;
	int64_t process_count;
	int64_t failed_count;
	bool is_glue;
};

struct group {
	const struct member *first;
	size_t member_count;
	size_t task_count; /* of tools: one and the script that starts it are two of a task */
	struct figures figures;
	int64_t process_count;
	int64_t failed_count;
	int64_t median_wall_ns;
	int64_t longest_wall_ns;
};

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	if (order != 0)
		return order;
	if (a->task_id != b->task_id)
		return a->task_id < b->task_id ? -1 : 1;
	if (a->figures.wall_ns != b->figures.wall_ns)
		return a->figures.wall_ns < b->figures.wall_ns ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/* What used the most first. */
static int compare_groups(const void *left, const void *right)
{
	const struct group *a = left, *b = right;

	if (a->figures.cpu_ns != b->figures.cpu_ns)
		return a->figures.cpu_ns > b->figures.cpu_ns ? -1 : 1;
	return strcmp(a->first->name, b->first->name);
}

/* `members` are sorted by wall time, unknown first. */
static void group_fill(struct group *group, const struct member *members, size_t count)
{
	*group = (struct group){
		.first = members,
		.member_count = count,
		.figures = {.wall_ns = ROW_NULL, .peak_rss_bytes = ROW_NULL},
		.median_wall_ns = members[(count - 1) / 2].figures.wall_ns,
		.longest_wall_ns = members[count - 1].figures.wall_ns,
	};
	if (count % 2 == 0 && group->median_wall_ns != ROW_NULL)
		group->median_wall_ns += (members[count / 2].figures.wall_ns -
					  group->median_wall_ns) / 2;
	for (size_t i = 0; i < count; i++) {
		group->task_count += i == 0 || members[i].task_id != members[i - 1].task_id;
		figures_add(&group->figures, &members[i].figures);
		group->process_count = row_add(group->process_count, members[i].process_count);
		group->failed_count = row_add(group->failed_count, members[i].failed_count);
	}
}

/* 0 or -ENOMEM; the groups borrow from `members`, which get sorted. */
static int groups_make(struct member *members, size_t count, struct group **ret_groups,
		       size_t *ret_count)
{
	struct group *groups = calloc(count + 1, sizeof(*groups));
	size_t group_count = 0;

	if (!groups)
		return -ENOMEM;
	qsort(members, count, sizeof(*members), compare_members);
	for (size_t begin = 0, end; begin < count; begin = end) {
		for (end = begin + 1;
		     end < count && strcmp(members[end].name, members[begin].name) == 0;)
			end++;
		group_fill(&groups[group_count++], &members[begin], end - begin);
	}
	qsort(groups, group_count, sizeof(*groups), compare_groups);
	*ret_groups = groups;
	*ret_count = group_count;
	return 0;
}

static void failed_add(struct table *table, int64_t failed_count, bool raw)
{
	char text[UNITS_SIZE];

	table_add(table, failed_count > 0 ? STYLE_BAD : STYLE_PLAIN,
		  units_count(text, failed_count, raw));
}

/* ---- tasks ------------------------------------------------------------------- */

static const struct table_column task_columns[] = {
	{"task", TABLE_LEFT, 30, 0, false},
	{"count", TABLE_RIGHT, 0, 0, false},
	{"failed", TABLE_RIGHT, 0, 2, false},
	{"median wall", TABLE_RIGHT, 0, 1, false},
	{"longest", TABLE_RIGHT, 0, 3, false},
	{"CPU in all", TABLE_RIGHT, 0, 0, false},
	{"peak RSS", TABLE_RIGHT, 0, 1, false},
	{"read", TABLE_RIGHT, 0, 4, false},
	{"written", TABLE_RIGHT, 0, 4, false},
	{"sent", TABLE_RIGHT, 0, 6, true},
	{"received", TABLE_RIGHT, 0, 6, true},
	{"waited", TABLE_RIGHT, 0, 5, false},
};

static void task_group_add(const struct group *group, struct table *table, bool raw)
{
	char text[UNITS_SIZE];

	table_add_name(table, STYLE_TITLE, "", group->first->name);
	table_add(table, STYLE_PLAIN, units_count(text, (int64_t)group->member_count, raw));
	failed_add(table, group->failed_count, raw);
	table_add(table, STYLE_PLAIN, units_duration(text, group->median_wall_ns, raw));
	table_add(table, STYLE_PLAIN, units_duration(text, group->longest_wall_ns, raw));
	table_add(table, STYLE_PLAIN, units_duration(text, group->figures.cpu_ns, raw));
	figures_add_usage(&group->figures, table, raw);
}

int groups_fill_tasks(const struct report *report, const struct report_style *style,
		      struct table **ret_table)
{
	struct member *members = calloc(report->tasks.count + 1, sizeof(*members));
	struct table *table = table_new(task_columns,
					sizeof(task_columns) / sizeof(task_columns[0]));
	struct group *groups = NULL;
	size_t count = 0;
	int error = -ENOMEM;

	if (!members || !table)
		goto out;
	for (size_t i = 0; i < report->tasks.count; i++) {
		const struct row_task *task = ROWS_ITEM(&report->tasks, task, i);

		members[i] = (struct member){.name = report_task_name(report, task), .order = i,
					     .figures = FIGURES_OF(report, task),
					     .failed_count = report_task_failed(task)};
	}
	error = groups_make(members, report->tasks.count, &groups, &count);
	for (size_t i = 0; i < count && error == 0; i++)
		task_group_add(&groups[i], table, style->raw);
out:
	free(groups);
	free(members);
	if (error < 0)
		table_free(table);
	else
		*ret_table = table;
	return error;
}

/* ---- tools ------------------------------------------------------------------- */

static const struct table_column tool_columns[] = {
	{"tool", TABLE_LEFT, 30, 0, false},
	{"tasks", TABLE_RIGHT, 0, 3, false},
	{"processes", TABLE_RIGHT, 0, 1, false},
	{"failed", TABLE_RIGHT, 0, 2, false},
	{"CPU in all", TABLE_RIGHT, 0, 0, false},
	{"share", TABLE_RIGHT, 0, 1, false},
	{"peak RSS", TABLE_RIGHT, 0, 1, false},
	{"read", TABLE_RIGHT, 0, 4, false},
	{"written", TABLE_RIGHT, 0, 4, false},
	{"sent", TABLE_RIGHT, 0, 6, true},
	{"received", TABLE_RIGHT, 0, 6, true},
	{"waited", TABLE_RIGHT, 0, 5, false},
};

static void tool_line_add(struct table *table, enum style style, const char *name,
			  const struct group *group, int64_t whole_cpu_ns, bool raw)
{
	char text[UNITS_SIZE];

	table_add_name(table, style, "", name);
	table_add(table, STYLE_PLAIN, units_count(text, (int64_t)group->task_count, raw));
	table_add(table, STYLE_PLAIN, units_count(text, group->process_count, raw));
	failed_add(table, group->failed_count, raw);
	table_add(table, STYLE_PLAIN, units_duration(text, group->figures.cpu_ns, raw));
	if (whole_cpu_ns > 0 && group->figures.cpu_ns != ROW_NULL)
		snprintf(text, sizeof(text), "%.1f %%",
			 100.0 * (double)group->figures.cpu_ns / (double)whole_cpu_ns);
	else
		strcpy(text, "-");
	table_add(table, STYLE_PLAIN, text);
	figures_add_usage(&group->figures, table, raw);
}

/* Shells and wrappers, while they are small. Helpers never are: copying and unpacking are real costs,
 * here is where they are added up. */
static bool group_is_folded(const struct report *report, const struct report_style *style,
			    const struct group *group)
{
	struct figures whole = FIGURES_OF(report, report_run(report));

	for (size_t i = 0; i < group->member_count; i++)
		if (!group->first[i].is_glue)
			return false;
	return !style->all && group->failed_count == 0 && figures_are_small(&group->figures, &whole);
}

static void tool_groups_add(const struct report *report, const struct report_style *style,
			    const struct group *groups, size_t count, struct table *table)
{
	struct group rest = {.figures = {.wall_ns = ROW_NULL, .peak_rss_bytes = ROW_NULL}};
	int64_t whole_cpu_ns = report_run(report)->cpu_ns;
	size_t folded = 0;
	char name[64];

	for (size_t i = 0; i < count; i++) {
		if (!group_is_folded(report, style, &groups[i])) {
			tool_line_add(table, STYLE_TITLE, groups[i].first->name, &groups[i],
				      whole_cpu_ns, style->raw);
			continue;
		}
		figures_add(&rest.figures, &groups[i].figures);
		rest.process_count = row_add(rest.process_count, groups[i].process_count);
		if (groups[i].task_count > rest.task_count)
			rest.task_count = groups[i].task_count;
		folded++;
	}
	if (folded == 0)
		return;
	snprintf(name, sizeof(name), folded == 1 ? "1 shell or wrapper" : "%zu shells and wrappers", folded);
	tool_line_add(table, STYLE_DIM, name, &rest, whole_cpu_ns, style->raw);
}

int groups_fill_tools(const struct report *report, const struct report_style *style,
		      struct table **ret_table)
{
	struct member *members = calloc(report->tools.count + 1, sizeof(*members));
	struct table *table = table_new(tool_columns,
					sizeof(tool_columns) / sizeof(tool_columns[0]));
	struct group *groups = NULL;
	size_t count = 0;
	int error = -ENOMEM;

	if (!members || !table)
		goto out;
	for (size_t i = 0; i < report->tools.count; i++) {
		const struct row_tool *tool = ROWS_ITEM(&report->tools, tool, i);

		members[i] = (struct member){.name = tool->name, .task_id = tool->task_id,
					     .order = i,
					     .figures = FIGURES_OF(report, tool),
					     .process_count = tool->process_count,
					     .failed_count = tool->failed_count,
					     .is_glue = figures_role_is_glue(tool->role) &&
							strcmp(tool->role, "helper") != 0};
	}
	error = groups_make(members, report->tools.count, &groups, &count);
	if (error == 0)
		tool_groups_add(report, style, groups, count, table);
out:
	free(groups);
	free(members);
	if (error < 0)
		table_free(table);
	else
		*ret_table = table;
	return error;
}
