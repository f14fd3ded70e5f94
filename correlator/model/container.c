/* See container.h. */
#include "correlator/model/container.h"

#include <stdio.h>

#include "correlator/model/command.h"
#include "correlator/model/container_name.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"

/* The kubelet names a container just after it has started it. The sandbox of a pod never gets a name. */
#define POD_NAME_WAIT_NS (60 * UINT64_C(1000000000))

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

void container_set_label(struct model *model, struct container *container, const struct process *source)
{
	const struct command *command = source->command;
	struct rules_container label;

	if (!command || model->options.arguments == REDACT_PROGRAM_ONLY)
		return;
	rules_read_container(model->options.rules, &command->subject, &label);
	if (label.id && strcmp(label.id, container->runtime_id) != 0)
		return;
	if (label.name && !container->name && label.verb <= RULES_CONTAINER_RUN)
		model_set_text(model, &container->name, label.name);
	if (label.image && !container->image)
		model_set_text(model, &container->image, label.image);
	container_set_dirty(model, container);
}

/* Returns where NAMESPACE/POD ends in the container's name; NULL unless the kubelet has named it. */
static const char *pod_end(const struct container *container)
{
	return container->name && cgroup_is_of_pod(container->cgroup_path) ? strrchr(container->name, '/') : NULL;
}

bool container_awaits_pod(const struct model *model, const struct container *container)
{
	return model->now_boot_ns < container->begin_boot_ns + POD_NAME_WAIT_NS &&
	       cgroup_is_of_pod(container->cgroup_path) && !pod_end(container);
}

void container_name_run(struct model *model, const struct container *container, struct run *run)
{
	const char *end = pod_end(container);
	char pod[RULES_NAME_MAX];

	if (!end || run->main->container != container)
		return;
	snprintf(pod, sizeof(pod), "%.*s", (int)(end - container->name), container->name);
	run_set_name(model, run, pod, RUN_NAME_FIXED);
}

void container_set_pod(struct model *model, struct container *container, const char *name)
{
	struct run *run;

	model_set_text(model, &container->name, name);
	container_set_dirty(model, container);
	DL_FOREACH (model->runs, run)
		if (run->id == container->run_id)
			container_name_run(model, container, run);
}

void container_note_namespaces(struct model *model, struct container *container, const struct process *process)
{
	if (container->pid_namespace != ROW_NULL || !process_has_namespace(process))
		return;
	container->pid_namespace = process->pid_namespace;
	if (process->mount_namespace)
		container->mount_namespace = process->mount_namespace;
	link_namespace(model, container);
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
