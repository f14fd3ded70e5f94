/* Where a process belongs: which run, which task, which group of tools.
 *
 * A process is placed when it is known to matter: at its first exec, or when
 * something beneath it executes. Until then it is a fork of its parent's program,
 * and if it stays one (a worker, a subshell of builtins) it is a part of its
 * parent's tool.
 *
 * Here is the order of the questions; the answers are in run.c (does it begin a run?),
 * task.c (beneath an engine) and spine.c (without one).
 */
#include "correlator/internal.h"

#include <string.h>

#include "common/identity.h"
#include "correlator/container.h"

/* ---- containers that a daemon started for somebody */

/* What the command line of who started it, or watches over it, says of a container. */
static void container_set_label(struct model *model, struct container *container, const struct process *teller)
{
	const struct command *command = teller->command;
	struct container_label label;

	if (!command || model->arguments == REDACT_PROGRAM_ONLY ||
	    !container_label_parse(command->program, command->arguments, command->arguments_size, &label) ||
	    (label.runtime_id[0] && strcmp(label.runtime_id, container->runtime_id) != 0))
		return;
	if (label.name[0] && !container->name)
		model_set_text(model, &container->name, label.name);
	if (label.image[0] && !container->image)
		model_set_text(model, &container->image, label.image);
	container->dirty = true;
}

void container_note_first(struct model *model, struct container *container, const struct process *process)
{
	struct process *above;

	if (container->labelled)
		return;
	container->labelled = container->dirty = true;
	for (above = process->parent; above; above = above->parent) {
		if (above->image && above->image->container == container)
			continue;
		container_set_label(model, container, above);
		if (above->image && above->image->role == RULES_ROLE_CLIENT && !above->has_container) {
			above->has_container = true; /* it waits for this one, and for no other */
			above->checkpointed = false;
		}
	}
}

/* Another process of the same container, which has its place; not the runtime on its way in. */
static struct process *companion(struct model *model, const struct container *container)
{
	struct process *process;

	if (container->living_count == 0)
		return NULL; /* as when it begins: only who enters it later has to search */
	for (process = model->processes; process; process = process->hh.next)
		if (!process->ended && process->image && process->image->container == container &&
		    process->run != model->system && process->image->role != RULES_ROLE_WRAPPER)
			return process;
	return NULL;
}

/* The client (`docker run`) that waits for this container: one in the container's
 * working directory, as engines start them, else the only one there is. Where two
 * could be meant, neither is. */
static struct process *waiting_client(struct model *model, const struct process *process)
{
	struct process *candidate, *only = NULL, *nearest = NULL;
	const struct image *image;
	int count = 0;

	DL_FOREACH2 (model->clients, image, client_next) {
		candidate = image->process;
		if (!candidate || candidate->ended || candidate->has_container ||
		    candidate->place != PLACE_FULL)
			continue;
		only = candidate;
		count++;
		if (!nearest && process->command && candidate->command &&
		    process->command->working_directory[1] &&
		    strcmp(process->command->working_directory,
			   candidate->command->working_directory) == 0)
			nearest = candidate;
	}
	if (nearest)
		return nearest;
	return count == 1 ? only : NULL;
}

/* The origin (a shim, a daemon) that keeps the container which `process` is the first of its
 * line in. Between the two stands the runtime that made it. */
static struct process *keeper_of(const struct process *process, const struct container *container)
{
	struct process *above;

	for (above = process->parent; above && above->image; above = above->parent) {
		if (above->image->container == container)
			return NULL;
		if (above->image->role == RULES_ROLE_ORIGIN)
			return above;
		if (above->image->role != RULES_ROLE_WRAPPER)
			return NULL;
	}
	return NULL;
}

/* Such a container belongs to whoever asked for it. */
static struct group *join_client(struct model *model, struct process *process,
				 struct container *container, const char **ret_reason)
{
	struct process *found = companion(model, container);

