/* The tree of a run: tasks, their tools, and optionally their processes. See
 * views.h.
 */
#include <errno.h>
#include <stdlib.h>

#include <uthash.h>

#include "analysis/query/command.h"
#include "analysis/query/units.h"
#include "cli/report/views.h"

#define TASKS_MAX 40 /* on a terminal, without --all */
#define DEPTH_MAX 16 /* of nested tasks; deeper ones are shown beside their parent */
#define PREFIX_SIZE (DEPTH_MAX * 16)
#define TASK_NAME_SIZE 1024
#define PIDS_MAX 100000   /* processes whose pid is known when their children are shown */
#define COMMAND_SIZE 4096 /* of a process's arguments, as shown */

/* `percent` of a terminal's width for names; then figures, then the last column. */
/* clang-format off */
#define COLUMNS(percent, ...) { \
		{"", TABLE_LEFT, percent, 0, false}, \
		{"parent", TABLE_RIGHT, 0, 9, true}, \
		{"began", TABLE_RIGHT, 0, 9, true}, \
		{"wall", TABLE_RIGHT, 0, 0, false}, \
		{"CPU", TABLE_RIGHT, 0, 0, false}, \
		{"cores", TABLE_RIGHT, 0, 3, false}, \
		USAGE_COLUMNS, \
		{"of its limit", TABLE_LEFT, 0, 3, true}, \
		{"result", TABLE_LEFT, 0, 0, false}, \
		{__VA_ARGS__, 0, 0, false}, \
	}
/* clang-format on */

/* With processes, half of a terminal's width is for their command lines; elsewhere command lines are
 * complete, in the last column. */
const struct table_column *tree_columns(const struct output *output, const struct report_style *style)
{
	static const struct table_column plain[TREE_COLUMN_COUNT] = COLUMNS(30, "", TABLE_BAR);
	static const struct table_column processes[TREE_COLUMN_COUNT] = COLUMNS(50, "", TABLE_BAR);
	static const struct table_column commands[TREE_COLUMN_COUNT] = COLUMNS(0, "command", TABLE_LEFT);

	return !style->with_processes ? plain : output->width ? processes : commands;
}

/* Tasks by their parents: indexes into report->tasks, SIZE_MAX ends a list. After them is one more node,
 * the parent of the tasks that have none. */
struct node {
	size_t parent; /* SIZE_MAX: none */
	size_t first_child;
	size_t last_child;
	size_t next;
	bool failed; /* it, or a task below it */
	bool shown;
};

struct pid {
	int64_t id, pid;
	UT_hash_handle hh;
};

struct tree {
	const struct report *report;
	const struct report_style *style;
	struct table *table;
	struct node *nodes; /* one per task, and the extra one */
	size_t *order;      /* indexes of tasks as they are shown */
	size_t shown_count;
	bool unicode;
	bool commands_last; /* command lines have the last column */
	struct pid *pids;   /* of the processes that were shown */

	/* The task that is being shown. */
	const struct row_task *task;
	const struct row_tool *tools;
	size_t tool_count, folded_count, left_count; /* lines of tools to come */
	bool is_end;                                 /* nothing of the task follows its tools */
	bool is_skipped;                             /* its tools are not shown */
	char below[PREFIX_SIZE], below_tool[PREFIX_SIZE];
};

/* ---- a line ------------------------------------------------------------------ */

/* "78 % of 512 MiB": the peak usage of its memory cgroup, relative to the limit. */
static void limit_add(struct tree *tree, const struct figures *figures)
{
	char text[UNITS_SIZE + 16] = "";

	if (figures->memory_limit_bytes > 0 && figures->cgroup_peak_bytes != ROW_NULL)
		snprintf(text, sizeof(text), "%.0f %% of %s",
			 100.0 * (double)figures->cgroup_peak_bytes / (double)figures->memory_limit_bytes,
			 units_bytes(figures->memory_limit_bytes, tree->style->raw));
	table_add(tree->table, STYLE_PLAIN, text);
}

