/* See origin.h. */
#include "correlator/placement/origin.h"

#include <stdio.h>

#include "correlator/model/cgroup.h"
#include "correlator/model/container.h"
#include "correlator/model/container_member.h"
#include "correlator/model/container_name.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/tree.h"
#include "correlator/placement/classify.h"
#include "correlator/placement/placing.h"

/* People have numbers from here (UID_MIN of login.defs(5)), daemons those below. */
#define USER_ID_MIN 1000

/* A wrapper or the monitor of a container only starts what comes next: that is what the run is for. */
bool origin_leads_to(const struct run *run, const struct process *process)
{
	const struct process *above = process->parent;

	for (; !process->is_run_root && above && above->run == run; above = above->parent) {
		const struct image *image = above->image;

		if (!image || (image->role != RULES_ROLE_WRAPPER && image->role != RULES_ROLE_CLIENT &&
			       image->role != RULES_ROLE_COMPONENT))
			return false;
	}
	return true;
}

/* Returns what is above the run, at whose end `process` is; NULL if it is unknown or gone. */
static struct process *above_run(const struct run *run, const struct process *process)
{
	struct process *above = process->parent;

	while (above && above->run == run)
		above = above->parent;
	return above;
}

/* Whether the run is one of `tracer run`, which records everything that its command starts. */
static bool run_is_recorded_whole(const struct run *run, const struct process *process)
{
	const struct process *above = above_run(run, process);

	return above && above->image && above->image->role == RULES_ROLE_ORIGIN &&
	       above->image->boundary == RULES_BOUNDARY_COMMAND;
}

static bool allows_session(const struct run *run, const struct process *process)
{
	return run_is_workload(run) && run->kind != RUN_BATCH && !run_is_recorded_whole(run, process);
}

struct run *origin_begin_own(struct model *model, struct process *process, enum run_kind kind, enum reason reason)
{
	struct run *run = run_new(model, process, kind, 0);

	if (run) {
		run->origin_process_id = process->parent ? process->parent->image->id : ROW_NULL;
		run->reason = reason;
	}
	return run;
}

void origin_become_session(struct model *model, struct run *run, const struct process *process)
{
	if (!allows_session(run, process) || !origin_leads_to(run, process))
		return;
	run->kind = RUN_SESSION;
	run->reason = REASON_SESSION;
	run_set_dirty(model, run);
}

struct run *origin_begin_session(struct model *model, struct process *process)
{
	struct run *run = process->parent->run;

	origin_become_session(model, run, process);
	return allows_session(run, process) ? origin_begin_own(model, process, RUN_SESSION, REASON_SESSION) : NULL;
}

struct run *origin_begin_unlisted(struct model *model, struct process *process, bool is_container,
				  const struct rules_class *class)
{
	enum run_kind kind = RUN_SESSION;

	if (process->uid == 0 && !is_container)
		return NULL;
	if (is_container && !class->interactive)
		kind = class->role == RULES_ROLE_ORIGIN ? RUN_SERVICE : RUN_HOST_SERVICE;
	return origin_begin_own(model, process, kind, REASON_OF_USER);
}

/* Whether root's processes in it may work for persons. */
static bool run_works_for_others(const struct run *run)
{
	return run->user_id == 0 &&
	       (run->kind == RUN_SERVICE || run->kind == RUN_HOST_SERVICE || run->kind == RUN_CRON);
}

bool origin_awaits_user(const struct process *process, const struct rules_class *class)
{
	const struct process *above = process->parent;

	while (above && !above->run)
		above = above->parent;
	return above && class->traits & RULES_CHANGES_USER && process->uid == 0 && run_works_for_others(above->run);
}

struct run *origin_begin_for_user(struct model *model, struct process *process, const struct rules_class *class)
{
	const struct process *parent = process->parent, *top = parent;
	const struct run *run = parent->run;

	if (process->uid >= USER_ID_MIN && parent->uid == 0 && run_works_for_others(run) &&
	    !origin_leads_to(run, process) && !(parent->image && parent->image->role == RULES_ROLE_ORIGIN))
		return origin_begin_own(model, process, class->role == RULES_ROLE_ORIGIN ? RUN_SESSION : RUN_COMMAND,
					REASON_FOR_USER);
	if (!parent->image || parent->image->role != RULES_ROLE_WRAPPER || process->uid == run->user_id ||
	    !allows_session(run, process) || origin_leads_to(run, process))
		return NULL;
	while (top->parent && top->parent->run == run)
		top = top->parent;
	if (!top->image || top->image->began != IMAGE_FOUND)
		return NULL;
	return origin_begin_own(model, process, RUN_COMMAND, REASON_USER);
}

