/* Where a process belongs: which run, which task, which group of tools.
 *
 * A process is placed once it is known to matter: at its first exec, or when one of
 * its descendants executes something. Until then it is a fork of its parent's
 * program, and if it remains one (a worker, a subshell that runs only builtins) it
 * is part of its parent's tool.
 *
 * This file determines the order of the decisions; they are made in origin.c (does it begin
 * a run?), subtree.c (beneath an engine) and spine.c (without an engine).
 */
#include "correlator/placement/place.h"

#include <utlist.h>

#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/container_member.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/tool.h"
#include "correlator/model/tree.h"
#include "correlator/placement/classify.h"
#include "correlator/placement/client.h"
#include "correlator/placement/origin.h"
#include "correlator/placement/run_name.h"
#include "correlator/placement/spine.h"
#include "correlator/placement/subtree.h"
#include "correlator/placement/task_name.h"

/* ---- containers that a daemon started for a client */

/* Returns another placed process of the same container, other than its runtime, or NULL. */
static struct process *companion(struct model *model, const struct container *container)
{
	struct process *process;

	if (container->living_count == 0)
		return NULL; /* the container is new: only processes that enter it later search */
	for (process = model->processes; process; process = process->hh.next)
		if (!process->ended && process->image && process->image->container == container &&
		    process->run != model->system && process->image->role != RULES_ROLE_WRAPPER)
			return process;
	return NULL;
}

/* Returns the origin (a shim, a daemon) that keeps the container, if no ancestor of `process` below
 * it is in the container. Only the runtime that created the container may stand between the two. With the keeper's
 * mount namespace, `process` is still that runtime, on its way into the container. */
static struct process *keeper_of(const struct process *process, const struct container *container)
{
	struct process *above = process->parent;

	while (above && above->image && above->image->role == RULES_ROLE_WRAPPER &&
	       above->image->container != container)
		above = above->parent;
	if (!above || !above->image || above->image->role != RULES_ROLE_ORIGIN || above->image->container == container)
		return NULL;
	return !above->mount_namespace || process->mount_namespace != above->mount_namespace ? above : NULL;
}

/* Places a process of such a container in the group of the client that asked for it, otherwise with the
 * container's other processes. An interactive shell only turns the client's run into a session. */
static struct placement join_client(struct model *model, struct process *process, const struct process *keeper,
				    struct container *container, bool interactive)
{
	struct process *other = companion(model, container);
	struct process *client = client_take(model, process, keeper, container, other);
	const struct process *joined = client ? client : other;

	if (client && interactive)
		origin_become_session(model, client->run, client);
	if (interactive || !joined)
		return (struct placement){NULL};
	if (client && !other)
		container_set_label(model, container, client);
	process->path_rank = joined->path_rank;
	return (struct placement){joined->group, client ? REASON_CLIENT : REASON_COMPANION};
}

static struct placement place_beneath(struct model *model, struct process *process, const struct placing *placing)
{
	struct process *parent = process->parent;
	const struct image *image = parent->image;
	bool engine = image->role == RULES_ROLE_ORCHESTRATOR && image->rank >= parent->path_rank;

	if (!placing->class && image->role == RULES_ROLE_ORCHESTRATOR) {
		/* A worker forked by the engine still counts as the engine. */
		process->path_rank = parent->path_rank;
		return (struct placement){parent->group, REASON_ENGINE_FORK};
	}
	process->path_rank = image->rank > parent->path_rank ? image->rank : parent->path_rank;
	if (engine) {
		struct placement joined = subtree_join(model, process, placing);

		return joined.group ? joined : subtree_open(model, process, TASK_ENGINE, REASON_ENGINE);
	}
	if (parent->path_rank > RULES_RANK_NONE)
		return (struct placement){parent->group, REASON_INSIDE};
	return spine_place(model, process, placing);
}

/* A batch step is one task, whatever runs in it, unless an engine runs in it. */
static struct group *place_batch_step(struct model *model, struct run *run, struct process *process, const char *name)
{
	struct identity identity;
	struct task *task;

	identity_begin(&identity, "step");
	identity_add_bytes(&identity, name, strlen(name));
	int64_t id_part = identity_end(&identity), id = task_id(run, id_part);

	DL_SEARCH_SCALAR(run->tasks, task, id, id);
	if (!task) {
		task = task_new(model, run, TASK_BATCH, REASON_STEP, id_part);
		if (!task)
			return NULL;
		run->task_count++;
		model_set_text(model, &task->name, name);
		task->name_by = NAMED_BY_RULE;
	}
	process->path_rank = RULES_RANK_PARALLEL;
	task_add_root(model, task, process);
	return group_open(model, task, process);
}

