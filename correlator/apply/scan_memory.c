/* Memory at one time, as one process scan finds it. See scan_memory.h.
 *
 * A process's own counters (rss_stat) count every page that it has mapped, so their sum counts a page that several processes
 * share once for each. What a set holds is less, and sometimes more:
 *
 * 1. A process that was forked and has executed nothing since counts with what it has written since
 *    (memory_own_of_fork), and with shared memory that its parent had not mapped. What it inherited counts in its parent. What
 *    the parent holds no longer, because it has ended, executed another program, or written it again, counts once for all
 *    children that it forked.
 * 2. Much of that is an upper bound: shared memory counts in each program that has mapped it, and a page that is written,
 *    freed and written again cost two faults. So the sum over all processes of a memory cgroup is compared with what is
 *    charged to that cgroup, where each page counts once. What is too much is taken to be shared memory of which others in
 *    the same run have the largest part, and if that does not explain it, memory of forks.
 *    If the cgroup holds more, shared memory that a fork may have inherited is its own.
 * 3. If the cgroup holds more than its processes have mapped (files in tmpfs), that belongs to the tool, task or run which
 *    alone has processes in it. Otherwise its owner is unknown: it is kept apart (memory_beside).
 *
 * Page cache does not count: the kernel drops it before memory runs out. Reserved huge pages are charged to no memory cgroup;
 * those of a fork are taken to be its parent's.
 */
#include "correlator/apply/scan_memory.h"

#include <stdlib.h>

#include <uthash.h>
#include <utlist.h>

#include "common/grow.h"
#include "correlator/apply/state.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/pending.h"
#include "correlator/model/process.h"
#include "correlator/model/process_memory.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"
#include "correlator/model/tool.h"

#define STEP_BYTES (1024 * 1024)
/* The kernel's counters of processes and of cgroups lag behind by different amounts: a smaller excess says nothing. */
#define EXCESS_LEAST(bytes) (2 * 1024 * 1024 + (bytes) / 32)

/* A memory cgroup with running processes. */
struct memory_cgroup {
	uint64_t id;
	uint64_t scan_number;        /* the latest that found processes in it */
	int64_t most_bytes;          /* charged to it, the most while the scan went on; ROW_NULL unknown */
	int64_t least_bytes;         /* the same, the least */
	int64_t bytes, unsure_bytes; /* sums over its processes, as in parts */
	int64_t shared_bytes;        /* shared memory, the sum */
	int64_t unique_bytes;        /* of that, the largest part of each run */
	int64_t hidden_bytes;        /* that of forks which they may have inherited: it is in no sum */
	int64_t unknown_bytes;       /* what processes whose program is not known yet hold, or share with others */
	int64_t beside_bytes;        /* what it holds beyond all these */
	int64_t last_bytes;          /* the same at the scan before */
	int64_t before_bytes;        /* the same before processes began that are known now */
	double hidden_share;         /* share of hidden_bytes that is their own */
	double shared_excess;        /* share of the rest of it that is too much */
	double excess;               /* share of what is unsure that is too much */
	bool has_owner;              /* and that is: */
	const struct tool *tool;     /* whose processes it holds; NULL: those of several */
	const struct task *task;     /* the same */
	const struct run *run;       /* the same */
	bool has_unknown;            /* processes whose program is not known yet */
	bool is_shared;              /* others of which nothing is stored have processes in it */
	UT_hash_handle hh;
};

/* The children in one part that one program of a process has forked, and that run the same program. */
struct fork_group {
	struct fork_group_key {
		int64_t parent_image_id;
		const struct memory_part *part;
	} key;
	struct process_key parent;
	struct process_key heir; /* the child that inherited most */
	uint64_t begin_boot_ns;  /* of the first of them */
	bool was_seen;           /* one of them, at the scan before */
	struct memory_part *part;
	int64_t inherited_bytes; /* what it inherited */
	int64_t huge_bytes;      /* the most that one of them has mapped */
	uint32_t parent_faults;  /* at the first fork; 0: unknown */
	UT_hash_handle hh;
};