/* A shell's own children, run by its profile, its prompt or $(...), share the shell's process group,
 * which it leads once it has enabled job control. */
static bool is_shells_own(const struct process *shell, const struct placing *placing)
{
	return placing->context->pgid == shell->pgid || placing->context->pgid == shell->key.pid;
}

/* What a service manager runs in its own cgroup (generators, helpers) is not a service. */
static bool is_managers_own(const struct process *manager, const struct placing *placing)
{
	return !manager->image->nested && manager->image->boundary == RULES_BOUNDARY_CGROUP &&
	       placing->context->cgroup_id == manager->cgroup_id;
}

bool origin_is_step(const struct process *process, const struct placing *placing)
{
	const struct process *manager = process->parent;

	return manager && manager->image && manager->image->role == RULES_ROLE_ORIGIN && placing->class &&
	       placing->class->role == RULES_ROLE_WRAPPER && is_managers_own(manager, placing);
}

/* Whether a process beneath `origin` can begin a run, even if `origin` itself is part of a run. */
static bool origin_is_free(const struct process *origin)
{
	return !run_is_workload(origin->run) || (origin->image->nested && !run_is_recorded_whole(origin->run, origin));
}

/* Whether `process` begins a run or joins one that began so. An interactive shell begins a run for every job; for an
 * origin its rule decides. */
static bool begins_run(struct model *model, const struct process *process, const struct process *origin,
		       const struct placing *placing)
{
	const struct image *image = origin->image;
	const struct rules_class *class = placing->class;
	bool housekeeping = class && class->traits & RULES_HOUSEKEEPING;

	if (image->role == RULES_ROLE_SHELL && image->interactive)
		return !run_is_workload(origin->run) && !is_shells_own(origin, placing) && !housekeeping &&
		       !(class && (class->role == RULES_ROLE_ORIGIN || class->role == RULES_ROLE_COMPONENT ||
				   class->interactive));
	/* A fork of an origin still counts as the origin, such as a server's process for one client. */
	if (image->role != RULES_ROLE_ORIGIN || !class)
		return false;
	if (image->boundary == RULES_BOUNDARY_COMMAND)
		return !housekeeping;
	/* Daemons beneath daemons and login shells belong to the host. */
	if (class->role == RULES_ROLE_ORIGIN || class->role == RULES_ROLE_COMPONENT || class->interactive ||
	    (housekeeping && image->boundary != RULES_BOUNDARY_CGROUP))
		return false;
	if (image->boundary == RULES_BOUNDARY_CONTAINER) {
		const struct container *container = container_of_process(model, process);

		if (!container || container == image->container)
			return false;
	}
	return origin_is_free(origin) && !is_managers_own(origin, placing);
}

/* Returns the key under which further processes find the run; 0 if none can join it. */
static uint64_t boundary_key(struct model *model, const struct process *process, const struct process *origin,
			     const struct placing *placing, const struct rules_class *class, const char *run_key)
{
	enum rules_boundary boundary = origin->image->boundary;
	struct identity identity;

	if (boundary == RULES_BOUNDARY_CHILD || boundary == RULES_BOUNDARY_COMMAND)
		return 0;
	identity_begin(&identity, "boundary");
	if (origin->uid != 0)
		identity_add_u64(&identity, origin->uid);
	if (boundary == RULES_BOUNDARY_PROCESS_GROUP) {
		identity_add_u64(&identity, origin->key.pid);
		identity_add_u64(&identity, origin->key.start_boot_ns);
		identity_add_u64(&identity, placing->context->pgid);
	} else if (boundary == RULES_BOUNDARY_CONTAINER) {
		identity_add_u64(&identity, (uint64_t)container_of_process(model, process)->id);
	} else if (run_key[0]) {
		identity_add_bytes(&identity, run_key, strlen(run_key));
	} else {
		identity_add_u64(&identity, placing->context->cgroup_id);
		/* A login session, cron and the like leave processes of several users there. */
		if (class->traits & RULES_HOUSEKEEPING)
			identity_add_u64(&identity, process->uid);
	}
	return (uint64_t)identity_end(&identity);
}

