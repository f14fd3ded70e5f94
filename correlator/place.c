/* Where a process belongs: which run, which task, which group of tools.
 *
 * A process is placed when it is known to matter: at its first exec, or when
 * something beneath it executes. Until then it is a fork of its parent's program,
 * and if it stays one (a worker, a subshell of builtins) it is a part of its
 * parent's tool.
 *
 * Run: beneath an origin (service manager, sshd, cron, a batch step daemon, an
 * interactive shell, `tracer run`) every child, process group or cgroup begins
 * one; everything else is in its parent's.
 *
 * Task, with an engine above: the direct subtree of the innermost orchestrator of
 * the highest rank on the path.
 *
 * Task, without: of the outermost process with several subtrees. Which that is
 * shows only with time, so a run has a spine: its root, the only subtree of the
 * root, the only subtree of that, and so on. As long as nobody on the spine has a
 * second subtree there are no tasks. The first who gets one is the orchestrator.
 * If later one further out gets a second, it takes over, and the tasks that were
 * become one. Helpers (mkdir, cat) do not count as subtrees.
 *
 * Subtrees that a shell has joined by a pipe are one: the first's standard output
 * is the second's standard input.
 */
#include "correlator/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"
#include "correlator/container.h"

#define ANCESTORS_MAX 32

enum { NAME_NONE = -1, NAME_GLUE = 0, NAME_PROGRAM = 1, NAME_ENGINE = 2, NAME_FIXED = 9 };

/* ---- classification */

/* Links the subjects of the process and its ancestors, each image once. */
static void link_subjects(const struct process *process)
{
	const struct process *child = process;
	struct command *command = process->command;

	command->subject.parent = NULL;
	for (int depth = 0; depth < ANCESTORS_MAX && child->parent; depth++) {
		const struct process *parent = child->parent;

		if (parent->command && parent->command != command) {
			command->subject.parent = &parent->command->subject;
			command = parent->command;
			command->subject.parent = NULL;
		}
		child = parent;
	}
}

void model_classify(struct model *model, struct process *process, struct rules_verdict *ret_verdict)
{
	struct cgroup *cgroup = cgroup_find(model, process->cgroup_id);

	link_subjects(process);
	process->command->subject.cgroup = cgroup ? cgroup->path : "";
	rules_classify(model->rules, &process->command->subject, ret_verdict);
	process->command->subject.cgroup = "";
	if (process->key.pid == 1 && ret_verdict->role != RULES_ROLE_ORIGIN) {
		ret_verdict->role = RULES_ROLE_ORIGIN;
		ret_verdict->boundary = RULES_BOUNDARY_CHILD;
	}
}

/* What a child is that only forked: what its parent is. An engine's worker is the
 * engine still; every other role ends with the program that had it. */
static void inherited_verdict(const struct process *process, struct rules_verdict *ret)
{
	const struct image *image = process->parent ? process->parent->image : NULL;

	memset(ret, 0, sizeof(*ret));
	ret->role = RULES_ROLE_TOOL;
	if (image) {
		ret->role = image->role;
		ret->rank = image->rank;
		ret->rule = image->rule;
		ret->nested = image->nested;
		ret->boundary = image->boundary;
		snprintf(ret->name, sizeof(ret->name), "%s", image->tool->name);
	} else if (process->command) {
		snprintf(ret->name, sizeof(ret->name), "%s", process->command->program);
	} else {
		snprintf(ret->name, sizeof(ret->name), "unknown");
	}
}

/* ---- runs */

static bool is_workload(const struct run *run)
{
	return strcmp(run->kind, "command") == 0 || strcmp(run->kind, "job") == 0 ||
	       strcmp(run->kind, "batch") == 0 || strcmp(run->kind, "cron") == 0 ||
	       strcmp(run->kind, "container") == 0;
}

/* An interactive shell starts a run for every job; an origin as its rule says. */
static bool begins_run(const struct process *parent, const struct placing *placing,
		       enum rules_boundary *ret_boundary)
{
	const struct image *image = parent->image;
	const struct rules_verdict *verdict = placing->verdict;