/* A process with shared memory that no scan before has seen. */
struct newcomer {
	struct process_key process;
	const struct memory_part *part;
	int64_t shared_bytes;
	bool is_fork;
};

struct waiting_sample {
	struct process_key process;
	struct row_sample row;
};

struct scan_memory {
	struct memory_cgroup *cgroups; /* hash */
	struct memory_cgroup *cgroup;  /* of the samples that follow, NULL: unknown */
	int64_t huge_bytes;            /* of the process of the next sample */
	struct memory_part *parts;     /* list */
	struct fork_group *forks;      /* hash */
	struct newcomer *newcomers;
	size_t newcomer_count, newcomer_capacity;
	struct waiting_sample *samples;
	size_t sample_count, sample_capacity;
};

/* ---- what samples say */

static struct scan_memory *memory_of_scan(struct model *model)
{
	struct scan_memory **memory = &model->apply->memory;

	if (!*memory)
		*memory = model_alloc(model, sizeof(**memory));
	return *memory;
}

static struct memory_cgroup *cgroup_of(struct model *model, struct scan_memory *memory, uint64_t id)
{
	struct memory_cgroup *cgroup;

	HASH_FIND(hh, memory->cgroups, &id, sizeof(id), cgroup);
	if (cgroup)
		return cgroup;
	cgroup = model_alloc(model, sizeof(*cgroup));
	if (!cgroup)
		return NULL;
	cgroup->id = id;
	HASH_ADD(hh, memory->cgroups, id, sizeof(id), cgroup);
	return cgroup;
}

/* The first sample in it in this scan begins its sums anew. */
static void cgroup_begin(const struct model *model, struct memory_cgroup *cgroup)
{
	if (cgroup->scan_number == model->scan_number)
		return;
	cgroup->before_bytes = cgroup->has_unknown ? cgroup->last_bytes : cgroup->beside_bytes;
	cgroup->last_bytes = cgroup->beside_bytes;
	cgroup->scan_number = model->scan_number;
	cgroup->bytes = cgroup->unsure_bytes = cgroup->beside_bytes = 0;
	cgroup->shared_bytes = cgroup->unique_bytes = cgroup->hidden_bytes = cgroup->unknown_bytes = 0;
	cgroup->most_bytes = ROW_NULL;
	cgroup->least_bytes = INT64_MAX;
	cgroup->has_owner = cgroup->is_shared = cgroup->has_unknown = false;
}

void scan_memory_note_cgroup(struct model *model, const struct record_memory *record)
{
	struct scan_memory *memory = memory_of_scan(model);

	if (!memory)
		return;
	memory->huge_bytes = memory_bounded(record->huge_bytes);
	memory->cgroup = cgroup_of(model, memory, record->cgroup_id);
	if (!memory->cgroup)
		return;
	cgroup_begin(model, memory->cgroup);
	if (!record->cgroup_id)
		return;
	tally_raise(&memory->cgroup->most_bytes, memory_bounded(record->held_bytes));
	if (memory_bounded(record->held_bytes) < memory->cgroup->least_bytes)
		memory->cgroup->least_bytes = memory_bounded(record->held_bytes);
}

/* An origin only waits for what it started, as a shell at a prompt does. */
static bool is_waiting(const struct image *image)
{
	return image->role == RULES_ROLE_ORIGIN || image->interactive;
}

static struct memory_part *part_of(struct model *model, struct tool *tool, struct memory_cgroup *cgroup)
{
	struct memory_part *part;

	LL_SEARCH_SCALAR2(tool->parts, part, cgroup, cgroup, next_of_tool);
	if (part)
		return part;
	part = model_alloc(model, sizeof(*part));
	if (!part)
		return NULL;
	part->tool = tool;
	part->cgroup = cgroup;
	LL_PREPEND2(tool->parts, part, next_of_tool);
	LL_PREPEND(model->apply->memory->parts, part);
	return part;
}

/* Until it is placed a forked process is part of its parent's program. */
static const struct image *image_of(const struct process *process)
{
	while (process && !process->image)
		process = process->parent;
	return process ? process->image : NULL;
}

