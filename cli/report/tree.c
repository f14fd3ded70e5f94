/* The tree of a run: tasks, their tools, and optionally their processes. See views.h. */
#include <errno.h>
#include <stdlib.h>
#include <sys/param.h>

#include <uthash.h>

#include "analysis/query/command.h"
#include "analysis/query/units.h"
#include "cli/report/views.h"

#define TASKS_MAX 40                         /* on a terminal, without --all */
#define LEVELS_MAX (TASK_TREE_DEPTH_MAX + 3) /* tasks, tools, processes; level 0 is the run */
#define NAME_SIZE 1024
#define PIDS_MAX 100000   /* processes whose pid is known when their children are shown */
#define COMMAND_SIZE 4096 /* of a process's arguments, as shown */

void tree_columns(const struct output *output, const struct report_style *style,
		  struct table_column ret_columns[TREE_COLUMN_COUNT])
{
	static const struct table_column columns[TREE_COLUMN_COUNT] = {
		{"", TABLE_LEFT, 30},
		{"parent", TABLE_RIGHT, .rank = 9, .optional = true},
		{"began", TABLE_RIGHT, .rank = 9, .optional = true},
		{"wall", TABLE_RIGHT},
		{"CPU", TABLE_RIGHT},
		{"cores", TABLE_RIGHT, .rank = 3},
		USAGE_COLUMNS,
		{"of its limit", TABLE_LEFT, .rank = 3, .optional = true},
		{"result", TABLE_LEFT},
		{"", TABLE_BAR},
	};

	memcpy(ret_columns, columns, sizeof(columns));
	if (style->with_processes && output->width)
		ret_columns[0].flexible = 50; /* names are command lines */
	else if (style->with_processes)
		ret_columns[TREE_COLUMN_COUNT - 1] = (struct table_column){"command", TABLE_LEFT};
}

struct pid {
	int64_t id, pid;
	UT_hash_handle hh;
};

struct tree {
	const struct report *report;
	const struct report_style *style;
	struct table *table;
	struct task_tree tasks;
	bool unicode;
	bool commands_last; /* command lines have the last column */
	struct pid *pids;   /* of the processes that were shown */

	/* The line that was added last, and those above it: the last one below its parent? */
	bool is_last[LEVELS_MAX + 1];

