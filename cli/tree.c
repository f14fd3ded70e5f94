/* The tree of a run: tasks, their tools, and their processes if wanted. See
 * figures.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_text.h"
#include "cli/figures.h"
#include "cli/units.h"

#define TASKS_MOST 60  /* lines of tasks on a terminal, without --all */
#define DEPTH_MOST 16  /* of tasks in tasks; deeper ones stand beside their parent */
#define PREFIX_SIZE (DEPTH_MOST * 16)
#define COMMAND_SIZE 4096 /* of a process's arguments, as shown */

static const struct table_column columns[] = {
	{"", TABLE_LEFT, true, 0, false},
	{"wall", TABLE_RIGHT, false, 0, false},
	{"CPU", TABLE_RIGHT, false, 0, false},
	{"cores", TABLE_RIGHT, false, 3, false},
	{"peak RSS", TABLE_RIGHT, false, 1, false},
	{"read", TABLE_RIGHT, false, 4, false},
	{"written", TABLE_RIGHT, false, 4, false},
	{"sent", TABLE_RIGHT, false, 6, true},
	{"received", TABLE_RIGHT, false, 6, true},
	{"waited", TABLE_RIGHT, false, 5, false},
	{"of its limit", TABLE_LEFT, false, 3, true},
	{"result", TABLE_LEFT, false, 2, false},
	{"", TABLE_BAR, false, 0, false},
};

/* Tasks by their parents: indexes into report->tasks, SIZE_MAX ends a list. */
struct node {
	size_t first_child;
	size_t last_child;
	size_t next;
	bool has_parent;
};

struct tree {
	const struct report *report;
	const struct report_style *style;
	struct table *table;
	struct node *nodes;
	bool unicode;
	size_t shown_count; /* tasks */
	size_t shown_most;
	int error;
};

/* ---- a line ------------------------------------------------------------------ */

/* "78 % of 512 MiB": what its memory cgroup used at most, of what it may. */
static void limit_add(struct tree *tree, const struct figures *figures)
{
	char limit[UNITS_SIZE], text[UNITS_SIZE + 16] = "";

	if (figures->memory_limit_bytes > 0 && figures->cgroup_peak_bytes != ROW_NULL)
		snprintf(text, sizeof(text), "%.0f %% of %s",
			 100.0 * (double)figures->cgroup_peak_bytes / (double)figures->memory_limit_bytes,
			 units_bytes(limit, figures->memory_limit_bytes, tree->style->raw));
	table_add(tree->table, STYLE_PLAIN, text);
}

static void line_add(struct tree *tree, enum style style, const char *prefix, const char *name,
		     const struct figures *figures)
{
	bool raw = tree->style->raw;
	char text[UNITS_SIZE];

	table_add_name(tree->table, style, prefix, name);
	table_add(tree->table, STYLE_PLAIN, units_duration(text, figures->wall_ns, raw));
	table_add(tree->table, STYLE_PLAIN, units_duration(text, figures->cpu_ns, raw));
	table_add(tree->table, STYLE_PLAIN,
		  units_cores(text, figures->cpu_ns, figures->wall_ns));
	figures_add_usage(figures, tree->table, raw);
	limit_add(tree, figures);
}

/* "ok", "exit 1", "SIGKILL", "running", "-" where how it ended is not known. */
static void result_add(struct tree *tree, bool living, int64_t exit_code, int64_t signal)
{
	char text[UNITS_SIZE];

	if (living)
		table_add(tree->table, STYLE_WARNING, "running");
	else if (signal != ROW_NULL && signal > 0)
		table_add(tree->table, STYLE_BAD, units_signal(text, signal));
	else if (exit_code == ROW_NULL)
		table_add(tree->table, STYLE_PLAIN, "-");
	else if (exit_code == 0)
		table_add(tree->table, STYLE_GOOD, "ok");
	else {
		snprintf(text, sizeof(text), "exit %lld", (long long)exit_code);
		table_add(tree->table, STYLE_BAD, text);
	}
}

static void failures_add(struct tree *tree, int64_t failed_count, int64_t living_count)
{
	char count[UNITS_SIZE], text[UNITS_SIZE + 16];

	if (failed_count > 0) {
		snprintf(text, sizeof(text), "%s failed", units_count(count, failed_count, false));
		table_add(tree->table, STYLE_BAD, text);
	} else {
		table_add(tree->table, STYLE_WARNING, living_count > 0 ? "running" : "");
	}
}

