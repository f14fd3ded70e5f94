/* Where the messages go: the correlator's socket, or a file that records them.
 *
 * A client that tries again for ever. Nothing blocks: what the receiver does not take
 * stays in a buffer, and the caller adds nothing while there is any. Whatever the peer
 * sends is checked; what is wrong ends the connection with one log line.
 */
#pragma once

#include <sys/types.h>

#include "common/wire/wire.h"

struct stream {
	const char *path;    /* of the socket; NULL: `fd` is a file, where nothing is answered */
	uid_t peer_uid;      /* the server must run as this user, or as root */
	int fd;              /* -1: the next attempt is at `retry_boot_ns` */
	bool is_ready;       /* welcome: events may be sent */
	bool is_ended;       /* nothing more is sent: that the peer closes is no failure */
	bool failure_logged; /* once until a connection is welcome */
	uint64_t retry_boot_ns;
	uint64_t retry_delay_ns;
	struct wire_output output;
	size_t sent; /* bytes of `output` that are gone */
	struct wire_input input;
};

void stream_init_socket(struct stream *stream, const char *path, uid_t peer_uid);

/* Begins a recording with `hello`. 0 or a negative errno. */
int stream_init_file(struct stream *stream, const char *path, const struct wire_message *hello);
void stream_deinit(struct stream *stream);

/* Try to connect if there is no connection and it is time, and greet. */
void stream_connect(struct stream *stream, const struct wire_message *hello);

/* End the connection; `reason` is logged the first time. */
void stream_fail(struct stream *stream, const char *reason);

/* 1 and a WELCOME or ACK; 0: nothing has come, or the connection has ended. */
int stream_receive(struct stream *stream, struct wire_message *message);

bool stream_has_output(const struct stream *stream);

/* Append a message; the connection fails if there is no memory. */
void stream_send(struct stream *stream, const struct wire_message *message);

/* Write what the receiver takes now. */
void stream_flush(struct stream *stream);

/* All that is to be said was sent: the receiver sees the end of the stream, and can still answer. */
void stream_end(struct stream *stream);
