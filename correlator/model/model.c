/* See model.h. */
#include "correlator/model/model.h"

#include <utlist.h>

#include "common/grow.h"
#include "correlator/model/cgroup.h"
#include "correlator/model/container.h"
#include "correlator/model/pending.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"

struct model *model_new(const struct model_options *options, struct store *store)
{
	struct model *model = calloc(1, sizeof(*model));

	if (!model)
		return NULL;
	model->store = store;
	model->rules = options->rules;
	model->arguments = options->arguments;
	model->keep_arguments = options->keep_arguments;
	model->keep_states = options->keep_states;
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

int64_t model_unix_ns(const struct model *model, uint64_t boot_ns)
{
	return (int64_t)boot_ns + model->clock_offset_ns;
}

void model_set_gone(struct model *model, int64_t id)
{
	int64_t *gone;

	if (!model->keep_states)
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
	return model->dirty_runs || model->dirty_tasks || model->dirty_tools || model->dirty_images ||
	       model->fact_count > model->host_sample_count || model->losses_dirty || model->host_dirty;
}

size_t model_pending(const struct model *model)
{
	return model->fact_count + model->dirty_image_count;
}

uint64_t model_now_boot_ns(const struct model *model)
{
	return model->now_boot_ns;
}

void model_forget_all(struct model *model)
{
	struct container *container, *next_container;
	struct process *process, *next;

	HASH_ITER (hh, model->processes, process, next)
		process_free(model, process);
	while (model->runs)
		run_free(model, model->runs);
	cgroup_forget_all(model);
	HASH_ITER (hh, model->containers, container, next_container)
		container_free(model, container);
}

void model_free(struct model *model)
{
	struct kept_text *kept, *next_kept;

	model_forget_all(model);
	pending_clear(model);
	HASH_ITER (hh, model->kept_texts, kept, next_kept) {
		HASH_DEL(model->kept_texts, kept);
		free(kept->text);
		free(kept);
	}
	free(model->gone);
	free(model);
}
