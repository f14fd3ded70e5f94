/* The wire's codec: one encoder and one decoder per message, both put together by
 * the preprocessor from the lists in messages.h. No message is named here.
 *
 * Encoding goes through msgpack-c's packer, straight into the output buffer.
 *
 * Decoding reads the few msgpack formats that the wire uses (unsigned integers,
 * bin, one array) itself. msgpack-c's C API would first build a tree of every object,
 * allocated by the sizes that the peer declares, before the bytes are there: five
 * bytes (an array32 of 2^28 items) made it map 8 GiB, and there is no limit to set.
 * The checks on that tree would be as long as this reader, which allocates nothing,
 * never recurses and stops at the first byte that messages.h does not foresee. It
 * also decodes at three times the speed of building the tree alone.
 */
#include "common/wire/wire.h"

#include <msgpack/pack.h>

#include "common/grow.h"

#define ONE(name) +1
#define FIELD_COUNT(NAME) (0 WIRE_##NAME##_FIELDS(ONE, ONE))

_Static_assert(sizeof(WIRE_RECORDING_MAGIC) - 1 == WIRE_RECORDING_MAGIC_SIZE, "magic size");

const char *wire_type_name(enum wire_type type)
{
	switch (type) {
#define M(NAME, name, number) \
	case WIRE_##NAME: return #name;
		WIRE_MESSAGES(M)
#undef M
	}
	return "unknown";
}

/* Decoding */

struct reader {
	const unsigned char *next;
	const unsigned char *end;
};

/* The big-endian number of `width` (1, 2, 4 or 8) bytes behind a format byte. */
static inline bool reader_take_number(struct reader *reader, size_t width, uint64_t *ret_value)
{
	uint64_t number = 0;

	if ((size_t)(reader->end - reader->next) < width)
		return false;
	memcpy((char *)&number + sizeof(number) - width, reader->next, width);
	reader->next += width;
	*ret_value = be64toh(number);
	return true;
}

static inline bool reader_take_format(struct reader *reader, unsigned char *ret_format)
{
	if (reader->next == reader->end)
		return false;
	*ret_format = *reader->next++;
	return true;
}

static inline bool reader_take_unsigned(struct reader *reader, uint64_t *ret_value)
{
	unsigned char format;

	if (!reader_take_format(reader, &format))
		return false;
	if (format < 0x80) { /* positive fixint */
		*ret_value = format;
		return true;
	}
	switch (format) {
	case 0xcc: /* uint 8 */ return reader_take_number(reader, 1, ret_value);
	case 0xcd: /* uint 16 */ return reader_take_number(reader, 2, ret_value);
	case 0xce: /* uint 32 */ return reader_take_number(reader, 4, ret_value);
	case 0xcf: /* uint 64 */ return reader_take_number(reader, 8, ret_value);
	default: return false;
	}
}

static inline bool reader_take_array(struct reader *reader, uint64_t *ret_count)
{
	unsigned char format;

	if (!reader_take_format(reader, &format))
		return false;
	if ((format & 0xf0) == 0x90) { /* fixarray */
		*ret_count = format & 0x0f;
		return true;
	}
	switch (format) {
	case 0xdc: /* array 16 */ return reader_take_number(reader, 2, ret_count);
	case 0xdd: /* array 32 */ return reader_take_number(reader, 4, ret_count);
	default: return false;
	}
}

static inline bool reader_take_bin_size(struct reader *reader, uint64_t *ret_size)
{
	unsigned char format;

	if (!reader_take_format(reader, &format))
		return false;
	switch (format) {
	case 0xc4: /* bin 8 */ return reader_take_number(reader, 1, ret_size);
	case 0xc5: /* bin 16 */ return reader_take_number(reader, 2, ret_size);
	case 0xc6: /* bin 32 */ return reader_take_number(reader, 4, ret_size);
	default: return false;
	}
}

static inline bool reader_take_bytes(struct reader *reader, struct wire_bytes *bytes)
{
	uint64_t size;

	if (!reader_take_bin_size(reader, &size) || size > (uint64_t)(reader->end - reader->next))
		return false;
	bytes->data = (const char *)reader->next;
	bytes->size = (uint32_t)size;
	reader->next += size;
	return true;
}

/* decode_NAME(): NULL, or why the fields are not those of the message. */
#define U(name) \
	if (!reader_take_unsigned(reader, &body->name)) \
		return "field " #name " is not an unsigned integer";
#define T(name) \
	if (!reader_take_bytes(reader, &body->name)) \
		return "field " #name " is not bytes";
#define M(NAME, name, number) \
	static const char *decode_##name(struct reader *reader, struct wire_##name *body) \
	{ \
		WIRE_##NAME##_FIELDS(U, T) return NULL; \
	}
WIRE_MESSAGES(M)
#undef M
#undef U
#undef T

static const char *decode_fields(struct reader *reader, uint64_t type, uint64_t count, struct wire_message *message)
{
	switch (type) {
#define M(NAME, name, number) \
	case number: \
		if (count != FIELD_COUNT(NAME)) \
			return "wrong number of fields in message " #name; \
		message->type = number; \
		return decode_##name(reader, &message->name);
		WIRE_MESSAGES(M)
#undef M
	default: return "unknown message type";
	}
}

static const char *decode_message(struct reader *reader, struct wire_message *message)
{
	uint64_t count, type;
	const char *reason;

	if (!reader_take_array(reader, &count) || count == 0)
		return "not a msgpack array";
	if (!reader_take_unsigned(reader, &type))
		return "message type is not an unsigned integer";
	reason = decode_fields(reader, type, count - 1, message);
	if (!reason && reader->next != reader->end)
		return "bytes behind the last field";
	return reason;
}

