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

#define TASKS_MOST 40  /* on a terminal, without --all */
#define DEPTH_MOST 16  /* of tasks in tasks; deeper ones stand beside their parent */
#define PREFIX_SIZE (DEPTH_MOST * 16)
#define TASK_NAME_SIZE 1024
#define COMMAND_SIZE 4096 /* of a process's arguments, as shown */

#define FIGURE_COLUMNS                               \
	{"wall", TABLE_RIGHT, 0, 0, false},          \
	{"CPU", TABLE_RIGHT, 0, 0, false},           \
	{"cores", TABLE_RIGHT, 0, 3, false},         \
	{"peak RSS", TABLE_RIGHT, 0, 1, false},      \
	{"read", TABLE_RIGHT, 0, 4, false},          \
	{"written", TABLE_RIGHT, 0, 4, false},       \
	{"sent", TABLE_RIGHT, 0, 6, true},           \
	{"received", TABLE_RIGHT, 0, 6, true},       \
	{"waited", TABLE_RIGHT, 0, 5, false},        \
	{"of its limit", TABLE_LEFT, 0, 3, true},    \
	{"result", TABLE_LEFT, 0, 0, false},

static const struct table_column columns[] = {
	{"", TABLE_LEFT, 30, 0, false},
	FIGURE_COLUMNS
	{"", TABLE_BAR, 0, 0, false},
};

/* With processes: on a terminal half of it is for their command lines; elsewhere these are whole,
 * and last. */
static const struct table_column process_columns[] = {
	{"", TABLE_LEFT, 50, 0, false},
	FIGURE_COLUMNS
	{"", TABLE_BAR, 0, 0, false},
};
static const struct table_column command_columns[] = {
	{"", TABLE_LEFT, 0, 0, false},
	FIGURE_COLUMNS
	{"command", TABLE_LEFT, 0, 0, false},
};

#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

/* Tasks by their parents: indexes into report->tasks, SIZE_MAX ends a list. */
struct node {
	size_t parent;
	size_t first_child;
	size_t last_child;
	size_t next;
	bool failed; /* it, or a task below it */
	bool shown;
};

