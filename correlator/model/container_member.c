/* See container_member.h. */
#include "correlator/model/container_member.h"

#include <stdio.h>

#include "correlator/model/cgroup.h"
#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/container_name.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"

static bool is_in_namespace(const struct image *image, uint32_t pid_namespace)
{
	return image && image->container && image->container->pid_namespace == pid_namespace;
}

/* Returns the container that the process's pid namespace is known to be: that of its previous image or
 * of its parent, or, for a process that has entered, the one that lives. */
static struct container *container_of_namespace(struct model *model, const struct process *process)
{
	int64_t pid_namespace = process->pid_namespace;
	struct container *container;

	if (is_in_namespace(process->image, process->pid_namespace))
		return process->image->container;
	if (process->parent && is_in_namespace(process->parent->image, process->pid_namespace))
		return process->parent->image->container;
	HASH_FIND(hh_namespace, model->namespaces, &pid_namespace, sizeof(pid_namespace), container);
	return container && container->living_count > 0 ? container : NULL;
}

/* A runtime that puts no id into the path (plain runc, Apptainer) still creates a pid namespace: then the container
 * is named after its cgroup. Others may have had the same cgroup, and the kernel gives the number of a
 * namespace to the next one at once, so the start of its first process is part of its identity. */
struct container *container_of_process(struct model *model, const struct process *process)
{
	struct cgroup *cgroup = cgroup_find(model, process->cgroup_id);
	struct container_name name = {.runtime = CONTAINER_OF_NAMESPACE};
	struct container *container;

	if (cgroup && cgroup->container)
		return cgroup->container;
	if (!process_has_namespace(process))
		return NULL;
	container = container_of_namespace(model, process);
	if (container)
		return container;
	const char *path = cgroup ? cgroup->path : "/";
	const char *base = command_base_name(path);

	if (base[0] && base[0] != '/')
		snprintf(name.runtime_id, sizeof(name.runtime_id), "%.71s", base);
	else
		snprintf(name.runtime_id, sizeof(name.runtime_id), "pid:[%u]", process->pid_namespace);
	name.path_size = strlen(path);
	return container_get(model, &name, path, process);
}

static void note_first(struct model *model, struct container *container, const struct process *process)
{
	struct process *above;

	if (container->labelled)
		return;
	container->labelled = true;
	container_set_dirty(model, container);
	for (above = process->parent; above; above = above->parent) {
		if (above->image && above->image->container == container)
			continue;
		container_set_label(model, container, above);
		if (above->image && above->image->role == RULES_ROLE_CLIENT && !above->has_container) {
			above->has_container = true; /* it waits for this one and no other */
			process_set_changed(model, above);
		}
	}
}

/* A container belongs to the run and task of its first process. Wrappers do not count: one may be
 * the runtime that is still entering. */
void container_note_image(struct model *model, const struct image *image)
{
	const struct process *process = image->process;
	struct container *container = image->container;

	if (!container)
		return;
	note_first(model, container, process);
	container_note_namespaces(model, container, process);
	if (container->run_id != ROW_NULL || process->run == model->system || image->role == RULES_ROLE_WRAPPER)
		return;
	container->run_id = process->run->id;
	container->task_id = process->group->task->id;
	container_set_dirty(model, container);
}
