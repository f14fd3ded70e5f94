/* Names of tasks, made from what ran in them.
 *
 * A task that no rule names is called after the script it runs, or after its
 * tools in the order in which they were forked: "bwa mem + samtools sort". Glue
 * (shells, wrappers, helpers) names a task only where there is nothing else.
 */
#include "correlator/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_TOOLS_MAX 3
#define TOOLS_SORTED_MAX 64

/* What names a task, best first. */
enum weight { WEIGHT_TOOL, WEIGHT_CODE, WEIGHT_HELPER, WEIGHT_SHELL, WEIGHT_GLUE, WEIGHTS };

static enum weight weigh(const struct task *task, const struct tool *tool)
{
	/* "python -c" is named after an option: the code has no name. */
	if (tool->role == RULES_ROLE_TOOL && strstr(tool->name, " -"))
		return WEIGHT_CODE;
	if (tool->role == RULES_ROLE_TOOL || tool->role == RULES_ROLE_ORCHESTRATOR)
		return WEIGHT_TOOL;
	/* `cp a b` is what a shell's task does. The run's own task is its driver's, whatever that
	 * sets up first. */
	if (tool->role == RULES_ROLE_HELPER && task != task->run->main)
		return WEIGHT_HELPER;
	return tool->role == RULES_ROLE_SHELL ? WEIGHT_SHELL : WEIGHT_GLUE;
}

static int compare_tools(const void *left, const void *right)
{
	const struct tool *a = *(struct tool *const *)left, *b = *(struct tool *const *)right;

	if (a->start_boot_ns != b->start_boot_ns)
		return a->start_boot_ns < b->start_boot_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Distinct names of the tools that have processes, in order of their first fork. */
static size_t collect_names(const struct task *task, enum weight weight, const char **names,
			    size_t *ret_more)
{
	struct tool *tools[TOOLS_SORTED_MAX], *tool;
	size_t count = 0, named = 0;
	struct group *group;

	DL_FOREACH (task->groups, group)
		DL_FOREACH (group->tools, tool)
			if (tool->tally.process_count > 0 && weigh(task, tool) == weight &&
			    count < TOOLS_SORTED_MAX)
				tools[count++] = tool;
	qsort(tools, count, sizeof(*tools), compare_tools);
	*ret_more = 0;
	for (size_t i = 0; i < count; i++) {
		bool known = false;

		for (size_t j = 0; j < named && !known; j++)
			known = strcmp(names[j], tools[i]->name) == 0;
		if (known)
			continue;
		if (named < NAMED_TOOLS_MAX)
			names[named++] = tools[i]->name;
		else
			++*ret_more;
	}
	return named;
}

void task_set_name(struct task *task)
{
	const char *names[NAMED_TOOLS_MAX];
	char text[RULES_NAME_MAX * 2] = "";
	size_t more = 0, length = 0;

	if (task->name_by != NAMED_BY_TOOLS)
		return;
	size_t count = 0;

	for (int weight = WEIGHT_TOOL; weight < WEIGHTS && count == 0; weight++)
		count = collect_names(task, (enum weight)weight, names, &more);
	for (size_t i = 0; i < count; i++) {
		int written = snprintf(text + length, sizeof(text) - length, "%s%s", i ? " + " : "", names[i]);

		if (written < 0 || length + (size_t)written >= sizeof(text))
			break;
		length += (size_t)written;
	}
	if (more)
		snprintf(text + length, sizeof(text) - length, " + %zu more", more);
	if (task->name && strcmp(task->name, text) == 0)
		return;
	free(task->name);
	task->name = strdup(text);
}
