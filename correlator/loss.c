/* Losses: records that the kernel side had to drop, or that nobody can read. Known to have
 * happened, not what they were: so what ran there and then is incomplete.
 *
 * The probe tells how much was lost so far, again and again (WIRE_LOSSES). What of that is new
 * is found out here, against what was told before; that is remembered in the transaction
 * that writes the losses, so each is told once, whoever is killed when.
 */
#include "correlator/internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/identity.h"

#define COUNT_MAX (1ULL << 40) /* what is more is no count */

/* Of one kind, in one place: `count` records between two moments. */
struct lost {
	uint32_t type;
	uint64_t cgroup_id; /* 0: not known */
	uint64_t count;
	uint64_t first_boot_ns; /* of all that were lost there: what its row is known by */
	uint64_t since_boot_ns; /* of these */
	uint64_t last_boot_ns;
};

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

/* Whether a record of this process may be among the lost. */
static bool may_concern(const struct lost *lost, const struct process *process)
{
	bool there = lost->cgroup_id == 0 || process->cgroup_id == lost->cgroup_id;

	return there && process->place == PLACE_FULL && process->fork_boot_ns <= lost->last_boot_ns &&
	       (!process->ended || process->end_boot_ns >= lost->since_boot_ns);
}

/* Lost records make what ran in that cgroup at that time incomplete; where the cgroup is
 * not known, whatever ran then. */
static void mark_incomplete(struct model *model, const struct lost *lost)
{
	struct process *process;

	for (process = model->processes; process; process = process->hh.next)
		if (may_concern(lost, process)) {
			process->run->tally.marked = true;
			process->group->task->tally.marked = true;
		}
	struct run *run;

	DL_FOREACH (model->runs, run) {
		struct task *task;

		DL_FOREACH (run->tasks, task)
			if (task->tally.marked) {
				task->tally.marked = false;
				task->tally.lost_count += (int64_t)lost->count;
				task->dirty = true;
			}
		if (run->tally.marked) {
			run->tally.marked = false;
			run->tally.lost_count += (int64_t)lost->count;
			run->dirty = true;
		}
	}
}

static void note(struct model *model, const struct lost *lost)
{
	const struct cgroup *cgroup = cgroup_find(model, lost->cgroup_id);
	struct loss *loss = calloc(1, sizeof(*loss));
	struct identity identity;

	if (!loss) {
		model->out_of_memory = true;
		return;
	}
	identity_begin(&identity, "loss");
	identity_add_u64(&identity, (uint64_t)model->host.id);
	identity_add_bytes(&identity, model->boot_id, strlen(model->boot_id));
	identity_add_u64(&identity, lost->type);
	identity_add_u64(&identity, lost->cgroup_id);
	identity_add_u64(&identity, lost->first_boot_ns);
	loss->cgroup_path = cgroup ? strdup(cgroup->path) : NULL;
	loss->row = (struct row_loss){
		.id = identity_end(&identity),
		.host_id = model->host.id,
		.kind = loss_kind(lost->type),
		.cgroup_path = loss->cgroup_path,
		.lost_count = (int64_t)lost->count,
		.first_boot_ns = (int64_t)lost->first_boot_ns,
		.last_boot_ns = (int64_t)lost->last_boot_ns,
		.unix_ns = model_unix_ns(model, lost->first_boot_ns),
	};
	DL_APPEND(model->losses, loss);
	/* Without its final record an image keeps the figures of its exit: complete. */
	if (lost->type != RECORD_FINAL)
		mark_incomplete(model, lost);
}

/* A slot goes on being the same loss until another ring's losses begin in its place. */
static bool is_told(const struct loss_slot *told, const struct loss_slot *slot)
{
	return told->type == slot->type && told->cgroup_id == slot->cgroup_id &&
	       told->first_boot_ns == slot->first_boot_ns;
}

static void slot_take(struct model *model, struct loss_slot *told, const struct loss_slot *slot)
{
	bool known = is_told(told, slot);
	struct lost lost = {
		.type = slot->type,
		.cgroup_id = slot->cgroup_id,
		.count = slot->count - (known ? told->count : 0),
		.first_boot_ns = slot->first_boot_ns,
		.since_boot_ns = known ? told->last_boot_ns : slot->first_boot_ns,
		/* The kernel writes it behind the count. */
		.last_boot_ns = slot->last_boot_ns > slot->first_boot_ns ? slot->last_boot_ns
									 : slot->first_boot_ns,
	};

	/* One that has just been taken says what it counts in a moment. */
	if (slot->type == 0 || slot->count == 0 || slot->count > COUNT_MAX ||
	    (known && slot->count <= told->count))
		return;
	note(model, &lost);
	*told = *slot;
	told->last_boot_ns = lost.last_boot_ns;
	model->losses_dirty = true;
}

bool loss_take(struct model *model, const struct wire_losses *losses)
{
	struct loss_slot slot;

	if (losses->slots.size != sizeof(model->losses_told))
		return false;
	for (int i = 0; i < LOSS_SLOTS; i++) {
		memcpy(&slot, losses->slots.data + i * sizeof(slot), sizeof(slot));
		slot_take(model, &model->losses_told[i], &slot);
	}
	return true;
}

void loss_note_record(struct model *model, const struct record_header *header)
{
	note(model, &(struct lost){
		.type = header->type,
		.count = 1,
		.first_boot_ns = header->boot_ns,
		.since_boot_ns = header->boot_ns,
		.last_boot_ns = header->boot_ns,
	});
}
