/* Pipes: which subtrees of an orchestrator they make one.
 *
 * A sibling that reads what another writes belongs to the same task. A group knows the open
 * ends of its pipeline: what the first of its row reads and the last writes. Helpers that came
 * first were taken for the orchestrator's own, and are fetched when a group turns out to be
 * beside them. Both are found by orchestrator and pipe, since a shell may have started
 * thousands of others; of several, the one that began first.
 */
#include "correlator/internal.h"

#include <stdlib.h>
#include <string.h>

static bool same_process(const struct process_key *key, const struct process *process)
{
	return key->pid == process->key.pid && key->start_boot_ns == process->key.start_boot_ns;
}

/* ---- who uses a pipe */

static struct pipe_end *end_find(struct model *model, const struct process_key *orchestrator,
				 uint32_t inode, enum pipe_use use)
{
	const struct pipe_key key = {.orchestrator = *orchestrator, .inode = inode, .use = use};
	struct pipe_end *end;

	HASH_FIND(hh, model->pipe_ends, &key, sizeof(key), end);
	return end;
}

static struct pipe_end *end_get(struct model *model, const struct process_key *orchestrator,
				uint32_t inode, enum pipe_use use)
{
	struct pipe_end *end = end_find(model, orchestrator, inode, use);

	if (end)
		return end;
	end = model_alloc(model, sizeof(*end));
	if (!end)
		return NULL;
	end->key = (struct pipe_key){.orchestrator = *orchestrator, .inode = inode, .use = use};
	HASH_ADD(hh, model->pipe_ends, key, sizeof(end->key), end);
	return end;
}

/* From behind, as they mostly execute in the order in which they were forked. */
static void insert(struct pipe_end *end, struct pipe_user *user)
{
	struct pipe_user *before = end->users ? end->users->prev : NULL;

	while (before && before->start_boot_ns > user->start_boot_ns)
		before = before == end->users ? NULL : before->prev;
	DL_APPEND_ELEM(end->users, before, user);
}