/* `parent` and `began` are of a process, else "". */
static void line_of_process_add(struct tree *tree, enum style style, const char *prefix, const char *name,
				const char *parent, const char *began, const struct figures *figures)
{
	bool raw = tree->style->raw;

	table_add_name(tree->table, style, prefix, name);
	table_add_all(tree->table, parent, began, NULL);
	table_add_all(tree->table, units_duration(figures->wall_ns, raw), units_duration(figures->cpu_ns, raw),
		      units_cores(figures->cpu_ns, figures->wall_ns), NULL);
	views_add_usage(figures, tree->table, raw);
	limit_add(tree, figures);
}

static void line_add(struct tree *tree, enum style style, const char *prefix, const char *name,
		     const struct figures *figures)
{
	line_of_process_add(tree, style, prefix, name, "", "", figures);
}

/* "ok", "exit 1", "SIGKILL", "OOM", "running", "-" if it is unknown how it ended. */
static void result_add(struct tree *tree, bool running, int64_t exit_code, int64_t signal, bool out_of_memory)
{
	const char *result = units_result(exit_code, signal);
	bool is_good = strcmp(result, "ok") == 0;

	if (running)
		table_add(tree->table, STYLE_WARNING, "running");
	else if (!*result)
		table_add(tree->table, STYLE_PLAIN, "-");
	else
		table_add(tree->table, is_good ? STYLE_GOOD : STYLE_BAD, out_of_memory && signal > 0 ? "OOM" : result);
}

static void failures_add(struct tree *tree, int64_t failed_count, int64_t living_count)
{
	char text[UNITS_SIZE + 16];

	snprintf(text, sizeof(text), "%s failed", units_count(failed_count, false));
	if (failed_count > 0)
		table_add(tree->table, STYLE_BAD, text);
	else
		table_add(tree->table, STYLE_WARNING, living_count > 0 ? "running" : "");
}

/* The last column: a bar that shows when it ran, or the command line (NULL for none). */
static void last_add(struct tree *tree, enum style style, int64_t begin_boot_ns, int64_t end_boot_ns,
		     const char *command)
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
		table_add_bar(tree->table, style, begin / (double)whole, (double)until_end / (double)whole);
}

/* Tree lines before a child's name, and before the names of its own children. */
static void prefix_make(const struct tree *tree, const char *above, bool is_last, char own[PREFIX_SIZE],
			char below[PREFIX_SIZE])
{
	const char *corner = tree->unicode ? "└─ " : "`- ", *tee = tree->unicode ? "├─ " : "|- ";
	const char *bar = tree->unicode ? "│  " : "|  ";

	snprintf(own, PREFIX_SIZE, "%s%s", above, is_last ? corner : tee);
	snprintf(below, PREFIX_SIZE, "%s%s", above, is_last ? "   " : bar);
}

/* ---- processes --------------------------------------------------------------- */

/* Remembers a process, if there is room, for those that it starts. */
static void pid_keep(struct tree *tree, const struct row_process *process)
{
	struct pid *kept;

	if (HASH_COUNT(tree->pids) >= PIDS_MAX)
		return;
	kept = malloc(sizeof(*kept));
	if (!kept)
		return;
	*kept = (struct pid){.id = process->id, .pid = process->pid};
	HASH_ADD(hh, tree->pids, id, sizeof(kept->id), kept);
}

/* Returns the pid of a process that was shown, or "". */
static const char *pid_text(const struct tree *tree, int64_t id)
{
	struct pid *kept;

	HASH_FIND(hh, tree->pids, &id, sizeof(id), kept);
	return kept ? units_count(kept->pid, true) : "";
}

static void pids_free(struct tree *tree)
{
	struct pid *kept, *next;

	HASH_ITER (hh, tree->pids, kept, next) {
		HASH_DEL(tree->pids, kept);
		free(kept);
	}
}

