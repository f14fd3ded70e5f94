/* The model in memory: what runs, and what has ended but is not yet on disk.
 *
 *   run ──< task ──< group ──< tool ──< image >── process
 *
 * Each has a pair of files of its own; all of them are owned by `struct model`. They change here and
 * say what has changed. What follows from that, others decide: placement and incidents.
 */
#pragma once

#include <uthash.h>

#include "common/identity.h"
#include "common/rules/rules.h"
#include "correlator/host/host.h"
#include "correlator/record/event.h"
#include "correlator/redact/redact.h"

/* Samples of the host that wait for a commit: ten minutes of a store that cannot be
 * written. Then the oldest go. */

struct model_options {
	const struct rules *rules;
	enum redact_mode arguments;
	bool keep_states; /* remember what runs for a restart; a replay has no use for it */
};

/* A text of a row that stands where a program has a static one. */
struct kept_text {
	char *text;
	UT_hash_handle hh;
};

struct model {
	struct store *store;
	const struct rules *rules;
	enum redact_mode arguments;
	bool keep_states;
	struct identity image_identity; /* with what all ids of images begin with */
	int64_t generation;             /* of ids: how often the store's state was given up */

	struct row_host host; /* its texts are below */
	char host_key[17], hostname[256], boot_id[40], kernel[128], machine[64], probe_version[32];
	struct host_facts host_facts;
	bool host_dirty;
	int64_t written_seen_unix_ns; /* host.last_seen_unix_ns as it is in the store */
	int64_t clock_offset_ns;      /* CLOCK_REALTIME - CLOCK_BOOTTIME, as last sent */
	uint64_t now_boot_ns;
	uint64_t scan_number;
	bool is_rows_scan;  /* the one that is being read: rows follow the samples */
	bool is_quiet_scan; /* and all take their steps */
	uint64_t next_rows_boot_ns, next_quiet_boot_ns;
	uint64_t found_settle_boot_ns; /* events after it say nothing more of the found */

	struct process *processes;
	struct found *found;
	struct cgroup *cgroups;
	struct cgroup *latest_cgroup; /* that was found, NULL: none; an event asks three times */
	struct container *containers;
	uint64_t next_sweep_boot_ns;   /* of both */
	uint64_t next_renewal_boot_ns; /* of the rows of cgroups */
	struct run *runs;              /* list */
	struct run *runs_by_boundary;  /* hash */
	struct pipe_end *pipe_ends;    /* hash */
	struct run *system;

	struct image *clients;     /* whoever may wait for a container */
	struct task *opened_tasks; /* since they were last judged */
	struct image *dirty_images;
	size_t dirty_image_count;
	struct fact *facts;                   /* to be written */
	size_t fact_count, host_sample_count; /* the second are among the first */
	int64_t *gone;                        /* whose states are to be deleted */
	struct kept_text *kept_texts;
	size_t gone_count, gone_capacity;
	struct loss_slot losses_reported[LOSS_SLOTS]; /* what the probe has said of them */
	bool losses_dirty;
	uint64_t loss_number; /* of those that this process has counted */
	bool out_of_memory;
};

/* NULL: out of memory. */
struct model *model_new(const struct model_options *options, struct store *store);
/* What was only found, the caller has freed. */
void model_free(struct model *model);
/* All runs and processes are forgotten. */
void model_forget_all(struct model *model);
/* Zeroed; NULL: out of memory, which the model remembers. */
void *model_alloc(struct model *model, size_t size);
void model_set_text(struct model *model, char **text, const char *value);
/* The stream's clock, which only goes forward. */
static inline void model_advance(struct model *model, uint64_t boot_ns)
{
	if (boot_ns > model->now_boot_ns)
		model->now_boot_ns = boot_ns;
}

/* The wall clock at `boot_ns` as the latest scan has it, which is right of what has just
 * happened: asked once of a moment, and kept. */
int64_t model_unix_ns(const struct model *model, uint64_t boot_ns);
/* Begins an id that no other boot of the host has. */
void model_begin_identity(const struct model *model, const char *kind, struct identity *ret);
/* Ids of a store whose state was given up differ from those before. */
void model_add_generation(const struct model *model, struct identity *identity);
/* What had this id has gone from memory: the next commit deletes its state. */
void model_set_gone(struct model *model, int64_t id);
/* Whether there is anything to write but the stream's position and clock, and samples of the host. */
bool model_is_dirty(const struct model *model);
/* Rows waiting for a commit, about: a bound for whoever feeds the model. */
size_t model_pending(const struct model *model);
/* Latest time the stream has given, boot clock. */
uint64_t model_now_boot_ns(const struct model *model);
