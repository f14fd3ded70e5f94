/* A run: one command, job, service or container, with everything that it started. */
#pragma once

#include <uthash.h>

#include "common/rules/rules.h"
#include "correlator/model/cgroup_limits.h"
#include "correlator/model/memory.h"
#include "correlator/model/reason.h"
#include "correlator/model/tally.h"

struct model;

/* Programs that together name a run: placement/run_name.c. A restart loses them but keeps the name. */
#define RUN_PARTS_MAX 3

/* Maximum length of a run's spine: placement/spine.c. */
#define RUN_SPINE_MAX 64

/* Failed tasks for which a run waits for a retry. Beyond that it stops waiting for the oldest. */
#define RUN_AWAITED_TASKS_MAX 16

/* Tasks of one run kept in memory because they may still be merged. Beyond that the run is
 * frozen: its tasks stay separate. */
#define RUN_MERGEABLE_TASKS_MAX 1000

/* K(name, text of the row); those up to CONTAINER are expected to end. */
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

/* What names a run; the highest wins, and among equals the first. */
enum run_name_priority {
	RUN_NAME_NONE = -1,
	RUN_NAME_WRAPPER,  /* of a wrapper */
	RUN_NAME_GLUE,     /* of a shell or a helper */
	RUN_NAME_PROGRAM,  /* of a program beneath it */
	RUN_NAME_PARALLEL, /* of make, xargs and the like beneath it */
	RUN_NAME_ASKED,
	RUN_NAME_WORKFLOW,
	RUN_NAME_RULED, /* by a rule: a notebook kernel, a batch job */
	RUN_NAME_FIXED, /* nothing renames it */
};

/* The command that cancelled a batch job. */
struct cancel {
	uint64_t boot_ns; /* 0: none seen, or lost in a restart */
	uint32_t pid, uid;
	char program[32];
};

/* For placement/run_name.c. */
struct run_parts {
	int count;
	struct run_part {
		uint64_t start_boot_ns;
		char name[64];
	} item[RUN_PARTS_MAX];
};

struct run {
	int64_t id;
	uint64_t boundary_key; /* hash of what other processes join it by (job, cgroup); 0: none */
	enum run_kind kind;
	char *name;
	enum run_name_priority name_priority;
	struct run_parts parts;
	char *engine; /* NULL: none */
	enum rules_rank engine_rank;
	char *run_key;             /* NULL: none */
	int64_t origin_process_id; /* image id; ROW_NULL none */
	int64_t user_id;
	char *working_directory;
	enum reason reason;
	struct tally tally; /* groups do not move between runs */
	struct set_memory memory;
	struct memory_beside beside;
	const struct memory_part
		*most_shared; /* in the scan in progress, that with the largest part of shared memory */
	struct cgroup_limits limits;
	int64_t lost_count;
	uint64_t loss_number; /* of the loss last counted */
	struct cancel cancel; /* for incidents/sender.c */
	int64_t task_count;
	/* Its root, container and outcome are those of the run, and its groups are the spine: placement/spine.c. */
	struct task *main;
	int orchestrator;     /* index in the spine, the last then; -1: none yet */
	bool frozen;          /* too many tasks: they are no longer merged */
	struct task *tasks;   /* in memory */
	struct task *awaited; /* list, latest first: failed ones that may be retried */
	int awaited_count;
	bool of_past_boot; /* of an earlier boot: it gets nothing more */
	unsigned members;  /* images */
	bool dirty;        /* in model->dirty_runs: */
	struct run *dirty_prev, *dirty_next;
	struct run *prev, *next;
	UT_hash_handle hh; /* by boundary_key, unless that is 0 */
};

/* Does nothing if the run has a name of the same or a higher priority. */
void run_set_name(struct model *model, struct run *run, const char *name, enum run_name_priority priority);
/* Whether the run is expected to end: not a service, a session or the system run. */
bool run_is_workload(const struct run *run);
/* Its processes have used CPU time. A session that computes by itself is work, whatever its programs are called: it
 * becomes a service, which is listed. */
void run_note_cpu(struct model *model, struct run *run);
/* Its boot is over; cgroups and jobs of the next boot may have the same numbers. */
void run_end_boot(struct model *model, struct run *run);