static void inherit(struct model *model, const struct process *process, struct memory_part *part, bool was_seen)
{
	struct scan_memory *memory = model->apply->memory;
	const struct process_memory *own = &process->memory;
	struct fork_group_key key = {process->parent_image_id, part};
	struct fork_group *group;

	HASH_FIND(hh, memory->forks, &key, sizeof(key), group);
	if (!group) {
		group = model_alloc(model, sizeof(*group));
		if (!group)
			return;
		group->key = key;
		group->part = part;
		group->parent = process->parent_key;
		group->parent_faults = own->parent_faults;
		group->begin_boot_ns = process->fork_boot_ns;
		HASH_ADD(hh, memory->forks, key, sizeof(key), group);
	}
	if (own->parent_faults < group->parent_faults)
		group->parent_faults = own->parent_faults;
	if (own->inherited_bytes >= group->inherited_bytes) {
		group->inherited_bytes = own->inherited_bytes;
		group->heir = process->key;
	}
	if (process->fork_boot_ns < group->begin_boot_ns)
		group->begin_boot_ns = process->fork_boot_ns;
	group->was_seen = group->was_seen || was_seen;
	tally_raise(&group->huge_bytes, memory->huge_bytes);
}

/* Of the sample that is being read, NULL: out of memory. */
static struct memory_cgroup *current_cgroup(struct model *model)
{
	struct scan_memory *memory = memory_of_scan(model);

	if (memory && !memory->cgroup) /* of a probe that does not report them */
		scan_memory_note_cgroup(model, &(struct record_memory){0});
	return memory ? memory->cgroup : NULL;
}

void scan_memory_note_stranger(struct model *model, const struct counters *counters)
{
	struct memory_cgroup *cgroup = current_cgroup(model);

	if (!cgroup)
		return;
	cgroup->has_unknown = true;
	if (counters->valid & COUNTER_VALID(rss_anon_bytes))
		cgroup->unknown_bytes +=
			memory_bounded(counters->rss_anon_bytes) + memory_bounded(counters->rss_shmem_bytes);
}

/* What the process holds, by this sample. */
static void process_take(struct process *process, const struct record_exec *sample, bool forked)
{
	struct process_memory *own = &process->memory;
	const struct counters *counters = &sample->counters;
	int64_t anon = memory_bounded(counters->rss_anon_bytes), own_anon = anon;

	if (anon < own->least_anon_bytes)
		own->least_anon_bytes = anon;
	if (forked)
		own_anon = memory_own_of_fork(anon, own->least_anon_bytes, counters->minor_faults);
	own->seen_boot_ns = sample->header.boot_ns;
	own->shared_bytes = memory_bounded(counters->rss_shmem_bytes);
	own->held_bytes = own_anon + memory_own_shared(process, forked, own->shared_bytes);
	own->unsure_bytes = forked ? own->held_bytes - (anon - own->least_anon_bytes) : 0;
	own->anon_bytes = anon;
	own->inherited_bytes = anon - own_anon;
	own->peak_bytes = memory_bounded(counters->peak_rss_bytes);
	own->fault_count = counters->minor_faults;
}

static void part_take(struct memory_part *part, struct process *process, int64_t shared, bool was_seen)
{
	struct process_memory *own = &process->memory;

	part->bytes += own->held_bytes - shared;
	part->unsure_bytes += own->unsure_bytes;
	part->shared_bytes += shared;
	part->seen_bytes += was_seen ? own->held_bytes : 0;
	if (was_seen)
		tally_raise(&part->seen_shared_bytes, shared);
	own->is_unique = false;
	if (shared <= part->shared_most_bytes)
		return;
	part->shared_most_bytes = shared;
	part->most_shared = process->key;
}

static void newcomer_add(struct model *model, const struct process *process, const struct memory_part *part,
			 bool forked)
{
	struct scan_memory *memory = model->apply->memory;
	int64_t shared = memory_own_shared(process, forked, process->memory.shared_bytes);
	struct newcomer *newcomers;

	if (shared == 0)
		return;
	newcomers = grow(memory->newcomers, &memory->newcomer_capacity, memory->newcomer_count + 1, sizeof(*newcomers));
	if (!newcomers) {
		model->out_of_memory = true;
		return;
	}
	memory->newcomers = newcomers;
	newcomers[memory->newcomer_count++] = (struct newcomer){process->key, part, shared, forked};
}

