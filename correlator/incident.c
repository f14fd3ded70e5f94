/* Incidents: what went wrong, each in one sentence of facts. */
#include "correlator/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"

#define SENTENCE_MAX 512

static int64_t incident_id(int64_t subject, const char *kind)
{
	struct identity identity;

	identity_begin(&identity, "incident");
	identity_add_u64(&identity, (uint64_t)subject);
	identity_add_bytes(&identity, kind, strlen(kind));
	return identity_end(&identity);
}

static void incident_add(struct model *model, const struct row_incident *row, const char *sentence)
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
	incident->row.end_boot_ns = ROW_NULL;
	incident->row.sender_process_id = incident->row.sender_user_id = ROW_NULL;
	incident->row.host_id = model->host.id;
	incident->row.unix_ns = row->boot_ns + model->clock_offset_ns;
	incident->row.sentence = incident->sentence;
	DL_APPEND(model->incidents, incident);
}

/* "samtools sort (pid 71) was killed by signal 9 after 2.3 s" */
static void describe(const struct image *image, char *text, size_t size)
{
	double seconds = (double)(image->end_boot_ns - image->begin_boot_ns) / 1e9;
	int64_t signal = image->wait_status & 0x7f;

	if (image->oom_killed)
		snprintf(text, size, "%s (pid %u) was killed by the kernel's OOM killer after %.1f s",
			 image->tool->name, image->pid, seconds);
	else if (signal)
		snprintf(text, size, "%s (pid %u) was killed by signal %" PRId64 "%s after %.1f s",
			 image->tool->name, image->pid, signal,
			 image->wait_status & 0x80 ? " and dumped core" : "", seconds);
	else
		snprintf(text, size, "%s (pid %u) exited with code %" PRId64 " after %.1f s",
			 image->tool->name, image->pid, image->wait_status >> 8 & 0xff, seconds);
}

static bool has_failed(const struct image *image)
{
	return image->ended == IMAGE_EXIT && image->wait_status != ROW_NULL && image->wait_status != 0;
}

void incident_note_failure(struct model *model, struct image *image)
{
	struct task *task = image->tool->group->task;
	char text[SENTENCE_MAX];

	if (!has_failed(image))
		return;
	describe(image, text, sizeof(text));
	/* Many programs fail on purpose (test, grep): remembered as the first cause,
	 * told only if the task fails as well. */
	if (!task->failure) {
		task->failure = strdup(text);
		task->failure_process_id = image->id;
	}
	if (!image->oom_killed)
		return;
	incident_add(model,
		     &(struct row_incident){
			     .id = incident_id(image->id, "oom-kill"),
			     .run_id = task->run->id,
			     .task_id = task->id,
			     .process_id = image->id,
			     .kind = "oom-kill",
			     .boot_ns = (int64_t)image->end_boot_ns,
		     },
		     text);
}

void incident_note_task(struct model *model, struct task *task)
{
	char text[SENTENCE_MAX * 2];
	const char *status = outcome_status(&task->outcome, &task->tally);
	bool killed = strcmp(status, "killed") == 0;

	if (task->incident_told || !task->failure || (!killed && strcmp(status, "failed") != 0) ||
	    task->run == model->system)
		return;
	task->incident_told = true;
	task_set_name(task);
	snprintf(text, sizeof(text), "task %s %s: %s", task->name ? task->name : "",
		 killed ? "was killed" : "failed", task->failure);
	incident_add(model,
		     &(struct row_incident){
			     .id = incident_id(task->id, "task"),
			     .run_id = task->run->id,
			     .task_id = task->id,
			     .process_id = task->failure_process_id,
			     .kind = killed ? "signal" : "exit-code",
			     .boot_ns = (int64_t)task->outcome.end_boot_ns,
		     },
		     text);
}

static const char *loss_kind(uint64_t type)
{
	switch (type) {
	case RECORD_FORK: return "fork";
	case RECORD_EXEC: return "exec";
	case RECORD_EXIT: return "exit";
	case RECORD_FINAL: return "final";
	case RECORD_CGROUP: return "cgroup";
	case RECORD_IGNORED: return "ignored";
	default: return "unknown";
	}
}

/* Lost records make what ran in that cgroup at that time incomplete. */
static void mark_incomplete(struct model *model, const struct wire_loss *loss)
{
	struct process *process;

	for (process = model->processes; process; process = process->hh.next)
		if (process->place == PLACE_FULL && process->cgroup_id == loss->cgroup_id) {
			process->run->tally.marked = true;
			process->group->task->tally.marked = true;
		}
	struct run *run;

	DL_FOREACH (model->runs, run) {
		struct task *task;

		DL_FOREACH (run->tasks, task)
			if (task->tally.marked) {
				task->tally.marked = false;
				task->tally.lost_count += (int64_t)loss->count;
				task->dirty = true;
			}
		if (run->tally.marked) {
			run->tally.marked = false;
			run->tally.lost_count += (int64_t)loss->count;
			run->dirty = true;
		}
	}
}

void incident_note_loss(struct model *model, const struct wire_loss *message)
{
	struct loss *loss = calloc(1, sizeof(*loss));
	struct cgroup *cgroup = cgroup_find(model, message->cgroup_id);
	struct identity identity;

	if (!loss) {
		model->out_of_memory = true;
		return;
	}
	identity_begin(&identity, "loss");
	identity_add_u64(&identity, (uint64_t)model->host.id);
	identity_add_bytes(&identity, model->boot_id, strlen(model->boot_id));
	identity_add_u64(&identity, message->type);
	identity_add_u64(&identity, message->cgroup_id);
	identity_add_u64(&identity, message->first_boot_ns);
	loss->cgroup_path = cgroup ? strdup(cgroup->path) : NULL;
	loss->row = (struct row_loss){
		.id = identity_end(&identity),
		.host_id = model->host.id,
		.kind = loss_kind(message->type),
		.cgroup_path = loss->cgroup_path,
		.lost_count = (int64_t)message->count,
		.first_boot_ns = (int64_t)message->first_boot_ns,
		.last_boot_ns = (int64_t)message->last_boot_ns,
		.unix_ns = (int64_t)message->first_boot_ns + model->clock_offset_ns,
	};
	DL_APPEND(model->losses, loss);
	/* Without its final record an image keeps the figures of its exit: complete. */
	if (message->type != RECORD_FINAL)
		mark_incomplete(model, message);
}
