/* Cgroups and containers: made when they are told of, let go when nothing is in them.
 *
 * A host may make thousands a day and run for years. The kernel side tells the path of a
 * cgroup once; whoever is let go and needed again is read from the store, which has all that
 * were told of.
 */
#include "correlator/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"
#include "correlator/container.h"

#define SWEEP_PERIOD_NS (60 * 1000000000ULL)
/* Retention takes the paths that were written longest ago: those in use are written anew. */
#define RENEWAL_PERIOD_NS (3600 * 1000000000ULL)
/* One that is started again within that time is the same; later, its row begins anew. */
#define CONTAINER_GRACE_NS (3600 * 1000000000ULL)

static struct cgroup *cgroup_known(struct model *model, uint64_t cgroup_id)
{
	struct cgroup *cgroup = model->latest_cgroup;

	if (cgroup && cgroup->cgroup_id == cgroup_id)
		return cgroup;
	HASH_FIND(hh, model->cgroups, &cgroup_id, sizeof(cgroup_id), cgroup);
	if (cgroup)
		model->latest_cgroup = cgroup;
	return cgroup;
}

/* `pid_namespace` where that is all that tells it, else 0: others may have had the same cgroup. */
static struct container *container_get(struct model *model, const struct container_name *name,
				       const char *path, uint32_t pid_namespace)
{
	struct container *container;
	struct identity identity;

	identity_begin(&identity, "container");
	identity_add_u64(&identity, (uint64_t)model->host.id);
	identity_add_bytes(&identity, model->boot_id, strlen(model->boot_id));
	identity_add_bytes(&identity, name->runtime, strlen(name->runtime));
	identity_add_bytes(&identity, name->runtime_id, strlen(name->runtime_id));
	if (pid_namespace)
		identity_add_u64(&identity, pid_namespace);
	int64_t id = identity_end(&identity);

	HASH_FIND(hh, model->containers, &id, sizeof(id), container);
	if (container)
		return container;
	container = model_alloc(model, sizeof(*container));
	if (!container)
		return NULL;
	container->id = id;
	memcpy(container->runtime, name->runtime, sizeof(container->runtime));
	memcpy(container->runtime_id, name->runtime_id, sizeof(container->runtime_id));
	container->cgroup_path = strndup(path, name->path_size);
	container->run_id = container->task_id = ROW_NULL;
	container->pid_namespace = container->mount_namespace = ROW_NULL;
	allowance_init(&container->allowance);
	container->begin_boot_ns = model->now_boot_ns;
	container->started_unix_ns = model_unix_ns(model, container->begin_boot_ns);
	container->dirty = true;
	HASH_ADD(hh, model->containers, id, sizeof(container->id), container);
	return container;
}

struct cgroup *cgroup_add(struct model *model, uint64_t cgroup_id, const char *path, size_t size)
{
	struct cgroup *cgroup = cgroup_known(model, cgroup_id);
	struct container_name name;

	if (cgroup)
		return cgroup;
	cgroup = model_alloc(model, sizeof(*cgroup));
	if (!cgroup)
		return NULL;
	cgroup->cgroup_id = cgroup_id;
	allowance_init(&cgroup->allowance);
	cgroup->path = strndup(path, size);
	if (!cgroup->path) {
		model->out_of_memory = true;
		free(cgroup);
		return NULL;
	}
	if (container_parse(cgroup->path, &name))
		cgroup->container = container_get(model, &name, cgroup->path, 0);
	cgroup->dirty = true;
	HASH_ADD(hh, model->cgroups, cgroup_id, sizeof(cgroup->cgroup_id), cgroup);
	return cgroup;
}

/* Of one that was let go, or that was told to the correlator before this one. It is written anew,
 * as the latest that was asked for. */
static struct cgroup *cgroup_load(struct model *model, uint64_t cgroup_id)
{
	const struct store_parameter row[] = {
		{"cgroup_row_id", STORE_INTEGER, cgroup_row_id(model, cgroup_id), NULL}, {0}};
	struct store_result *result;
	struct cgroup *cgroup = NULL;

	if (store_query(model->store, "cgroup_path", row, &result) < 0)
		return NULL;
	if (store_result_next(result) == 1) {
		struct store_value path = store_result_get(result, "path");

		cgroup = cgroup_add(model, cgroup_id, path.data, path.size);
	}
	store_result_free(result);
	return cgroup;
}

struct cgroup *cgroup_find(struct model *model, uint64_t cgroup_id)
{
	struct cgroup *cgroup = cgroup_id ? cgroup_known(model, cgroup_id) : NULL;

	return cgroup || !cgroup_id ? cgroup : cgroup_load(model, cgroup_id);
}

