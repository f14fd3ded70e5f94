/* A process: a thread group, which may execute several programs in turn. */
#pragma once

#include <uthash.h>

#include "common/rules/rules.h"
#include "correlator/model/memory.h"
#include "correlator/model/model.h"
#include "correlator/record/record.h"

enum stall_kind { STALL_NONE, STALL_BLOCKED, STALL_STUCK, STALL_IDLE };

/* Whether it stands still: incidents/ongoing.c. */
struct stall {
	enum stall_kind kind;
	uint64_t since_boot_ns;
	/* Activity seen by scans. Zero after a restart, when tracking starts over. */
	struct motion {
		uint64_t moved_boot_ns;   /* last known activity */
		uint64_t blocked_boot_ns; /* in uninterruptible sleep since then, 0: not */
		uint64_t mark_boot_ns;    /* time of the counters below */
		int64_t mark_cpu_ns, mark_io_bytes;
		uint32_t mark_exec_id;
	} motion;
};

/* Ended children that it has not reaped: incidents/ongoing.c. */
struct zombies {
	uint32_t count; /* in this scan; zero after a restart */
	uint32_t reported_count;
	uint64_t since_boot_ns; /* 0: few */
};

/* See pipe.h. */
enum pipe_side { PIPE_READ, PIPE_WRITTEN, PIPE_SIDES };
struct pipe_end {
	struct pipe *pipe;
	struct process *process;
	struct pipe_end *prev, *next; /* at the same side of the pipe */
};

enum process_place {
	PLACE_NONE, /* forked, nothing else known yet */
	PLACE_PART, /* a fork that is part of its parent's program */
	PLACE_FULL, /* it or a descendant has executed something */
};

struct process {
	struct process_key key;
	struct process *parent;        /* NULL: unknown or gone */
	struct process_key parent_key; /* of the latest parent; pid 0: none was known */
	int64_t group_id;              /* of `group`, 0: none */
	struct process *children;      /* list by sibling_* */
	struct process *sibling_prev, *sibling_next;
	enum process_place place;
	struct run *run;
	struct group *group;
	struct image *image;     /* NULL until it is placed */
	struct account *account; /* that it is charged to while it runs, NULL: none */
	struct command *command; /* of the current image, its own or its parent's */
	int64_t parent_image_id; /* image of the parent at the fork, ROW_NULL unknown */
	uint32_t parent_exec_id;
	uint32_t first_exec_id;    /* of its first image with a row */
	enum rules_rank path_rank; /* highest rank of an engine above it */
	int spine_index;           /* index in its run's spine, -1: not on it */
	uint64_t fork_boot_ns;
	uint64_t cgroup_id;
	uint32_t exec_id, uid, pgid, flags;
	uint32_t pid_namespace, mount_namespace;
	uint32_t core_limit_milli; /* processors that its program may use, at its start; 0: unknown */
	/* Of descriptors 0 and 1 when it was placed beneath an orchestrator. 0: none, or joined; NULL: not in the index. */
	uint32_t pipe_inodes[PIPE_SIDES];
	struct pipe_end *pipe_ends[PIPE_SIDES];
	struct process *unplaced_below; /* only while its ancestors are placed */
	struct process *adopted_next;   /* only while helpers are adopted */
	uint32_t output_pipe;           /* inode if descriptor 1 was a pipe at its last exec, else 0 */
	bool state_is_stored;           /* the stored state is current */
	bool is_unsettled;              /* in model->unsettled: */
	struct process *unsettled_prev, *unsettled_next;
	bool has_state; /* the store has a state, current or older */
	bool is_task_root, is_run_root;
	bool has_container; /* a client whose container has appeared */
	bool ignored;       /* by a rule: no rows; its children count as its parent's */
	bool ended, has_final;
	struct process_memory memory;
	struct stall stall;
	struct zombies zombies;
	struct sent_signal *signals; /* fatal signals sent to it, NULL: none */
	struct ending *endings;      /* failed children, NULL: none */
	struct cause *cause;         /* why it failed itself, NULL: it did not */
	uint64_t end_boot_ns;
	uint64_t sampled_boot_ns; /* when a scan last saw it, 0: not since the start */
	uint64_t seen_scan;       /* number of the last scan it was in */
	uint64_t missed_boot_ns;  /* first scan that lacked it, 0: none */
	UT_hash_handle hh;
};

struct process *process_find(struct model *model, struct process_key key);
/* Starts are known to samplers from /proc, in ticks. */
#define PROCESS_TICK_NS UINT64_C(10000000)
struct process *process_find_by_ticks(struct model *model, uint64_t pid, uint64_t start_boot_ns);
/* Adds a process to the model's. */
void process_add(struct model *model, struct process *process);
void process_set_parent(struct process *process, struct process *parent);
struct process *process_new(struct model *model, const struct image_key *key, struct process *parent);
void process_set_context(struct process *process, uint64_t cgroup_id, uint32_t uid, uint32_t pgid, uint32_t flags);
/* Whether it is known to be in a pid namespace of its own. */
bool process_has_namespace(const struct process *process);
/* Its affinity and CPU quota, which may exceed the processors of the host. */
void process_set_core_limit(struct process *process, const struct model *model, uint64_t limit_milli);
void process_set_group(struct model *model, struct process *process, struct run *run, struct group *group);
/* Its state has changed: the next commit writes it. */
void process_set_changed(struct model *model, struct process *process);
/* Marks the whole process, not just its last image, as ended. Returns false if it had
 * already ended. */
bool process_end(struct model *model, struct process *process, int64_t wait_status, uint64_t boot_ns);
/* Whether its end decides the outcome of its task. Roots of a task that was merged into one of an
 * orchestrator further out do not: that task has its own root. */
bool process_decides_task(const struct process *process);
/* Id of its stored state; an exec does not change it. */
int64_t process_row_id(const struct model *model, const struct process *process);