struct tree {
	const struct report *report;
	const struct report_style *style;
	struct table *table;
	struct node *nodes; /* of each task */
	size_t *order;      /* in which tasks are shown */
	bool unicode;
	bool commands_last; /* in a column of their own */
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

/* Whether what was killed was so by the OOM killer: its incident says that the task failed of it.
 * ROW_NULL: any task. */
static bool is_out_of_memory(const struct tree *tree, int64_t task_id)
{
	const struct rows *incidents = &tree->report->incidents;

	for (size_t i = 0; i < incidents->count; i++) {
		const struct row_incident *incident = ROWS_ITEM(incidents, incident, i);

		if (strcmp(incident->kind, "oom-kill") == 0 && incident->fatal == 1 &&
		    (task_id == ROW_NULL || incident->task_id == task_id))
			return true;
	}
	return false;
}

/* "ok", "exit 1", "SIGKILL", "OOM", "running", "-" where how it ended is not known. */
static void result_add(struct tree *tree, bool living, int64_t exit_code, int64_t signal, bool out_of_memory)
{
	char text[UNITS_SIZE];

	if (living)
		table_add(tree->table, STYLE_WARNING, "running");
	else if (signal != ROW_NULL && signal > 0)
		table_add(tree->table, STYLE_BAD, out_of_memory ? "OOM" : units_signal(text, signal));
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

/* The last column: a bar of when it ran, or the command line, NULL for none. */
static void last_add(struct tree *tree, enum style style, int64_t begin_boot_ns,
		     int64_t end_boot_ns, const char *command)
{
	const struct row_run *run = report_run(tree->report);
	int64_t whole = report_wall_ns(tree->report, run->begin_boot_ns, run->end_boot_ns);
	int64_t until_end = report_wall_ns(tree->report, run->begin_boot_ns, end_boot_ns);
	double begin = (double)row_subtract(begin_boot_ns, run->begin_boot_ns);

	if (tree->commands_last)
		table_add_name(tree->table, STYLE_PLAIN, "", command ? command : "");
	else if (whole == ROW_NULL || whole == 0 || until_end == ROW_NULL)
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
	char command[COMMAND_SIZE], name[COMMAND_SIZE + 32];

	command_text(&process->arguments, process->program, tree->commands_last, command, sizeof(command));
	snprintf(name, sizeof(name), "%lld %s", (long long)process->pid,
		 tree->commands_last ? process->program : command);
	line_add(tree, STYLE_DIM, prefix, name, &figures);
	if (process->ended && strcmp(process->ended, "exec") == 0)
		table_add(tree->table, STYLE_DIM, "exec");
	else if (process->ended && (strcmp(process->ended, "lost") == 0 || strcmp(process->ended, "left") == 0))
		table_add(tree->table, STYLE_WARNING, process->ended);
	else
		result_add(tree, !process->ended, process->exit_code, process->signal,
			   process->oom_killed == 1);
	last_add(tree, STYLE_DIM, process->begin_boot_ns, process->end_boot_ns, command);
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
	last_add(tree, STYLE_DIM, tool->begin_boot_ns, tool->end_boot_ns, NULL);
}

static bool tool_is_folded(const struct tree *tree, const struct row_task *task,
			   const struct row_tool *tool)
{
	struct figures part = FIGURES_OF(tree->report, tool), whole = FIGURES_OF(tree->report, task);

	return !tree->style->all && !tree->style->with_processes && tool->failed_count == 0 &&
	       figures_role_is_glue(tool->role) && figures_are_small(&part, &whole);
}

/* One line for all that tool_is_folded(), so that figures add up. */
static void folded_add(struct tree *tree, const char *prefix, const struct row_task *task,
		       const struct row_tool *tools, size_t count)
{
	struct figures sum = {.wall_ns = ROW_NULL, .peak_rss_bytes = ROW_NULL};
	int64_t living_count = 0, begin_boot_ns = INT64_MAX, end_boot_ns = 0;
	size_t folded = 0;
	char name[64];

	for (size_t i = 0; i < count; i++) {
		struct figures figures = FIGURES_OF(tree->report, &tools[i]);

		if (!tool_is_folded(tree, task, &tools[i]))
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
	last_add(tree, STYLE_DIM, begin_boot_ns, end_boot_ns, NULL);
}

/* A lone tool that is called as its task is, shells and helpers aside, says nothing
 * more than its task. */
static bool tools_are_redundant(const struct tree *tree, const struct row_task *task,
				const struct row_tool *tools, size_t count)
{
	size_t named = 0, folded = 0, other = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_folded = tool_is_folded(tree, task, &tools[i]);

		if (strcmp(tools[i].name, report_task_name(tree->report, task)) != 0)
			other += !is_folded;
		else if (is_folded)
			folded++; /* the script that starts the tool is called as it is */
		else
			named++;
	}
	return (named ? named : folded) == 1 && other == 0 && !tree->style->all && !tree->style->with_processes;
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
		folded += tool_is_folded(tree, task, &tools[i]);
	folded = folded > 1 ? folded : 0; /* a single one is shown as it is */
	left = count - folded + (folded > 0);
	for (size_t i = 0; i < count && tree->error == 0; i++) {
		if (folded && tool_is_folded(tree, task, &tools[i]))
			continue;
		prefix_make(tree, above, is_end && --left == 0, own, below);
		tool_add(tree, own, &tools[i]);
		if (tree->style->with_processes)
			processes_add(tree, below, &processes, tools[i].id);
	}
	if (folded) {
		prefix_make(tree, above, is_end, own, below);
		folded_add(tree, own, task, tools, count);
	}
	rows_free(&processes);
}

/* ---- tasks ------------------------------------------------------------------- */

/* "bwa mem  s3": what it is, and which of them. */
static void task_name_text(const struct tree *tree, const struct row_task *task,
			   char text[TASK_NAME_SIZE])
{
	const char *name = report_task_name(tree->report, task);
	const char *label = report_task_label(tree->report, task);
	bool labelled = label[0] && strcmp(label, name) != 0;

	snprintf(text, TASK_NAME_SIZE, "%s%s%s", name, labelled ? "  " : "", labelled ? label : "");
}

static void task_add(struct tree *tree, const char *prefix, const struct row_task *task)
{
	struct figures figures = FIGURES_OF(tree->report, task);
	char name[TASK_NAME_SIZE];

	figures.memory_limit_bytes = task->memory_limit_bytes;
	figures.cgroup_peak_bytes = task->cgroup_peak_bytes;
	task_name_text(tree, task, name);
	line_add(tree, STYLE_TITLE, prefix, name, &figures);
	if (task->lost_count > 0)
		table_add(tree->table, STYLE_BAD, "incomplete");
	else
		result_add(tree, strcmp(task->status, "running") == 0, task->exit_code, task->signal,
			   is_out_of_memory(tree, task->id));
	last_add(tree, STYLE_BAR, task->begin_boot_ns, task->end_boot_ns, NULL);
}

static void subtree_add(struct tree *tree, size_t index, const char *above, bool is_last)
{
	const struct row_task *task = ROWS_ITEM(&tree->report->tasks, task, index);
	char own[PREFIX_SIZE], below[PREFIX_SIZE];
	size_t child = tree->nodes[index].first_child;

	prefix_make(tree, above, is_last, own, below);
	task_add(tree, own, task);
	tools_add(tree, below, task, child == SIZE_MAX);
	for (; child != SIZE_MAX && tree->error == 0; child = tree->nodes[child].next)
		subtree_add(tree, child, below, tree->nodes[child].next == SIZE_MAX);
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
static bool may_nest(const struct tree *tree, size_t index, size_t parent)
{
	if (parent == SIZE_MAX || task_is_main(ROWS_ITEM(&tree->report->tasks, task, parent)))
		return false;
	for (unsigned depth = 0; parent != SIZE_MAX; depth++) {
		if (parent == index || depth >= DEPTH_MOST - 4)
			return false;
		parent = tree->nodes[parent].parent;
	}
	return true;
}

/* Finds every task's parent: the task that its orchestrator belongs to, unless that is the run's
 * own. 0 or -ENOMEM. */
static int parents_find(struct tree *tree)
{
	const struct rows *tasks = &tree->report->tasks;
	size_t *by_id = calloc(tasks->count + 1, sizeof(*by_id));

	if (!by_id)
		return -ENOMEM;
	for (size_t i = 0; i < tasks->count; i++) {
		by_id[i] = i;
		tree->nodes[i] = (struct node){SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, false, false};
	}
	qsort_r(by_id, tasks->count, sizeof(*by_id), compare_ids, (void *)tasks);
	for (size_t i = 0; i < tasks->count; i++) {
		size_t parent = task_find(tasks, by_id, ROWS_ITEM(tasks, task, i)->parent_task_id);

		if (may_nest(tree, i, parent))
			tree->nodes[i].parent = parent;
	}
	free(by_id);
	return 0;
}

/* The run's own first, then what failed as it began, then what took the longest. */
static int compare_interest(const void *left, const void *right, void *context)
{
	const struct tree *tree = context;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	const struct row_task *first = ROWS_ITEM(&tree->report->tasks, task, a);
	const struct row_task *second = ROWS_ITEM(&tree->report->tasks, task, b);
	int64_t first_ns = report_wall_ns(tree->report, first->begin_boot_ns, first->end_boot_ns);
	int64_t second_ns = report_wall_ns(tree->report, second->begin_boot_ns, second->end_boot_ns);

	if (task_is_main(first) != task_is_main(second))
		return task_is_main(first) ? -1 : 1;
	if (tree->nodes[a].failed != tree->nodes[b].failed)
		return tree->nodes[a].failed ? -1 : 1;
	if (!tree->nodes[a].failed && first_ns != second_ns)
		return first_ns > second_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Marks a task and all above it as failed. */
static void failure_mark(struct tree *tree, size_t index)
{
	for (; index != SIZE_MAX && !tree->nodes[index].failed; index = tree->nodes[index].parent)
		tree->nodes[index].failed = true;
}

/* Marks a task and all above it as shown; how many were not. */
static size_t shown_mark(struct tree *tree, size_t index)
{
	size_t count = 0;

	for (; index != SIZE_MAX && !tree->nodes[index].shown; index = tree->nodes[index].parent) {
		tree->nodes[index].shown = true;
		count++;
	}
	return count;
}

/* All tasks as they began; where they are more than `most`, the most interesting ones. */
static void tasks_choose(struct tree *tree, size_t most)
{
	size_t count = tree->report->tasks.count, shown = 0;

	for (size_t i = 0; i < count; i++) {
		tree->order[i] = i;
		if (report_task_failed(ROWS_ITEM(&tree->report->tasks, task, i)))
			failure_mark(tree, i);
	}
	if (count > most)
		qsort_r(tree->order, count, sizeof(*tree->order), compare_interest, tree);
	for (size_t i = 0; i < count && shown < most; i++)
		shown += shown_mark(tree, tree->order[i]);
}

static void nodes_link(struct tree *tree)
{
	for (size_t i = 0; i < tree->report->tasks.count; i++) {
		size_t child = tree->order[i];
		struct node *parent;

		if (!tree->nodes[child].shown || tree->nodes[child].parent == SIZE_MAX)
			continue;
		parent = &tree->nodes[tree->nodes[child].parent];
		if (parent->first_child == SIZE_MAX)
			parent->first_child = child;
		else
			tree->nodes[parent->last_child].next = child;
		parent->last_child = child;
	}
}

static bool is_root(const struct tree *tree, size_t index)
{
	return tree->nodes[index].shown && tree->nodes[index].parent == SIZE_MAX;
}

/* The whole run's line; then its own pseudo-task's tools if that is all there is. */
static void roots_add(struct tree *tree)
{
	const struct row_run *run = report_run(tree->report);
	const struct rows *tasks = &tree->report->tasks;
	struct figures figures = FIGURES_OF(tree->report, run);
	size_t last = SIZE_MAX;

	line_add(tree, STYLE_TITLE, "", run->name, &figures);
	result_add(tree, strcmp(run->status, "running") == 0, run->exit_code, run->signal,
		   is_out_of_memory(tree, ROW_NULL));
	last_add(tree, STYLE_BAR, run->begin_boot_ns, run->end_boot_ns, NULL);
	if (tasks->count == 1 && task_is_main(ROWS_ITEM(tasks, task, 0))) {
		tools_add(tree, "", ROWS_ITEM(tasks, task, 0), true);
		return;
	}
	for (size_t i = 0; i < tasks->count; i++)
		if (is_root(tree, tree->order[i]))
			last = tree->order[i];
	for (size_t i = 0; i < tasks->count && tree->error == 0; i++)
		if (is_root(tree, tree->order[i]))
			subtree_add(tree, tree->order[i], "", tree->order[i] == last);
}

static void hidden_count(const struct tree *tree, struct tree_hidden *ret_hidden)
{
	*ret_hidden = (struct tree_hidden){0};
	for (size_t i = 0; i < tree->report->tasks.count; i++) {
		if (tree->nodes[i].shown)
			continue;
		ret_hidden->task_count++;
		ret_hidden->failed_count += report_task_failed(ROWS_ITEM(&tree->report->tasks, task, i));
	}
}

int tree_fill(const struct report *report, const struct output *output,
	      const struct report_style *style, struct table **ret_table,
	      struct tree_hidden *ret_hidden)
{
	bool with_processes = style->with_processes;
	size_t count = report->tasks.count;
	struct tree tree = {
		.report = report,
		.style = style,
		.unicode = output->unicode,
		.commands_last = with_processes && !output->width,
		.nodes = calloc(count + 1, sizeof(*tree.nodes)),
		.order = calloc(count + 1, sizeof(*tree.order)),
	};

	tree.table = table_new(tree.commands_last ? command_columns : with_processes ? process_columns
										     : columns,
			       COLUMN_COUNT);
	tree.error = tree.table && tree.nodes && tree.order ? parents_find(&tree) : -ENOMEM;
	if (tree.error == 0) {
		tasks_choose(&tree, output->width && !style->all ? TASKS_MOST : SIZE_MAX);
		nodes_link(&tree);
		roots_add(&tree);
		hidden_count(&tree, ret_hidden);
	}
	free(tree.nodes);
	free(tree.order);
	if (tree.error < 0) {
		table_free(tree.table);
		return tree.error;
	}
	*ret_table = tree.table;
	return 0;
}
