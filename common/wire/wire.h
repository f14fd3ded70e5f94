/* Wire protocol of tracer-correlator and its peers: frames and messages.
 *
 * A frame is a 32-bit big-endian size followed by one msgpack message of that
 * size (messages.h). A recording is a 16-byte magic followed by the same frames.
 * Nothing here does I/O: the caller feeds the parser bytes, and the encoder fills a buffer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/messages.h"

#define WIRE_FRAME_HEADER_SIZE 4
#define WIRE_FRAME_MAX (64 * 1024) /* of one message, in bytes; the largest record is under 8 KiB */
#define WIRE_RECORDING_MAGIC "tracer-record-3\n"
#define WIRE_RECORDING_MAGIC_SIZE 16

enum wire_type {
#define M(NAME, name, number) WIRE_##NAME = number,
	WIRE_MESSAGES(M)
#undef M
};

/* Bits of device_use.known */
enum {
	DEVICE_USE_BUSY = 1,
	DEVICE_USE_MEMORY = 2,
	DEVICE_USE_ENERGY = 4,
	DEVICE_USE_THROTTLED = 8,
	DEVICE_USE_CAPACITY = 16,
	DEVICE_USE_CLOCK = 32,
	DEVICE_USE_MEMORY_CLOCK = 64,
	DEVICE_USE_MEMORY_BUSY = 128
};

/* Returns the name of the message in messages.h ("event"), or "unknown". */
const char *wire_type_name(enum wire_type type);

/* Bytes borrowed from the decoded frame. Not NUL-terminated. */
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

/* Decodes one message (a frame without its header).
 * `message` borrows from `data`. Returns 0, or -EBADMSG with `*ret_reason` (static
 * text) if the bytes are not exactly one well-formed message of a known type
 * with the right number and kinds of fields. */
int wire_decode(const void *data, size_t size, struct wire_message *message, const char **ret_reason);

/* A growable output buffer of complete frames. */
struct wire_output {
	char *data;
	size_t size;
	size_t capacity;
};

void wire_output_deinit(struct wire_output *output);

/* Appends `message` as one frame. Returns 0; -ENOMEM; -EMSGSIZE if the frame would exceed
 * WIRE_FRAME_MAX; -EINVAL if the type is unknown. On error, nothing is appended. */
int wire_encode(struct wire_output *output, const struct wire_message *message);

/* Input buffer that splits a byte stream into frames. */
struct wire_input {
	char *data;
	size_t size;     /* bytes in the buffer */
	size_t position; /* of the next frame */
	size_t capacity; /* never above WIRE_FRAME_HEADER_SIZE + WIRE_FRAME_MAX + one read */
};

void wire_input_deinit(struct wire_input *input);

/* Makes room for at least `wanted` more bytes: fill `*ret_data`, then call
 * wire_input_filled() with the number of bytes. Returns 0; -ENOMEM; -ENOBUFS if complete
 * frames were not consumed, so that the buffer would exceed its bound. */
int wire_input_reserve(struct wire_input *input, size_t wanted, char **ret_data);
void wire_input_filled(struct wire_input *input, size_t size);

/* Returns 1 and the message of one frame (valid until the next reserve); 0 if more bytes
 * are needed; -EBADMSG for a frame of size 0 or over WIRE_FRAME_MAX. The stream cannot continue after
 * -EBADMSG, since the start of the next frame is unknown. */
int wire_input_next(struct wire_input *input, const char **ret_data, size_t *ret_size);