	/* The task that is being shown. */
	const struct row_task *task;
	const struct row_tool *tools;
	size_t tool_count, folded_count;
	unsigned tool_level;
	bool has_children;
	bool is_skipped; /* its tools are not shown */
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

/* Adds a name with the tree lines before it; the run is at level 0 and has none. */
static void name_add(struct tree *tree, enum style style, unsigned level, bool is_last, const char *name)
{
	static const char *const drawings[2][4] = {{"|  ", "   ", "|- ", "`- "}, {"│  ", "   ", "├─ ", "└─ "}};
	const char *const *drawing = drawings[tree->unicode];
	char prefix[LEVELS_MAX * sizeof("│  ")] = "", *end = prefix;

	tree->is_last[level] = is_last;
	for (unsigned i = 1; i < level; i++)
		end = stpcpy(end, drawing[tree->is_last[i]]);
	if (level > 0)
		stpcpy(end, drawing[2 + is_last]);
	table_add_name(tree->table, style, prefix, name);
}

/* Adds the figures of a line; `parent` and `began` are of a process, else "". */
static void cells_add(struct tree *tree, const char *parent, const char *began, const struct figures *figures)
{
	bool raw = tree->style->raw;

	table_add_all(tree->table, parent, began, units_duration(figures->wall_ns, raw),
		      units_duration(figures->cpu_ns, raw), units_cores(figures->cpu_ns, figures->wall_ns), NULL);
	views_add_usage(figures, tree->table, raw);
	limit_add(tree, figures);
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

/* ---- processes --------------------------------------------------------------- */

/* Remembers a process, if there is room, for those that it starts. */
static void pid_keep(struct tree *tree, const struct row_process *process)
{
	struct pid *kept = HASH_COUNT(tree->pids) < PIDS_MAX ? malloc(sizeof(*kept)) : NULL;

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

static int process_show(void *context, const struct row_process *process, bool is_last)
{
	struct tree *tree = context;
	struct figures figures = FIGURES_OF(tree->report, process);
	int64_t began_ns = row_subtract(process->begin_boot_ns, report_run(tree->report)->begin_boot_ns);
	char command[COMMAND_SIZE], name[COMMAND_SIZE + 32];

	command_text(&process->arguments, process->program, tree->commands_last, command, sizeof(command));
	snprintf(name, sizeof(name), "%lld %s", (long long)process->pid,
		 tree->commands_last ? process->program : command);
	name_add(tree, STYLE_DIM, tree->tool_level + 1, is_last, name);
	cells_add(tree, pid_text(tree, process->parent_id), units_duration(began_ns, tree->style->raw), &figures);
	pid_keep(tree, process);
	if (process->ended && strcmp(process->ended, "exec") == 0)
		table_add(tree->table, STYLE_DIM, "exec");
	else if (process->ended && (strcmp(process->ended, "lost") == 0 || strcmp(process->ended, "left") == 0))
		table_add(tree->table, STYLE_WARNING, process->ended);
	else
		result_add(tree, !process->ended, process->exit_code, process->signal, process->oom_killed == 1);
	last_add(tree, STYLE_DIM, process->begin_boot_ns, process->end_boot_ns, command);
	return 0;
}

/* ---- tools ------------------------------------------------------------------- */

static bool tool_is_folded(const struct tree *tree, const struct row_tool *tool)
{
	struct figures part = FIGURES_OF(tree->report, tool), whole = FIGURES_OF(tree->report, tree->task);

	return !tree->style->all && !tree->style->with_processes && tool->failed_count == 0 &&
	       figures_role_is_glue(tool->role) && figures_are_small(&part, &whole);
}

/* A single tool with the same name as its task, not counting shells and helpers, adds
 * no information to the task. */
static bool tools_are_redundant(const struct tree *tree, const char *task_name)
{
	size_t named = 0, folded = 0;

	if (tree->style->all || tree->style->with_processes)
		return false;
	for (size_t i = 0; i < tree->tool_count; i++) {
		bool is_folded = tool_is_folded(tree, &tree->tools[i]);

		if (strcmp(tree->tools[i].name, task_name) != 0 && !is_folded)
			return false;
		if (strcmp(tree->tools[i].name, task_name) == 0) {
			named += !is_folded;
			folded += is_folded; /* the script that starts the tool has the same name */
		}
	}
	return (named ? named : folded) == 1;
}

static int tool_show(void *context, const struct row_tool *tool, size_t index)
{
	struct tree *tree = context;
	struct figures figures = FIGURES_OF(tree->report, tool);
	bool is_end = !tree->has_children && tree->folded_count == 0;
	char name[NAME_SIZE];

	if (tree->is_skipped || (tree->folded_count > 0 && tool_is_folded(tree, tool)))
		return 0;
	snprintf(name, sizeof(name), tool->process_count > 1 ? "%.900s (%s)" : "%s", tool->name,
		 units_count(tool->process_count, false));
	name_add(tree, STYLE_PLAIN, tree->tool_level, is_end && index + 1 == tree->tool_count, name);
	cells_add(tree, "", "", &figures);
	failures_add(tree, tool->failed_count, tool->living_count);
	last_add(tree, STYLE_DIM, tool->begin_boot_ns, tool->end_boot_ns, NULL);
	return 0;
}

/* Adds one line for all tools for which tool_is_folded(), so that figures add up. */
static int folded_show(void *context)
{
	struct tree *tree = context;
	struct figures sum = FIGURES_NONE;
	int64_t living_count = 0, begin_boot_ns = INT64_MAX, end_boot_ns = 0;
	char name[64];

	if (tree->is_skipped || tree->folded_count == 0)
		return 0;
	for (size_t i = 0; i < tree->tool_count; i++) {
		const struct row_tool *tool = &tree->tools[i];
		struct figures figures = FIGURES_OF(tree->report, tool);

		if (!tool_is_folded(tree, tool))
			continue;
		figures_add(&sum, &figures);
		living_count = row_add(living_count, tool->living_count);
		begin_boot_ns = MIN(begin_boot_ns, tool->begin_boot_ns);
		end_boot_ns = MAX(end_boot_ns, tool->end_boot_ns);
	}
	end_boot_ns = living_count > 0 ? ROW_NULL : end_boot_ns;
	sum.wall_ns = report_wall_ns(tree->report, begin_boot_ns, end_boot_ns);
	snprintf(name, sizeof(name), "%zu shells and helpers", tree->folded_count);
	name_add(tree, STYLE_DIM, tree->tool_level, !tree->has_children, name);
	cells_add(tree, "", "", &sum);
	failures_add(tree, 0, living_count);
	last_add(tree, STYLE_DIM, begin_boot_ns, end_boot_ns, NULL);
	return 0;
}

/* ---- tasks ------------------------------------------------------------------- */

/* Adds a task as "bwa mem  s3": name and label. */
static void task_add(struct tree *tree, size_t index, const struct row_task *task)
{
	const char *name = report_task_name(tree->report, index, task);
	const char *label = report_task_label(tree->report, index, task);
	const struct task_node *node = &tree->tasks.nodes[index];
	struct figures figures = FIGURES_OF(tree->report, task);
	char text[NAME_SIZE];

	figures.memory_limit_bytes = task->memory_limit_bytes;
	figures.cgroup_peak_bytes = task->cgroup_peak_bytes;
	snprintf(text, sizeof(text), label[0] && strcmp(label, name) != 0 ? "%s  %s" : "%s", name, label);
	name_add(tree, STYLE_TITLE, node->level, node->next == tree->tasks.root, text);
	cells_add(tree, "", "", &figures);
	if (task->lost_count > 0)
		table_add(tree->table, STYLE_BAD, "incomplete");
	else
		result_add(tree, strcmp(task->status, "running") == 0, task->exit_code, task->signal,
			   tree->report->tasks[index].out_of_memory);
	last_add(tree, STYLE_BAR, task->begin_boot_ns, task->end_boot_ns, NULL);
}

static int task_show(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		     size_t count)
{
	struct tree *tree = context;
	bool is_alone = tree->report->task_count == 1 && tree->report->tasks[index].is_main; /* no line of its own */

	if (!is_alone)
		task_add(tree, index, task);
	tree->task = task;
	tree->tools = tools;
	tree->tool_count = count;
	tree->tool_level = is_alone ? 1 : tree->tasks.nodes[index].level + 1;
	tree->has_children = tree->tasks.nodes[index].first_child != tree->tasks.root;
	tree->is_skipped = tools_are_redundant(tree, report_task_name(tree->report, index, task));
	tree->folded_count = 0;
	for (size_t i = 0; i < count; i++)
		tree->folded_count += tool_is_folded(tree, &tools[i]);
	if (tree->folded_count == 1)
		tree->folded_count = 0; /* a single one is not folded */
	return 0;
}

static size_t most_of(const struct output *output, const struct report_style *style)
{
	if (style->most > 0)
		return style->most;
	return output->width && !style->all ? TASKS_MAX : SIZE_MAX;
}

static void run_add(struct tree *tree)
{
	const struct row_run *run = report_run(tree->report);
	struct figures figures = FIGURES_OF(tree->report, run);

	name_add(tree, STYLE_TITLE, 0, true, run->name);
	cells_add(tree, "", "", &figures);
	result_add(tree, strcmp(run->status, "running") == 0, run->exit_code, run->signal, tree->report->out_of_memory);
	last_add(tree, STYLE_BAR, run->begin_boot_ns, run->end_boot_ns, NULL);
}

int tree_fill(const struct report *report, const struct output *output, const struct report_style *style,
	      struct table *table, struct task_tree_hidden *ret_hidden)
{
	const struct report_writer writer = {
		.task = task_show,
		.tool = tool_show,
		.task_end = folded_show,
		.process = style->with_processes ? process_show : NULL,
		.by_tool = true,
	};
	struct tree tree = {
		.report = report,
		.style = style,
		.table = table,
		.unicode = output->unicode,
		.commands_last = style->with_processes && !output->width,
	};
	int error = task_tree_make(&tree.tasks, report, most_of(output, style));

	if (error == 0) {
		*ret_hidden = tree.tasks.hidden;
		run_add(&tree);
		error = report_walk(report, tree.tasks.order, tree.tasks.shown_count, &writer, &tree);
	}
	pids_free(&tree);
	task_tree_free(&tree.tasks);
	return error;
}