static enum run_kind run_kind_of(struct model *model, const struct process *process, const struct process *origin,
				 const struct rules_class *class)
{
	enum rules_boundary boundary = origin->image->boundary;

	if (boundary == RULES_BOUNDARY_PROCESS_GROUP)
		return RUN_JOB;
	struct container *container = container_of_process(model, process);

	if (boundary == RULES_BOUNDARY_CGROUP && class->run_key[0])
		return RUN_BATCH;
	if (container && container != origin->image->container)
		return RUN_CONTAINER;
	if (boundary == RULES_BOUNDARY_CGROUP && class->traits & RULES_HOUSEKEEPING)
		return origin->uid == 0 && process->uid < USER_ID_MIN ? RUN_HOST_SERVICE : RUN_SESSION;
	if (boundary == RULES_BOUNDARY_CGROUP)
		return RUN_SERVICE;
	return class->traits & RULES_SCHEDULES ? RUN_CRON : RUN_COMMAND;
}

/* Classifies the origin again with the child's cgroup, which names the job if the
 * origin is a batch daemon. */
static void origin_class(struct model *model, struct process *origin, const struct placing *placing,
			 struct rules_class *ret)
{
	uint64_t own = origin->cgroup_id;

	memset(ret, 0, sizeof(*ret));
	if (!origin->command)
		return;
	origin->cgroup_id = placing->context->cgroup_id;
	classify(model, origin, ret);
	origin->cgroup_id = own;
}

/* Whether the run is beneath a batch daemon of the host's that gives such keys: "pbs:7" below the engine pbs. */
static bool is_batch_daemons(struct model *model, const struct run *run, const struct process *process, const char *key)
{
	struct process *above = above_run(run, process);
	struct rules_class class;

	if (!above || above->uid != 0 || !above->command || container_of_process(model, above))
		return false;
	classify(model, above, &class);
	size_t size = strlen(class.engine);

	return class.role == RULES_ROLE_ORIGIN && size > 0 && strncmp(key, class.engine, size) == 0 && key[size] == ':';
}

void origin_earn_key(struct model *model, const struct run *run, const struct process *process, uint64_t cgroup_id,
		     const struct rules_class *class, char ret_key[RULES_NAME_MAX])
{
	struct cgroup *cgroup = cgroup_find(model, cgroup_id);
	size_t size = class->run_key_cgroup_size;
	bool is_cgroups = size > 0 && cgroup && size <= cgroup_roots_size(model->options.rules, cgroup->path);

	if (!class->run_key[0] || is_cgroups || is_batch_daemons(model, run, process, class->run_key))
		snprintf(ret_key, RULES_NAME_MAX, "%s", class->run_key);
	else
		snprintf(ret_key, RULES_NAME_MAX, "%.*s@%u", RULES_NAME_MAX - 16, class->run_key, process->uid);
}

static const enum reason boundary_reasons[] = {
	[RULES_BOUNDARY_CHILD] = REASON_CHILD,     [RULES_BOUNDARY_PROCESS_GROUP] = REASON_JOB,
	[RULES_BOUNDARY_CGROUP] = REASON_CGROUP,   [RULES_BOUNDARY_CONTAINER] = REASON_CONTAINER,
	[RULES_BOUNDARY_COMMAND] = REASON_COMMAND,
};

struct run *origin_begin_run(struct model *model, struct process *process, struct process *origin,
			     const struct placing *placing, struct rules_class *class)
{
	enum rules_boundary boundary = origin->image->boundary;
	char unit[256], run_key[RULES_NAME_MAX];

	if (!begins_run(model, process, origin, placing))
		return NULL;
	origin_class(model, origin, placing, class);
	origin_earn_key(model, NULL, process, placing->context->cgroup_id, class, run_key);
	uint64_t key = boundary_key(model, process, origin, placing, class, run_key);
	struct run *run = NULL;

	if (key)
		HASH_FIND(hh, model->runs_by_boundary, &key, sizeof(key), run);
	if (run)
		return run;
	run = run_new(model, process, run_kind_of(model, process, origin, class), key);
	if (!run)
		return NULL;
	run->origin_process_id = origin->image->id;
	run->reason = boundary_reasons[boundary];
	if (placing->context->flags & RECORD_WITHOUT_PROBE)
		run->reason = REASON_PARTIAL;
	if (run_key[0])
		model_set_text(model, &run->run_key, run_key);
	struct cgroup *cgroup = cgroup_find(model, placing->context->cgroup_id);

	if (class->run_name[0])
		run_set_name(model, run, class->run_name, RUN_NAME_FIXED);
	else if (boundary == RULES_BOUNDARY_CGROUP && cgroup && cgroup_unit(cgroup->path, unit, sizeof(unit)))
		run_set_name(model, run, unit, RUN_NAME_FIXED);
	return run;
}