/* Adds what is known of the process to its part and cgroup. */
static void add_process(struct model *model, struct process *process, struct memory_cgroup *cgroup, bool forked,
			bool was_seen)
{
	const struct process_memory *own = &process->memory;
	const struct image *image = image_of(process);
	int64_t shared = forked ? 0 : own->shared_bytes; /* that other programs may have mapped, too */
	int64_t hidden = memory_hidden(process);
	struct memory_part *part;

	cgroup->bytes += own->held_bytes - shared;
	cgroup->unsure_bytes += own->unsure_bytes;
	cgroup->shared_bytes += shared;
	cgroup->hidden_bytes += hidden;
	cgroup->is_shared = cgroup->is_shared || !image || process->ignored;
	part = image && !process->ignored ? part_of(model, image->tool, cgroup) : NULL;
	if (!part)
		return;
	part_take(part, process, shared, was_seen);
	part->hidden_bytes += hidden;
	if (!was_seen)
		newcomer_add(model, process, part, forked);
	part->is_owner = part->is_owner || !is_waiting(image);
	if (forked)
		inherit(model, process, part, was_seen);
	else
		part->huge_bytes += model->apply->memory->huge_bytes;
}

void scan_memory_note_process(struct model *model, struct process *process, const struct record_exec *sample)
{
	const struct counters *counters = &sample->counters;
	struct memory_cgroup *cgroup = current_cgroup(model);
	bool forked = memory_is_fork(process), was_seen = process->memory.seen_boot_ns != 0;
	const struct image *image;

	if (!cgroup || !(counters->valid & COUNTER_VALID(rss_anon_bytes)))
		return;
	image = image_of(process);
	if (image)
		memory_note_peak(model, process, image, counters);
	process_take(process, sample, forked);
	add_process(model, process, cgroup, forked, was_seen);
}

void scan_memory_note_exiting(struct model *model, struct process *process)
{
	struct memory_cgroup *cgroup = current_cgroup(model);

	if (cgroup)
		add_process(model, process, cgroup, memory_is_fork(process), process->memory.seen_boot_ns != 0);
}

void scan_memory_add_sample(struct model *model, const struct process *process, const struct row_sample *row)
{
	struct scan_memory *memory = memory_of_scan(model);
	struct waiting_sample *samples;

	if (!memory)
		return;
	samples = grow(memory->samples, &memory->sample_capacity, memory->sample_count + 1, sizeof(*samples));
	if (!samples) {
		model->out_of_memory = true;
		return;
	}
	memory->samples = samples;
	samples[memory->sample_count++] = (struct waiting_sample){process->key, *row};
}

/* ---- the end of the scan */

/* The program that forked them, if it still runs. */
static const struct process *parent_of(struct model *model, const struct fork_group *group)
{
	const struct process *parent = process_find(model, group->parent);

	if (!parent || parent->ended || parent->seen_scan != model->scan_number ||
	    image_id(model, &parent->key, parent->exec_id) != group->key.parent_image_id)
		return NULL;
	return parent;
}

/* What that holds of what it had when it forked the first of them. */
static int64_t still_held(const struct process_memory *parent, const struct fork_group *group)
{
	if (!group->parent_faults || parent->fault_count <= group->parent_faults)
		return parent->anon_bytes;
	return parent->anon_bytes -
	       memory_own_of_fork(parent->anon_bytes, INT64_MAX, parent->fault_count - group->parent_faults);
}

/* What was inherited and the parent holds no longer, `more`, may have been held since the first of these forks began. But what
 * the parent held then and has freed is the same, if it has not written it again before. */