	if (found) {
		*ret_reason = "another process of its container";
	} else {
		found = waiting_client(model, process);
		if (!found)
			return NULL;
		found->has_container = true;
		container_set_label(model, container, found);
		found->checkpointed = false;
		*ret_reason = "container that its client waits for";
	}
	process->path_rank = found->path_rank;
	return found->group;
}

static struct group *place_beneath(struct model *model, struct process *process,
				   const struct placing *placing, const char **ret_reason)
{
	struct process *parent = process->parent;
	const struct image *image = parent->image;
	bool engine = image->role == RULES_ROLE_ORCHESTRATOR && image->rank > RULES_RANK_NONE &&
		      image->rank >= parent->path_rank;

	if (!placing->verdict && image->role == RULES_ROLE_ORCHESTRATOR) {
		/* A worker that the engine forked is still the engine. */
		process->path_rank = parent->path_rank;
		process->spine_index = -1;
		*ret_reason = "fork of its orchestrator";
		return parent->group;
	}
	process->path_rank = image->rank > parent->path_rank ? image->rank : parent->path_rank;
	if (engine) {
		struct group *joined = subtree_join(model, process, placing, ret_reason);

		if (joined)
			return joined;
		*ret_reason = "direct subtree of an engine";
		return task_open(model, process, placing, "engine", *ret_reason);
	}
	if (parent->path_rank > RULES_RANK_NONE) {
		*ret_reason = "inside its parent's task";
		return parent->group;
	}
	return spine_place(model, process, placing, ret_reason);
}

/* A batch step is a task, whatever runs in it, unless an engine does. */
static struct group *place_batch_step(struct model *model, struct run *run, struct process *process,
				      const struct placing *placing, const struct rules_verdict *origin)
{
	struct identity identity;
	struct task *task;

	identity_begin(&identity, "step");
	identity_add_bytes(&identity, origin->task_name, strlen(origin->task_name));
	int64_t id_part = identity_end(&identity);
	struct task *wanted = task_new(model, run, "batch", "step of a batch job", id_part);

	if (!wanted)
		return NULL;
	process->path_rank = RULES_RANK_PARALLEL;
	DL_FOREACH (run->tasks, task)
		if (task->id == wanted->id && task != wanted) {
			DL_DELETE(run->tasks, wanted);
			free(wanted);
			wanted = task;
			break;
		}
	if (!wanted->name) {
		run->task_count++;
		model_set_text(model, &wanted->name, origin->task_name);
		wanted->name_by = NAMED_BY_RULE;
	}
	task_add_root(model, wanted, process);
	return group_open(model, wanted, process, placing);
}

/* A process that begins a run, or joins one as a further root. */
static struct group *place_root(struct model *model, struct run *run, struct process *process,
				const struct placing *placing, const struct rules_verdict *origin)
{
	if (run->root_process_id == ROW_NULL)
		run_set_root(model, run, process);
	process->is_run_root = true;
	run->outcome.root_count++;
	run->outcome.living_roots += !process->ended;
	run->main->outcome = run->outcome;
	if (strcmp(run->kind, "batch") == 0 && origin->task_name[0])
		return place_batch_step(model, run, process, placing, origin);
	if (run->spine_length == 0)
		return spine_push(model, run, process, placing);
	return run->spine_group[0];
}

static struct group *place_lost(struct model *model, struct process *process,
				const struct placing *placing, const char **ret_reason)
{
	bool kernel = process->flags & RECORD_KERNEL_THREAD;
	bool origin = placing->verdict && (placing->verdict->role == RULES_ROLE_ORIGIN ||
					   placing->verdict->interactive);
	struct rules_verdict none = {.role = RULES_ROLE_TOOL};
	struct run *run;

	if (kernel || origin || process->key.pid <= 2) {
		*ret_reason = kernel ? "kernel thread" : "origin: the host's own";
		run = run_of_system(model);
		if (run && run->spine_length == 0)
			return spine_push(model, run, process, placing);
		return run ? run->spine_group[0] : NULL;
	}
	*ret_reason = "its parent is not known";
	run = run_new(model, process, "found", 0);
	if (!run)
		return NULL;
	run->reason = *ret_reason;
	return place_root(model, run, process, placing, &none);
}

