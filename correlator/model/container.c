/* See container.h. */
#include "correlator/model/container.h"

#include <stdio.h>

#include "correlator/model/cgroup.h"
#include "correlator/model/command.h"
#include "correlator/model/container_name.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"

#define CONTAINER_OF_NAMESPACE "namespace" /* the runtime of those that only a namespace shows */
/* inode of the initial pid namespace (include/linux/proc_ns.h, PROC_PID_INIT_INO) */
#define INITIAL_PID_NAMESPACE 0xEFFFFFFCU

/* Makes it the container of its pid namespace, unless a later one has that number now. */
static void link_namespace(struct model *model, struct container *container)
{
	struct container *other;

	if (container->pid_namespace == ROW_NULL)
		return;
	HASH_FIND(hh_namespace, model->namespaces, &container->pid_namespace, sizeof(int64_t), other);
	if (other && other->begin_boot_ns > container->begin_boot_ns)
		return;
	HASH_REPLACE(hh_namespace, model->namespaces, pid_namespace, sizeof(int64_t), container, other);
}

void container_add(struct model *model, struct container *container)
{
	container->is_of_namespace = strcmp(container->runtime, CONTAINER_OF_NAMESPACE) == 0;
	HASH_ADD(hh, model->containers, id, sizeof(container->id), container);
	link_namespace(model, container);
}

struct container *container_get(struct model *model, const struct container_name *name, const char *path,
				const struct process *first)
{
	struct container *container;
	struct identity identity;

	model_begin_identity(model, "container", &identity);
	identity_add_bytes(&identity, name->runtime, strlen(name->runtime));
	identity_add_bytes(&identity, name->runtime_id, strlen(name->runtime_id));
	identity_add_bytes(&identity, path, name->path_size);
	if (first) {
		identity_add_u64(&identity, first->pid_namespace);
		identity_add_u64(&identity, first->key.start_boot_ns);
	}
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
	cgroup_limits_init(&container->limits);
	container->begin_boot_ns = model->now_boot_ns;
	container->started_unix_ns = model_unix_ns(model, container->begin_boot_ns);
	container_set_dirty(model, container);
	container_add(model, container);
	return container;
}

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
	if (process->pid_namespace == 0 || process->pid_namespace == INITIAL_PID_NAMESPACE)
		return NULL;
	container = container_of_namespace(model, process);
	if (container)
		return container;
	const char *path = cgroup ? cgroup->path : "/";
	const char *base = strrchr(path, '/');

	if (base && base[1])
		snprintf(name.runtime_id, sizeof(name.runtime_id), "%.71s", base + 1);
	else
		snprintf(name.runtime_id, sizeof(name.runtime_id), "pid:[%u]", process->pid_namespace);
	name.path_size = strlen(path);
	return container_get(model, &name, path, process);
}

/* ---- what is known about a container */

void container_set_label(struct model *model, struct container *container, const struct process *teller)
{
	const struct command *command = teller->command;
	struct container_label label;

	if (!command || model->arguments == REDACT_PROGRAM_ONLY)
		return;
	container_label_parse(command->program, command->subject.argv, command->subject.argc, &label);
	if (label.runtime_id && strcmp(label.runtime_id, container->runtime_id) != 0)
		return;
	if (label.name && !container->name && label.verb <= CONTAINER_RUN)
		model_set_text(model, &container->name, label.name);
	if (label.image && !container->image)
		model_set_text(model, &container->image, label.image);
	container_set_dirty(model, container);
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

/* Takes those of the first process inside: a runtime that is still entering has the host's. */
static void note_namespaces(struct model *model, struct container *container, const struct process *process)
{
	if (container->pid_namespace != ROW_NULL || process->pid_namespace == 0 ||
	    process->pid_namespace == INITIAL_PID_NAMESPACE)
		return;
	container->pid_namespace = process->pid_namespace;
	if (process->mount_namespace)
		container->mount_namespace = process->mount_namespace;
	link_namespace(model, container);
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
	note_namespaces(model, container, process);
	if (container->run_id != ROW_NULL || process->run == model->system || image->role == RULES_ROLE_WRAPPER)
		return;
	container->run_id = process->run->id;
	container->task_id = process->group->task->id;
	container_set_dirty(model, container);
}

void container_set_dirty(struct model *model, struct container *container)
{
	MODEL_SET_DIRTY(model->dirty_containers, container);
}

void container_free(struct model *model, struct container *container)
{
	struct container *latest;

	MODEL_FORGET_DIRTY(model->dirty_containers, container);
	HASH_DELETE(hh, model->containers, container);
	HASH_FIND(hh_namespace, model->namespaces, &container->pid_namespace, sizeof(int64_t), latest);
	if (latest == container)
		HASH_DELETE(hh_namespace, model->namespaces, container);
	free(container->cgroup_path);
	free(container->image);
	free(container->name);
	free(container);
}