	/* Daemons beneath daemons, and the shell that a login is, are the host's. */
	if (verdict && (verdict->role == RULES_ROLE_ORIGIN || verdict->role == RULES_ROLE_COMPONENT ||
			verdict->interactive))
		return false;
	if (image->role == RULES_ROLE_SHELL && image->interactive) {
		*ret_boundary = RULES_BOUNDARY_PROCESS_GROUP;
		return !is_workload(parent->run);
	}
	*ret_boundary = image->boundary;
	return image->role == RULES_ROLE_ORIGIN && (image->nested || !is_workload(parent->run));
}

/* What else belongs to the run: 0 nothing, else a key to find it by. */
static uint64_t boundary_key(const struct process *parent, const struct placing *placing,
			     enum rules_boundary boundary, const char *run_key)
{
	struct identity identity;

	if (boundary == RULES_BOUNDARY_CHILD)
		return 0;
	identity_begin(&identity, "boundary");
	if (boundary == RULES_BOUNDARY_PROCESS_GROUP) {
		identity_add_u64(&identity, parent->key.pid);
		identity_add_u64(&identity, parent->key.start_boot_ns);
		identity_add_u64(&identity, placing->pgid);
	} else if (run_key[0]) {
		identity_add_bytes(&identity, run_key, strlen(run_key));
	} else {
		identity_add_u64(&identity, placing->cgroup_id);
	}
	return (uint64_t)identity_end(&identity);
}

static const char *run_kind(struct model *model, const struct process *process,
			    const struct rules_verdict *origin, enum rules_boundary boundary)
{
	if (boundary == RULES_BOUNDARY_PROCESS_GROUP)
		return "job";
	struct container *container = container_of_process(model, process);

	if (boundary == RULES_BOUNDARY_CGROUP && origin->run_key[0])
		return "batch";
	if (container && container != process->parent->image->container)
		return "container";
	if (boundary == RULES_BOUNDARY_CGROUP)
		return "service";
	return strcmp(origin->engine, "cron") == 0 ? "cron" : "command";
}

static void set_text(struct model *model, char **text, const char *value)
{
	char *copy = strdup(value);

	if (!copy) {
		model->out_of_memory = true;
		return;
	}
	free(*text);
	*text = copy;
}

static void run_set_name(struct model *model, struct run *run, const char *name, int priority)
{
	if (priority <= run->name_priority)
		return;
	set_text(model, &run->name, name);
	run->name_priority = priority;
	run->dirty = true;
}

/* Whether a shell is called after the script it runs: "bash" and "bash -c" are not. */
static bool shell_is_named(const struct process *process, const struct rules_verdict *verdict)
{
	size_t length = process->command ? strlen(process->command->program) : 0;

	return verdict->role == RULES_ROLE_SHELL && length > 0 &&
	       (strncmp(verdict->name, process->command->program, length) != 0 ||
		(verdict->name[length] != '\0' && verdict->name[length] != ' '));
}

/* The run is called after what drives it: an engine, else its script or program,
 * else whatever glue it began with. */
void run_note_image(struct model *model, struct run *run, const struct process *process,
		    const struct rules_verdict *verdict)
{
	enum rules_role role = verdict->role;
	bool glue = role == RULES_ROLE_WRAPPER || role == RULES_ROLE_COMPONENT ||
		    role == RULES_ROLE_HELPER ||
		    (role == RULES_ROLE_SHELL && !shell_is_named(process, verdict));

	if (process->group->task != run->main)
		return;
	if (verdict->rank > run->engine_rank) {
		run->engine_rank = verdict->rank;
		snprintf(run->engine, sizeof(run->engine), "%s",
			 verdict->engine[0] ? verdict->engine : verdict->name);
		run->dirty = true;
	}
	run_set_name(model, run, verdict->run_name[0] ? verdict->run_name : verdict->name,
		     verdict->rank ? NAME_ENGINE + (int)verdict->rank
		     : glue        ? NAME_GLUE
				   : NAME_PROGRAM);
	if (verdict->run_key[0] && !run->run_key[0] && run != model->system)
		snprintf(run->run_key, sizeof(run->run_key), "%s", verdict->run_key);
}

/* The host's own run: init, service managers and what else has no origin. */
static struct run *system_run(struct model *model)
{
	if (!model->system) {
		model->system = run_new(model, NULL, "system", 0);
		if (model->system) {
			model->system->reason = "the host's own processes";
			run_set_name(model, model->system, "system", NAME_FIXED);
		}
	}
	return model->system;
}

