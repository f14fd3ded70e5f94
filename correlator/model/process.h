/* A process: a thread group, which executes one program after the other. */
#pragma once

#include <uthash.h>

#include "common/rules/rules.h"
#include "correlator/record/event.h"

struct model;

struct process_key {
	uint64_t start_boot_ns;
	uint64_t pid;
};

static inline bool process_key_is(const struct process_key *key, const struct process_key *other)
{
	return key->pid == other->pid && key->start_boot_ns == other->start_boot_ns;
}

/* How a process stands still: stall.c. */
enum stall { STALL_NONE, STALL_BLOCKED, STALL_STUCK, STALL_IDLE };

/* What scans saw of its moving. Zero after a restart: begun anew. */
struct motion {
	uint64_t moved_boot_ns;   /* last known to have moved */
	uint64_t blocked_boot_ns; /* in uninterruptible sleep since then, 0: it is not */
	uint64_t mark_boot_ns;    /* the counters as they were then */
	int64_t mark_cpu_ns, mark_io_bytes;
	uint32_t mark_exec_id;
};

enum process_place {
	PLACE_NONE, /* forked, nothing more is known */
	PLACE_PART, /* a forked part of its parent's program */
	PLACE_FULL, /* executed something, or something beneath it did */
};

struct process {
	struct process_key key;
	struct process *parent;        /* NULL: unknown or gone */
	struct process_key parent_key; /* while it is loaded */
	struct process *children;      /* list by sibling_* */
	struct process *sibling_prev, *sibling_next;
	enum process_place place;
	struct run *run;
	struct group *group;
	struct image *image;     /* NULL before it is placed */
	struct command *command; /* of the current image, its own or its parent's */
	int64_t parent_image_id; /* image of the parent that forked it, ROW_NULL unknown */
	uint32_t parent_exec_id;
	uint32_t first_exec_id;    /* of its first image that has a row */
	enum rules_rank path_rank; /* highest engine above it */
	int spine_index;           /* in its run's spine, -1: not on it */
	uint64_t fork_boot_ns;
	uint64_t cgroup_id;
	uint32_t exec_id, uid, pgid, flags;
	uint32_t pid_namespace, mount_namespace;
	uint32_t stdin_pipe, stdout_pipe; /* at its placing, beneath an orchestrator */
	struct pipe_user *reads, *writes; /* the same of a helper that is the orchestrator's own */
	bool is_stem;                     /* counted in its group's stem_count */
	bool state_is_stored;             /* its state in the store is this */
	bool has_state;                   /* the store has one, of this or of before */
	bool is_task_root, is_run_root;
	bool has_container; /* a client whose container has come */
	bool ignored;       /* a rule says so: no rows, but it leads to its children */
	bool ended, has_final;
	struct motion motion;
	enum stall stall;
	uint64_t stall_since_boot_ns;
	struct sent_signals *signals; /* fatal ones sent to it, NULL none */
	struct endings *endings;      /* how its children failed, NULL none */
	struct cause *cause;          /* why it failed itself, NULL: it has not */
	uint64_t end_boot_ns;
	uint64_t sampled_boot_ns; /* when a scan last saw it, 0: not since the start */
	uint64_t seen_scan;       /* number of the last scan it was in */
	uint64_t missed_boot_ns;  /* the first scan that did not show it, 0: none */
	UT_hash_handle hh;
};

struct process *process_find(struct model *model, uint32_t pid, uint64_t start_boot_ns);
struct process *process_new(struct model *model, const struct image_key *key, struct process *parent);
void process_set_context(struct process *process, uint64_t cgroup_id, uint32_t uid, uint32_t pgid, uint32_t flags);
void process_set_group(struct process *process, struct run *run, struct group *group);
/* The process as a whole is over, whatever it ran last; only the first time counts: else
 * false. */
bool process_end(struct process *process, int64_t wait_status, uint64_t boot_ns);
/* Whether its end is its task's: roots of a task that became part of another one, which
 * has the orchestrator further out and its own root, decide no more. */
bool process_decides_task(const struct process *process);
/* Under which it is remembered: no exec changes it. */
int64_t process_row_id(const struct model *model, const struct process *process);
void process_free(struct model *model, struct process *process);