static void process_add(struct tree *tree, const char *prefix, const struct row_process *process)
{
	struct figures figures = FIGURES_OF(tree->report, process);
	int64_t began_ns = row_subtract(process->begin_boot_ns, report_run(tree->report)->begin_boot_ns);
	char command[COMMAND_SIZE], name[COMMAND_SIZE + 32];

	command_text(&process->arguments, process->program, tree->commands_last, command, sizeof(command));
	snprintf(name, sizeof(name), "%lld %s", (long long)process->pid,
		 tree->commands_last ? process->program : command);
	line_of_process_add(tree, STYLE_DIM, prefix, name, pid_text(tree, process->parent_id),
			    units_duration(began_ns, tree->style->raw), &figures);
	pid_keep(tree, process);
	if (process->ended && strcmp(process->ended, "exec") == 0)
		table_add(tree->table, STYLE_DIM, "exec");
	else if (process->ended && (strcmp(process->ended, "lost") == 0 || strcmp(process->ended, "left") == 0))
		table_add(tree->table, STYLE_WARNING, process->ended);
	else
		result_add(tree, !process->ended, process->exit_code, process->signal, process->oom_killed == 1);
	last_add(tree, STYLE_DIM, process->begin_boot_ns, process->end_boot_ns, command);
}

static int process_show(void *context, const struct row_process *process, bool is_last)
{
	struct tree *tree = context;
	char own[PREFIX_SIZE], below[PREFIX_SIZE];

	prefix_make(tree, tree->below_tool, is_last, own, below);
	process_add(tree, own, process);
	return 0;
}

/* ---- tools ------------------------------------------------------------------- */

static void tool_add(struct tree *tree, const char *prefix, const struct row_tool *tool)
{
	struct figures figures = FIGURES_OF(tree->report, tool);
	char name[1024];

	snprintf(name, sizeof(name), "%s", tool->name);
	if (tool->process_count > 1)
		snprintf(name, sizeof(name), "%.900s (%s)", tool->name, units_count(tool->process_count, false));
	line_add(tree, STYLE_PLAIN, prefix, name, &figures);
	failures_add(tree, tool->failed_count, tool->living_count);
	last_add(tree, STYLE_DIM, tool->begin_boot_ns, tool->end_boot_ns, NULL);
}

static bool tool_is_folded(const struct tree *tree, const struct row_task *task, const struct row_tool *tool)
{
	struct figures part = FIGURES_OF(tree->report, tool), whole = FIGURES_OF(tree->report, task);

	return !tree->style->all && !tree->style->with_processes && tool->failed_count == 0 &&
	       figures_role_is_glue(tool->role) && figures_are_small(&part, &whole);
}

/* Adds one line for all tools for which tool_is_folded(), so that figures add up. */
static void folded_add(struct tree *tree, const char *prefix, const struct row_task *task, const struct row_tool *tools,
		       size_t count)
{
	struct figures sum = FIGURES_NONE;
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

/* A single tool with the same name as its task, not counting shells and helpers, adds
 * no information to the task. */
static bool tools_are_redundant(const struct tree *tree, const struct row_task *task, const struct row_tool *tools,
				size_t count, const char *task_name)
{
	size_t named = 0, folded = 0, other = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_folded = tool_is_folded(tree, task, &tools[i]);

		if (strcmp(tools[i].name, task_name) != 0)
			other += !is_folded;
		else if (is_folded)
			folded++; /* the script that starts the tool has the same name */
		else
			named++;
	}
	return (named ? named : folded) == 1 && other == 0 && !tree->style->all && !tree->style->with_processes;
}

static void tools_begin(struct tree *tree, size_t index, const struct row_task *task, const struct row_tool *tools,
			size_t count)
{
	tree->task = task;
	tree->tools = tools;
	tree->tool_count = count;
	tree->folded_count = 0;
	tree->is_skipped = tools_are_redundant(tree, task, tools, count, report_task_name(tree->report, index, task));
	for (size_t i = 0; i < count; i++)
		tree->folded_count += tool_is_folded(tree, task, &tools[i]);
	if (tree->folded_count == 1)
		tree->folded_count = 0; /* a single one is not folded */
	tree->left_count = count - tree->folded_count + (tree->folded_count > 0);
}

static int tool_show(void *context, const struct row_tool *tool, size_t index)
{
	struct tree *tree = context;
	char own[PREFIX_SIZE];

	if (tree->is_skipped || (tree->folded_count > 0 && tool_is_folded(tree, tree->task, tool)))
		return 0;
	prefix_make(tree, tree->below, --tree->left_count == 0 && tree->is_end, own, tree->below_tool);
	tool_add(tree, own, tool);
	return 0;
}

