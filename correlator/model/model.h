/* The model in memory: what runs, and what has ended but is not yet on disk.
 *
 *   run ──< task ──< group ──< tool ──< image >── process
 *
 * Each has its own .c and .h file; `struct model` owns all of them. These files change the entities
 * and mark what has changed. Placement and incidents decide what follows from it.
 */
#pragma once

#include <uthash.h>
#include <utlist.h>

#include "bpf/record.h"
#include "common/identity.h"
#include "common/redact/redact.h"
#include "common/rules/rules.h"
#include "common/store/rows.h"

struct model_options {
	const struct rules *rules;
	enum redact_mode arguments;
	const char *keep_arguments; /* program-only: of these programs, separated by commas; NULL: of none */
	const char *hostname;       /* NULL: what the probe says */
	bool keep_states;           /* store what is running, for a restart; not needed in a replay */
};

/* What identifies a process of a boot: a pid may be used again, but not with the same start. */
struct process_key {
	uint64_t start_boot_ns;
	uint64_t pid;
};

static inline struct process_key process_key_of(const struct image_key *image)
{
	return (struct process_key){.start_boot_ns = image->start_boot_ns, .pid = image->pid};
}

static inline bool process_key_is(const struct process_key *key, const struct process_key *other)
{
	return key->pid == other->pid && key->start_boot_ns == other->start_boot_ns;
}

/* Lost records as far as they are counted: incidents/loss.c. Saved in the state of the host. */
struct losses {
	struct loss_slot reported[LOSS_SLOTS]; /* as last reported by the probe */
	bool dirty;
	uint64_t number; /* number of losses that this correlator has counted */
	/* Processes of users that have too many, not yet written; the time of the first since the start of the correlator. */
	uint64_t unrecorded_count, unrecorded_boot_ns;
};

/* The command that was classified last, and its class. In a loop the same program begins again and again: the next one,
 * beneath the same ancestors, shares both. */
struct latest_command {
	struct command *command; /* NULL: none */
	const struct process *parent;
	const struct cgroup *cgroup;
	struct rules_class class;
};

/* On an idle host, samples of it wait for its row, which is written every 30 s while the probe works, or until there are
 * so many. */
#define HOST_SAMPLES_WAITING_MAX 4

#define MODEL_REPORTED_MAX 1024 /* processes; further ones take the place of others, and are searched for */

struct model {
	struct store *store;
	struct model_options options;
	struct identity image_identity; /* hash state of the prefix of all image ids */
	int64_t generation;             /* of ids: how often the stored state was discarded */

	char boot_id[40];
	struct row_host host;
	char *gpus; /* host.gpus, NULL: not known */
	bool host_dirty;
	int64_t written_seen_boot_ns; /* when the host was last seen, as stored */
	int64_t clock_offset_ns;      /* CLOCK_REALTIME - CLOCK_BOOTTIME, as last sent */
	uint64_t now_boot_ns;         /* latest time of the stream */
	uint64_t scan_number;
	uint64_t scan_boot_ns;     /* of the latest complete scan */
	struct apply_state *apply; /* the own state of apply/ */

	struct process *processes;
	struct process_key reported[MODEL_REPORTED_MAX]; /* by samplers, by their pid: process_find_by_ticks() */
	struct process *unsettled; /* list: changed since the last commit, or ended and not freed yet */
	struct cgroup *cgroups;
	struct latest_command latest_command;
	struct cgroup *latest_cgroup; /* latest lookup, NULL: none; an event does three */
	struct container *containers;
	struct container *namespaces;  /* the same, by pid namespace */
	uint64_t next_sweep_boot_ns;   /* of cgroups and containers */
	unsigned containers_swept;     /* left by the last one */
	uint64_t next_renewal_boot_ns; /* of cgroup rows */
	struct run *runs;              /* list */
	struct run *runs_by_boundary;  /* hash */
	struct pipe *pipes;            /* hash */
	struct run *system;

	struct account *accounts; /* hash: what the processes of each user take */

	struct image *clients;         /* that may be waiting for a container */
	struct task *opened_tasks;     /* list by next_opened: not yet assessed, */
	struct task *last_opened_task; /* and the last of it */
	struct image *ended_images;    /* list: not freed yet */
	struct task *maybe_over;       /* list: new, or something of them is gone */
	/* lists: changed since the last commit, which writes them */
	struct cgroup *dirty_cgroups;
	struct container *dirty_containers;
	struct tool *dirty_tools;
	struct task *dirty_tasks;
	struct run *dirty_runs;
	struct image *dirty_images;
	size_t dirty_image_count;
	struct fact *facts;                   /* to be written */
	size_t fact_count, host_sample_count; /* host samples, also of file systems, are included in fact_count */
	unsigned host_samples_waiting;        /* added since a commit wrote them */
	int64_t *gone;                        /* ids whose states are to be deleted */
	size_t gone_count, gone_capacity;
	struct losses losses;
	bool out_of_memory;
};

/* Returns NULL if out of memory. */
struct model *model_new(const struct model_options *options, struct store *store);
/* Returns zeroed memory, or NULL and sets out_of_memory. */
void *model_alloc(struct model *model, size_t size);
void model_set_text(struct model *model, char **text, const char *value);
/* Advances the stream's clock, which never goes back. */
static inline void model_advance(struct model *model, uint64_t boot_ns)
{
	if (boot_ns > model->now_boot_ns)
		model->now_boot_ns = boot_ns;
}

/* Wall clock at `boot_ns`, by the clock offset of the latest scan. That is accurate for recent
 * events only: convert a time once and keep the result. */
int64_t model_unix_ns(const struct model *model, uint64_t boot_ns);
/* Begins an id that is unique to this host and boot. */
void model_begin_identity(const struct model *model, const char *kind, struct identity *ret);
/* Makes ids differ from those before the stored state was discarded. */
void model_add_generation(const struct model *model, struct identity *identity);
/* To be called once host id and boot id are set: all image ids start with them. */
void image_begin_identities(struct model *model);
int64_t image_id(const struct model *model, const struct process_key *key, uint32_t exec_id);
/* The object with this id has been freed: the next commit deletes its state. */
void model_set_gone(struct model *model, int64_t id);
/* Adds an entity to its list of changed ones, and removes it again when it is freed. */
#define MODEL_SET_DIRTY(list, entity) \
	do { \
		if (!(entity)->dirty) { \
			(entity)->dirty = true; \
			DL_APPEND2(list, entity, dirty_prev, dirty_next); \
		} \
	} while (0)
#define MODEL_FORGET_DIRTY(list, entity) \
	do { \
		if ((entity)->dirty) \
			DL_DELETE2(list, entity, dirty_prev, dirty_next); \
	} while (0)
/* Its row or state has changed: the next commit writes both. In the order of writing: moving a tool must not affect new
 * rows of its images, which come last. */
#define MODEL_DIRTY(D) D(cgroup) D(container) D(tool) D(task) D(run)
#define D(kind) void kind##_set_dirty(struct model *model, struct kind *kind);
MODEL_DIRTY(D)
#undef D
/* Whether there is anything to write besides the stream's position, the clock and host samples. */
bool model_is_dirty(const struct model *model);
/* Approximate number of rows waiting for a commit, without host samples, so that the caller can bound it. */
size_t model_pending(const struct model *model);