/* A client that waits for an interactive shell in a container is how somebody got there. */
static void client_becomes_session(struct model *model, const struct process *process)
{
	struct process *client = waiting_client(model, process);

	if (!client)
		return;
	client->has_container = true;
	client->checkpointed = false;
	if (run_is_at_front(client->run, client) && run_may_be_session(client))
		run_become_session(client->run);
}

/* An interactive shell is work nowhere: its commands are. Where only wrappers led to it (su, sudo),
 * the run is a session; else the shell begins one. NULL: it has its place as all have. */
static struct group *place_interactive(struct model *model, struct process *process,
				       const struct placing *placing, const char **ret_reason)
{
	const struct rules_verdict none = {.role = RULES_ROLE_TOOL};
	struct process *parent = process->parent;
	struct run *run;

	if (!run_may_be_session(parent))
		return NULL;
	if (run_is_at_front(parent->run, process)) {
		run_become_session(parent->run);
		return NULL;
	}
	run = run_begin_session(model, process);
	*ret_reason = run ? run->reason : "";
	return run ? place_root(model, run, process, placing, &none) : NULL;
}

static struct group *choose_group(struct model *model, struct process *process,
				  const struct placing *placing, const char **ret_reason)
{
	bool interactive = placing->verdict && placing->verdict->interactive;
	struct process *parent = process->parent, *keeper, *origin;
	struct container *container = container_of_process(model, process);
	enum rules_boundary boundary;
	struct rules_verdict verdict;

	if (!parent)
		return place_lost(model, process, placing, ret_reason);
	if (!parent->group)
		return NULL;
	keeper = container ? keeper_of(process, container) : NULL;
	struct group *joined = NULL;

	if (keeper && interactive)
		client_becomes_session(model, process);
	else if (keeper)
		joined = join_client(model, process, container, ret_reason);
	else if (interactive)
		joined = place_interactive(model, process, placing, ret_reason);
	if (joined)
		return joined;
	origin = keeper && keeper->image->boundary == RULES_BOUNDARY_CONTAINER ? keeper : parent;
	if (run_begins_beneath(model, process, origin, placing, &boundary)) {
		struct run *run = run_begin(model, process, origin, placing, boundary, &verdict);

		*ret_reason = run ? run->reason : "";
		return run ? place_root(model, run, process, placing, &verdict) : NULL;
	}
	if (parent->run == model->system ||
	    (!placing->verdict && parent->image->role == RULES_ROLE_ORIGIN)) {
		*ret_reason = "beneath the host's own";
		return parent->group;
	}
	return place_beneath(model, process, placing, ret_reason);
}

/* The tool of an image in `group`: its own, or for a component its parent's. */
static struct tool *choose_tool(struct model *model, struct process *process, struct group *group,
				const struct rules_verdict *verdict)
{
	const struct process *parent = process->parent;

	if (verdict->role == RULES_ROLE_COMPONENT && parent && parent->image && parent->group == group)
		return parent->image->tool;
	return group_tool(model, group, verdict->name, verdict->role);
}

