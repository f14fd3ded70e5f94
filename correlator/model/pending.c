/* See pending.h. */
#include "correlator/model/pending.h"

#include <stdio.h>

#include <utlist.h>

#include "correlator/model/model.h"

void pending_add_sample(struct model *model, const struct row_sample *row)
{
	if (model->sample_count == model->sample_capacity) {
		size_t capacity = model->sample_capacity ? model->sample_capacity * 2 : 256;
		struct row_sample *samples = realloc(model->samples, capacity * sizeof(*samples));

		if (!samples) {
			model->out_of_memory = true;
			return;
		}
		model->samples = samples;
		model->sample_capacity = capacity;
	}
	model->samples[model->sample_count++] = *row;
}

void pending_add_host_sample(struct model *model, const struct row_host_sample *row)
{
	if (model->host_sample_count == HOST_SAMPLES_MAX) {
		model->host_sample_count--;
		memmove(model->host_samples, model->host_samples + 1,
			model->host_sample_count * sizeof(*model->host_samples));
	}
	model->host_samples[model->host_sample_count++] = *row;
}

void pending_add_incident(struct model *model, const struct row_incident *row, const char *sentence,
		  const char *cause)
{
	struct incident *incident = calloc(1, sizeof(*incident));

	if (incident)
		incident->sentence = strdup(sentence);
	if (!incident || !incident->sentence) {
		free(incident);
		model->out_of_memory = true;
		return;
	}
	incident->row = *row;
	incident->row.host_id = model->host.id;
	if (row->unix_ns == 0)
		incident->row.unix_ns = model_unix_ns(model, (uint64_t)row->boot_ns);
	incident->row.sentence = incident->sentence;
	snprintf(incident->cause, sizeof(incident->cause), "%s", cause ? cause : "");
	incident->row.cause = incident->cause[0] ? incident->cause : NULL;
	snprintf(incident->sender, sizeof(incident->sender), "%s",
		 row->sender_program ? row->sender_program : "");
	incident->row.sender_program = incident->sender[0] ? incident->sender : NULL;
	DL_APPEND(model->incidents, incident);
}

void pending_add_loss(struct model *model, const struct row_loss *row)
{
	struct loss *loss = model_alloc(model, sizeof(*loss));

	if (!loss)
		return;
	loss->row = *row;
	if (row->cgroup_path)
		loss->row.cgroup_path = loss->cgroup_path = strdup(row->cgroup_path);
	DL_APPEND(model->losses, loss);
}

void pending_clear(struct model *model)
{
	struct incident *incident, *next_incident;
	struct loss *loss, *next_loss;

	DL_FOREACH_SAFE (model->incidents, incident, next_incident) {
		free(incident->sentence);
		free(incident);
	}
	DL_FOREACH_SAFE (model->losses, loss, next_loss) {
		free(loss->cgroup_path);
		free(loss);
	}
	model->incidents = NULL;
	model->losses = NULL;
	model->sample_count = model->host_sample_count = 0;
}