static void note_more(struct model *model, const struct fork_group *group, const struct process *parent, int64_t more)
{
	const struct process_memory *of_parent = &parent->memory;
	int64_t freed = of_parent->most_anon_bytes - of_parent->anon_bytes, written = 0;

	if (group->parent_faults && of_parent->fault_count > group->parent_faults)
		written = memory_own_of_fork(more, INT64_MAX, of_parent->fault_count - group->parent_faults);
	if (freed > more - written)
		freed = more - written;
	if (group->was_seen)
		group->part->seen_bytes += more;
	else if (group->part->tool)
		memory_note_more(model, group->part->tool, group->begin_boot_ns, freed > 0 ? more - freed : more);
}

/* Adds what the children inherited and the parent holds no longer, and for a tool and a task in which the parent is not, what
 * it holds as well. */
static void fork_group_end(struct model *model, struct fork_group *group, uint64_t boot_ns)
{
	const struct process *parent = parent_of(model, group);
	const struct image *of_parent = parent ? image_of(parent) : NULL;
	struct process *heir = process_find(model, group->heir);
	int64_t shared = parent ? still_held(&parent->memory, group) : 0;
	int64_t more = group->inherited_bytes > shared ? group->inherited_bytes - shared : 0;

	if (!parent)
		group->part->huge_bytes += group->huge_bytes;
	if (of_parent && group->part->tool && of_parent->tool != group->part->tool)
		group->part->tool_bytes += group->inherited_bytes - more;
	if (of_parent && group->part->tool && of_parent->tool->group->task != group->part->tool->group->task)
		group->part->task_bytes += group->inherited_bytes - more;
	if (!heir)
		return;
	heir->memory.held_bytes += more;
	heir->memory.unsure_bytes += more;
	group->part->bytes += more;
	if (parent) {
		note_more(model, group, parent, more);
	} else {
		group->part->heir_bytes += more;
		if (group->part->tool)
			memory_note_inherited(model, group->part->tool, heir->memory.origin_image_id, more, boot_ns);
	}
	group->part->unsure_bytes += more;
	group->part->cgroup->bytes += more;
	group->part->cgroup->unsure_bytes += more;
}

static void forks_end(struct model *model, uint64_t boot_ns)
{
	struct scan_memory *memory = model->apply->memory;
	struct fork_group *group, *next;

	HASH_ITER (hh, memory->forks, group, next) {
		fork_group_end(model, group, boot_ns);
		HASH_DELETE(hh, memory->forks, group);
		free(group);
	}
}

static void cgroup_add_owner(struct memory_cgroup *cgroup, const struct tool *tool)
{
	const struct task *task = tool->group->task;
	bool is_first = !cgroup->has_owner;

	cgroup->has_owner = true;
	cgroup->tool = is_first || cgroup->tool == tool ? tool : NULL;
	cgroup->task = is_first || cgroup->task == task ? task : NULL;
	cgroup->run = is_first || cgroup->run == task->run ? task->run : NULL;
}

/* `part` of `whole`, at most all of it. */
static double share_of(int64_t part, int64_t whole)
{
	if (part <= 0 || whole <= 0)
		return 0;
	return part < whole ? (double)part / (double)whole : 1;
}

/* Compares what its processes hold at most with what it holds. */
static void cgroup_end(struct memory_cgroup *cgroup)
{
	int64_t repeated = cgroup->shared_bytes - cgroup->unique_bytes;
	int64_t bytes = cgroup->bytes + cgroup->shared_bytes, too_much;

	cgroup->shared_excess = cgroup->excess = cgroup->hidden_share = 0;
	if (cgroup->most_bytes == ROW_NULL)
		return;
	too_much = bytes - cgroup->most_bytes;
	if (too_much >= EXCESS_LEAST(cgroup->most_bytes))
		cgroup->shared_excess = share_of(too_much, repeated);
	if (too_much - repeated >= EXCESS_LEAST(cgroup->most_bytes))
		cgroup->excess = share_of(too_much - repeated, cgroup->unsure_bytes);
	bytes += cgroup->unknown_bytes - (int64_t)((double)repeated * cgroup->shared_excess);
	if (cgroup->least_bytes <= bytes)
		return;
	cgroup->beside_bytes = cgroup->least_bytes - bytes;
	if (cgroup->beside_bytes >= EXCESS_LEAST(cgroup->most_bytes))
		cgroup->hidden_share = share_of(cgroup->beside_bytes, cgroup->hidden_bytes);
	cgroup->beside_bytes -= (int64_t)((double)cgroup->hidden_bytes * cgroup->hidden_share);
}

