/* Memory that a set of processes (those of a tool, a task, a run) holds at one time: the most so far.
 *
 * It is found in two ways. A process scan sees what all of them hold at one moment; apply/scan_memory.c says how that is
 * added up. Between two scans only the peaks of processes tell something. A process is taken to have held its peak all the
 * time since the scan before, or since it began: of processes that hold most at different moments between two scans the sum
 * is too high, never too low.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "correlator/model/model.h"

struct counters;
struct ended_memory;
struct memory_cgroup;
struct tool;

/* More than any machine has: what a record says is bounded, so that no sum overflows. */
static inline int64_t memory_bounded(uint64_t bytes)
{
	return bytes < UINT64_C(1) << 46 ? (int64_t)bytes : INT64_C(1) << 46;
}

struct set_memory {
	int64_t bytes;         /* the most at one time, ROW_NULL unknown */
	int64_t written_bytes; /* as last written */
	int64_t now_bytes;     /* at the latest scan, less what those held that have ended since */
	int64_t scan_bytes;    /* the most that those which the latest scan saw may have held before it */
	int64_t grown_bytes; /* found by the scan in progress: what those that it saw may have held beyond now_bytes */
	struct ended_memory *ended; /* those that ended lately; NULL: none held much */
};

/* By how much it may be too low: memory of its cgroup that no process has mapped, such as files in memory, which others in
 * that cgroup may own. Only what came since the set began counts. */
struct memory_beside {
	int64_t bytes;         /* the most at one scan, ROW_NULL: no scan could tell */
	int64_t written_bytes; /* as last written */
	uint64_t cgroup_id;    /* of the memory cgroup, as last seen; 0: none */
	int64_t before_bytes;  /* what was there before the set began */
};

/* Of one process; an exec begins anew. */
struct process_memory {
	/* At the latest scan that saw it; 0: none did. */
	uint64_t seen_boot_ns;
	bool is_unique;       /* its shared memory counts, that of others of the run may be the same */
	int64_t held_bytes;   /* its part of what its sets hold, at most; */
	int64_t unsure_bytes; /* of that, what it may share with others */
	int64_t anon_bytes;   /* anonymous and shared memory, as the kernel counts them; it may have inherited both */
	int64_t shared_bytes;
	int64_t inherited_bytes; /* of the anonymous memory */
	int64_t peak_bytes;      /* of the resident set, up to then */
	int64_t most_anon_bytes; /* at some time between the scan before and that one */
	uint64_t fault_count;
	/* As last reported, by a scan or at its end. */
	int64_t mapped_shared_bytes;
	int64_t mapped_file_bytes;
	/* Of one that was forked and has executed nothing since. */
	int64_t least_anon_bytes;    /* seen since the fork */
	int64_t parent_shared_bytes; /* of the parent, at the fork */
	uint32_t parent_faults;      /* the same; 0: unknown */
	int64_t origin_image_id;     /* whose memory it inherited: the latest program executed above it; 0: unknown */
};

/* What the processes of a tool in one memory cgroup hold, while a scan adds it up: apply/scan_memory.c. */
struct memory_part {
	struct tool *tool; /* NULL: it is gone */
	struct memory_cgroup *cgroup;
	int64_t bytes;             /* what all of them hold, shared memory not included */
	int64_t unsure_bytes;      /* of that, what they may share with others */
	int64_t shared_bytes;      /* shared memory, the sum */
	int64_t hidden_bytes;      /* that which forks may have inherited; it is in no sum */
	int64_t shared_most_bytes; /* the largest of shared_bytes: */
	struct process_key most_shared;
	int64_t seen_shared_bytes; /* the largest of those that the scan before had seen, too */
	int64_t seen_bytes;        /* of both sums, those that the scan before had seen, too */
	int64_t heir_bytes;        /* of the first, what they inherited and their parents hold no longer */
	int64_t tool_bytes;        /* what they inherited from a process of another tool: it counts in this one, too */
	int64_t task_bytes;        /* the same of another task */
	int64_t huge_bytes;
	bool is_owner; /* some of them do something */
	struct memory_part *next_of_tool, *next;
};

void set_memory_init(struct set_memory *set);
void set_memory_deinit(struct set_memory *set);
void memory_beside_init(struct memory_beside *beside);
/* A scan that ends now found that the set holds `bytes`. Of these, processes that the scan before had seen, too, hold
 * `seen_bytes`, and others that are gone may have held `heir_bytes` before. */
void set_memory_scan(const struct model *model, struct set_memory *set, int64_t bytes, int64_t seen_bytes,
		     int64_t heir_bytes);
/* `into` is what `from` was; as written, it stays. */
void set_memory_take(struct set_memory *into, struct set_memory *from);
/* `from` becomes part of `into`. */
void set_memory_merge(struct model *model, struct set_memory *into, const struct set_memory *from);

/* What a process that was forked, and has not executed anything since, holds of `anon_bytes` that it does not share with
 * its parent. Each page that it wrote cost it a fault; huge pages bring more at once, so what it has beyond the least that it
 * ever had counts in any case. */
int64_t memory_own_of_fork(int64_t anon_bytes, int64_t least_anon_bytes, uint64_t fault_count);
void process_memory_init(struct process_memory *memory);
/* Takes what counters say of memory that is mapped now. */
void process_memory_note(struct process_memory *memory, const struct counters *counters);

/* What a process held at most since the latest scan. */
struct memory_held {
	uint64_t begin_boot_ns; /* since when it may have held that */
	uint64_t end_boot_ns;
	int64_t image_id;        /* of a program; 0: of a fork, which has inherited */
	int64_t inherited_bytes; /* at most */
	int64_t origin_id;       /* from this program, and which no scan has seen; 0: none or unknown */
	int64_t known_bytes;     /* what that scan saw; beyond that: */
	int64_t anon_bytes;
	int64_t shared_bytes;
};

/* Of images that the same scan sees anonymous memory adds up; the scan itself finds which shared memory is the same. */
void set_memory_note(struct model *model, struct set_memory *set, const struct memory_held *held);
/* The same of one that has ended: it holds nothing any more. */
void set_memory_note_end(struct model *model, struct set_memory *set, const struct memory_held *held);
/* What it has inherited from a program that has ended was held up to `end_boot_ns`. */
void set_memory_note_inherited(struct model *model, struct set_memory *set, const struct memory_held *held);