static struct group *outermost_group(struct model *model, struct run *run, struct process *process)
{
	return run->main->groups ? run->main->groups : spine_push(model, run, process);
}

/* Places a process that begins a run or joins one as a further root. `step`: of a batch job, "": none. */
static struct placement place_root(struct model *model, struct run *run, struct process *process, const char *step)
{
	bool is_step = run->kind == RUN_BATCH && step[0];

	/* A unit's or job's steps that root executes (ExecStartPre=+, a prolog) come before its user's. */
	bool is_after_roots =
		run->user_id == 0 && process->uid != 0 && (run->kind == RUN_SERVICE || run->kind == RUN_BATCH);

	if (run->main->root_process_id == ROW_NULL || is_after_roots)
		run_set_root(model, run, process);
	process->is_run_root = true;
	outcome_add_root(&run->main->outcome, process->ended);
	return (struct placement){is_step ? place_batch_step(model, run, process, step)
					  : outermost_group(model, run, process),
				  run->reason};
}

static struct placement place_without_parent(struct model *model, struct process *process,
					     const struct placing *placing)
{
	bool kernel = process->flags & RECORD_KERNEL_THREAD, first = process->key.pid <= 2;
	bool origin = placing->class && (placing->class->role == RULES_ROLE_ORIGIN || placing->class->interactive);
	bool is_container = container_of_process(model, process) != NULL;
	struct run *run = NULL;

	if (origin && !first)
		run = origin_begin_unlisted(model, process, is_container, placing->class);
	else if (!kernel && !first)
		run = origin_begin_own(model, process, RUN_FOUND, REASON_NO_PARENT);
	if (run)
		return place_root(model, run, process, "");
	run = run_of_system(model);
	return (struct placement){run ? outermost_group(model, run, process) : NULL,
				  kernel ? REASON_KERNEL : REASON_ORIGIN};
}

static struct placement find_or_open_group(struct model *model, struct process *process, const struct placing *placing)
{
	bool interactive = placing->class && placing->class->interactive;
	struct process *parent = process->parent, *keeper, *origin;
	struct container *container = container_of_process(model, process);
	struct rules_class class;

	if (!parent)
		return place_without_parent(model, process, placing);
	if (!parent->group)
		return (struct placement){NULL};
	keeper = container ? keeper_of(process, container) : NULL;
	struct placement joined = {NULL};
	struct run *begun = NULL;

	class.task_name[0] = '\0';
	if (keeper)
		joined = join_client(model, process, keeper, container, interactive);
	else if (interactive)
		begun = origin_begin_session(model, process);
	if (joined.group)
		return joined;
	if (!begun && placing->class && !keeper)
		begun = origin_begin_for_user(model, process, placing->class);
	origin = keeper && keeper->image->boundary == RULES_BOUNDARY_CONTAINER ? keeper : parent;
	if (!begun)
		begun = origin_begin_run(model, process, origin, placing, &class);
	bool of_host = parent->run == model->system || (!placing->class && parent->image->role == RULES_ROLE_ORIGIN);

	if (!begun && of_host && placing->class)
		begun = origin_begin_unlisted(model, process, keeper != NULL, placing->class);
	if (begun)
		return place_root(model, begun, process, class.task_name);
	return of_host ? (struct placement){parent->group, REASON_HOST} : place_beneath(model, process, placing);
}

/* Returns the tool of an image in `group`: its own, or its parent's for a component. */
static struct tool *find_tool(struct model *model, struct process *process, struct group *group,
			      const struct rules_class *class)
{
	const struct process *parent = process->parent;

	if (class->role == RULES_ROLE_COMPONENT && parent && parent->image && parent->group == group)
		return parent->image->tool;
	return group_tool(model, group, class->name, class->role);
}

static void begin_image(struct model *model, struct process *process, enum image_began began, uint64_t boot_ns,
			const struct rules_class *class, struct tool *tool, enum reason reason)
{
	struct container *container = container_of_process(model, process);
	struct image *image = image_new(model, process, container, began, boot_ns, class, tool, reason);

	if (image)
		container_note_image(model, image);
}

