/* The wire between tracer-probe and tracer-correlator: frames and messages.
 *
 * A frame is a 32-bit big-endian size, then that many bytes of one msgpack
 * message (messages.h). The same frames behind a 16-byte magic are a recording.
 * Nothing here does I/O: a parser is fed bytes, an encoder fills a buffer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/messages.h"

#define WIRE_FRAME_HEADER_SIZE 4
#define WIRE_FRAME_MAX (64 * 1024) /* bytes of message; the largest record is under 8 KiB */
#define WIRE_RECORDING_MAGIC "tracer-record-3\n"
#define WIRE_RECORDING_MAGIC_SIZE 16

enum wire_type {
#define M(NAME, name, number) WIRE_##NAME = number,
	WIRE_MESSAGES(M)
#undef M
};

/* The message's name in messages.h ("event"), "unknown" for a number without one. */
const char *wire_type_name(enum wire_type type);

/* Bytes borrowed from the frame they were decoded from. Not NUL-terminated. */
struct wire_bytes {
	const char *data; /* never NULL after decoding */
	uint32_t size;
};

#define WIRE_U(name) uint64_t name;
#define WIRE_T(name) struct wire_bytes name;
#define M(NAME, name, number) \
	struct wire_##name { \
		WIRE_##NAME##_FIELDS(WIRE_U, WIRE_T) \
	};
WIRE_MESSAGES(M)
#undef M
#undef WIRE_U
#undef WIRE_T

struct wire_message {
	enum wire_type type;
	union {
#define M(NAME, name, number) struct wire_##name name;
		WIRE_MESSAGES(M)
#undef M
	};
};

/* Decode one message (a frame's bytes without its header).
 * `message` borrows from `data`. Returns 0, or -EBADMSG with `*ret_reason` (static
 * text) where the bytes are not exactly one well-formed message of a known type
 * with the right number and kinds of fields. */
int wire_decode(const void *data, size_t size, struct wire_message *message, const char **ret_reason);

/* A growing output buffer of whole frames. */
struct wire_output {
	char *data;
	size_t size;
	size_t capacity;
};

void wire_output_deinit(struct wire_output *output);

/* Append `message` as one frame. 0; -ENOMEM; -EMSGSIZE where the frame would be
 * over WIRE_FRAME_MAX; -EINVAL where its type is unknown. Nothing is appended then. */
int wire_encode(struct wire_output *output, const struct wire_message *message);

/* Take complete frames out of a stream of bytes. */
struct wire_input {
	char *data;
	size_t size;     /* bytes held */
	size_t position; /* of the next frame */
	size_t capacity; /* never above WIRE_FRAME_HEADER_SIZE + WIRE_FRAME_MAX + one read */
};

void wire_input_deinit(struct wire_input *input);

/* Room for at least `wanted` more bytes: fill `*ret_data`, then call
 * wire_input_filled() with how many there were. 0; -ENOMEM; -ENOBUFS where whole
 * frames were left untaken, so that the buffer would grow past its bound. */
int wire_input_reserve(struct wire_input *input, size_t wanted, char **ret_data);
void wire_input_filled(struct wire_input *input, size_t size);

/* 1 and one frame's message bytes (valid until the next reserve); 0: more bytes
 * are needed; -EBADMSG: a frame of size 0 or over WIRE_FRAME_MAX; the stream ends there,
 * since where the next frame begins is not known. */
int wire_input_next(struct wire_input *input, const char **ret_data, size_t *ret_size);
