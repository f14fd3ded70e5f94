/* See memory.h. */
#include "correlator/model/memory.h"

#include <stdlib.h>
#include <unistd.h>

#include "correlator/model/model.h"
#include "correlator/model/tally.h"

/* Of the processes of a set that ended lately, those that held most are remembered, so that others that ran at the same time
 * can be added to them. Less than this does not matter. */
#define ENDED_MAX 32
#define ENDED_BYTES_LEAST (256 << 10)

struct ended_memory {
	unsigned count;
	struct ended {
		uint64_t begin_boot_ns, end_boot_ns;
		int64_t image_id; /* whose forks may still hold some of it; 0: none */
		int64_t bytes;
		bool is_rest; /* it is what they hold */
	} item[ENDED_MAX];
};

void set_memory_init(struct set_memory *set)
{
	*set = (struct set_memory){.bytes = ROW_NULL, .written_bytes = ROW_NULL};
}

void set_memory_deinit(struct set_memory *set)
{
	free(set->ended);
}

void memory_beside_init(struct memory_beside *beside)
{
	*beside = (struct memory_beside){.bytes = ROW_NULL, .written_bytes = ROW_NULL};
}

void process_memory_init(struct process_memory *memory)
{
	*memory = (struct process_memory){.least_anon_bytes = INT64_MAX};
}

void set_memory_take(struct set_memory *into, struct set_memory *from)
{
	free(into->ended);
	into->bytes = from->bytes;
	into->now_bytes = from->now_bytes;
	into->ended = from->ended;
	from->ended = NULL;
}

/* ---- between scans */

/* The most that those which have ended held together at a time from `begin_boot_ns` on. */
static int64_t held_since(const struct ended_memory *ended, uint64_t begin_boot_ns)
{
	int64_t most = 0;

	if (!ended)
		return 0;
	for (const struct ended *at = ended->item; at < ended->item + ended->count; at++) {
		if (at->end_boot_ns <= begin_boot_ns)
			continue;
		uint64_t boot_ns = at->begin_boot_ns > begin_boot_ns ? at->begin_boot_ns : begin_boot_ns;
		int64_t sum = 0;

		for (const struct ended *other = ended->item; other < ended->item + ended->count; other++)
			if (other->begin_boot_ns <= boot_ns && boot_ns < other->end_boot_ns)
				sum += other->bytes;
		tally_raise(&most, sum);
	}
	return most;
}

/* That which matters least: one that no process overlaps that the latest scan did not see, or the smallest. */
static struct ended *ended_least(const struct model *model, struct ended_memory *ended)
{
	struct ended *least = ended->item;

	for (struct ended *at = ended->item; at < ended->item + ended->count; at++) {
		if (at->end_boot_ns < model->scan_boot_ns)
			return at;
		if (at->bytes < least->bytes)
			least = at;
	}
	return least;
}

static void ended_add(struct model *model, struct set_memory *set, const struct ended *added)
{
	struct ended_memory *ended = set->ended;

	if (!ended)
		ended = set->ended = model_alloc(model, sizeof(*ended));
	if (!ended)
		return;
	struct ended *at = ended->count < ENDED_MAX ? &ended->item[ended->count++] : ended_least(model, ended);

	if (at->bytes < added->bytes || at->end_boot_ns < model->scan_boot_ns)
		*at = *added;
}

/* Something held `bytes` up to `end_boot_ns` beside `base_bytes`. */
static void set_raise(struct set_memory *set, int64_t base_bytes, uint64_t begin_boot_ns, int64_t bytes)
{
	bytes += base_bytes + held_since(set->ended, begin_boot_ns);
	if (bytes > 0)
		tally_raise(&set->bytes, bytes);
}

static void subtract(int64_t *bytes, int64_t part)
{
	*bytes = *bytes > part ? *bytes - part : 0;
}