static void run_set_root(struct model *model, struct run *run, const struct process *process)
{
	run->root_process_id = image_id(model, (uint32_t)process->key.pid, process->key.start_boot_ns,
					process->exec_id);
	run->main->root_process_id = run->root_process_id;
	run->user_id = process->uid;
	run->container = container_of_process(model, process);
	run->main->container = run->container;
	if (process->command)
		set_text(model, &run->working_directory, process->command->working_directory);
	if (run->container && run->container->run_id == ROW_NULL) {
		run->container->run_id = run->id;
		run->container->dirty = true;
	}
}

/* Asks the rules about the origin again, with the child's cgroup: a batch daemon
 * finds the job in it. */
static void origin_verdict(struct model *model, struct process *parent, const struct placing *placing,
			   struct rules_verdict *ret)
{
	uint64_t own = parent->cgroup_id;

	memset(ret, 0, sizeof(*ret));
	if (!parent->command)
		return;
	parent->cgroup_id = placing->cgroup_id;
	model_classify(model, parent, ret);
	parent->cgroup_id = own;
}

static struct run *run_begin(struct model *model, struct process *process, const struct placing *placing,
			     enum rules_boundary boundary, struct rules_verdict *origin)
{
	struct process *parent = process->parent;
	char unit[256];

	origin_verdict(model, parent, placing, origin);
	uint64_t key = boundary_key(parent, placing, boundary, origin->run_key);
	struct run *run = NULL;

	if (key)
		HASH_FIND(hh, model->runs_by_boundary, &key, sizeof(key), run);
	if (run)
		return run;
	run = run_new(model, process, run_kind(model, process, origin, boundary), key);
	if (!run)
		return NULL;
	run->origin_process_id = parent->image->id;
	run->reason = boundary == RULES_BOUNDARY_PROCESS_GROUP ? "job of an interactive shell"
		      : boundary == RULES_BOUNDARY_CGROUP      ? "cgroup beneath an origin"
							       : "child of an origin";
	snprintf(run->run_key, sizeof(run->run_key), "%s", origin->run_key);
	struct cgroup *cgroup = cgroup_find(model, placing->cgroup_id);

	if (origin->run_name[0])
		run_set_name(model, run, origin->run_name, NAME_FIXED);
	else if (strcmp(run->kind, "service") == 0 && cgroup &&
		 cgroup_unit(cgroup->path, unit, sizeof(unit)))
		run_set_name(model, run, unit, NAME_FIXED);
	return run;
}

/* ---- containers that a daemon started for somebody */

/* Another process of the same container, which has its place. */
static struct process *companion(struct model *model, const struct container *container)
{
	struct process *process;

	for (process = model->processes; process; process = process->hh.next)
		if (!process->ended && process->image && process->image->container == container &&
		    process->run != model->system)
			return process;
	return NULL;
}

/* The client (`docker run`) that waits for this container: one in the container's
 * working directory, as engines start them, else the only one there is. Where two
 * could be meant, neither is. */
static struct process *waiting_client(struct model *model, const struct process *process)
{
	struct process *candidate, *only = NULL, *nearest = NULL;
	int count = 0;

