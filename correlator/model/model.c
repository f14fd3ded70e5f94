/* See model.h. */
#include "correlator/model/model.h"

#include "common/grow.h"

struct model *model_new(const struct model_options *options, struct store *store)
{
	struct model *model = calloc(1, sizeof(*model));

	if (!model)
		return NULL;
	model->store = store;
	model->options = *options;
	model->scan_number = 1;
	return model;
}

/* A failed allocation ends the correlator when it next checks the flag; the probe keeps
 * everything that was not acknowledged. */
void *model_alloc(struct model *model, size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		model->out_of_memory = true;
	return memory;
}

void model_set_text(struct model *model, char **text, const char *value)
{
	char *copy = strdup(value);

	if (!copy) {
		model->out_of_memory = true;
		return;
	}
	free(*text);
	*text = copy;
}

void model_begin_identity(const struct model *model, const char *kind, struct identity *ret)
{
	identity_begin(ret, kind);
	identity_add_u64(ret, (uint64_t)model->host.id);
	identity_add_bytes(ret, model->boot_id, strlen(model->boot_id));
}

void model_add_generation(const struct model *model, struct identity *identity)
{
	if (model->generation)
		identity_add_u64(identity, (uint64_t)model->generation);
}

void image_begin_identities(struct model *model)
{
	model_begin_identity(model, "process", &model->image_identity);
}

/* Ids follow the order in which processes started, so that rows of the same time are adjacent in
 * the store and a commit writes few pages. Each boot has an offset of its own, a hash. From there
 * ids count microseconds (1,024 ns) in 40 bits, which wrap around after 13 days. The 23 bits below
 * hold pid and exec id, so that the images of a process differ, and so do processes of the same
 * microsecond with the same exec id. So ids collide no more often than hashes of 63 bits would. */
#define ID_TIME_SHIFT 10
#define ID_LOW_BITS 23
#define ID_PID_FACTOR 0x9e3779b1U /* odd: 22-bit pids stay distinct; large: neighbours spread */

int64_t image_id(const struct model *model, const struct process_key *key, uint32_t exec_id)
{
	struct identity identity = model->image_identity;
	uint64_t low = ((uint32_t)key->pid * ID_PID_FACTOR + exec_id) & ((1U << ID_LOW_BITS) - 1);
	uint64_t id;

	model_add_generation(model, &identity);
	id = (uint64_t)identity_end(&identity);
	id += ((key->start_boot_ns >> ID_TIME_SHIFT) << ID_LOW_BITS) | low;
	id &= INT64_MAX;
	return id ? (int64_t)id : 1;
}

int64_t model_unix_ns(const struct model *model, uint64_t boot_ns)
{
	return (int64_t)boot_ns + model->clock_offset_ns;
}

void model_set_gone(struct model *model, int64_t id)
{
	int64_t *gone;

	if (!model->options.keep_states)
		return;
	gone = grow(model->gone, &model->gone_capacity, model->gone_count + 1, sizeof(*gone));
	if (!gone) {
		model->out_of_memory = true;
		return;
	}
	model->gone = gone;
	model->gone[model->gone_count++] = id;
}

bool model_is_dirty(const struct model *model)
{
	return model->dirty_runs || model->dirty_tasks || model->dirty_tools || model_pending(model) > 0 ||
	       model->losses.dirty || model->host_dirty;
}

size_t model_pending(const struct model *model)
{
	return model->fact_count - model->host_sample_count + model->dirty_image_count;
}
