/* A recording: what tracer-probe sent, in a file, for replay.
 *
 * The file holds WIRE_RECORDING_MAGIC, then the frames as on the socket. It is read
 * sequentially in bounded memory and may be a pipe. Messages are not decoded
 * here.
 */
#pragma once

#include "common/wire/wire.h"

struct recording {
	int fd;                  /* borrowed */
	uint64_t position_bytes; /* file offset of the next frame, for error messages */
	struct wire_input input;
};

enum recording_outcome {
	RECORDING_END = 0, /* the file ends after a complete frame */
	RECORDING_FRAME = 1,
	RECORDING_CUT = 2, /* the file ends within a frame: the recorder was stopped there.
			    * All frames before it are valid. */
};

/* Reads and checks the magic. Returns 0; -EBADMSG with `*ret_reason` (static text) if the
 * file is not a recording or has another version; -errno of read(2).
 * Call recording_deinit() only after success. */
int recording_init(struct recording *recording, int fd, const char **ret_reason);
void recording_deinit(struct recording *recording);

/* Returns a recording_outcome, for RECORDING_FRAME with the bytes of the message (valid until the
 * next call); -EBADMSG with `*ret_reason` if the data is not a frame; -errno. */
int recording_next(struct recording *recording, const char **ret_data, size_t *ret_size, const char **ret_reason);