/* NULL: there is no pipe, or no memory. */
static struct pipe_user *user_new(struct model *model, const struct process_key *orchestrator,
				  uint32_t inode, enum pipe_use use, const struct pipe_user *who)
{
	struct pipe_user *user;

	if (inode == 0 || orchestrator->pid == 0)
		return NULL;
	user = model_alloc(model, sizeof(*user));
	if (!user)
		return NULL;
	*user = *who;
	user->end = end_get(model, orchestrator, inode, use);
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

static void helper_set_pipes(struct model *model, struct process *helper)
{
	const struct process_key *orchestrator = &helper->parent->key;
	const struct pipe_user who = {.helper = helper, .start_boot_ns = helper->key.start_boot_ns};

	helper->reads = user_new(model, orchestrator, helper->stdin_pipe, PIPE_HELPER_READS, &who);
	helper->writes = user_new(model, orchestrator, helper->stdout_pipe, PIPE_HELPER_WRITES, &who);
}

static void helper_forget_pipes(struct model *model, struct process *helper)
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

/* ---- siblings that are one */

/* The first group there but `joined`. */
static struct group *first_but(struct model *model, const struct process *process, uint32_t inode,
			       enum pipe_use use, const struct group *joined)
{
	struct pipe_end *end = end_find(model, &process->parent->key, inode, use);
	struct pipe_user *user = end ? end->users : NULL;

	if (user && user->group == joined)
		user = user->next;
	return user ? user->group : NULL;
}

/* The sibling subtree that writes what we read, or reads what we write, `joined` left out. */
static struct group *group_beside(struct model *model, const struct process *process,
				  const struct placing *placing, const struct group *joined)
{
	struct group *upstream =
		first_but(model, process, placing->stdin_pipe, PIPE_GROUP_WRITES, joined);
	struct group *downstream =
		first_but(model, process, placing->stdout_pipe, PIPE_GROUP_READS, joined);

	if (!upstream || !downstream)
		return upstream ? upstream : downstream;
	return downstream->start_boot_ns < upstream->start_boot_ns ? downstream : upstream;
}

/* If we stand between two subtrees, or more, those become one. */
static struct group *join_pipeline(struct model *model, struct process *process,
				   const struct placing *placing)
{
	uint32_t input = placing->stdin_pipe, output = placing->stdout_pipe;
	struct group *group, *joined = NULL;

	while ((group = group_beside(model, process, placing, joined))) {
		bool upstream = placing->stdin_pipe && group->output_pipe == placing->stdin_pipe;
		bool downstream = placing->stdout_pipe && group->input_pipe == placing->stdout_pipe;

		if (upstream)
			input = group->input_pipe;
		if (downstream && (!upstream || !joined))
			output = group->output_pipe;
		if (!joined) {
			joined = group;
			continue;
		}
		group_set_pipes(model, group, 0, 0);
		if (group->task != joined->task)
			task_merge(model, group->task, joined->task);
	}
	if (joined) {
		group_add_stem(joined, process);
		group_set_pipes(model, joined, input, output);
	}
	return joined;
}

struct group *subtree_join(struct model *model, struct process *process,
			   const struct placing *placing, const char **ret_reason)
{
	struct group *joined = join_pipeline(model, process, placing);

	process->stdin_pipe = placing->stdin_pipe;
	process->stdout_pipe = placing->stdout_pipe;
	if (joined) {
		*ret_reason = "joined to a sibling by a pipe";
		if (joined->task != process->parent->run->main)
			task_add_root(model, joined->task, process);
		return joined;
	}
	if (verdict_opens_subtree(placing))
		return NULL;
	*ret_reason = "helper beneath the orchestrator: its own";
	helper_set_pipes(model, process);
	return process->parent->group;
}

/* ---- helpers that came first */

/* The first of them there. It may have executed something else since. */
static struct process *helper_at(struct model *model, const struct group *group,
				 const struct process *orchestrator, uint32_t inode, enum pipe_use use)
{
	struct pipe_end *end = end_find(model, &orchestrator->key, inode, use);
	struct pipe_user *user = end ? end->users : NULL;

	for (; user; user = user->next) {
		struct process *helper = user->helper;

		if (helper->group == orchestrator->group && helper->group != group && helper->image &&
		    helper->image->role == RULES_ROLE_HELPER)
			return helper;
	}
	return NULL;
}

static struct process *helper_beside(struct model *model, const struct group *group,
				     const struct process *orchestrator)
{
	struct process *upstream =
		helper_at(model, group, orchestrator, group->input_pipe, PIPE_HELPER_WRITES);
	struct process *downstream =
		helper_at(model, group, orchestrator, group->output_pipe, PIPE_HELPER_READS);

	if (!upstream || !downstream)
		return upstream ? upstream : downstream;
	return downstream->key.start_boot_ns < upstream->key.start_boot_ns ? downstream : upstream;
}

static void adopt(struct model *model, struct process *helper, struct group *group)
{
	const struct tool *before = helper->image->tool;
	struct tool *tool = group_tool(model, group, before->name, before->role);

	helper_forget_pipes(model, helper);
	if (!tool)
		return;
	process_set_group(helper, group->task->run, group);
	group_add_stem(group, helper);
	image_set_tool(model, helper->image, tool);
	helper->image->reason = "joined to a sibling by a pipe";
}

/* It may have been in a row of several, so the next is looked for at the new ends. */
void group_adopt_helpers(struct model *model, struct group *group, struct process *orchestrator)
{
	struct process *helper;

	if (!same_process(&group->orchestrator, orchestrator))
		return;
	while ((helper = helper_beside(model, group, orchestrator))) {
		bool upstream = helper->stdout_pipe && helper->stdout_pipe == group->input_pipe;
		uint32_t input = upstream ? helper->stdin_pipe : group->input_pipe;
		uint32_t output = upstream ? group->output_pipe : helper->stdout_pipe;

		adopt(model, helper, group);
		group_set_pipes(model, group, input, output);
	}
}

/* ---- after a restart */

static void process_link_pipes(struct model *model, struct process *process)
{
	const struct process *parent = process->parent;

	if (!parent || !process->group)
		return;
	if (same_process(&process->group->orchestrator, parent))
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