	for (candidate = model->processes; candidate; candidate = candidate->hh.next) {
		if (candidate->ended || candidate->has_container || !candidate->image ||
		    candidate->image->role != RULES_ROLE_CLIENT || candidate->place != PLACE_FULL)
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

/* A container beneath a shim or a daemon of its own belongs to whoever asked for it. */
static struct group *join_client(struct model *model, struct process *process, const char **ret_reason)
{
	const struct image *shim = process->parent->image;
	struct container *container = container_of_process(model, process);
	struct process *found;

	if (!container || shim->role != RULES_ROLE_ORIGIN || shim->container == container)
		return NULL;
	found = companion(model, container);
	if (found) {
		*ret_reason = "another process of its container";
	} else {
		found = waiting_client(model, process);
		if (!found)
			return NULL;
		found->has_container = true;
		found->checkpointed = false;
		*ret_reason = "container that its client waits for";
	}
	process->path_rank = found->path_rank;
	return found->group;
}

/* ---- tasks beneath an engine */

static bool same_process(const struct process_key *key, const struct process *process)
{
	return key->pid == process->key.pid && key->start_boot_ns == process->key.start_boot_ns;
}

/* Makes `process` the root of a group of its own in `task`. */
static struct group *open_group(struct model *model, struct task *task, struct process *process,
				const struct placing *placing)
{
	struct group *group = group_new(model, task, process);

	if (!group)
		return NULL;
	if (process->parent)
		group->orchestrator = process->parent->key;
	group->input_pipe = placing->stdin_pipe;
	group->output_pipe = placing->stdout_pipe;
	return group;
}

static void task_add_root(struct model *model, struct task *task, struct process *process)
{
	process->is_task_root = true;
	task->outcome.root_count++;
	if (!process->ended)
		task->outcome.living_roots++;
	if (task->root_process_id != ROW_NULL)
		return;
	task->root_process_id = image_id(model, (uint32_t)process->key.pid, process->key.start_boot_ns,
					 process->exec_id);
	task->container = container_of_process(model, process);
	if (process->command)
		set_text(model, &task->working_directory, process->command->working_directory);
}

static void task_set_orchestrator(struct task *task, struct process *orchestrator)
{
	task->orchestrator_process_id = orchestrator->image ? orchestrator->image->id : ROW_NULL;
	task->orchestrator_group = orchestrator->group;
	orchestrator->group->members++;
}

/* A shell that runs a script, or a rule, names the task it roots; the rest are
 * named after their tools. Hidden scripts (.command.run) say nothing. */
static void task_name_by_root(struct model *model, struct task *task, const struct process *process,
			      const struct rules_verdict *verdict)
{
	const char *name = NULL;

	if (!verdict || task->name_fixed)
		return;
	if (verdict->task_name[0])
		name = verdict->task_name;
	else if (shell_is_named(process, verdict) && verdict->name[0] != '.')
		name = verdict->name;
	if (!name)
		return;
	set_text(model, &task->name, name);
	task->name_fixed = true;
}

static struct group *open_task(struct model *model, struct process *process, const struct placing *placing,
			       const char *kind, const char *reason)
{
	struct run *run = process->parent->run;
	int64_t root_id = image_id(model, (uint32_t)process->key.pid, process->key.start_boot_ns, 0);
	struct task *task = task_new(model, run, kind, reason, root_id);

	if (!task)
		return NULL;
	run->task_count++;
	task_set_orchestrator(task, process->parent);
	task_add_root(model, task, process);
	task_name_by_root(model, task, process, placing->verdict);
	return open_group(model, task, process, placing);
}

/* Everything of `from` goes to `into`; `from` stays as a row that says so. */
static void task_merge(struct model *model, struct task *from, struct task *into)
{
	if (from == into)
		return;
	while (from->groups)
		group_move(model, from->groups, into);
	outcome_add(&into->outcome, &from->outcome);
	if (!into->failure && from->failure) {
		into->failure = from->failure;
		into->failure_process_id = from->failure_process_id;
		from->failure = NULL;
	}
	from->merged_into_id = into->id;
	from->dirty = into->dirty = true;
	from->run->task_count--;
}

/* ---- pipes */

/* The sibling subtree that writes what we read, or reads what we write; and if we
 * stand between two, those become one. */
static struct group *join_pipeline(struct model *model, struct process *process,
				   const struct placing *placing)
{
	struct process *sibling;
	struct group *joined = NULL;

	if (!placing->stdin_pipe && !placing->stdout_pipe)
		return NULL;
	DL_FOREACH2 (process->parent->children, sibling, sibling_next) {
		struct group *group = sibling->group;

		if (sibling == process || sibling->place != PLACE_FULL || group == joined ||
		    !same_process(&group->orchestrator, process->parent))
			continue;
		bool upstream = placing->stdin_pipe && group->output_pipe == placing->stdin_pipe;
		bool downstream = placing->stdout_pipe && group->input_pipe == placing->stdout_pipe;

		if (!upstream && !downstream)
			continue;
		uint32_t input = upstream ? group->input_pipe : placing->stdin_pipe;
		uint32_t output = downstream ? group->output_pipe : placing->stdout_pipe;

		if (!joined) {
			joined = group;
			joined->input_pipe = input;
			joined->output_pipe = output;
			continue;
		}
		if (upstream)
			joined->input_pipe = group->input_pipe;
		else
			joined->output_pipe = group->output_pipe;
		group->input_pipe = group->output_pipe = 0;
		if (group->task != joined->task)
			task_merge(model, group->task, joined->task);
	}
	return joined;
}

/* ---- tasks without an engine: the spine */

static struct group *spine_push(struct model *model, struct run *run, struct process *process,
				const struct placing *placing)
{
	struct group *group = open_group(model, run->main, process, placing);

	if (!group)
		return NULL;
	process->spine_index = run->spine_length;
	run->spine[run->spine_length] = process;
	run->spine_group[run->spine_length++] = group;
	return group;
}

/* `level` of the spine has its second subtree: what was beneath it is one task. */
static void spine_raise(struct model *model, struct run *run, int level)
{
	struct process *orchestrator = run->spine[level], *first = run->spine[level + 1];
	struct group *first_group = run->spine_group[level + 1];
	struct task *task = task_new(model, run, "generic", "direct subtree of the outermost orchestrator",
				     first_group->root_process_id);
	struct task *other, *next;

	if (!task)
		return;
	run->task_count++;
	task->root_process_id = first_group->root_process_id;
	task_set_orchestrator(task, orchestrator);
	for (int i = level + 1; i < run->spine_length; i++) {
		if (run->spine[i]) {
			run->spine[i]->spine_index = -1;
			run->spine[i]->checkpointed = false;
		}
		group_move(model, run->spine_group[i], task);
	}
	DL_FOREACH_SAFE (run->tasks, other, next)
		if (other != task && strcmp(other->kind, "generic") == 0 && other->merged_into_id == ROW_NULL)
			task_merge(model, other, task);
	/* Only the subtree's own root decides how the task came out. */
	outcome_init(&task->outcome);
	task->outcome.root_count = 1;
	if (first) {
		struct rules_verdict verdict;

		first->is_task_root = true;
		task->outcome.living_roots = !first->ended;
		if (first->image && first->image->ended != IMAGE_LIVING && first->image->wait_status != ROW_NULL) {
			int64_t status = first->image->wait_status;

			task->outcome.known = true;
			task->outcome.failed = status != 0;
			task->outcome.signal = status & 0x7f ? status & 0x7f : ROW_NULL;
			task->outcome.exit_code = status & 0x7f ? ROW_NULL : status >> 8 & 0xff;
			task->outcome.end_boot_ns = first->end_boot_ns;
		}
		if (first->command) {
			set_text(model, &task->working_directory, first->command->working_directory);
			model_classify(model, first, &verdict);
			task_name_by_root(model, task, first, &verdict);
		}
		task->container = container_of_process(model, first);
	}
	run->spine_length = level + 1;
	run->orchestrator = level;
	if (run->task_count > RUN_MERGEABLE_TASKS_MAX)
		run->frozen = true;
}

static bool counts_as_subtree(const struct placing *placing)
{
	return !placing->verdict || (placing->verdict->role != RULES_ROLE_HELPER &&
				     placing->verdict->role != RULES_ROLE_COMPONENT);
}

static struct group *place_generic(struct model *model, struct process *process,
				   const struct placing *placing, const char **ret_reason)
{
	struct process *parent = process->parent;
	struct run *run = parent->run;
	struct group *joined;
	int level = parent->spine_index;

	*ret_reason = "inside its parent's task";
	if (level < 0)
		return parent->group;
	if (!counts_as_subtree(placing)) {
		*ret_reason = "helper beneath the orchestrator: the run's own";
		return parent->group;
	}
	joined = join_pipeline(model, process, placing);
	if (joined) {
		*ret_reason = "joined to a sibling by a pipe";
		if (joined->task != run->main)
			task_add_root(model, joined->task, process);
		return joined;
	}
	parent->subtree_count++;
	parent->checkpointed = false;
	if (level == run->spine_length - 1 && run->orchestrator < 0) {
		*ret_reason = "only subtree so far: the run's own";
		return run->spine_length < RUN_SPINE_MAX ? spine_push(model, run, process, placing)
							 : parent->group;
	}
	if (run->orchestrator != level) {
		if (run->frozen)
			return parent->group;
		spine_raise(model, run, level);
	}
	*ret_reason = "direct subtree of the outermost orchestrator";
	return open_task(model, process, placing, "generic", *ret_reason);
}

/* ---- the whole */

static struct group *place_beneath(struct model *model, struct process *process,
				   const struct placing *placing, const char **ret_reason)
{
	struct process *parent = process->parent;
	const struct image *image = parent->image;
	bool engine = image->role == RULES_ROLE_ORCHESTRATOR && image->rank > RULES_RANK_NONE &&
		      image->rank >= parent->path_rank;
	struct group *joined;

	if (!placing->verdict && image->role == RULES_ROLE_ORCHESTRATOR) {
		/* A worker that the engine forked is still the engine. */
		process->path_rank = parent->path_rank;
		process->spine_index = -1;
		*ret_reason = "fork of its orchestrator";
		return parent->group;
	}
	process->path_rank = image->rank > parent->path_rank ? image->rank : parent->path_rank;
	if (engine && !counts_as_subtree(placing)) {
		*ret_reason = "helper beneath an engine: its own";
		return parent->group;
	}
	if (engine) {
		*ret_reason = "direct subtree of an engine";
		joined = join_pipeline(model, process, placing);
		if (!joined)
			return open_task(model, process, placing, "engine", *ret_reason);
		task_add_root(model, joined->task, process);
		return joined;
	}
	if (parent->path_rank > RULES_RANK_NONE) {
		*ret_reason = "inside its parent's task";
		return parent->group;
	}
	return place_generic(model, process, placing, ret_reason);
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
		set_text(model, &wanted->name, origin->task_name);
		wanted->name_fixed = true;
	}
	task_add_root(model, wanted, process);
	return open_group(model, wanted, process, placing);
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
		run = system_run(model);
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

static struct group *choose_group(struct model *model, struct process *process,
				  const struct placing *placing, const char **ret_reason)
{
	struct process *parent = process->parent;
	enum rules_boundary boundary;
	struct rules_verdict origin;

	if (!parent)
		return place_lost(model, process, placing, ret_reason);
	if (parent->place != PLACE_FULL)
		place_full(model, parent,
			   &(struct placing){.boot_ns = parent->fork_boot_ns,
					     .cgroup_id = placing->cgroup_id,
					     .pgid = placing->pgid,
					     .stdin_pipe = placing->stdin_pipe,
					     .stdout_pipe = placing->stdout_pipe});
	if (!parent->group)
		return NULL;
	struct group *joined = join_client(model, process, ret_reason);

	if (joined)
		return joined;
	if (begins_run(parent, placing, &boundary)) {
		struct run *run = run_begin(model, process, placing, boundary, &origin);

		*ret_reason = run ? run->reason : "";
		return run ? place_root(model, run, process, placing, &origin) : NULL;
	}
	if (parent->run == model->system) {
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

void place_full(struct model *model, struct process *process, const struct placing *placing)
{
	const char *reason = "";
	struct rules_verdict inherited;
	const struct rules_verdict *verdict = placing->verdict;

	if (model->out_of_memory)
		return;
	/* Asked before the parent is placed, which may change what it is called. */
	struct group *group = choose_group(model, process, placing, &reason);

	if (!group)
		return;
	if (!verdict) {
		inherited_verdict(process, &inherited);
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
	run_note_image(model, process->run, process, verdict);
}

void place_exec(struct model *model, struct process *process, const struct placing *placing)
{
	if (process->place != PLACE_FULL) {
		place_full(model, process, placing);
		return;
	}
	struct tool *tool = choose_tool(model, process, process->group, placing->verdict);

	if (!tool)
		return;
	image_new(model, process, IMAGE_EXEC, placing->boot_ns, placing->verdict, tool,
		  "another image of its process");
	if (process->is_task_root)
		task_name_by_root(model, process->group->task, process, placing->verdict);
	run_note_image(model, process->run, process, placing->verdict);
}

void place_part(struct model *model, struct process *process)
{
	struct process *parent = process->parent;
	struct rules_verdict verdict;

	if (process->place != PLACE_NONE)
		return;
	if (parent && parent->place == PLACE_NONE)
		place_part(model, parent);
	if (!parent || !parent->group || !parent->image) {
		place_full(model, process,
			   &(struct placing){.boot_ns = process->fork_boot_ns,
					     .cgroup_id = process->cgroup_id,
					     .pgid = process->pgid});
		return;
	}
	inherited_verdict(process, &verdict);
	process->place = PLACE_PART;
	process_set_group(process, parent->run, parent->group);
	process->path_rank = parent->path_rank;
	image_new(model, process, process->found ? IMAGE_FOUND : IMAGE_FORK, process->fork_boot_ns, &verdict,
		  parent->image->tool, "fork of its parent's program");
}