/* Its parent has its place. */
static void place_one(struct model *model, struct process *process, const struct placing *placing)
{
	const char *reason = "";
	struct rules_verdict inherited;
	const struct rules_verdict *verdict = placing->verdict;

	if (model->out_of_memory)
		return;
	struct group *group = choose_group(model, process, placing, &reason);

	if (!group)
		return;
	if (!verdict) {
		classify_inherited(process, &inherited);
		verdict = &inherited;
	}
	process->place = PLACE_FULL;
	process_set_group(process, group->task->run, group);
	if (process->parent && process->parent->image && process->parent_image_id == ROW_NULL)
		process->parent_image_id = process->parent->image->id;
	else if (process->parent && process->parent->image &&
		 process->parent->first_exec_id > process->parent_exec_id)
		/* It was forked before its parent's first exec, which has no row of its own. */
		process->parent_image_id = image_id(model, (uint32_t)process->parent->key.pid,
						    process->parent->key.start_boot_ns,
						    process->parent->first_exec_id);
	struct tool *tool = choose_tool(model, process, group, verdict);
	bool forked = !placing->verdict;

	if (!tool)
		return;
	if (process->image && forked) {
		/* It was a part of its parent's program until now. */
		image_set_tool(model, process->image, tool);
		process->image->reason = reason;
	} else {
		image_new(model, process,
			  process->found ? IMAGE_FOUND
			  : forked       ? IMAGE_FORK
					 : IMAGE_EXEC,
			  process->found || forked ? process->fork_boot_ns : placing->boot_ns, verdict, tool,
			  reason);
	}
	if (process->parent)
		group_adopt_helpers(model, group, process->parent);
	if (placing->verdict)
		task_note_image(model, process->group->task, process, placing->verdict);
	run_note_image(model, process->run, process, verdict,
		       process->parent && process->parent->image &&
			       process->parent->image->role == RULES_ROLE_WRAPPER);
}

/* Whoever leads to `process` and is placed less than `place`, the topmost first, each with the
 * next in `below`. No recursion: how deep processes fork is for others to choose. */
static struct process *line_above(struct process *process, enum process_place place)
{
	process->below = NULL;
	while (process->parent && process->parent->place < place) {
		process->parent->below = process;
		process = process->parent;
	}
	return process;
}

void place_full(struct model *model, struct process *process, const struct placing *placing)
{
	struct process *above = line_above(process, PLACE_FULL);

	for (; above != process; above = above->below)
		place_one(model, above,
			  &(struct placing){.boot_ns = above->fork_boot_ns,
					    .cgroup_id = placing->cgroup_id,
					    .pgid = placing->pgid,
					    .stdin_pipe = placing->stdin_pipe,
					    .stdout_pipe = placing->stdout_pipe});
	place_one(model, process, placing);
}

void place_exec(struct model *model, struct process *process, const struct placing *placing)
{
	if (process->place != PLACE_FULL) {
		place_full(model, process, placing);
		return;
	}
	struct tool *tool = choose_tool(model, process, process->group, placing->verdict);
	bool behind_wrapper = process->image && process->image->role == RULES_ROLE_WRAPPER;

	if (!tool)
		return;
	if (placing->verdict->interactive && run_may_be_session(process) &&
	    run_is_at_front(process->run, process))
		run_become_session(process->run);
	image_new(model, process, IMAGE_EXEC, placing->boot_ns, placing->verdict, tool,
		  "another image of its process");
	task_note_image(model, process->group->task, process, placing->verdict);
	if (process->is_task_root)
		retry_note_root(model, process->group->task, process, placing->verdict->role);
	run_note_image(model, process->run, process, placing->verdict, behind_wrapper);
}

static void place_part_one(struct model *model, struct process *process)
{
	struct process *parent = process->parent;
	struct rules_verdict verdict;

	if (!parent || !parent->group || !parent->image) {
		place_full(model, process,
			   &(struct placing){.boot_ns = process->fork_boot_ns,
					     .cgroup_id = process->cgroup_id,
					     .pgid = process->pgid});
		return;
	}
	classify_inherited(process, &verdict);
	process->place = PLACE_PART;
	process_set_group(process, parent->run, parent->group);
	process->path_rank = parent->path_rank;
	image_new(model, process, process->found ? IMAGE_FOUND : IMAGE_FORK, process->fork_boot_ns, &verdict,
		  parent->image->tool, "fork of its parent's program");
}

void place_part(struct model *model, struct process *process)
{
	if (process->place != PLACE_NONE)
		return;
	for (struct process *next, *above = line_above(process, PLACE_PART); above; above = next) {
		next = above->below; /* which placing it in full would use too */
		place_part_one(model, above);
	}
}
