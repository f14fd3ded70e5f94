/* A recorded stream: what tracer-probe sent, in a file, to be replayed.
 *
 * WIRE_RECORDING_MAGIC, then the frames as on the socket. Read from front to back
 * in bounded memory; the file may be a pipe. Who reads decides what the messages
 * mean: here they are bytes.
 */
#pragma once

#include "common/wire/wire.h"

struct recording {
	int fd;                  /* borrowed */
	uint64_t position_bytes; /* in the file, of the next frame: where an error lies */
	struct wire_input input;
};

enum recording_outcome {
	RECORDING_END = 0, /* the file ends behind a whole frame */
	RECORDING_FRAME = 1,
	RECORDING_CUT = 2, /* the file ends within a frame: its recorder was stopped there.
			    * Everything before is good. */
};

/* Begin a recording in the empty file `fd`; frames made by wire_encode() follow.
 * 0 or negative errno. */
int recording_write_magic(int fd);

/* Read and check the magic. 0; -EBADMSG with `*ret_reason` (static text) where the
 * file is no recording or one of another version; negative errno of read(2).
 * recording_deinit() is due after success only. */
int recording_init(struct recording *recording, int fd, const char **ret_reason);
void recording_deinit(struct recording *recording);

/* One of recording_outcome, with a frame's message bytes (valid until the next
 * call); -EBADMSG with `*ret_reason` where what follows is no frame; negative errno. */
int recording_next(struct recording *recording, const char **ret_data, size_t *ret_size, const char **ret_reason);
