/* The views of a report as tables: a tree of tasks, and tasks or tools grouped by name, tasks by sample. */
#pragma once

#include "analysis/query/figures.h"
#include "analysis/query/task_tree.h"
#include "cli/screen/document.h"
#include "cli/screen/table.h"

enum report_view { REPORT_TREE, REPORT_TABLE, REPORT_TOOLS, REPORT_SAMPLES };

/* Values of --by: the views from REPORT_TABLE on. */
#define REPORT_KEYS "task tool sample"
#define REPORT_KEYS_HELP "instead of a tree, group by task (count, median, longest), tool or sample"

struct report_style {
	int view;            /* enum report_view */
	bool with_processes; /* tree: show processes below their tools */
	bool with_series;    /* JSON and rows: what each task's processes used over time */
	bool all;            /* every task and every helper, even on a terminal */
	bool raw;
	size_t most;        /* tasks or groups; 0: all or, of tasks on a terminal, 40 */
	enum format format; /* rows and JSON: of tasks, or of what `view` or the flags name */
};

/* Returns 0 or -errno. Check ferror() for write errors. */
int report_print(const struct report *report, const struct output *output, const struct report_style *style);

/* Columns of every view: peak RSS, GPU time and memory, bytes read, written, sent and received, and run-queue wait. */
/* clang-format off */
#define USAGE_COLUMNS \
	{"peak RSS", TABLE_RIGHT, 0, 1, false}, \
	{"GPU time", TABLE_RIGHT, 0, 2, true}, \
	{"GPU peak", TABLE_RIGHT, 0, 3, true}, \
	{"read", TABLE_RIGHT, 0, 4, false}, \
	{"written", TABLE_RIGHT, 0, 4, false}, \
	{"sent", TABLE_RIGHT, 0, 6, true}, \
	{"received", TABLE_RIGHT, 0, 6, true}, \
	{"waited", TABLE_RIGHT, 0, 5, false}
/* clang-format on */
void views_add_usage(const struct figures *figures, struct table *table, bool raw);

#define TREE_COLUMN_COUNT 17
#define GROUPS_COLUMN_COUNT 14
const struct table_column *groups_columns(const struct report_style *style);
/* With processes, half of a terminal's width is for their command lines; elsewhere command lines are complete, in
 * the last column. */
void tree_columns(const struct output *output, const struct report_style *style,
		  struct table_column ret_columns[TREE_COLUMN_COUNT]);

/* Add the rows of a report's views to tables of these columns. Return 0 or -errno, and how many rows there would be
 * without a limit. */
int tree_fill(const struct report *report, const struct output *output, const struct report_style *style,
	      struct table *table, struct task_tree_hidden *ret_hidden);
int groups_fill(const struct report *report, const struct report_style *style, struct table *table, size_t *ret_count);