static int tools_end(void *context)
{
	struct tree *tree = context;
	char own[PREFIX_SIZE], below[PREFIX_SIZE];

	if (tree->is_skipped || tree->folded_count == 0)
		return 0;
	prefix_make(tree, tree->below, tree->is_end, own, below);
	folded_add(tree, own, tree->task, tree->tools, tree->tool_count);
	return 0;
}

/* ---- tasks ------------------------------------------------------------------- */

/* "bwa mem  s3": name and label. */
static void task_name_text(const struct tree *tree, size_t index, const struct row_task *task,
			   char text[TASK_NAME_SIZE])
{
	const char *name = report_task_name(tree->report, index, task);
	const char *label = report_task_label(tree->report, index, task);
	bool labelled = label[0] && strcmp(label, name) != 0;

	snprintf(text, TASK_NAME_SIZE, "%s%s%s", name, labelled ? "  " : "", labelled ? label : "");
}

static bool task_is_main(const struct tree *tree, size_t index)
{
	return tree->report->tasks[index].is_main;
}

static void task_add(struct tree *tree, const char *prefix, size_t index, const struct row_task *task)
{
	struct figures figures = FIGURES_OF(tree->report, task);
	char name[TASK_NAME_SIZE];

	figures.memory_limit_bytes = task->memory_limit_bytes;
	figures.cgroup_peak_bytes = task->cgroup_peak_bytes;
	task_name_text(tree, index, task, name);
	line_add(tree, STYLE_TITLE, prefix, name, &figures);
	if (task->lost_count > 0)
		table_add(tree->table, STYLE_BAD, "incomplete");
	else
		result_add(tree, strcmp(task->status, "running") == 0, task->exit_code, task->signal,
			   tree->report->tasks[index].out_of_memory);
	last_add(tree, STYLE_BAR, task->begin_boot_ns, task->end_boot_ns, NULL);
}

/* Tree lines before a task and before its children. */
static void below_make(const struct tree *tree, size_t index, char own[PREFIX_SIZE], char below[PREFIX_SIZE])
{
	char above[PREFIX_SIZE] = "", above_own[PREFIX_SIZE];

	if (tree->nodes[index].parent != tree->report->task_count)
		below_make(tree, tree->nodes[index].parent, above_own, above);
	prefix_make(tree, above, tree->nodes[index].next == SIZE_MAX, own, below);
}

static int task_show(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		     size_t count)
{
	struct tree *tree = context;
	char own[PREFIX_SIZE];

	tree->is_end = tree->nodes[index].first_child == SIZE_MAX;
	if (tree->report->task_count == 1 && task_is_main(tree, index)) {
		tree->below[0] = '\0'; /* the only task: no line of its own */
	} else {
		below_make(tree, index, own, tree->below);
		task_add(tree, own, index, task);
	}
	tools_begin(tree, index, task, tools, count);
	return 0;
}

/* Whether `index` may be nested in `parent`: not itself, no cycle, not too deep. */
static bool may_nest(const struct tree *tree, size_t index, size_t parent)
{
	if (parent == SIZE_MAX || task_is_main(tree, parent))
		return false;
	for (unsigned depth = 0; parent != SIZE_MAX; depth++) {
		if (parent == index || depth >= DEPTH_MAX - 4)
			return false;
		parent = tree->nodes[parent].parent;
	}
	return true;
}

/* Finds every task's parent: the task that its orchestrator belongs to, unless that is the run's
 * pseudo-task. */
static void parents_find(struct tree *tree)
{
	const struct report *report = tree->report;

	for (size_t i = 0; i <= report->task_count; i++)
		tree->nodes[i] = (struct node){SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, false, false};
	for (size_t i = 0; i < report->task_count; i++) {
		size_t parent = report_find_task(report, report->tasks[i].parent_task_id);

		if (may_nest(tree, i, parent))
			tree->nodes[i].parent = parent;
	}
}