/* It no longer holds what is known of it, `held_bytes`. On a busy host the end may be reported after a scan that came later. */
static void set_add_ended(struct model *model, struct set_memory *set, const struct ended *ended, int64_t held_bytes)
{
	bool is_late = ended->end_boot_ns <= model->scan_boot_ns;

	subtract(is_late ? &set->scan_bytes : &set->now_bytes, held_bytes);
	set_raise(set, is_late ? set->scan_bytes : set->now_bytes, ended->begin_boot_ns, ended->bytes);
	if (ended->bytes >= ENDED_BYTES_LEAST)
		ended_add(model, set, ended);
}

void set_memory_note(struct model *model, struct set_memory *set, const struct memory_held *held)
{
	(void)model;
	set_raise(set, set->now_bytes + set->grown_bytes, held->begin_boot_ns, held->anon_bytes);
	set->grown_bytes += held->anon_bytes;
}

static struct ended *ended_find(const struct set_memory *set, int64_t image_id)
{
	for (unsigned i = 0; set->ended && i < set->ended->count; i++)
		if (set->ended->item[i].image_id == image_id)
			return &set->ended->item[i];
	return NULL;
}

void set_memory_note_inherited(struct model *model, struct set_memory *set, const struct memory_held *held)
{
	struct ended *ended = held->origin_id ? ended_find(set, held->origin_id) : NULL;

	if (!ended || ended->end_boot_ns >= held->end_boot_ns)
		return;
	if (ended->is_rest) {
		ended->end_boot_ns = held->end_boot_ns;
		tally_raise(&ended->bytes, held->inherited_bytes);
		return;
	}
	const struct ended rest = {
		.begin_boot_ns = ended->end_boot_ns,
		.end_boot_ns = held->end_boot_ns,
		.image_id = ended->image_id,
		.bytes = held->inherited_bytes < ended->bytes ? held->inherited_bytes : ended->bytes,
		.is_rest = true,
	};

	ended->image_id = 0;
	ended_add(model, set, &rest);
}

void set_memory_note_end(struct model *model, struct set_memory *set, const struct memory_held *held)
{
	const struct ended ended = {
		.begin_boot_ns = held->begin_boot_ns,
		.end_boot_ns = held->end_boot_ns,
		.image_id = held->image_id,
		.bytes = held->known_bytes + held->anon_bytes + held->shared_bytes,
	};

	set_memory_note_inherited(model, set, held);
	set_add_ended(model, set, &ended, held->known_bytes);
}

/* Those that the scan before had seen, too, may have held that together with those that have ended meanwhile. */
void set_memory_scan(const struct model *model, struct set_memory *set, int64_t bytes, int64_t seen_bytes,
		     int64_t heir_bytes)
{
	set_raise(set, seen_bytes, model->scan_boot_ns, 0);
	set->scan_bytes = bytes - heir_bytes;
	tally_raise(&set->scan_bytes, set->now_bytes + set->grown_bytes);
	set->now_bytes = bytes;
	set->grown_bytes = 0;
	if (bytes > 0)
		tally_raise(&set->bytes, bytes);
}

void set_memory_merge(struct model *model, struct set_memory *into, const struct set_memory *from)
{
	const struct ended_memory *ended = from->ended;

	tally_raise(&into->bytes, from->bytes);
	into->now_bytes += from->now_bytes;
	if (into->now_bytes)
		tally_raise(&into->bytes, into->now_bytes);
	for (unsigned i = 0; ended && i < ended->count; i++)
		set_add_ended(model, into, &ended->item[i], 0);
}

/* ---- processes */

int64_t memory_own_of_fork(int64_t anon_bytes, int64_t least_anon_bytes, uint64_t fault_count)
{
	static int64_t page_bytes;
	int64_t own = anon_bytes;

	if (!page_bytes)
		page_bytes = sysconf(_SC_PAGESIZE);
	if (fault_count < (uint64_t)(anon_bytes / page_bytes))
		own = (int64_t)fault_count * page_bytes;
	tally_raise(&own, anon_bytes - least_anon_bytes);
	return own;
}

void process_memory_note(struct process_memory *memory, const struct counters *counters)
{
	if (!(counters->valid & COUNTER_VALID(rss_file_bytes)))
		return;
	memory->mapped_file_bytes = memory_bounded(counters->rss_file_bytes);
	memory->mapped_shared_bytes = memory_bounded(counters->rss_shmem_bytes);
}