/* Places `process`, whose parent is already placed. */
static void place_one(struct model *model, struct process *process, const struct placing *placing)
{
	struct rules_class inherited;
	const struct rules_class *class = placing->class;

	if (model->out_of_memory)
		return;
	const struct placement to = find_or_open_group(model, process, placing);

	if (!to.group)
		return;
	if (!class) {
		classify_inherited(process, &inherited);
		class = &inherited;
	}
	process->place = PLACE_FULL;
	process_set_group(model, process, to.group->task->run, to.group);
	const struct process *parent = process->parent;
	const struct image *above = parent ? parent->image : NULL;

	if (above && process->parent_image_id == ROW_NULL)
		process->parent_image_id = above->id;
	else if (above && parent->first_exec_id > process->parent_exec_id)
		/* It was forked before its parent's first exec, and the parent has no row for that time. */
		process->parent_image_id = image_id(model, &parent->key, parent->first_exec_id);
	struct tool *tool = find_tool(model, process, to.group, class);
	bool forked = !placing->class;

	if (!tool)
		return;
	if (process->image && forked) {
		/* Until now it was part of its parent's program. */
		image_set_tool(model, process->image, tool);
		process->image->reason = to.reason;
	} else {
		begin_image(model, process,
			    placing->is_found ? IMAGE_FOUND
			    : forked          ? IMAGE_FORK
					      : IMAGE_EXEC,
			    placing->boot_ns, class, tool, to.reason);
	}
	subtree_link(model, process);
	if (placing->class)
		task_name_note_image(model, process->group->task, process, placing->class);
	run_name_note_image(model, process->run, process, class, above && above->role == RULES_ROLE_WRAPPER);
}

/* Returns the topmost of the ancestors and the process itself that have less than `place`; each leads to the next by
 * `unplaced_below`. No recursion, because the depth of forks is not under our control. */
static struct process *topmost_below(struct process *process, enum process_place place)
{
	for (; process->parent && process->parent->place < place; process = process->parent)
		process->parent->unplaced_below = process;
	return process;
}

/* Returns the class of the program that a process without a place has executed while it awaited its user; NULL for a
 * fork of its parent's program. */
static const struct rules_class *class_of_awaiting(struct model *model, struct process *process,
						   struct rules_class *class)
{
	if (process->place != PLACE_NONE || process->exec_id == process->parent_exec_id || !process->command)
		return NULL;
	classify(model, process, class);
	return origin_awaits_user(process, class) ? class : NULL;
}

void place_full(struct model *model, struct process *process, const struct placing *placing)
{
	struct process *above = topmost_below(process, PLACE_FULL);
	struct rules_class class;

	for (; above != process; above = above->unplaced_below)
		place_one(model, above,
			  &(struct placing){.class = class_of_awaiting(model, above, &class),
					    .boot_ns = above->fork_boot_ns,
					    .context = placing->context});
	place_one(model, process, placing);
}

void place_exec(struct model *model, struct process *process, const struct placing *placing)
{
	if (process->place != PLACE_FULL) {
		bool awaits_user = process->place == PLACE_NONE && origin_awaits_user(process, placing->class);

		if (!awaits_user && !origin_is_step(process, placing))
			place_full(model, process, placing);
		return;
	}
	struct tool *tool = find_tool(model, process, process->group, placing->class);
	bool behind_wrapper = process->image && process->image->role == RULES_ROLE_WRAPPER;

	if (!tool)
		return;
	if (placing->class->interactive)
		origin_become_session(model, process->run, process);
	begin_image(model, process, IMAGE_EXEC, placing->boot_ns, placing->class, tool, REASON_EXEC);
	task_name_note_image(model, process->group->task, process, placing->class);
	run_name_note_image(model, process->run, process, placing->class, behind_wrapper);
}

static void place_part_beneath(struct model *model, struct process *process)
{
	struct process *parent = process->parent;
	struct rules_class class;
	const struct rules_class *own = class_of_awaiting(model, process, &class);

	if (own || !parent || !parent->group || !parent->image) {
		const struct record_context context = {.cgroup_id = process->cgroup_id, .pgid = process->pgid};

		place_full(model, process,
			   &(struct placing){.class = own, .boot_ns = process->fork_boot_ns, .context = &context});
		return;
	}
	classify_inherited(process, &class);
	process->place = PLACE_PART;
	process_set_group(model, process, parent->run, parent->group);
	process->path_rank = parent->path_rank;
	begin_image(model, process, IMAGE_FORK, process->fork_boot_ns, &class, parent->image->tool, REASON_FORK);
}

struct image *place_part(struct model *model, struct process *process)
{
	struct process *above;

	if (process->place != PLACE_NONE || process->ignored)
		return process->image;
	for (above = topmost_below(process, PLACE_PART); above != process; above = above->unplaced_below)
		place_part_beneath(model, above);
	place_part_beneath(model, process);
	return process->image;
}
