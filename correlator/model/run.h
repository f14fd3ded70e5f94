/* A run: what somebody asked for, with all that came of it. */
#pragma once

#include <uthash.h>

#include "common/rules/rules.h"
#include "correlator/model/cgroup_limits.h"
#include "correlator/model/outcome.h"
#include "correlator/model/reason.h"

struct model;

/* Programs that together name a run: placement/run_name.c. A restart forgets them: the name stays. */
#define RUN_PARTS_MAX 3

/* What the spine of a run is: placement/spine.c. */
#define RUN_SPINE_MAX 64

/* Failed tasks of which a run remembers what work they did. Beyond it the oldest stays as it is. */
#define RUN_FAILED_TASKS_MAX 16

/* Tasks of one run that may still be merged, kept in memory. Beyond it the run is
 * frozen: what is a task stays one. */
#define RUN_MERGEABLE_TASKS_MAX 1000

/* K(name, text of the row); the first are there to end. */
#define RUN_KINDS(K) \
	K(COMMAND, "command") \
	K(JOB, "job") \
	K(BATCH, "batch") \
	K(CRON, "cron") \
	K(CONTAINER, "container") \
	K(SERVICE, "service") \
	K(HOST_SERVICE, "host-service") \
	K(SESSION, "session") \
	K(FOUND, "found") \
	K(SYSTEM, "system")

enum run_kind {
#define K(name, text) RUN_##name,
	RUN_KINDS(K)
#undef K
};

/* What names a run; the highest wins, and of equals the first. */
enum run_name_priority {
	RUN_NAME_NONE = -1,
	RUN_NAME_WRAPPER,  /* of what only leads on */
	RUN_NAME_GLUE,     /* of a shell or a helper */
	RUN_NAME_PROGRAM,  /* of a program beneath it */
	RUN_NAME_PARALLEL, /* of make, xargs and their like beneath it */
	RUN_NAME_ASKED,
	RUN_NAME_WORKFLOW,
	RUN_NAME_RULED, /* a rule names the run: a kernel of a notebook, a job of a batch system */
	RUN_NAME_FIXED, /* nothing renames it */
};

/* The command that cancelled a batch job. */
struct cancel {
	uint64_t boot_ns;    /* 0: none was seen; a restart forgets it */
	const char *program; /* static text */
	uint32_t pid, uid;
};

struct run_part {
	uint64_t start_boot_ns;
	char name[64];
};

struct run {
	int64_t id;
	uint64_t boundary_key; /* hash of what else belongs to it (job, cgroup); 0: nothing */
	enum run_kind kind;
	char *name;
	enum run_name_priority name_priority;
	struct run_part parts[RUN_PARTS_MAX];
	int part_count;
	char engine[RULES_NAME_MAX];
	enum rules_rank engine_rank;
	char run_key[RULES_NAME_MAX];
	int64_t root_process_id; /* image ids; ROW_NULL none */
	int64_t origin_process_id;
	int64_t user_id;
	char *working_directory;
	struct container *container;
	enum reason reason;
	struct tally tally;
	uint64_t loss_number; /* of the loss that was counted in last */
	struct cgroup_limits limits;
	struct outcome outcome;
	struct cancel cancel;
	int64_t task_count;
	struct task *main;
	struct task *tasks; /* in memory */
	struct siblings *siblings;
	unsigned siblings_count;
	struct task *failed[RUN_FAILED_TASKS_MAX]; /* that may be done again: incidents/retry.c */
	int failed_count;
	struct process *spine[RUN_SPINE_MAX]; /* NULL where that process has gone */
	struct group *spine_group[RUN_SPINE_MAX];
	int spine_length;
	int orchestrator;  /* index in the spine, -1: none yet */
	bool frozen;       /* too many tasks to move them any more */
	bool of_past_boot; /* nothing more comes of it */
	unsigned members;  /* processes that point here */
	bool dirty;
	struct run *prev, *next;
	UT_hash_handle hh; /* by boundary_key, where that is not 0 */
};

struct run *run_new(struct model *model, const struct process *root, enum run_kind kind, uint64_t boundary_key);
/* Where nothing better has named it. */
void run_set_name(struct model *model, struct run *run, const char *name, enum run_name_priority priority);
/* The host's own run: init, service managers and what else has no origin. */
struct run *run_of_system(struct model *model);
void run_set_root(struct model *model, struct run *run, const struct process *process);
/* A run that is there to end: not a service, not the host's own. */
bool run_is_workload(const struct run *run);
void run_become_session(struct run *run);
bool run_is_session(const struct run *run);
/* Its failed task may be done again; false: there are too many. */
bool run_await_retry(struct run *run, struct task *task);
/* The failed task at `index` is not waited for any more. */
void run_forget_failed_at(struct run *run, int index);
void run_forget_failed(struct run *run, struct task *task);
/* Its boot is over: cgroups and jobs of the next may have the same numbers. */
void run_end_boot(struct model *model, struct run *run);
void run_free(struct model *model, struct run *run);