/* The largest part of shared memory in each run is not repeated. */
static void runs_find_unique(struct model *model, const struct memory_part *parts)
{
	const struct memory_part *part;
	struct process *process;
	struct run *run;

	LL_FOREACH(parts, part)
	if (part->tool)
		part->tool->group->task->run->most_shared = NULL;
	LL_FOREACH(parts, part)
	{
		run = part->tool ? part->tool->group->task->run : NULL;
		if (run && (!run->most_shared || part->shared_most_bytes > run->most_shared->shared_most_bytes))
			run->most_shared = part;
	}
	LL_FOREACH(parts, part)
	{
		if (!part->tool || part->tool->group->task->run->most_shared != part)
			continue;
		part->cgroup->unique_bytes += part->shared_most_bytes;
		process = process_find(model, part->most_shared);
		if (process)
			process->memory.is_unique = true;
	}
}

static void cgroups_end(struct model *model)
{
	struct scan_memory *memory = model->apply->memory;
	struct memory_cgroup *cgroup, *next;
	struct memory_part *part;

	LL_FOREACH(memory->parts, part)
	if (part->tool && part->is_owner)
		cgroup_add_owner(part->cgroup, part->tool);
	runs_find_unique(model, memory->parts);
	HASH_ITER (hh, memory->cgroups, cgroup, next) {
		if (cgroup->scan_number == model->scan_number) {
			cgroup_end(cgroup);
			continue;
		}
		HASH_DELETE(hh, memory->cgroups, cgroup);
		free(cgroup);
	}
	memory->cgroup = NULL;
}

/* What a set holds. */
struct sum {
	int64_t bytes;         /* all but what others of the set repeat of shared memory: */
	double repeated_bytes; /* if none of it were unique; */
	double unique_bytes;   /* the largest part, which is */
	int64_t tool_bytes;    /* more in a tool, */
	int64_t task_bytes;    /* and in a task: part of what others hold */
	int64_t at_most_bytes; /* all that was added up, */
	int64_t seen_bytes;    /* of that, of processes that the scan before had seen, too, */
	int64_t heir_bytes;    /* and what forks inherited from processes that are gone */
	int64_t most_bytes;    /* in one cgroup: */
	const struct memory_cgroup *cgroup;
};

static struct sum part_sum(const struct memory_part *part)
{
	const struct memory_cgroup *cgroup = part->cgroup;
	int64_t bytes = part->bytes - (int64_t)((double)part->unsure_bytes * cgroup->excess) +
			(int64_t)((double)part->hidden_bytes * cgroup->hidden_share) + part->shared_bytes +
			part->huge_bytes;

	return (struct sum){
		.bytes = bytes,
		.repeated_bytes = (double)part->shared_bytes * cgroup->shared_excess,
		.unique_bytes = (double)part->shared_most_bytes * cgroup->shared_excess,
		.tool_bytes = part->tool_bytes,
		.task_bytes = part->task_bytes,
		.at_most_bytes = part->bytes + part->shared_bytes,
		.seen_bytes = part->seen_bytes,
		.heir_bytes = part->heir_bytes,
		.most_bytes = bytes,
		.cgroup = cgroup,
	};
}

static void sum_add(struct sum *sum, const struct sum *part)
{
	sum->bytes += part->bytes;
	sum->repeated_bytes += part->repeated_bytes;
	if (part->unique_bytes > sum->unique_bytes)
		sum->unique_bytes = part->unique_bytes;
	sum->tool_bytes += part->tool_bytes;
	sum->task_bytes += part->task_bytes;
	sum->at_most_bytes += part->at_most_bytes;
	sum->seen_bytes += part->seen_bytes;
	sum->heir_bytes += part->heir_bytes;
	if (part->cgroup && part->most_bytes >= sum->most_bytes) {
		sum->most_bytes = part->most_bytes;
		sum->cgroup = part->cgroup;
	}
}