/* The pseudo-task first, then failed tasks (and their ancestors) by start, then the longest. */
static int compare_interest(const void *left, const void *right, void *context)
{
	const struct tree *tree = context;
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

/* Marks a task and all its ancestors as failed. */
static void failure_mark(struct tree *tree, size_t index)
{
	for (; index != SIZE_MAX && !tree->nodes[index].failed; index = tree->nodes[index].parent)
		tree->nodes[index].failed = true;
}

/* Marks a task and all its ancestors as shown. Returns how many were not yet. */
static size_t shown_mark(struct tree *tree, size_t index)
{
	size_t count = 0;

	for (; index != SIZE_MAX && !tree->nodes[index].shown; index = tree->nodes[index].parent) {
		tree->nodes[index].shown = true;
		count++;
	}
	return count;
}

/* Chooses all tasks, by start; if there are more than `most`, the most interesting ones. */
static void tasks_choose(struct tree *tree, size_t most)
{
	size_t count = tree->report->task_count, shown = 0;

	for (size_t i = 0; i < count; i++) {
		tree->order[i] = i;
		if (tree->report->tasks[i].failed)
			failure_mark(tree, i);
	}
	if (count > most)
		qsort_r(tree->order, count, sizeof(*tree->order), compare_interest, tree);
	for (size_t i = 0; i < count && shown < most; i++)
		shown += shown_mark(tree, tree->order[i]);
}

/* Links children in the order in which they are shown. */
static void nodes_link(struct tree *tree)
{
	size_t count = tree->report->task_count;

	for (size_t i = 0; i < count; i++) {
		size_t child = tree->order[i];
		struct node *parent;

		if (!tree->nodes[child].shown)
			continue;
		if (tree->nodes[child].parent == SIZE_MAX)
			tree->nodes[child].parent = count;
		parent = &tree->nodes[tree->nodes[child].parent];
		if (parent->first_child == SIZE_MAX)
			parent->first_child = child;
		else
			tree->nodes[parent->last_child].next = child;
		parent->last_child = child;
	}
}

/* Sets `order` to the tasks that are shown, each before its descendants. */
static void order_make(struct tree *tree)
{
	size_t count = tree->report->task_count, at = tree->nodes[count].first_child;

	for (tree->shown_count = 0; at != SIZE_MAX;) {
		tree->order[tree->shown_count++] = at;
		if (tree->nodes[at].first_child != SIZE_MAX) {
			at = tree->nodes[at].first_child;
			continue;
		}
		while (at != count && tree->nodes[at].next == SIZE_MAX)
			at = tree->nodes[at].parent;
		at = at == count ? SIZE_MAX : tree->nodes[at].next;
	}
}

static void run_add(struct tree *tree)
{
	const struct row_run *run = report_run(tree->report);
	struct figures figures = FIGURES_OF(tree->report, run);

	line_add(tree, STYLE_TITLE, "", run->name, &figures);
	result_add(tree, strcmp(run->status, "running") == 0, run->exit_code, run->signal, tree->report->out_of_memory);
	last_add(tree, STYLE_BAR, run->begin_boot_ns, run->end_boot_ns, NULL);
}

static void hidden_count(const struct tree *tree, struct tree_hidden *ret_hidden)
{
	*ret_hidden = (struct tree_hidden){0};
	for (size_t i = 0; i < tree->report->task_count; i++) {
		ret_hidden->task_count += !tree->nodes[i].shown;
		ret_hidden->failed_count += !tree->nodes[i].shown && tree->report->tasks[i].failed;
	}
}

int tree_fill(const struct report *report, const struct output *output, const struct report_style *style,
	      struct table *table, struct tree_hidden *ret_hidden)
{
	const struct report_writer writer = {
		.task = task_show,
		.tool = tool_show,
		.task_end = tools_end,
		.process = style->with_processes ? process_show : NULL,
		.by_tool = true,
	};
	struct tree tree = {
		.report = report,
		.style = style,
		.table = table,
		.unicode = output->unicode,
		.commands_last = style->with_processes && !output->width,
		.nodes = calloc(report->task_count + 1, sizeof(*tree.nodes)),
		.order = calloc(report->task_count + 1, sizeof(*tree.order)),
	};
	int error = -ENOMEM;

	if (tree.nodes && tree.order) {
		parents_find(&tree);
		tasks_choose(&tree, output->width && !style->all ? TASKS_MAX : SIZE_MAX);
		nodes_link(&tree);
		order_make(&tree);
		hidden_count(&tree, ret_hidden);
		run_add(&tree);
		error = report_walk(report, tree.order, tree.shown_count, &writer, &tree);
	}
	pids_free(&tree);
	free(tree.nodes);
	free(tree.order);
	return error;
}
