/* The tasks or the tools of a run, grouped by name, and its tasks by sample: one line per name. See views.h. */
#include "analysis/query/units.h"
#include "cli/report/views.h"

static const struct table_column columns[][GROUPS_COLUMN_COUNT] = {
	[REPORT_TABLE] =
		{
			{"task", TABLE_LEFT, 30},
			{"count", TABLE_RIGHT},
			{"failed", TABLE_RIGHT, .rank = 2},
			{"median wall", TABLE_RIGHT, .rank = 1},
			{"longest", TABLE_RIGHT, .rank = 3},
			{"total CPU", TABLE_RIGHT},
			USAGE_COLUMNS,
		},
	[REPORT_TOOLS] =
		{
			{"tool", TABLE_LEFT, 30},
			{"tasks", TABLE_RIGHT, .rank = 3},
			{"processes", TABLE_RIGHT, .rank = 1},
			{"failed", TABLE_RIGHT, .rank = 2},
			{"total CPU", TABLE_RIGHT},
			{"share", TABLE_RIGHT, .rank = 1},
			USAGE_COLUMNS,
		},
	[REPORT_SAMPLES] =
		{
			{"sample", TABLE_LEFT, 30},
			{"tasks", TABLE_RIGHT, .rank = 3},
			{"failed", TABLE_RIGHT, .rank = 2},
			{"wall", TABLE_RIGHT},
			{"total CPU", TABLE_RIGHT},
			{"share", TABLE_RIGHT, .rank = 1},
			USAGE_COLUMNS,
		},
};

const struct table_column *groups_columns(const struct report_style *style)
{
	return columns[style->view];
}

void views_add_usage(const struct figures *figures, struct table *table, bool raw)
{
	table_add_all(table, units_bytes(figures->peak_rss_bytes, raw), units_duration(figures->gpu_busy_ns, raw),
		      units_bytes(figures->gpu_peak_bytes, raw), units_bytes(figures->read_bytes, raw),
		      units_bytes(figures->write_bytes, raw), units_bytes(figures->sent_bytes, raw),
		      units_bytes(figures->received_bytes, raw), units_duration(figures->run_delay_ns, raw), NULL);
}

/* Adds the cells after the name. */
static void group_add(const struct report *report, const struct report_style *style, const struct report_group *group,
		      struct table *table)
{
	bool raw = style->raw;

	table_add(table, STYLE_PLAIN,
		  units_count((int64_t)(style->view == REPORT_TOOLS ? group->task_count : group->member_count), raw));
	if (style->view == REPORT_TOOLS)
		table_add(table, STYLE_PLAIN, units_count(group->process_count, raw));
	table_add(table, group->failed_count > 0 ? STYLE_BAD : STYLE_PLAIN, units_count(group->failed_count, raw));
	if (style->view == REPORT_TABLE)
		table_add_all(table, units_duration(group->median_wall_ns, raw),
			      units_duration(group->longest_wall_ns, raw), NULL);
	if (style->view == REPORT_SAMPLES)
		table_add(table, STYLE_PLAIN, units_duration(group->figures.wall_ns, raw));
	table_add(table, STYLE_PLAIN, units_duration(group->figures.cpu_ns, raw));
	if (style->view != REPORT_TABLE)
		table_add(table, STYLE_PLAIN, units_share(group->figures.cpu_ns, report_run(report)->cpu_ns));
	views_add_usage(&group->figures, table, raw);
}

/* Folds shells and wrappers while they are small. Helpers are never folded: copying and unpacking are real
 * costs, and this is the view that adds them up. */
static bool group_is_folded(const struct report *report, const struct report_style *style,
			    const struct report_group *group)
{
	struct figures whole = FIGURES_OF(report, report_run(report));

	return style->view == REPORT_TOOLS && group->is_glue && !style->all && group->failed_count == 0 &&
	       figures_are_small(&group->figures, &whole);
}

int groups_fill(const struct report *report, const struct report_style *style, struct table *table, size_t *ret_count)
{
	static int (*const makers[])(const struct report *report, struct report_group **ret_groups) = {
		[REPORT_TABLE] = report_group_tasks,
		[REPORT_TOOLS] = report_group_tools,
		[REPORT_SAMPLES] = report_group_samples,
	};
	struct report_group *groups, rest = {.figures = FIGURES_NONE};
	int error = makers[style->view](report, &groups);
	size_t folded = 0, count = 0;
	char name[64];

	for (const struct report_group *group = groups; group && error == 0; group = group->hh.next) {
		bool is_name = style->view != REPORT_SAMPLES || run_samples_is_name(group->name);

		if (!group_is_folded(report, style, group)) {
			if (++count > style->most && style->most > 0)
				continue;
			table_add_name(table, is_name ? STYLE_TITLE : STYLE_DIM, "", group->name);
			group_add(report, style, group, table);
			continue;
		}
		figures_add(&rest.figures, &group->figures);
		rest.process_count = row_add(rest.process_count, group->process_count);
		if (group->task_count > rest.task_count)
			rest.task_count = group->task_count;
		folded++;
	}
	*ret_count = count;
	if (folded > 0) {
		snprintf(name, sizeof(name), folded == 1 ? "1 shell or wrapper" : "%zu shells and wrappers", folded);
		table_add_name(table, STYLE_DIM, "", name);
		group_add(report, style, &rest, table);
	}
	report_groups_free(groups);
	return error;
}