static int64_t sum_bytes(const struct sum *sum)
{
	return sum->bytes - (int64_t)(sum->repeated_bytes - sum->unique_bytes);
}

/* How much more the cgroup holds, beside what its processes have mapped, than before the set began. */
static int64_t grown_beside(struct memory_beside *beside, const struct memory_cgroup *cgroup)
{
	if (beside->cgroup_id != cgroup->id) {
		beside->cgroup_id = cgroup->id;
		beside->before_bytes = cgroup->before_bytes;
	}
	if (cgroup->beside_bytes < beside->before_bytes)
		beside->before_bytes = cgroup->beside_bytes;
	int64_t grown = cgroup->beside_bytes - beside->before_bytes;
	return grown < STEP_BYTES ? 0 : grown;
}

static bool has_grown(int64_t bytes, int64_t written_bytes)
{
	return bytes != ROW_NULL && (written_bytes == ROW_NULL || bytes - written_bytes >= STEP_BYTES);
}

/* Takes the sum of a set. Returns whether it makes a new maximum that is to be written: in a rows scan if it has grown by a
 * step, else with the next change. */
static bool take(const struct model *model, struct set_memory *set, struct memory_beside *beside, const struct sum *sum,
		 int64_t more_bytes, bool is_alone)
{
	int64_t bytes = sum_bytes(sum) + more_bytes, grown;

	if (sum->cgroup && sum->cgroup->most_bytes != ROW_NULL) {
		grown = grown_beside(beside, sum->cgroup);
		is_alone = is_alone && !sum->cgroup->is_shared;
		bytes += is_alone ? grown : 0;
		tally_raise(&beside->bytes, is_alone ? 0 : grown);
	}
	set_memory_scan(model, set, bytes, (int64_t)((double)bytes * share_of(sum->seen_bytes, sum->at_most_bytes)),
			(int64_t)((double)bytes * share_of(sum->heir_bytes, sum->at_most_bytes)));
	if (set->bytes == ROW_NULL)
		return false;
	return set->written_bytes == ROW_NULL ||
	       (model->apply->scan.is_for_rows &&
		(has_grown(set->bytes, set->written_bytes) || has_grown(beside->bytes, beside->written_bytes)));
}

static struct sum tool_end(struct model *model, struct tool *tool)
{
	struct memory_part *part;
	struct sum sum = {0};

	LL_FOREACH2(tool->parts, part, next_of_tool)
	{
		struct sum one = part_sum(part);

		sum_add(&sum, &one);
		tool->memory_excess = part->cgroup->excess;
		tool->shared_excess = part->cgroup->shared_excess;
		tool->hidden_share = part->cgroup->hidden_share;
		if (part->huge_bytes)
			tool->group->limits.is_outside = tool->group->task->run->limits.is_outside = true;
	}
	tool->parts = NULL;
	if (take(model, &tool->memory, &tool->beside, &sum, sum.tool_bytes, sum.cgroup && sum.cgroup->tool == tool))
		tool_set_dirty(model, tool);
	return sum;
}

static struct sum group_end(struct model *model, struct group *group)
{
	struct sum sum = {0};
	struct tool *tool;

	DL_FOREACH (group->tools, tool) {
		struct sum part = tool_end(model, tool);

		sum_add(&sum, &part);
	}
	if (group->spine)
		group->spine->own_bytes = sum_bytes(&sum);
	return sum;
}

static struct sum task_end(struct model *model, struct task *task)
{
	struct sum sum = {0};
	struct group *group;

	DL_FOREACH (task->groups, group) {
		struct sum part = group_end(model, group);

		sum_add(&sum, &part);
	}
	if (take(model, &task->memory, &task->beside, &sum, sum.task_bytes, sum.cgroup && sum.cgroup->task == task))
		task_set_dirty(model, task);
	return sum;
}

