/* From messages of the probe to hosts, containers, runs, tasks, tools and processes in a store: the
 * model changes, placement decides where what is new belongs, incidents judge what has ended, and a
 * commit writes the rows.
 *
 * Deterministic: nothing but the messages decides what comes out (no clock, no random number, nothing
 * of /proc), so a replayed recording gives the same store.
 */
#pragma once

#include "common/store/store.h"
#include "correlator/model/model.h"

/* A model that takes up what `store` knows of processes that were running. 0 or -errno. */
int apply_begin(const struct model_options *options, struct store *store, struct model **ret_model);
/* NULL is none. */
void apply_end(struct model *model);

/* What the probe sends, in that order: of itself (hello, process scans, losses), and what the records say
 * that it forwards. 0; -EPROTO: a message that cannot be; -ENOMEM: the model is no longer usable.
 * What makes no sense (an exit of an unknown process) is passed over: records may be
 * lost, and a store must not depend on a peer's good sense. */
int apply_message(struct model *model, const struct wire_message *message);
int apply_event(struct model *model, const struct event *event);
/* A record that could not be taken apart: known by its header at most, and lost. */
int apply_unreadable(struct model *model, const struct record_header *header);

/* What the host is and how it is: not from the stream, so never in a replay. A sample
 * that comes before the stream has said which host it is, is passed over. */
void apply_host(struct model *model, const struct host_facts *facts);
void apply_host_sample(struct model *model, const struct host_figures *figures, uint64_t boot_ns, uint64_t unix_ns);

/* Writes what changed since the last commit, with the stream's position. After a
 * failure (-ENOSPC, -EBUSY, ...) nothing was written and it can be tried again. */
int apply_commit(struct model *model, struct store_stream *stream);
/* The next commit is the last. */
void apply_note_end(struct model *model);
