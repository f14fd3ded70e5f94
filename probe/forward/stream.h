/* Where the messages go: the correlator's socket, or a file that records them.
 *
 * A client that retries forever. Nothing blocks: what the receiver does not accept stays
 * in a buffer, and the caller adds nothing while the buffer is not empty. Everything that
 * the peer sends is checked; an error ends the connection with one log line.
 */
#pragma once

#include <sys/types.h>

#include "common/wire/wire.h"

struct stream {
	const char *path;    /* of the socket; NULL: `fd` is a file, and nothing is received */
	uid_t peer_uid;      /* the server must run as this user, or as root */
	int fd;              /* -1: the next attempt is at `retry_boot_ns` */
	bool is_ready;       /* WELCOME was received: events may be sent */
	bool is_ended;       /* nothing more is sent: it is not a failure if the peer closes */
	bool failure_logged; /* do not log another one before the next WELCOME */
	uint64_t retry_boot_ns;
	uint64_t retry_delay_ns;
	struct wire_output output;
	size_t sent; /* bytes of `output` that were written */
	struct wire_input input;
};

void stream_init_socket(struct stream *stream, const char *path, uid_t peer_uid);

/* Begins a recording with `hello`. Returns 0 or a negative errno. */
int stream_init_file(struct stream *stream, const char *path, const struct wire_message *hello);
void stream_deinit(struct stream *stream);

/* If there is no connection and a retry is due, try to connect, and send `hello`. */
void stream_connect(struct stream *stream, const struct wire_message *hello);

/* End the connection; `reason` is logged the first time. */
void stream_fail(struct stream *stream, const char *reason);

/* Returns 1 and a WELCOME or ACK, or 0 if none has arrived or the connection has ended. */
int stream_receive(struct stream *stream, struct wire_message *message);

bool stream_has_output(const struct stream *stream);

/* Append a message; the connection fails if there is no memory. */
void stream_send(struct stream *stream, const struct wire_message *message);

/* Write as much as the receiver accepts now. */
void stream_flush(struct stream *stream);

/* Nothing more will be sent: the receiver sees the end of the stream, and can still answer. */
void stream_end(struct stream *stream);
