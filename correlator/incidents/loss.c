/* Losses: records that the kernel side had to drop or that could not be decoded. Their content is
 * unknown, so whatever ran in that place at that time is incomplete.
 *
 * The probe repeatedly sends how much was lost so far (WIRE_LOSSES). This file finds what is new
 * by comparison with the previous report, which is saved in the transaction that writes the
 * losses. So each loss is counted exactly once, whichever program is killed and when.
 */
#include "correlator/incidents/loss.h"

#include "correlator/model/cgroup.h"
#include "correlator/model/group.h"
#include "correlator/model/model.h"
#include "correlator/model/pending.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"

#define COUNT_MAX (1ULL << 40) /* larger values are not valid counts */

static const char *loss_kind(uint32_t type)
{
	switch (type) {
	case RECORD_FORK: return "fork";
	case RECORD_EXEC: return "exec";
	case RECORD_EXIT: return "exit";
	case RECORD_FINAL: return "final";
	case RECORD_CGROUP: return "cgroup";
	case RECORD_IGNORED: return "ignored";
	case RECORD_SIGNAL: return "signal";
	default: return "unknown";
	}
}

/* Whether a record of this process may be among those lost. */
static bool may_concern(const struct loss_slot *lost, uint64_t since_boot_ns, const struct process *process)
{
	bool there = lost->cgroup_id == 0 || process->cgroup_id == lost->cgroup_id;

	return there && process->place == PLACE_FULL && process->fork_boot_ns <= lost->last_boot_ns &&
	       (!process->ended || process->end_boot_ns >= since_boot_ns);
}

/* Returns false if the loss was already counted, for another process. */
static bool count_in(const struct model *model, uint64_t *number, int64_t *lost_count, uint64_t count)
{
	if (*number == model->losses.number)
		return false;
	*number = model->losses.number;
	*lost_count += (int64_t)count;
	return true;
}

/* Marks as incomplete what ran in that cgroup at that time, or everything that ran then if the
 * cgroup is unknown. */
static void mark_incomplete(struct model *model, const struct loss_slot *lost, uint64_t since_boot_ns)
{
	struct process *process;

	model->losses.number++;
	for (process = model->processes; process; process = process->hh.next)
		if (may_concern(lost, since_boot_ns, process)) {
			struct group *group = process->group;
			struct run *run = process->run;

			if (count_in(model, &group->loss_number, &group->lost_count, lost->count))
				task_set_dirty(model, group->task);
			if (count_in(model, &run->loss_number, &run->lost_count, lost->count))
				run_set_dirty(model, run);
		}
}

static void add_row(struct model *model, const char *kind, const struct loss_slot *lost)
{
	const struct cgroup *cgroup = cgroup_find(model, lost->cgroup_id);
	struct identity identity;

	model_begin_identity(model, "loss", &identity);
	identity_add_u64(&identity, lost->type);
	identity_add_u64(&identity, lost->cgroup_id);
	identity_add_u64(&identity, lost->first_boot_ns);
	pending_add_loss(model, &(struct row_loss){
					.id = identity_end(&identity),
					.host_id = model->host.id,
					.kind = kind,
					.cgroup_path = cgroup ? cgroup->path : NULL,
					.lost_count = (int64_t)lost->count,
					.first_boot_ns = (int64_t)lost->first_boot_ns,
					.last_boot_ns = (int64_t)lost->last_boot_ns,
					.unix_ns = model_unix_ns(model, lost->first_boot_ns),
				});
}

/* Notes lost records of one kind in one place (0: unknown), of which the first identifies the row: `lost->count`
 * of them since `since_boot_ns`. */
static void note(struct model *model, const struct loss_slot *lost, uint64_t since_boot_ns)
{
	add_row(model, loss_kind(lost->type), lost);
	/* Without its final record an image keeps the figures of its exit, which are complete. */
	if (lost->type != RECORD_FINAL)
		mark_incomplete(model, lost, since_boot_ns);
}

/* A slot continues the same loss until the losses of another ring take it over. */
static bool is_same(const struct loss_slot *before, const struct loss_slot *slot)
{
	return before->type == slot->type && before->cgroup_id == slot->cgroup_id &&
	       before->first_boot_ns == slot->first_boot_ns;
}

static void slot_take(struct model *model, struct loss_slot *before, const struct loss_slot *slot)
{
	bool known = is_same(before, slot);
	struct loss_slot lost = *slot;

	/* A slot that was just claimed gets its type and count a moment later. */
	if (slot->type == 0 || slot->count == 0 || slot->count > COUNT_MAX || (known && slot->count <= before->count))
		return;
	if (lost.last_boot_ns < lost.first_boot_ns) /* the kernel writes it after the count */
		lost.last_boot_ns = lost.first_boot_ns;
	lost.count -= known ? before->count : 0;
	note(model, &lost, known ? before->last_boot_ns : slot->first_boot_ns);
	*before = lost;
	before->count = slot->count;
	model->losses.dirty = true;
}

bool loss_take(struct model *model, const struct wire_losses *losses)
{
	struct loss_slot slot;

	if (losses->slots.size != sizeof(model->losses.reported))
		return false;
	for (size_t i = 0; i < LOSS_SLOTS; i++) {
		memcpy(&slot, losses->slots.data + i * sizeof(slot), sizeof(slot));
		slot_take(model, &model->losses.reported[i], &slot);
	}
	return true;
}

void loss_note_record(struct model *model, const struct record_header *header, uint64_t until_boot_ns)
{
	note(model,
	     &(struct loss_slot){
		     .type = header->type,
		     .count = 1,
		     .first_boot_ns = header->boot_ns,
		     .last_boot_ns = until_boot_ns,
	     },
	     header->boot_ns);
}

void loss_note_unrecorded(struct model *model, const struct process *parent)
{
	struct losses *losses = &model->losses;

	losses->unrecorded_count++;
	if (!losses->unrecorded_boot_ns)
		losses->unrecorded_boot_ns = model->now_boot_ns;
	if (!parent || !parent->group)
		return;
	parent->group->lost_count++;
	parent->run->lost_count++;
	task_set_dirty(model, parent->group->task);
	run_set_dirty(model, parent->run);
}

void loss_write_unrecorded(struct model *model)
{
	struct losses *losses = &model->losses;

	if (losses->unrecorded_count)
		add_row(model, "unrecorded",
			&(struct loss_slot){
				.count = losses->unrecorded_count,
				.first_boot_ns = losses->unrecorded_boot_ns,
				.last_boot_ns = model->now_boot_ns,
			});
	losses->unrecorded_count = 0;
}