static void bar_add(struct tree *tree, enum style style, int64_t begin_boot_ns,
		    int64_t end_boot_ns)
{
	const struct row_run *run = report_run(tree->report);
	int64_t whole = report_wall_ns(tree->report, run->begin_boot_ns, run->end_boot_ns);
	int64_t until_end = report_wall_ns(tree->report, run->begin_boot_ns, end_boot_ns);
	double begin = (double)row_subtract(begin_boot_ns, run->begin_boot_ns);

	if (whole == ROW_NULL || whole == 0 || until_end == ROW_NULL)
		table_add(tree->table, STYLE_PLAIN, "");
	else
		table_add_bar(tree->table, style, begin / (double)whole,
			      (double)until_end / (double)whole);
}

/* What stands before a child's name, and before its own children's. */
static void prefix_make(const struct tree *tree, const char *above, bool is_last,
			char own[PREFIX_SIZE], char below[PREFIX_SIZE])
{
	const char *corner = tree->unicode ? "└─ " : "`- ", *tee = tree->unicode ? "├─ " : "|- ";
	const char *bar = tree->unicode ? "│  " : "|  ";

	snprintf(own, PREFIX_SIZE, "%s%s", above, is_last ? corner : tee);
	snprintf(below, PREFIX_SIZE, "%s%s", above, is_last ? "   " : bar);
}

/* ---- processes --------------------------------------------------------------- */

static void process_add(struct tree *tree, const char *prefix, const struct row_process *process)
{
	struct figures figures = FIGURES_OF(tree->report, process);
	char command[COMMAND_SIZE];
	int used = snprintf(command, sizeof(command), "%lld ", (long long)process->pid);

	command_text(&process->arguments, process->program, command + used,
		     sizeof(command) - (size_t)used);
	line_add(tree, STYLE_DIM, prefix, command, &figures);
	if (process->ended && strcmp(process->ended, "exec") == 0)
		table_add(tree->table, STYLE_DIM, "exec");
	else if (process->ended && strcmp(process->ended, "lost") == 0)
		table_add(tree->table, STYLE_WARNING, "lost");
	else
		result_add(tree, !process->ended, process->exit_code, process->signal);
	bar_add(tree, STYLE_DIM, process->begin_boot_ns, process->end_boot_ns);
}

static void processes_add(struct tree *tree, const char *above, const struct rows *processes,
			  int64_t tool_id)
{
	char own[PREFIX_SIZE], below[PREFIX_SIZE];
	size_t last = processes->count;

	for (size_t i = 0; i < processes->count; i++)
		if (ROWS_ITEM(processes, process, i)->tool_id == tool_id)
			last = i;
	for (size_t i = 0; i < processes->count; i++) {
		const struct row_process *process = ROWS_ITEM(processes, process, i);

		if (process->tool_id != tool_id)
			continue;
		prefix_make(tree, above, i == last, own, below);
		process_add(tree, own, process);
	}
}

/* ---- tools ------------------------------------------------------------------- */

static void tool_add(struct tree *tree, const char *prefix, const struct row_tool *tool)
{
	struct figures figures = FIGURES_OF(tree->report, tool);
	char name[1024], count[UNITS_SIZE];

	snprintf(name, sizeof(name), "%s", tool->name);
	if (tool->process_count > 1)
		snprintf(name, sizeof(name), "%.900s (%s)", tool->name,
			 units_count(count, tool->process_count, false));
	line_add(tree, STYLE_PLAIN, prefix, name, &figures);
	failures_add(tree, tool->failed_count, tool->living_count);
	bar_add(tree, STYLE_DIM, tool->begin_boot_ns, tool->end_boot_ns);
}

static bool tool_is_folded(const struct tree *tree, const struct row_tool *tool)
{
	return !tree->style->all && !tree->style->with_processes && tool->failed_count == 0 &&
	       figures_role_is_glue(tool->role);
}

/* One line for all that tool_is_folded(), so that figures add up. */
static void folded_add(struct tree *tree, const char *prefix, const struct row_tool *tools,
		       size_t count)
{
	struct figures sum = {.wall_ns = ROW_NULL, .peak_rss_bytes = ROW_NULL};
	int64_t living_count = 0, begin_boot_ns = INT64_MAX, end_boot_ns = 0;
	size_t folded = 0;
	char name[64];

	for (size_t i = 0; i < count; i++) {
		struct figures figures = FIGURES_OF(tree->report, &tools[i]);

		if (!tool_is_folded(tree, &tools[i]))
			continue;
		figures_add(&sum, &figures);
		living_count = row_add(living_count, tools[i].living_count);
		if (tools[i].begin_boot_ns < begin_boot_ns)
			begin_boot_ns = tools[i].begin_boot_ns;
		if (tools[i].end_boot_ns > end_boot_ns)
			end_boot_ns = tools[i].end_boot_ns;
		folded++;
	}
	end_boot_ns = living_count > 0 ? ROW_NULL : end_boot_ns;
	sum.wall_ns = report_wall_ns(tree->report, begin_boot_ns, end_boot_ns);
	snprintf(name, sizeof(name), "%zu shells and helpers", folded);
	line_add(tree, STYLE_DIM, prefix, name, &sum);
	failures_add(tree, 0, living_count);
	bar_add(tree, STYLE_DIM, begin_boot_ns, end_boot_ns);
}

