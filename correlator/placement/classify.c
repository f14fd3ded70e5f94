/* See classify.h. */
#include "correlator/placement/classify.h"

#include <stdio.h>

#include "correlator/model/cgroup.h"
#include "correlator/model/command.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/tool.h"

#define SAMPLE_ANCESTORS_MAX 3 /* ancestors of a script whose arguments are searched for the sample */

/* Links the subjects of the process and its ancestors; a shared command is linked once. */
static void link_subjects(const struct process *process)
{
	const struct process *above = process->parent;
	struct command *command = process->command;

	for (int depth = 0; depth < RULES_ANCESTORS_MAX && above; depth++, above = above->parent) {
		if (!above->command || above->command == command)
			continue;
		command->subject.parent = &above->command->subject;
		command = above->command;
	}
	command->subject.parent = NULL;
}

/* Some steps write a script for each sample, SAMPLE.plot.r, and run it. The sample, which an ancestor was told
 * by an option (-o SAMPLE), is removed from the tool's name: *.plot.r. */
static void strip_sample(const struct process *process, struct rules_class *class)
{
	const struct process *above = process->parent;
	char *name = class->name;

	if (class->role != RULES_ROLE_TOOL || !process->command || strcmp(name, process->command->program) == 0)
		return;
	for (int depth = 0; depth < SAMPLE_ANCESTORS_MAX && above && above->command && above->run != NULL;
	     depth++, above = above->parent)
		for (size_t i = 2; i < above->command->subject.argc; i++) {
			const char *option = above->command->subject.argv[i - 1];
			const char *sample = command_base_name(above->command->subject.argv[i]);
			size_t size = strlen(sample);

			if (option[0] == '-' && size > 0 && strncmp(name, sample, size) == 0 && name[size] == '.' &&
			    strchr(name + size + 1, '.')) {
				name[0] = '*';
				memmove(name + 1, name + size, strlen(name + size) + 1);
				return;
			}
		}
}

void classify(struct model *model, struct process *process, struct rules_class *ret_class)
{
	const struct cgroup *cgroup = cgroup_find(model, process->cgroup_id);
	struct latest_command *latest = &model->latest_command;

	if (process->command != latest->command || process->parent != latest->parent || cgroup != latest->cgroup) {
		command_forget_latest(latest);
		link_subjects(process);
		process->command->subject.cgroup = cgroup ? cgroup->path : "";
		rules_classify(model->options.rules, &process->command->subject, &latest->class);
		process->command->subject.cgroup = "";
		latest->command = command_ref(process->command);
		latest->parent = process->parent;
		latest->cgroup = cgroup;
	}
	*ret_class = latest->class;
	if (process->key.pid == 1 && ret_class->role != RULES_ROLE_ORIGIN) {
		ret_class->role = RULES_ROLE_ORIGIN;
		ret_class->boundary = RULES_BOUNDARY_CHILD;
	}
	strip_sample(process, ret_class);
}

/* A child that only forked is classified as its parent: a worker forked by an engine
 * still counts as the engine. */
void classify_inherited(const struct process *process, struct rules_class *ret)
{
	const struct image *image = process->parent ? process->parent->image : NULL;
	const char *name = process->command ? process->command->program : "unknown";

	memset(ret, 0, sizeof(*ret));
	ret->role = RULES_ROLE_TOOL;
	if (image) {
		ret->role = image->role;
		ret->rank = image->rank;
		ret->rule = image->rule;
		ret->nested = image->nested;
		ret->boundary = image->boundary;
		name = image->tool->name;
	}
	snprintf(ret->name, sizeof(ret->name), "%s", name);
}

bool classify_names_script(const struct process *process, const struct rules_class *class)
{
	size_t length = process->command ? strlen(process->command->program) : 0;

	return class->role == RULES_ROLE_SHELL && length > 0 &&
	       (strncmp(class->name, process->command->program, length) != 0 || !strchr(" ", class->name[length]));
}
