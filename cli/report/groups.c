/* The tasks or the tools of a run, grouped by name, and its tasks by sample: one line per name. See
 * views.h.
 */

#include "analysis/query/units.h"
#include "cli/report/views.h"

void views_add_usage(const struct figures *figures, struct table *table, bool raw)
{
	table_add_all(table, units_bytes(figures->peak_rss_bytes, raw), units_duration(figures->gpu_busy_ns, raw),
		      units_bytes(figures->gpu_peak_bytes, raw), units_bytes(figures->read_bytes, raw),
		      units_bytes(figures->write_bytes, raw), units_bytes(figures->sent_bytes, raw),
		      units_bytes(figures->received_bytes, raw), units_duration(figures->run_delay_ns, raw), NULL);
}

static void failed_add(struct table *table, int64_t failed_count, bool raw)
{
	table_add(table, failed_count > 0 ? STYLE_BAD : STYLE_PLAIN, units_count(failed_count, raw));
}

static void share_add(struct table *table, int64_t cpu_ns, int64_t whole_cpu_ns)
{
	char text[UNITS_SIZE] = "-";

	if (whole_cpu_ns > 0 && cpu_ns != ROW_NULL)
		snprintf(text, sizeof(text), "%.1f %%", 100.0 * (double)cpu_ns / (double)whole_cpu_ns);
	table_add(table, STYLE_PLAIN, text);
}

/* ---- tasks ------------------------------------------------------------------- */

const struct table_column groups_task_columns[GROUPS_COLUMN_COUNT] = {
	{"task", TABLE_LEFT, 30, 0, false},
	{"count", TABLE_RIGHT, 0, 0, false},
	{"failed", TABLE_RIGHT, 0, 2, false},
	{"median wall", TABLE_RIGHT, 0, 1, false},
	{"longest", TABLE_RIGHT, 0, 3, false},
	{"total CPU", TABLE_RIGHT, 0, 0, false},
	USAGE_COLUMNS,
};

static void task_group_add(const struct report_group *group, struct table *table, bool raw)
{
	table_add_name(table, STYLE_TITLE, "", group->name);
	table_add(table, STYLE_PLAIN, units_count((int64_t)group->member_count, raw));
	failed_add(table, group->failed_count, raw);
	table_add_all(table, units_duration(group->median_wall_ns, raw), units_duration(group->longest_wall_ns, raw),
		      units_duration(group->figures.cpu_ns, raw), NULL);
	views_add_usage(&group->figures, table, raw);
}

int groups_fill_tasks(const struct report *report, const struct report_style *style, struct table *table)
{
	struct report_group *groups;
	int error = report_group_tasks(report, &groups);

	for (const struct report_group *group = groups; group && error == 0; group = group->hh.next)
		task_group_add(group, table, style->raw);
	report_groups_free(groups);
	return error;
}

/* ---- samples ----------------------------------------------------------------- */

const struct table_column groups_sample_columns[GROUPS_COLUMN_COUNT] = {
	{"sample", TABLE_LEFT, 30, 0, false},
	{"tasks", TABLE_RIGHT, 0, 3, false},
	{"failed", TABLE_RIGHT, 0, 2, false},
	{"wall", TABLE_RIGHT, 0, 0, false},
	{"total CPU", TABLE_RIGHT, 0, 0, false},
	{"share", TABLE_RIGHT, 0, 1, false},
	USAGE_COLUMNS,
};

int groups_fill_samples(const struct report *report, const struct report_style *style, struct table *table)
{
	struct report_group *groups;
	int error = report_group_samples(report, &groups);

	for (const struct report_group *group = groups; group && error == 0; group = group->hh.next) {
		table_add_name(table, run_samples_is_name(group->name) ? STYLE_TITLE : STYLE_DIM, "", group->name);
		table_add(table, STYLE_PLAIN, units_count((int64_t)group->member_count, style->raw));
		failed_add(table, group->failed_count, style->raw);
		table_add_all(table, units_duration(group->figures.wall_ns, style->raw),
			      units_duration(group->figures.cpu_ns, style->raw), NULL);
		share_add(table, group->figures.cpu_ns, report_run(report)->cpu_ns);
		views_add_usage(&group->figures, table, style->raw);
	}
	report_groups_free(groups);
	return error;
}

/* ---- tools ------------------------------------------------------------------- */

const struct table_column groups_tool_columns[GROUPS_COLUMN_COUNT] = {
	{"tool", TABLE_LEFT, 30, 0, false},
	{"tasks", TABLE_RIGHT, 0, 3, false},
	{"processes", TABLE_RIGHT, 0, 1, false},
	{"failed", TABLE_RIGHT, 0, 2, false},
	{"total CPU", TABLE_RIGHT, 0, 0, false},
	{"share", TABLE_RIGHT, 0, 1, false},
	USAGE_COLUMNS,
};

static void tool_line_add(struct table *table, enum style style, const char *name, const struct report_group *group,
			  int64_t whole_cpu_ns, bool raw)
{
	table_add_name(table, style, "", name);
	table_add_all(table, units_count((int64_t)group->task_count, raw), units_count(group->process_count, raw),
		      NULL);
	failed_add(table, group->failed_count, raw);
	table_add(table, STYLE_PLAIN, units_duration(group->figures.cpu_ns, raw));
	share_add(table, group->figures.cpu_ns, whole_cpu_ns);
	views_add_usage(&group->figures, table, raw);
}

/* Folds shells and wrappers while they are small. Helpers are never folded: copying and unpacking are real
 * costs, and this is the view that adds them up. */
static bool group_is_folded(const struct report *report, const struct report_style *style,
			    const struct report_group *group)
{
	struct figures whole = FIGURES_OF(report, report_run(report));

	return group->is_glue && !style->all && group->failed_count == 0 && figures_are_small(&group->figures, &whole);
}

static void tool_groups_add(const struct report *report, const struct report_style *style,
			    const struct report_group *groups, struct table *table)
{
	struct report_group rest = {.figures = FIGURES_NONE};
	int64_t whole_cpu_ns = report_run(report)->cpu_ns;
	size_t folded = 0;
	char name[64];

	for (const struct report_group *group = groups; group; group = group->hh.next) {
		if (!group_is_folded(report, style, group)) {
			tool_line_add(table, STYLE_TITLE, group->name, group, whole_cpu_ns, style->raw);
			continue;
		}
		figures_add(&rest.figures, &group->figures);
		rest.process_count = row_add(rest.process_count, group->process_count);
		if (group->task_count > rest.task_count)
			rest.task_count = group->task_count;
		folded++;
	}
	if (folded == 0)
		return;
	snprintf(name, sizeof(name), folded == 1 ? "1 shell or wrapper" : "%zu shells and wrappers", folded);
	tool_line_add(table, STYLE_DIM, name, &rest, whole_cpu_ns, style->raw);
}

int groups_fill_tools(const struct report *report, const struct report_style *style, struct table *table)
{
	struct report_group *groups;
	int error = report_group_tools(report, &groups);

	if (error == 0)
		tool_groups_add(report, style, groups, table);
	report_groups_free(groups);
	return error;
}