/* A runtime that leaves no id in the path (plain runc) still makes a pid namespace:
 * then the container is called after its cgroup. */
struct container *container_of_process(struct model *model, const struct process *process)
{
	struct cgroup *cgroup = cgroup_find(model, process->cgroup_id);
	struct container_name name = {.runtime = "namespace"};

	if (cgroup && cgroup->container)
		return cgroup->container;
	if (process->pid_namespace == 0 || process->pid_namespace == INITIAL_PID_NAMESPACE)
		return NULL;
	const char *path = cgroup ? cgroup->path : "/";
	const char *base = strrchr(path, '/');

	if (base && base[1])
		snprintf(name.runtime_id, sizeof(name.runtime_id), "%.71s", base + 1);
	else
		snprintf(name.runtime_id, sizeof(name.runtime_id), "pid:[%u]", process->pid_namespace);
	name.path_size = strlen(path);
	return container_get(model, &name, path, process->pid_namespace);
}

/* ---- letting go */

static void mark_container(struct container *container)
{
	if (container)
		container->used = true;
}

static void mark_task(const struct task *task)
{
	const struct group *group;
	const struct tool *tool;
	const struct image *image;

	mark_container(task->container);
	DL_FOREACH (task->groups, group)
		DL_FOREACH (group->tools, tool)
			DL_FOREACH (tool->images, image)
				mark_container(image->container);
}

/* What somebody in memory points to, is in, or is not in the store yet. */
static void mark_used(struct model *model)
{
	struct process *process;
	struct container *container;
	struct cgroup *cgroup;
	struct run *run;
	struct task *task;

	for (container = model->containers; container; container = container->hh.next)
		container->used = container->dirty || container->living_count > 0;
	for (cgroup = model->cgroups; cgroup; cgroup = cgroup->hh.next)
		cgroup->used = cgroup->dirty;
	for (process = model->processes; process; process = process->hh.next) {
		cgroup = cgroup_known(model, process->cgroup_id);
		if (cgroup)
			cgroup->used = true;
	}
	DL_FOREACH (model->runs, run) {
		mark_container(run->container);
		DL_FOREACH (run->tasks, task)
			mark_task(task);
	}
	for (cgroup = model->cgroups; cgroup; cgroup = cgroup->hh.next)
		if (cgroup->used)
			mark_container(cgroup->container);
}

static void cgroup_free(struct model *model, struct cgroup *cgroup)
{
	if (model->latest_cgroup == cgroup)
		model->latest_cgroup = NULL;
	HASH_DELETE(hh, model->cgroups, cgroup);
	free(cgroup->path);
	free(cgroup);
}

static void container_free(struct model *model, struct container *container)
{
	HASH_DELETE(hh, model->containers, container);
	free(container->cgroup_path);
	free(container->image);
	free(container->name);
	free(container);
}

static bool container_is_over(const struct model *model, const struct container *container)
{
	uint64_t last_boot_ns = container->end_boot_ns > container->begin_boot_ns
					? container->end_boot_ns
					: container->begin_boot_ns;

	return !container->used && model->now_boot_ns > last_boot_ns + CONTAINER_GRACE_NS;
}

static void renew_cgroups(struct model *model)
{
	if (model->now_boot_ns < model->next_renewal_boot_ns)
		return;
	model->next_renewal_boot_ns = model->now_boot_ns + RENEWAL_PERIOD_NS;
	for (struct cgroup *cgroup = model->cgroups; cgroup; cgroup = cgroup->hh.next)
		cgroup->dirty = true;
}

void places_sweep(struct model *model)
{
	struct container *container, *next_container;
	struct cgroup *cgroup, *next_cgroup;

	if (model->now_boot_ns < model->next_sweep_boot_ns)
		return;
	model->next_sweep_boot_ns = model->now_boot_ns + SWEEP_PERIOD_NS;
	mark_used(model);
	HASH_ITER (hh, model->cgroups, cgroup, next_cgroup)
		if (!cgroup->used)
			cgroup_free(model, cgroup);
	renew_cgroups(model);
	HASH_ITER (hh, model->containers, container, next_container)
		if (container_is_over(model, container)) {
			checkpoint_drop(model, container->id);
			container_free(model, container);
		}
}

void places_forget_cgroups(struct model *model)
{
	struct cgroup *cgroup, *next;

	HASH_ITER (hh, model->cgroups, cgroup, next)
		cgroup_free(model, cgroup);
	model->next_sweep_boot_ns = model->next_renewal_boot_ns = 0;
}

void places_free(struct model *model)
{
	struct container *container, *next;

	places_forget_cgroups(model);
	HASH_ITER (hh, model->containers, container, next)
		container_free(model, container);
}
