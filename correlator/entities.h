/* The model in memory: what lives, and what has ended but is not yet on disk.
 *
 *   run ──< task ──< group ──< tool ──< image >── process
 *
 * A process is a thread group; an image is one program it executed. A group is
 * the smallest set of tools that moves between tasks as one: the subtree of one
 * process. A task begins as one group and grows when subtrees turn out to belong
 * together (a pipe, or an orchestrator found further out). Tool ids come from the
 * group, so moving it changes no id.
 *
 * Everything here is private to the correlator and owned by `struct model`.
 */
#ifndef TRACER_CORRELATOR_ENTITIES_H
#define TRACER_CORRELATOR_ENTITIES_H

#include <stdbool.h>
#include <stdint.h>

#include <uthash.h>
#include <utlist.h>

#include "bpf/record.h"
#include "common/rules/rules.h"
#include "correlator/cause.h"
#include "correlator/command.h"
#include "correlator/sender.h"
#include "correlator/allowance.h"
#include "correlator/totals.h"
#include "correlator/words.h"

struct model;
struct run;
struct task;
struct group;
struct tool;
struct image;
struct process;

struct process_key {
	uint64_t start_boot_ns;
	uint64_t pid;
};

/* Counts and sums that tools, tasks and runs all keep. */
struct tally {
	struct totals totals;
	int64_t process_count; /* images */
	int64_t living_count;
	int64_t failed_count;
	int64_t partial_count; /* images whose totals have COUNTERS_PARTIAL */
	int64_t peak_rss_bytes;          /* largest of one image, ROW_NULL unknown */
	int64_t concurrent_memory_bytes; /* largest sum at one pass, ROW_NULL unknown */
	int64_t written_memory_bytes;    /* concurrent_memory_bytes when it last made a row of its own */
	int64_t pass_memory_bytes;       /* sum in the pass that is being read */
	int64_t lost_count;
	bool marked;                     /* scratch of incident.c */
	uint64_t begin_boot_ns;
	int64_t started_unix_ns; /* of the image that began then */
	uint64_t end_boot_ns; /* latest end of an image; meaningful when none lives */
};

/* How the root processes of a run or task came out. */
struct outcome {
	int64_t exit_code; /* ROW_NULL: none known */
	int64_t signal;
	bool known;        /* at least one root's status was seen */
	bool failed;
	int root_count, living_roots;
	uint64_t end_boot_ns; /* of the latest root */
};

struct container {
	int64_t id;
	char runtime[16];
	char runtime_id[72];
	char *cgroup_path;
	int64_t run_id, task_id; /* ROW_NULL until known */
	int64_t pid_namespace, mount_namespace; /* of its first process, ROW_NULL unknown */
	char *image, *name;      /* NULL: not to be seen */
	bool labelled;           /* command lines were asked */
	struct allowance allowance;
	int64_t living_count;
	uint64_t begin_boot_ns, end_boot_ns;
	int64_t started_unix_ns;
	bool dirty;
	bool used; /* while it is looked who is */
	UT_hash_handle hh; /* by id */
};

struct cgroup {
	uint64_t cgroup_id;
	char *path;
	struct container *container; /* NULL: not a container's */
	struct allowance allowance;  /* as last told */
	bool dirty;
	bool used; /* while it is looked who is */
	UT_hash_handle hh;
};

/* The command that cancelled a batch job. */
struct cancel {
	uint64_t boot_ns;    /* 0: none was seen; a restart forgets it */
	const char *program; /* static text */
	uint32_t pid, uid;
};

/* Tasks of one kind in a run, and what their command lines have in common: label.c. */
struct siblings {
	uint64_t kind;
	struct common_words common;
	uint32_t stem_hash, stem_words_hash; /* of the latest label that is a stem, and its task */
	bool whole_words;                    /* stems do not tell them apart */
	bool several;                        /* there was a second one */
	struct siblings *prev, *next;        /* in its run, the longest unused first */
};

/* Programs that together name a run: run_name.c. A restart forgets them: the name stays. */
#define RUN_PARTS_MAX 3

struct run_part {
	uint64_t start_boot_ns;
	char name[64];
};

/* What the spine of a run is: place.h. */
#define RUN_SPINE_MAX 64

/* Failed tasks of which a run remembers what work they did. Beyond it the oldest stays as it is. */
#define RUN_FAILED_TASKS_MAX 16