/* A lone tool that is called as its task is, shells and helpers aside, says nothing
 * more than its task. */
static bool tools_are_redundant(const struct tree *tree, const struct row_task *task,
				const struct row_tool *tools, size_t count)
{
	size_t named = 0, other = 0;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(tools[i].name, task->name) == 0)
			named++;
		else
			other += !tool_is_folded(tree, &tools[i]);
	}
	return named == 1 && other == 0 && !tree->style->all && !tree->style->with_processes;
}

/* `is_end`: nothing of the task follows its tools. */
static void tools_add(struct tree *tree, const char *above, const struct row_task *task,
		      bool is_end)
{
	size_t count, folded = 0, left;
	const struct row_tool *tools = report_task_tools(tree->report, task->id, &count);
	char own[PREFIX_SIZE], below[PREFIX_SIZE];
	struct rows processes = {0};

	if (tools_are_redundant(tree, task, tools, count))
		return;
	if (tree->style->with_processes)
		tree->error = report_load_processes(tree->report, task, &processes);
	for (size_t i = 0; i < count; i++)
		folded += tool_is_folded(tree, &tools[i]);
	folded = folded > 1 ? folded : 0; /* a single one is shown as it is */
	left = count - folded + (folded > 0);
	for (size_t i = 0; i < count && tree->error == 0; i++) {
		if (folded && tool_is_folded(tree, &tools[i]))
			continue;
		prefix_make(tree, above, is_end && --left == 0, own, below);
		tool_add(tree, own, &tools[i]);
		if (tree->style->with_processes)
			processes_add(tree, below, &processes, tools[i].id);
	}
	if (folded) {
		prefix_make(tree, above, is_end, own, below);
		folded_add(tree, own, tools, count);
	}
	rows_free(&processes);
}

/* ---- tasks ------------------------------------------------------------------- */

static void task_add(struct tree *tree, const char *prefix, const struct row_task *task)
{
	struct figures figures = FIGURES_OF(tree->report, task);

	figures.memory_limit_bytes = task->memory_limit_bytes;
	figures.cgroup_peak_bytes = task->cgroup_peak_bytes;
	line_add(tree, STYLE_TITLE, prefix, task->name, &figures);
	if (task->lost_count > 0)
		table_add(tree->table, STYLE_BAD, "incomplete");
	else
		result_add(tree, strcmp(task->status, "running") == 0, task->exit_code, task->signal);
	bar_add(tree, STYLE_BAR, task->begin_boot_ns, task->end_boot_ns);
}

static void subtree_add(struct tree *tree, size_t index, const char *above, bool is_last,
			unsigned depth)
{
	const struct row_task *task = ROWS_ITEM(&tree->report->tasks, task, index);
	char own[PREFIX_SIZE], below[PREFIX_SIZE];
	size_t child = tree->nodes[index].first_child;

	if (tree->shown_count >= tree->shown_most)
		return;
	tree->shown_count++;
	prefix_make(tree, above, is_last, own, below);
	task_add(tree, own, task);
	tools_add(tree, below, task, child == SIZE_MAX);
	for (; child != SIZE_MAX && tree->error == 0; child = tree->nodes[child].next)
		subtree_add(tree, child, below, tree->nodes[child].next == SIZE_MAX, depth + 1);
}

static int compare_ids(const void *left, const void *right, void *context)
{
	const struct rows *tasks = context;
	int64_t a = ROWS_ITEM(tasks, task, *(const size_t *)left)->id;
	int64_t b = ROWS_ITEM(tasks, task, *(const size_t *)right)->id;

	return a < b ? -1 : a > b;
}

/* The task of that id, SIZE_MAX if there is none. */
static size_t task_find(const struct rows *tasks, const size_t *by_id, int64_t id)
{
	size_t low = 0, high = tasks->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int64_t found = ROWS_ITEM(tasks, task, by_id[middle])->id;

		if (found == id)
			return by_id[middle];
		if (found < id)
			low = middle + 1;
		else
			high = middle;
	}
	return SIZE_MAX;
}