int wire_decode(const void *data, size_t size, struct wire_message *message, const char **ret_reason)
{
	struct reader reader = {.next = data, .end = (const unsigned char *)data + size};
	const char *reason = decode_message(&reader, message);

	if (reason) {
		*ret_reason = reason;
		return -EBADMSG;
	}
	return 0;
}

/* Encoding */

/* One frame being appended; msgpack-c tells its caller only that a write failed,
 * so why is kept here. */
struct writer {
	struct wire_output *output;
	size_t limit; /* of output->size, where this frame would be too large */
	int error;    /* 0 or negative errno */
};

/* msgpack_packer_write: 0, or -1 with writer->error set. */
static int writer_append(void *data, const char *bytes, size_t size)
{
	struct writer *writer = data;
	struct wire_output *output = writer->output;
	char *grown = NULL;

	writer->error = size > writer->limit - output->size ? -EMSGSIZE : 0;
	if (!writer->error)
		grown = grow(output->data, &output->capacity, output->size + size, 1);
	if (!grown) {
		writer->error = writer->error ? writer->error : -ENOMEM;
		return -1;
	}
	output->data = grown;
	if (size)
		memcpy(output->data + output->size, bytes, size);
	output->size += size;
	return 0;
}

static int pack_bytes(msgpack_packer *packer, const struct wire_bytes *bytes)
{
	int r = msgpack_pack_bin(packer, bytes->size);

	return r ? r : msgpack_pack_bin_body(packer, bytes->data, bytes->size);
}

#define U(name) r = r ? r : msgpack_pack_uint64(packer, body->name);
#define T(name) r = r ? r : pack_bytes(packer, &body->name);
#define M(NAME, name, number) \
	static int encode_##name(msgpack_packer *packer, const struct wire_##name *body) \
	{ \
		int r = msgpack_pack_array(packer, 1 + FIELD_COUNT(NAME)); \
\
		r = r ? r : msgpack_pack_uint64(packer, number); \
		WIRE_##NAME##_FIELDS(U, T) return r; \
	}
WIRE_MESSAGES(M)
#undef M
#undef U
#undef T

static int encode_message(msgpack_packer *packer, const struct wire_message *message)
{
	switch (message->type) {
#define M(NAME, name, number) \
	case WIRE_##NAME: return encode_##name(packer, &message->name);
		WIRE_MESSAGES(M)
#undef M
	}
	return -EINVAL;
}

void wire_output_deinit(struct wire_output *output)
{
	free(output->data);
	*output = (struct wire_output){0};
}

int wire_encode(struct wire_output *output, const struct wire_message *message)
{
	const size_t start = output->size;
	struct writer writer = {
		.output = output,
		.limit = start + WIRE_FRAME_HEADER_SIZE + WIRE_FRAME_MAX,
	};
	uint32_t header = 0;
	msgpack_packer packer;
	int r;

	r = writer_append(&writer, (const char *)&header, sizeof(header));
	if (r == 0) {
		msgpack_packer_init(&packer, &writer, writer_append);
		r = encode_message(&packer, message);
	}
	if (r) {
		output->size = start;
		return writer.error ? writer.error : r;
	}
	header = htobe32((uint32_t)(output->size - start - WIRE_FRAME_HEADER_SIZE));
	memcpy(output->data + start, &header, sizeof(header));
	return 0;
}

/* Framing */

#define FRAME_SIZE_MAX (WIRE_FRAME_HEADER_SIZE + WIRE_FRAME_MAX)

void wire_input_deinit(struct wire_input *input)
{
	free(input->data);
	*input = (struct wire_input){0};
}

/* Move what is held to the front of the buffer. */
static void input_compact(struct wire_input *input)
{
	size_t held = input->size - input->position;

	if (input->position == 0)
		return;
	memmove(input->data, input->data + input->position, held);
	input->size = held;
	input->position = 0;
}

int wire_input_reserve(struct wire_input *input, size_t wanted, char **ret_data)
{
	size_t capacity;
	char *data;

	input_compact(input);
	if (input->size > FRAME_SIZE_MAX)
		return -ENOBUFS;
	if (wanted > input->capacity - input->size) {
		if (__builtin_add_overflow(wanted, FRAME_SIZE_MAX, &capacity))
			return -ENOMEM;
		data = realloc(input->data, capacity);
		if (!data)
			return -ENOMEM;
		input->data = data;
		input->capacity = capacity;
	}
	*ret_data = input->data + input->size;
	return 0;
}

void wire_input_filled(struct wire_input *input, size_t size)
{
	input->size += size;
}

int wire_input_next(struct wire_input *input, const char **ret_data, size_t *ret_size)
{
	size_t held = input->size - input->position;
	uint32_t size;

	if (held < WIRE_FRAME_HEADER_SIZE)
		return 0;
	memcpy(&size, input->data + input->position, sizeof(size));
	size = be32toh(size);
	if (size == 0 || size > WIRE_FRAME_MAX)
		return -EBADMSG;
	if (held - WIRE_FRAME_HEADER_SIZE < size)
		return 0;
	*ret_data = input->data + input->position + WIRE_FRAME_HEADER_SIZE;
	*ret_size = size;
	input->position += WIRE_FRAME_HEADER_SIZE + size;
	return 1;
}