/* Each level of the spine may become an orchestrator: then everything further in is a task. `bytes`: of all of them. */
static void spine_end(const struct model *model, struct run *run, int64_t bytes)
{
	struct group *group;
	int64_t outer = 0;

	DL_FOREACH (run->main->groups, group) {
		if (!group->spine)
			continue;
		set_memory_scan(model, &group->spine->inner, bytes - outer, bytes - outer, 0);
		outer += group->spine->own_bytes;
		set_memory_scan(model, &group->spine->outer, outer, outer, 0);
	}
}

static void run_end(struct model *model, struct run *run)
{
	struct sum sum = {0};
	int64_t undivided = 0; /* of tasks that may yet be merged into others */
	struct task *task;

	DL_FOREACH (run->tasks, task) {
		struct sum part = task_end(model, task);

		sum_add(&sum, &part);
		undivided += task->kind == TASK_MAIN || task->kind == TASK_GENERIC ? sum_bytes(&part) : 0;
	}
	if (take(model, &run->memory, &run->beside, &sum, 0, sum.cgroup && sum.cgroup->run == run))
		run_set_dirty(model, run);
	if (run->orchestrator != 0)
		spine_end(model, run, undivided);
}

/* What processes of the run that the scan before had seen, too, may have mapped of the same. */
static int64_t seen_shared(const struct scan_memory *memory, const struct run *run)
{
	const struct memory_part *part;
	int64_t bytes = 0;

	LL_FOREACH(memory->parts, part)
	if (part->tool && part->tool->group->task->run == run)
		tally_raise(&bytes, part->seen_shared_bytes);
	return bytes;
}

/* It may have held its shared memory since it began, beside others that have ended meanwhile. */
static void newcomers_end(struct model *model)
{
	struct scan_memory *memory = model->apply->memory;

	for (size_t i = 0; i < memory->newcomer_count; i++) {
		const struct newcomer *one = &memory->newcomers[i];
		const struct process *process = process_find(model, one->process);
		const struct memory_cgroup *cgroup = one->part->cgroup;
		double excess = one->is_fork ? cgroup->excess : cgroup->shared_excess;

		int64_t repeated = one->shared_bytes;

		if (!process || !one->part->tool)
			continue;
		if (process->memory.is_unique)
			repeated = seen_shared(memory, one->part->tool->group->task->run);
		memory_note_more(model, one->part->tool,
				 process->image ? process->image->begin_boot_ns : process->fork_boot_ns,
				 one->shared_bytes - (int64_t)((double)repeated * excess));
	}
	memory->newcomer_count = 0;
}

static void samples_end(struct model *model)
{
	struct scan_memory *memory = model->apply->memory;

	for (size_t i = 0; i < memory->sample_count; i++) {
		struct waiting_sample *sample = &memory->samples[i];
		const struct process *process = process_find(model, sample->process);

		if (process && process->image && sample->row.rss_anon_bytes != ROW_NULL)
			sample->row.memory_bytes = memory_held(process, process->image);
		pending_add_sample(model, &sample->row);
	}
	memory->sample_count = 0;
}

void scan_memory_end(struct model *model, uint64_t boot_ns)
{
	struct scan_memory *memory = memory_of_scan(model);
	struct memory_part *part, *next;
	struct run *run;

	if (!memory)
		return;
	forks_end(model, boot_ns);
	cgroups_end(model);
	newcomers_end(model);
	DL_FOREACH (model->runs, run)
		run_end(model, run);
	samples_end(model);
	LL_FOREACH_SAFE(memory->parts, part, next)
	free(part);
	memory->parts = NULL;
}

void scan_memory_free(struct scan_memory *memory)
{
	struct memory_cgroup *cgroup, *next_cgroup;
	struct fork_group *group, *next_group;
	struct memory_part *part, *next_part;

	if (!memory)
		return;
	HASH_ITER (hh, memory->cgroups, cgroup, next_cgroup) {
		HASH_DELETE(hh, memory->cgroups, cgroup);
		free(cgroup);
	}
	HASH_ITER (hh, memory->forks, group, next_group) {
		HASH_DELETE(hh, memory->forks, group);
		free(group);
	}
	LL_FOREACH_SAFE(memory->parts, part, next_part)
	free(part);
	free(memory->newcomers);
	free(memory->samples);
	free(memory);
}
