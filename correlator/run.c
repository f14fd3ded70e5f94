/* Runs: where they begin, what else belongs to them, what they are called.
 *
 * Beneath an origin (service manager, sshd, cron, a batch step daemon, an interactive
 * shell, `tracer run`) every child, process group or cgroup begins one; everything else
 * is in its parent's.
 */
#include "correlator/internal.h"

#include <stdio.h>
#include <string.h>

#include "common/identity.h"
#include "correlator/container.h"

enum { NAME_GLUE = 0, NAME_PROGRAM = 1, NAME_ENGINE = 2, NAME_FIXED = 9 };

bool run_is_workload(const struct run *run)
{
	return strcmp(run->kind, "command") == 0 || strcmp(run->kind, "job") == 0 ||
	       strcmp(run->kind, "batch") == 0 || strcmp(run->kind, "cron") == 0 ||
	       strcmp(run->kind, "container") == 0;
}

/* An interactive shell starts a run for every job; an origin as its rule says. */
bool run_begins_beneath(struct model *model, const struct process *process,
			const struct process *origin, const struct placing *placing,
			enum rules_boundary *ret_boundary)
{
	const struct image *image = origin->image;
	const struct rules_verdict *verdict = placing->verdict;

	/* Daemons beneath daemons, and the shell that a login is, are the host's. */
	if (verdict && (verdict->role == RULES_ROLE_ORIGIN || verdict->role == RULES_ROLE_COMPONENT ||
			verdict->interactive))
		return false;
	if (image->role == RULES_ROLE_SHELL && image->interactive) {
		*ret_boundary = RULES_BOUNDARY_PROCESS_GROUP;
		return !run_is_workload(origin->run);
	}
	*ret_boundary = image->boundary;
	if (image->boundary == RULES_BOUNDARY_CONTAINER) {
		const struct container *container = container_of_process(model, process);

		if (!container || container == image->container)
			return false;
	}
	return image->role == RULES_ROLE_ORIGIN && (image->nested || !run_is_workload(origin->run));
}

/* What else belongs to the run: 0 nothing, else a key to find it by. */
static uint64_t boundary_key(struct model *model, const struct process *process,
			     const struct process *origin, const struct placing *placing,
			     enum rules_boundary boundary, const char *run_key)
{
	struct identity identity;

	if (boundary == RULES_BOUNDARY_CHILD)
		return 0;
	identity_begin(&identity, "boundary");
	if (boundary == RULES_BOUNDARY_PROCESS_GROUP) {
		identity_add_u64(&identity, origin->key.pid);
		identity_add_u64(&identity, origin->key.start_boot_ns);
		identity_add_u64(&identity, placing->pgid);
	} else if (boundary == RULES_BOUNDARY_CONTAINER) {
		identity_add_u64(&identity, (uint64_t)container_of_process(model, process)->id);
	} else if (run_key[0]) {
		identity_add_bytes(&identity, run_key, strlen(run_key));
	} else {
		identity_add_u64(&identity, placing->cgroup_id);
	}
	return (uint64_t)identity_end(&identity);
}

static const char *run_kind(struct model *model, const struct process *process,
			    const struct process *origin, const struct rules_verdict *verdict,
			    enum rules_boundary boundary)
{
	if (boundary == RULES_BOUNDARY_PROCESS_GROUP)
		return "job";
	struct container *container = container_of_process(model, process);

	if (boundary == RULES_BOUNDARY_CGROUP && verdict->run_key[0])
		return "batch";
	if (container && container != origin->image->container)
		return "container";
	if (boundary == RULES_BOUNDARY_CGROUP)
		return "service";
	return strcmp(verdict->engine, "cron") == 0 ? "cron" : "command";
}

static void run_set_name(struct model *model, struct run *run, const char *name, int priority)
{
	if (priority <= run->name_priority)
		return;
	model_set_text(model, &run->name, name);
	run->name_priority = priority;
	run->dirty = true;
}

/* The run is called after what drives it: an engine, else its script or program,
 * else whatever glue it began with. */
void run_note_image(struct model *model, struct run *run, const struct process *process,
		    const struct rules_verdict *verdict)
{
	enum rules_role role = verdict->role;
	bool glue = role == RULES_ROLE_WRAPPER || role == RULES_ROLE_COMPONENT ||
		    role == RULES_ROLE_HELPER ||
		    (role == RULES_ROLE_SHELL && !verdict_names_script(process, verdict));

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
struct run *run_of_system(struct model *model)
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

void run_set_root(struct model *model, struct run *run, const struct process *process)
{
	run->root_process_id = image_id(model, (uint32_t)process->key.pid, process->key.start_boot_ns,
					process->exec_id);
	run->main->root_process_id = run->root_process_id;
	run->user_id = process->uid;
	run->container = container_of_process(model, process);
	run->main->container = run->container;
	if (process->command)
		model_set_text(model, &run->working_directory, process->command->working_directory);
	if (run->container && run->container->run_id == ROW_NULL) {
		run->container->run_id = run->id;
		run->container->dirty = true;
	}
}

/* Asks the rules about the origin again, with the child's cgroup: a batch daemon
 * finds the job in it. */
static void origin_verdict(struct model *model, struct process *origin, const struct placing *placing,
			   struct rules_verdict *ret)
{
	uint64_t own = origin->cgroup_id;

	memset(ret, 0, sizeof(*ret));
	if (!origin->command)
		return;
	origin->cgroup_id = placing->cgroup_id;
	model_classify(model, origin, ret);
	origin->cgroup_id = own;
}

static const char *const boundary_reasons[] = {
	[RULES_BOUNDARY_CHILD] = "child of an origin",
	[RULES_BOUNDARY_PROCESS_GROUP] = "job of an interactive shell",
	[RULES_BOUNDARY_CGROUP] = "cgroup beneath an origin",
	[RULES_BOUNDARY_CONTAINER] = "container that nobody here waits for",
};

struct run *run_begin(struct model *model, struct process *process, struct process *origin,
		      const struct placing *placing, enum rules_boundary boundary,
		      struct rules_verdict *verdict)
{
	char unit[256];

	origin_verdict(model, origin, placing, verdict);
	uint64_t key = boundary_key(model, process, origin, placing, boundary, verdict->run_key);
	struct run *run = NULL;

	if (key)
		HASH_FIND(hh, model->runs_by_boundary, &key, sizeof(key), run);
	if (run)
		return run;
	run = run_new(model, process, run_kind(model, process, origin, verdict, boundary), key);
	if (!run)
		return NULL;
	run->origin_process_id = origin->image->id;
	run->reason = boundary_reasons[boundary];
	snprintf(run->run_key, sizeof(run->run_key), "%s", verdict->run_key);
	struct cgroup *cgroup = cgroup_find(model, placing->cgroup_id);

	if (verdict->run_name[0])
		run_set_name(model, run, verdict->run_name, NAME_FIXED);
	else if (strcmp(run->kind, "service") == 0 && cgroup &&
		 cgroup_unit(cgroup->path, unit, sizeof(unit)))
		run_set_name(model, run, unit, NAME_FIXED);
	return run;
}
