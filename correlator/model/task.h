/* A task: a part of a run that its users would call a task. */
#pragma once

#include "correlator/model/cgroup_limits.h"
#include "correlator/model/outcome.h"
#include "correlator/model/memory.h"
#include "correlator/model/model.h"
#include "correlator/model/reason.h"
#include "correlator/model/tally.h"

/* K(name, text of the row) */
#define TASK_KINDS(K) \
	K(MAIN, "main") \
	K(GENERIC, "generic") \
	K(ENGINE, "engine") \
	K(BATCH, "batch")

enum task_kind {
#define K(name, text) TASK_##name,
	TASK_KINDS(K)
#undef K
};

/* Source of a task's name, in ascending order of preference. */
enum named_by { NAMED_BY_TOOLS, NAMED_BY_SCRIPT, NAMED_BY_RULE };

struct run;

/* Its incidents so far: incidents/incident.c. */
struct task_reports {
	int failed_commands; /* bits: 1 could not be executed, 2 not found */
	int crashes;
	int64_t incident_boot_ns; /* of its row; 0: no incident */
	bool fatal;               /* it failed, and was neither tolerated nor successfully retried */
};

/* Whether it is the next attempt of another task, and waits for one itself: incidents/retry.c. */
struct task_retry {
	int64_t work; /* command_work() of its root, 0 unknown */
	bool wraps;   /* its root is a wrapper, such as an engine's job script */
	bool awaited; /* in run->awaited: */
	struct task *prev, *next;
	struct process_key awaits; /* while awaited: the process whose end tells whether its failure mattered, */
	int64_t awaits_cause_id;   /* and the image that this process then fails because of */
};

/* Progress, as process scans see it: incidents/ongoing.c. */
struct task_stall {
	uint64_t moved_boot_ns; /* last time a scan saw activity in it */
	int idle_count;         /* idle processes reported */
};

struct task {
	int64_t id;
	struct run *run;
	enum task_kind kind;
	char *name; /* NULL: to be derived from its tools */
	enum named_by name_by;
	char *label; /* by a rule, NULL: none */
	int64_t root_process_id;
	int64_t orchestrator_process_id;
	struct process_key orchestrator;  /* key of that process; pid 0: no particular one */
	struct group *orchestrator_group; /* its task is the parent task */
	int64_t orchestrator_group_id;    /* 0: none */
	int64_t merged_into_id;           /* ROW_NULL: not merged */
	char *working_directory;
	struct container *container;
	enum reason reason;
	struct set_memory memory;
	struct memory_beside beside;
	struct outcome outcome;
	struct task_reports reports;
	struct task_retry retry;
	struct task_stall stall;
	struct cause *cause;     /* of its failure; NULL: it has not failed, or the cause is unknown */
	struct process_key root; /* its first root process */
	int64_t retried_by_id;   /* the next attempt, ROW_NULL none */
	struct group *groups;
	bool dirty; /* in model->dirty_tasks: */
	struct task *dirty_prev, *dirty_next;
	struct task *prev, *next; /* in its run */
	bool may_be_over;         /* in model->maybe_over: */
	struct task *over_prev, *over_next;
	struct task *next_opened; /* in model->opened_tasks */
};

/* `id_part` distinguishes it within its run. */
int64_t task_id(const struct run *run, int64_t id_part);
struct task *task_new(struct model *model, struct run *run, enum task_kind kind, enum reason reason, int64_t id_part);
/* Adds it to model->maybe_over: the next collection looks at it. */
void task_may_be_over(struct model *model, struct task *task);
/* Sets the cause of its failure; NULL: unknown. */
void task_set_cause(struct task *task, struct cause *cause);
/* Its run waits for a retry of it, and no longer for the oldest if there are too many. */
void task_await_retry(struct model *model, struct task *task);
void task_forget_retry(struct model *model, struct task *task);
