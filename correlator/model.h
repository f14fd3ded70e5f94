/* The execution model: from messages of the probe to hosts, containers, runs,
 * tasks, tools and processes in a store.
 *
 * Deterministic: nothing but the messages decides what comes out (no clock, no
 * random number, no look at /proc), so a replayed recording gives the same store.
 */
#ifndef TRACER_CORRELATOR_MODEL_H
#define TRACER_CORRELATOR_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/redact.h"
#include "common/rules/rules.h"
#include "common/store/store.h"
#include "common/record/event.h"
#include "common/wire/wire.h"
#include "correlator/host.h"

struct model;

struct model_options {
	const struct rules *rules;
	enum redact_mode arguments;
	bool checkpoints; /* remember what lives for a restart; a replay has no use for it */
};

/* Takes up what `store` knows of processes that were alive. 0 or -errno. */
int model_new(const struct model_options *options, struct store *store, struct model **ret_model);
void model_free(struct model *model);

/* What the probe tells, in the order it was sent: of itself (hello, pass, losses), and
 * what the records say that it forwards. 0; -EPROTO: a message that cannot be;
 * -ENOMEM: the model is no longer usable.
 * What makes no sense (an exit of an unknown process) is passed over: records may be
 * lost, and a store must not depend on a peer's good sense. */
int model_apply(struct model *model, const struct wire_message *message);
int model_apply_event(struct model *model, const struct event *event);
/* A record that could not be taken apart: known by its header at most, and lost. */
int model_apply_unreadable(struct model *model, const struct record_header *header);

/* What the host is and how it is: not from the stream, so never in a replay. A sample
 * that comes before the stream has said which host it is, is passed over. */
void model_set_host(struct model *model, const struct host_facts *facts);
void model_add_host_sample(struct model *model, const struct host_figures *figures, uint64_t boot_ns,
			   uint64_t unix_ns);

/* Writes what changed since the last commit, with the stream's position. After a
 * failure (-ENOSPC, -EBUSY, ...) nothing was written and it can be tried again. */
int model_commit(struct model *model, struct store_stream *stream);

/* Latest time the stream has told, boot clock. */
uint64_t model_now_boot_ns(const struct model *model);

/* Whether there is anything to write but the stream's position and clock, and samples of the host. */
bool model_is_dirty(const struct model *model);

/* The next commit is the last. */
void model_note_end(struct model *model);

/* Rows waiting for a commit, about: a bound for whoever feeds the model. */
size_t model_pending(const struct model *model);

#endif
