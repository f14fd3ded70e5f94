/* One probe's stream: checks its order, feeds the model, makes the answers.
 *
 * Does no I/O: the server feeds it from a socket, a replay from a file.
 */
#pragma once

#include "correlator/apply/apply.h"

struct session {
	struct model *model;
	struct store_stream stream; /* position: what has been applied */
	uint64_t committed_offset;  /* the store has this ring up to here */
	bool greeted;
	bool changed;              /* something to commit */
	bool was_host_sampled;     /* at least once: the first one is committed immediately */
	uint64_t eventful_boot_ns; /* latest scan or event that changed a process */
	struct wire_message message;
	struct record record; /* reused: it is large */
};

/* Continues from the position of `store`, which may be new. Returns 0 or -errno. */
int session_init(struct session *session, struct model *model, struct store *store);

/* A new connection: the next message must be a hello. */
void session_reset(struct session *session);

/* Processes one message. Returns 0; -EPROTO with `*ret_reason` (static text) if the peer
 * violates the protocol and must be disconnected; or -ENOMEM. */
int session_feed(struct session *session, const void *data, size_t size, const char **ret_reason);

/* Appends WIRE_WELCOME, the answer to the hello, to be sent once after it; or WIRE_ACK of what is committed. Returns 0 or
 * -ENOMEM. */
int session_answer(const struct session *session, enum wire_type type, struct wire_output *output);

/* Adds a sample of the host, written with the next commit. */
void session_add_host_sample(struct session *session, const struct row_host_sample *sample);

/* Bytes of the ring that were fed but are not committed. */
uint64_t session_pending_bytes(const struct session *session);

/* Writes everything fed so far to the store. Returns as apply_commit() does. */
int session_commit(struct session *session, uint64_t now_unix_ns);