struct run {
	int64_t id;
	uint64_t boundary_key;     /* hash of what else belongs to it (job, cgroup); 0: nothing */
	const char *kind;          /* static text */
	char *name;
	int name_priority;
	struct run_part parts[RUN_PARTS_MAX];
	int part_count;
	char engine[RULES_NAME_MAX];
	enum rules_rank engine_rank;
	char run_key[RULES_NAME_MAX];
	int64_t root_process_id;   /* image ids; ROW_NULL none */
	int64_t origin_process_id;
	int64_t user_id;
	char *working_directory;
	struct container *container;
	const char *reason;        /* static text */
	struct tally tally;
	struct allowance allowance;
	struct outcome outcome;
	struct cancel cancel;
	int64_t task_count;
	struct task *main;
	struct task *tasks;        /* in memory */
	struct siblings *siblings;
	unsigned siblings_count;
	struct task *failed[RUN_FAILED_TASKS_MAX]; /* that may be done again: retry.c */
	int failed_count;
	struct process *spine[RUN_SPINE_MAX]; /* NULL where that process has gone */
	struct group *spine_group[RUN_SPINE_MAX];
	int64_t spine_group_id[RUN_SPINE_MAX]; /* while a checkpoint is loaded */
	int spine_length;
	int orchestrator;          /* index in the spine, -1: none yet */
	bool frozen;               /* too many tasks to move them any more */
	bool of_past_boot;         /* nothing more comes of it */
	unsigned members;          /* processes that point here */
	bool dirty;
	struct run *prev, *next;
	UT_hash_handle hh;         /* by boundary_key, where that is not 0 */
};

/* What a task's name comes from, the best last. */
enum named_by { NAMED_BY_TOOLS, NAMED_BY_SCRIPT, NAMED_BY_RULE };

struct task {
	int64_t id;
	struct run *run;
	const char *kind;
	char *name;                /* NULL: to be made from its tools */
	enum named_by name_by;
	char *label;               /* NULL: none */
	bool label_fixed;          /* a rule gave it */
	struct words words;        /* what the label is made of */
	uint64_t words_kind;
	int64_t root_process_id;
	int64_t orchestrator_process_id;
	struct process_key orchestrator;  /* the same process; pid 0: none in particular */
	struct group *orchestrator_group; /* its task is the parent task */
	int64_t orchestrator_group_id;    /* while a checkpoint is loaded */
	int64_t merged_into_id;    /* ROW_NULL: it stands */
	char *working_directory;
	struct container *container;
	const char *reason;
	struct tally tally;
	struct allowance allowance;
	struct outcome outcome;
	struct cause *cause;       /* of its failure; NULL: it has not failed, or how is unknown */
	int failed_commands_told;  /* 1: one that could not be executed, 2: one that is not there */
	int crashes_told;
	bool incident_told;
	int64_t incident_boot_ns, incident_unix_ns; /* of its row; 0: it has none */
	bool fatal;                /* it failed, and that was neither tolerated nor done again with success */
	struct process_key root;   /* the process that it began with */
	int64_t work;              /* hash of what its root was asked to do, 0 unknown */
	bool wraps;                /* its root is an engine's script around the work */
	int64_t retried_by_id;     /* the next attempt, ROW_NULL none */
	bool awaited;              /* in run->failed */
	uint64_t moved_boot_ns;    /* last time that a pass saw something of it move */
	int idle_count;            /* idle processes that were told */
	struct group *groups;
	bool dirty;
	struct task *prev, *next;  /* in its run */
};

/* Who uses a pipe beneath an orchestrator, and how: pipes.c. */
enum pipe_use {
	PIPE_GROUP_READS, /* the open ends of a group's pipeline */
	PIPE_GROUP_WRITES,
	PIPE_HELPER_READS, /* a helper that was taken for the orchestrator's own */
	PIPE_HELPER_WRITES,
};

struct pipe_key {
	struct process_key orchestrator;
	uint32_t inode, use;
};

struct pipe_end {
	struct pipe_key key;
	struct pipe_user *users; /* in the order in which they began; never empty */
	UT_hash_handle hh;
};

struct pipe_user {
	struct pipe_end *end;
	struct group *group;    /* NULL: a helper */
	struct process *helper; /* NULL: a group */
	uint64_t start_boot_ns;
	struct pipe_user *prev, *next;
};

struct group {
	int64_t id;
	struct task *task;
	int64_t root_process_id;      /* first image id of the process it is the subtree of */
	struct process_key orchestrator; /* the process it is a direct subtree of; pid 0: none */
	struct tool *tools;
	uint32_t input_pipe, output_pipe; /* the open ends of its pipeline, 0: none */
	struct pipe_user *reads, *writes; /* the same, to be found by */
	unsigned stem_count;          /* children of the orchestrator in it, in memory */
	uint64_t start_boot_ns;       /* of the earliest of them */
	unsigned members;             /* processes and tasks that point here */
	struct group *prev, *next;        /* in its task */
};

