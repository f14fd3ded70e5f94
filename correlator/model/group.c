/* See group.h. */
#include "correlator/model/group.h"

#include <utlist.h>

#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/pipe.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"
#include "correlator/model/tool.h"

/* Limit of tools in one group: a service may run scripts with ever new names for years. Beyond
 * that they are reported as one tool. */
#define GROUP_TOOLS_MAX 500
#define GROUP_TOOL_OTHERS "(others)"

static struct group *group_new(struct model *model, struct task *task, const struct process *root)
{
	struct group *group = model_alloc(model, sizeof(*group));
	struct identity identity;

	if (!group)
		return NULL;
	identity_begin(&identity, "group");
	identity_add_u64(&identity, (uint64_t)task->run->id);
	identity_add_u64(&identity, root->key.pid);
	identity_add_u64(&identity, root->key.start_boot_ns);
	group->id = identity_end(&identity);
	group->task = task;
	cgroup_limits_init(&group->limits);
	group->root_process_id = image_id(model, (uint32_t)root->key.pid, root->key.start_boot_ns, root->exec_id);
	DL_APPEND(task->groups, group);
	return group;
}

struct group *group_open(struct model *model, struct task *task, struct process *process, uint32_t input_pipe,
			 uint32_t output_pipe)
{
	struct group *group = group_new(model, task, process);

	if (!group)
		return NULL;
	if (process->parent)
		group->orchestrator = process->parent->key;
	group_add_stem(group, process);
	group_set_pipes(model, group, input_pipe, output_pipe);
	return group;
}

struct tool *group_tool(struct model *model, struct group *group, const char *name, enum rules_role role)
{
	struct tool *tool;
	int count = 0;

	DL_FOREACH (group->tools, tool) {
		if (tool->role == role && strcmp(tool->name, name) == 0)
			return tool;
		count++;
	}
	if (count < GROUP_TOOLS_MAX || strcmp(name, GROUP_TOOL_OTHERS) == 0)
		return tool_new(model, group, name, role);
	return group_tool(model, group, GROUP_TOOL_OTHERS, RULES_ROLE_TOOL);
}

void group_move(struct model *model, struct group *group, struct task *task)
{
	struct task *from = group->task;
	struct tool *tool;
	struct image *image;

	if (from == task)
		return;
	DL_DELETE(from->groups, group);
	DL_APPEND(task->groups, group);
	group->task = task;
	DL_FOREACH (group->tools, tool) {
		tool->moved = true;
		tool_set_dirty(model, tool);
		DL_FOREACH (tool->images, image)
			image_set_dirty(model, image);
	}
	task_set_dirty(model, from);
	task_set_dirty(model, task);
	/* Tasks beneath an orchestrator in this group have another parent task now. */
	struct task *other;

	DL_FOREACH (task->run->tasks, other)
		if (other->orchestrator_group == group)
			task_set_dirty(model, other);
}

void group_free(struct model *model, struct group *group)
{
	while (group->tools)
		tool_free(model, group->tools);
	group_set_pipes(model, group, 0, 0);
	DL_DELETE(group->task->groups, group);
	free(group);
}
