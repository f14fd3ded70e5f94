/* Names of tasks, derived from what ran in them.
 *
 * A task that no rule names is named after the script it runs, or after its tools
 * in the order in which they were forked: "bwa mem + samtools sort". Glue (shells,
 * wrappers, helpers) names a task only if there is nothing else.
 */
#include "correlator/placement/task_name.h"

#include <stdio.h>

#include <utlist.h>

#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"
#include "correlator/model/tool.h"
#include "correlator/placement/classify.h"

#define NAMED_TOOLS_MAX 3
#define TOOLS_SORTED_MAX 64

/* What may name a task, best first. */
enum weight { WEIGHT_TOOL, WEIGHT_CODE, WEIGHT_HELPER, WEIGHT_SHELL, WEIGHT_GLUE, WEIGHTS };

static enum weight weigh(const struct task *task, const struct tool *tool)
{
	/* "python -c" is named after an option, because its code has no name. */
	if (tool->role == RULES_ROLE_TOOL && strstr(tool->name, " -"))
		return WEIGHT_CODE;
	if (tool->role == RULES_ROLE_TOOL || tool->role == RULES_ROLE_ORCHESTRATOR)
		return WEIGHT_TOOL;
	/* `cp a b` may be all that a shell's task does. The run's own task is named after its driver,
	 * whatever that sets up first. */
	if (tool->role == RULES_ROLE_HELPER && task != task->run->main)
		return WEIGHT_HELPER;
	return tool->role == RULES_ROLE_SHELL ? WEIGHT_SHELL : WEIGHT_GLUE;
}

static int compare_tools(const void *left, const void *right)
{
	const struct tool *a = *(struct tool *const *)left, *b = *(struct tool *const *)right;
	struct tally room;
	uint64_t a_begin = tool_tally(a, &room)->begin_boot_ns, b_begin = tool_tally(b, &room)->begin_boot_ns;

	if (a_begin != b_begin)
		return a_begin < b_begin ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Collects tools that have processes, in the order of their first fork: execs race, but a process begins with its fork. */
static size_t collect_tools(const struct task *task, enum weight weight, struct tool *tools[TOOLS_SORTED_MAX])
{
	struct tool *tool;
	struct group *group;
	struct tally room;
	size_t count = 0;

	DL_FOREACH (task->groups, group)
		DL_FOREACH (group->tools, tool)
			if (tool_tally(tool, &room)->process_count > 0 && weigh(task, tool) == weight &&
			    count < TOOLS_SORTED_MAX)
				tools[count++] = tool;
	qsort(tools, count, sizeof(*tools), compare_tools);
	return count;
}

/* Whether an earlier one of `tools` has the same name. */
static bool is_repeated(struct tool *const *tools, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(tools[i]->name, tools[index]->name) == 0)
			return true;
	return false;
}

void task_name_set(struct task *task)
{
	struct tool *tools[TOOLS_SORTED_MAX];
	char text[RULES_NAME_MAX * 2] = "";
	size_t count = 0, named = 0, length = 0;

	if (task->name_by != NAMED_BY_TOOLS)
		return;
	for (int weight = WEIGHT_TOOL; weight < WEIGHTS && count == 0; weight++)
		count = collect_tools(task, (enum weight)weight, tools);
	for (size_t i = 0; i < count; i++) {
		if (is_repeated(tools, i) || ++named > NAMED_TOOLS_MAX)
			continue;
		snprintf(text + length, sizeof(text) - length, "%s%s", named > 1 ? " + " : "", tools[i]->name);
		length = strlen(text);
	}
	if (named > NAMED_TOOLS_MAX)
		snprintf(text + length, sizeof(text) - length, " + %zu more", named - NAMED_TOOLS_MAX);
	if (task->name && strcmp(task->name, text) == 0)
		return;
	free(task->name);
	task->name = strdup(text);
}

/* ---- names from rules and scripts */

/* A rule may name the task by any process in it, since an engine may start its job through a
 * shell. A shell names it only as its root and if it runs a script; tasks with neither are named
 * after their tools. Names of hidden scripts (.command.run) are ignored. */
static void name_by(struct model *model, struct task *task, const struct process *process,
		    const struct rules_class *class)
{
	const char *name = NULL;

	if (task->name_by == NAMED_BY_RULE)
		return;
	if (class->task_name[0])
		name = class->task_name;
	else if (task->name_by == NAMED_BY_TOOLS && process->is_task_root && classify_names_script(process, class) &&
		 class->name[0] != '.')
		name = class->name;
	if (!name)
		return;
	model_set_text(model, &task->name, name);
	task->name_by = class->task_name[0] ? NAMED_BY_RULE : NAMED_BY_SCRIPT;
}

void task_name_note_image(struct model *model, struct task *task, const struct process *process,
			  const struct rules_class *class)
{
	if (task == task->run->main)
		return;
	name_by(model, task, process, class);
	if (class->task_label[0] && !task->label)
		model_set_text(model, &task->label, class->task_label);
}

/* Skips images that only forked: they have their parent's command line. */
static const struct image *image_after(const struct task *task, uint64_t begin_boot_ns)
{
	const struct image *image, *first = NULL;
	const struct group *group;
	const struct tool *tool;

	DL_FOREACH (task->groups, group)
		DL_FOREACH (group->tools, tool)
			DL_FOREACH (tool->images, image)
				if (image->process && image->began != IMAGE_FORK &&
				    image->begin_boot_ns > begin_boot_ns &&
				    (!first || image->begin_boot_ns < first->begin_boot_ns))
					first = image;
	return first;
}

void task_name_note_images(struct model *model, struct task *task)
{
	const struct image *image = image_after(task, 0);
	struct rules_class class;

	for (; image; image = image_after(task, image->begin_boot_ns)) {
		classify(model, image->process, &class);
		task_name_note_image(model, task, image->process, &class);
	}
}

void task_name_set_all(struct model *model)
{
	struct task *task;

	DL_FOREACH2 (model->dirty_tasks, task, dirty_next)
		task_name_set(task);
}