static bool task_is_main(const struct row_task *task)
{
	return strcmp(task->kind, "main") == 0;
}

/* Whether `index` may hang below `parent`: not itself, no ring, not too deep. */
static bool may_nest(const struct tree *tree, const size_t *parents, size_t index, size_t parent)
{
	if (parent == SIZE_MAX || task_is_main(ROWS_ITEM(&tree->report->tasks, task, parent)))
		return false;
	for (unsigned depth = 0; parent != SIZE_MAX; depth++) {
		if (parent == index || depth >= DEPTH_MOST - 4)
			return false;
		parent = parents[parent];
	}
	return true;
}

static void node_link(struct tree *tree, size_t parent, size_t child)
{
	struct node *node = &tree->nodes[parent];

	if (node->first_child == SIZE_MAX)
		node->first_child = child;
	else
		tree->nodes[node->last_child].next = child;
	node->last_child = child;
	tree->nodes[child].has_parent = true;
}

/* Hangs every task below the task that its orchestrator belongs to, unless that is
 * the run's own. */
static int nodes_link(struct tree *tree)
{
	const struct rows *tasks = &tree->report->tasks;
	size_t *by_id = calloc(tasks->count + 1, sizeof(*by_id));
	size_t *parents = calloc(tasks->count + 1, sizeof(*parents));

	tree->nodes = calloc(tasks->count + 1, sizeof(*tree->nodes));
	if (!by_id || !parents || !tree->nodes) {
		free(by_id);
		free(parents);
		return -ENOMEM;
	}
	for (size_t i = 0; i < tasks->count; i++) {
		by_id[i] = i;
		parents[i] = SIZE_MAX;
		tree->nodes[i] = (struct node){SIZE_MAX, SIZE_MAX, SIZE_MAX, false};
	}
	qsort_r(by_id, tasks->count, sizeof(*by_id), compare_ids, (void *)tasks);
	for (size_t i = 0; i < tasks->count; i++) {
		size_t parent = task_find(tasks, by_id, ROWS_ITEM(tasks, task, i)->parent_task_id);

		if (may_nest(tree, parents, i, parent)) {
			parents[i] = parent;
			node_link(tree, parent, i);
		}
	}
	free(by_id);
	free(parents);
	return 0;
}

/* The whole run's line; then its own pseudo-task's tools if that is all there is. */
static void roots_add(struct tree *tree)
{
	const struct row_run *run = report_run(tree->report);
	const struct rows *tasks = &tree->report->tasks;
	struct figures figures = FIGURES_OF(tree->report, run);
	size_t last = SIZE_MAX;

	line_add(tree, STYLE_TITLE, "", run->name, &figures);
	result_add(tree, strcmp(run->status, "running") == 0, run->exit_code, run->signal);
	bar_add(tree, STYLE_BAR, run->begin_boot_ns, run->end_boot_ns);
	if (tasks->count == 1 && task_is_main(ROWS_ITEM(tasks, task, 0))) {
		tools_add(tree, "", ROWS_ITEM(tasks, task, 0), true);
		return;
	}
	for (size_t i = 0; i < tasks->count; i++)
		if (!tree->nodes[i].has_parent)
			last = i;
	for (size_t i = 0; i < tasks->count && tree->error == 0; i++)
		if (!tree->nodes[i].has_parent)
			subtree_add(tree, i, "", i == last, 0);
}

static void remainder_add(struct tree *tree)
{
	size_t left = tree->report->tasks.count - tree->shown_count;
	char text[96];

	if (tree->shown_count < tree->shown_most || left == 0)
		return;
	snprintf(text, sizeof(text), "%s %zu more tasks: --all or --table",
		 tree->unicode ? "…" : "...", left);
	table_add(tree->table, STYLE_DIM, text);
	for (size_t i = 1; i < sizeof(columns) / sizeof(columns[0]); i++)
		table_add(tree->table, STYLE_PLAIN, "");
}

int tree_fill(const struct report *report, const struct output *output,
	      const struct report_style *style, struct table **ret_table)
{
	struct tree tree = {
		.report = report,
		.style = style,
		.unicode = output->unicode,
		.shown_most = output->width && !style->all ? TASKS_MOST : SIZE_MAX,
	};

	tree.table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	tree.error = tree.table ? nodes_link(&tree) : -ENOMEM;
	if (tree.error == 0) {
		roots_add(&tree);
		remainder_add(&tree);
	}
	free(tree.nodes);
	if (tree.error < 0) {
		table_free(tree.table);
		return tree.error;
	}
	*ret_table = tree.table;
	return 0;
}
