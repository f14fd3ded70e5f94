/* See pipe.h. */
#include "correlator/model/pipe.h"

#include <utlist.h>

#include "correlator/model/group.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"

struct pipe_end *pipe_find(struct model *model, const struct process_key *orchestrator, uint32_t inode,
			   enum pipe_use use)
{
	const struct pipe_key key = {.orchestrator = *orchestrator, .inode = inode, .use = use};
	struct pipe_end *end;

	HASH_FIND(hh, model->pipe_ends, &key, sizeof(key), end);
	return end;
}

static struct pipe_end *pipe_get(struct model *model, const struct process_key *orchestrator, uint32_t inode,
				 enum pipe_use use)
{
	struct pipe_end *end = pipe_find(model, orchestrator, inode, use);

	if (end)
		return end;
	end = model_alloc(model, sizeof(*end));
	if (!end)
		return NULL;
	end->key = (struct pipe_key){.orchestrator = *orchestrator, .inode = inode, .use = use};
	HASH_ADD(hh, model->pipe_ends, key, sizeof(end->key), end);
	return end;
}

/* Searches from the end: they mostly execute in the order of their forks. */
static void insert(struct pipe_end *end, struct pipe_user *user)
{
	struct pipe_user *before = end->users ? end->users->prev : NULL;

	while (before && before->start_boot_ns > user->start_boot_ns)
		before = before == end->users ? NULL : before->prev;
	DL_APPEND_ELEM(end->users, before, user);
}

/* Returns NULL if there is no pipe or no memory. */
static struct pipe_user *user_new(struct model *model, const struct process_key *orchestrator, uint32_t inode,
				  enum pipe_use use, const struct pipe_user *who)
{
	struct pipe_user *user;

	if (inode == 0 || orchestrator->pid == 0)
		return NULL;
	user = model_alloc(model, sizeof(*user));
	if (!user)
		return NULL;
	*user = *who;
	user->end = pipe_get(model, orchestrator, inode, use);
	if (!user->end) {
		free(user);
		return NULL;
	}
	insert(user->end, user);
	return user;
}

static void user_free(struct model *model, struct pipe_user **user)
{
	struct pipe_end *end;

	if (!*user)
		return;
	end = (*user)->end;
	DL_DELETE(end->users, *user);
	free(*user);
	*user = NULL;
	if (end->users)
		return;
	HASH_DELETE(hh, model->pipe_ends, end);
	free(end);
}

void group_set_pipes(struct model *model, struct group *group, uint32_t input, uint32_t output)
{
	const struct pipe_user who = {.group = group, .start_boot_ns = group->start_boot_ns};

	user_free(model, &group->reads);
	user_free(model, &group->writes);
	group->input_pipe = input;
	group->output_pipe = output;
	group->reads = user_new(model, &group->orchestrator, input, PIPE_GROUP_READS, &who);
	group->writes = user_new(model, &group->orchestrator, output, PIPE_GROUP_WRITES, &who);
}

void group_add_stem(struct group *group, struct process *process)
{
	uint64_t start_boot_ns = process->key.start_boot_ns;

	if (group->start_boot_ns == 0 || start_boot_ns < group->start_boot_ns)
		group->start_boot_ns = start_boot_ns;
	process->is_stem = true;
	group->stem_count++;
}

void helper_set_pipes(struct model *model, struct process *helper)
{
	const struct process_key *orchestrator = &helper->parent->key;
	const struct pipe_user who = {.helper = helper, .start_boot_ns = helper->key.start_boot_ns};

	helper->reads = user_new(model, orchestrator, helper->stdin_pipe, PIPE_HELPER_READS, &who);
	helper->writes = user_new(model, orchestrator, helper->stdout_pipe, PIPE_HELPER_WRITES, &who);
}

void helper_forget_pipes(struct model *model, struct process *helper)
{
	user_free(model, &helper->reads);
	user_free(model, &helper->writes);
}

void process_leave_pipes(struct model *model, struct process *process)
{
	helper_forget_pipes(model, process);
	if (process->is_stem && --process->group->stem_count == 0)
		group_set_pipes(model, process->group, 0, 0);
	process->is_stem = false;
}

static void process_link_pipes(struct model *model, struct process *process)
{
	const struct process *parent = process->parent;

	if (!parent || !process->group)
		return;
	if (process_key_is(&process->group->orchestrator, &parent->key))
		group_add_stem(process->group, process);
	else if (process->group == parent->group)
		helper_set_pipes(model, process);
}

void pipes_link(struct model *model)
{
	struct process *process;
	struct group *group;
	struct task *task;
	struct run *run;

	for (process = model->processes; process; process = process->hh.next)
		process_link_pipes(model, process);
	DL_FOREACH (model->runs, run)
		DL_FOREACH (run->tasks, task)
			DL_FOREACH (task->groups, group)
				if (group->stem_count > 0)
					group_set_pipes(model, group, group->input_pipe, group->output_pipe);
				else
					group_set_pipes(model, group, 0, 0);
}
