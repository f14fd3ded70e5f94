/* See boot.h. */
#include "correlator/apply/boot.h"

#include <utlist.h>

#include "correlator/apply/change.h"
#include "correlator/apply/clock.h"
#include "correlator/apply/found.h"
#include "correlator/apply/state.h"
#include "correlator/model/cgroup.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/tree.h"

static void copy_bytes(char *text, size_t capacity, const struct wire_bytes *bytes)
{
	size_t size = bytes->size < capacity - 1 ? bytes->size : capacity - 1;

	memcpy(text, bytes->data, size);
	text[size] = '\0';
}

/* Ends everything of the previous boot as lost, since nothing recorded how it ended. Its
 * processes are freed at once: init of the next boot may have the same start time. */
static void end_boot(struct model *model)
{
	struct process *process, *next;
	struct run *run;

	found_place_all(model);
	HASH_ITER (hh, model->processes, process, next) {
		change_end_unknown(model, process, IMAGE_LOST, model->now_boot_ns);
		process_free(model, process);
	}
	DL_FOREACH (model->runs, run)
		run_end_boot(model, run);
	cgroup_forget_all(model);
	model->system = NULL;
	model->now_boot_ns = 0;
	model->apply->found_settle_boot_ns = 0;
}

/* A host without a machine id keeps that of its first name until it boots again: what runs belongs to it. */
static void set_host_id(struct model *model, const struct wire_hello *hello, bool is_new_boot)
{
	const struct wire_bytes *key = hello->host_id.size ? &hello->host_id : &hello->hostname;
	struct identity identity;

	/* The machine id itself must not leave the machine (machine-id(5)). */
	identity_begin(&identity, "host");
	identity_add_bytes(&identity, key->data, key->size);
	if (is_new_boot || !model->host.id)
		model->host.id = identity_end(&identity);
	identity_format(model->host.id, model->apply->host.host_key);
}

void boot_note_hello(struct model *model, const struct wire_hello *hello)
{
	char boot_id[sizeof(model->boot_id)];
	struct host_texts *texts = &model->apply->host;

	copy_bytes(boot_id, sizeof(boot_id), &hello->boot_id);
	bool is_new_boot = strcmp(model->boot_id, boot_id) != 0;

	if (model->boot_id[0] && is_new_boot)
		end_boot(model);
	set_host_id(model, hello, is_new_boot);
	memcpy(model->boot_id, boot_id, sizeof(boot_id));
	image_begin_identities(model);
	copy_bytes(texts->hostname, sizeof(texts->hostname), &hello->hostname);
	copy_bytes(texts->kernel, sizeof(texts->kernel), &hello->kernel);
	copy_bytes(texts->machine, sizeof(texts->machine), &hello->machine);
	copy_bytes(texts->probe_version, sizeof(texts->probe_version), &hello->probe_version);
	model->host.host_key = texts->host_key;
	model->host.hostname = model->options.hostname ? model->options.hostname : texts->hostname;
	model->host.boot_id = model->boot_id;
	model->host.kernel = texts->kernel;
	model->host.machine = texts->machine;
	model->host.cpu_count = (int64_t)hello->cpu_count;
	model->host.memory_bytes = (int64_t)hello->memory_bytes;
	model->host.probe_version = texts->probe_version;
	clock_note(model, hello->boot_ns, hello->unix_ns, is_new_boot);
	model->host_dirty = true;
}