struct tool {
	int64_t id;
	struct group *group;
	char *name;
	enum rules_role role;
	uint64_t start_boot_ns; /* earliest start of its processes: orders tools by fork */
	struct tally tally;
	struct image *images; /* in memory */
	bool dirty;
	bool moved;           /* its stored processes are in another task */
	bool has_checkpoint;  /* of its own: it is not in its task's */
	struct tool *prev, *next; /* in its group */
};

enum image_began { IMAGE_FORK, IMAGE_EXEC, IMAGE_FOUND };
enum image_ended { IMAGE_LIVING, IMAGE_EXIT, IMAGE_REPLACED, IMAGE_LOST };
enum image_totals { TOTALS_SAMPLE, TOTALS_EXEC, TOTALS_EXIT, TOTALS_FINAL };

struct image {
	int64_t id;
	int64_t parent_id; /* ROW_NULL unknown */
	uint32_t pid, exec_id;
	uint32_t uid;
	struct process *process; /* NULL: the process has another image or is gone */
	struct tool *tool;
	struct container *container;
	struct command *command;
	bool own_command;        /* not its parent's */
	enum image_began began;
	enum image_ended ended;
	enum image_totals totals_kind;
	uint64_t begin_boot_ns, end_boot_ns;
	int64_t started_unix_ns; /* the wall clock as it stood when this began: told once */
	int64_t spawn_cpu_ns;
	int64_t uninterruptible_ns; /* ROW_NULL: no pass told */
	struct counters base;
	struct totals totals;
	int64_t peak_rss_bytes;
	int64_t wait_status; /* ROW_NULL unknown */
	bool oom_killed;
	enum rules_role role;
	enum rules_rank rank;
	enum rules_boundary boundary;
	bool nested, interactive;
	uint64_t expected_codes; /* bits: exit codes that are no failures */
	bool failed;             /* it has, and that was not expected of it */
	const char *rule;    /* owned by the rules */
	const char *reason;  /* static text */
	char *gpu;           /* devices held open, NULL none seen */
	bool dirty;
	struct image *prev, *next;             /* of its tool */
	struct image *dirty_prev, *dirty_next;
	struct image *client_prev, *client_next; /* while it lives and its role is that */
	uint64_t sampled_boot_ns;            /* of the last sample row, 0: none yet; what it said: */
	int64_t sampled_memory_bytes, sampled_cpu_ns, sampled_io_bytes;
};

/* How a process stands still: stall.c. */
enum stall { STALL_NONE, STALL_BLOCKED, STALL_STUCK, STALL_IDLE };

/* What passes saw of its moving. Zero after a restart: begun anew. */
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
	struct process *parent;   /* NULL: unknown or gone */
	struct process_key parent_key; /* while a checkpoint is loaded */
	struct process *children; /* list by sibling_* */
	struct process *sibling_prev, *sibling_next;
	struct process *below;    /* scratch of place.c */
	enum process_place place;
	struct run *run;
	struct group *group;
	struct image *image;      /* NULL before it is placed */
	struct command *command;  /* of the current image, its own or its parent's */
	int64_t parent_image_id;   /* image of the parent that forked it, ROW_NULL unknown */
	uint32_t parent_exec_id;
	uint32_t first_exec_id;    /* of its first image that has a row */
	enum rules_rank path_rank; /* highest engine above it */
	int spine_index;          /* in its run's spine, -1: not on it */
	int subtree_count;        /* subtrees beneath it that count */
	uint64_t fork_boot_ns;
	uint64_t cgroup_id;
	uint32_t exec_id, uid, sid, pgid, tty, flags;
	uint32_t pid_namespace, mount_namespace;
	uint32_t stdin_pipe, stdout_pipe; /* at its placing, beneath an orchestrator */
	struct pipe_user *reads, *writes; /* the same of a helper that is the orchestrator's own */
	bool is_stem;             /* counted in its group's stem_count */
	bool checkpointed;        /* what is in the store is this */
	bool has_checkpoint;      /* the store has one, of this or of before */
	bool found;               /* alive before the probe */
	bool is_task_root, is_run_root;
	bool has_container;       /* a client whose container has come */
	bool ignored;             /* a rule says so: no rows, but it leads to its children */
	bool ended, has_final;
	struct motion motion;
	enum stall stall;
	uint64_t stall_since_boot_ns;
	int64_t stall_since_unix_ns;
	struct sent_signals *signals; /* fatal ones sent to it, NULL none */
	struct endings *endings;      /* how its children failed, NULL none */
	struct cause *cause;          /* why it failed itself, NULL: it has not */
	uint64_t end_boot_ns;
	uint64_t sampled_boot_ns; /* when a pass last saw it, 0: not since the start */
	uint64_t seen_pass;       /* number of the last pass it was in */
	uint64_t missed_boot_ns; /* the first pass that did not show it, 0: none */
	UT_hash_handle hh;
};

#endif
