/* Codec and framing of the protocol: round trips, and refusal of everything else.
 *
 * Every test runs over every message of messages.h. msgpack-c's unpacker and packer
 * serve as an independent reference, and build messages that are well-formed msgpack
 * but invalid.
 */
#include <errno.h>
#include <limits.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/wire.h"
#include "tests/suite.h"
#include "tests/wire_compare.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static const enum wire_type all_types[] = {
#define M(NAME, name, number) WIRE_##NAME,
	WIRE_MESSAGES(M)
#undef M
};

static struct wire_message sent, received;
static struct wire_output output;

static void forget_output(void)
{
	wire_output_deinit(&output);
}

/* How a message is filled. */
enum filling {
	FILL_LEAST,    /* zeros, empty text */
	FILL_MAX,      /* the largest numbers, long text */
	FILL_DISTINCT, /* every field a different value */
	FILL_COUNT
};

static char long_text[4096];
static uint64_t distinct; /* last value used by FILL_DISTINCT */

static void fill_u64(enum filling filling, uint64_t *value)
{
	distinct = distinct * 3 + 1;
	*value = filling == FILL_LEAST ? 0 : filling == FILL_MAX ? UINT64_MAX : distinct;
}

static void fill_bytes(enum filling filling, struct wire_bytes *bytes, uint32_t most)
{
	const uint32_t some = (uint32_t)(++distinct % 40);

	bytes->data = filling == FILL_LEAST ? "" : long_text;
	bytes->size = filling == FILL_LEAST ? 0 : filling == FILL_MAX ? most : some;
	if (filling == FILL_DISTINCT)
		bytes->data += some;
}

static void fill_message(enum wire_type type, enum filling filling, struct wire_message *message)
{
	distinct = 5;
	message->type = type;
#define U(name) fill_u64(filling, &body->name);
#define T(name) fill_bytes(filling, &body->name, sizeof(long_text));
	switch (type) {
#define M(NAME, name, number) \
	case WIRE_##NAME: { \
		struct wire_##name *body = &message->name; \
		WIRE_##NAME##_FIELDS(U, T) break; \
	}
		WIRE_MESSAGES(M)
#undef M
	}
#undef U
#undef T
}

/* Decodes a copy of exactly `size` bytes, so that sanitizers detect reads past its end. */
static int decode_copy(const char *data, size_t size, const char **ret_reason)
{
	char *copy = malloc(size);
	int r;

	if (size)
		memcpy(copy, data, size);
	r = wire_decode(copy, size, &received, ret_reason);
	free(copy);
	return r;
}

static void assert_refused(const char *data, size_t size, const char *what, int index)
{
	const char *reason = NULL;
	int r = decode_copy(data, size, &reason);

	ck_assert_msg(r == -EBADMSG, "%s, %d: taken (%d)", what, index, r);
	ck_assert_ptr_nonnull(reason);
}

/* The encoded message without its frame header; `output` must hold only that frame. */
static const char *encode_only(enum wire_type type, enum filling filling, size_t *ret_size)
{
	output.size = 0;
	fill_message(type, filling, &sent);
	ck_assert_int_eq(wire_encode(&output, &sent), 0);
	*ret_size = output.size - WIRE_FRAME_HEADER_SIZE;
	return output.data + WIRE_FRAME_HEADER_SIZE;
}

TEST_EACH(round_trip, all_types)
{
	enum wire_type type = all_types[_i];

	ck_assert_str_ne(wire_type_name(type), "unknown");
	for (enum filling filling = 0; filling < FILL_COUNT; filling++) {
		const char *reason = "";
		size_t size;
		const char *data = encode_only(type, filling, &size);

		memset(&received, 0xee, sizeof(received));
		ck_assert_msg(wire_decode(data, size, &received, &reason) == 0, "%s: %s", wire_type_name(type), reason);
		ck_assert_msg(wire_message_equal(&sent, &received), "%s differs, filling %d", wire_type_name(type),
			      (int)filling);
	}
}

/* Cut at any byte, or with one more. */
TEST_EACH(part_or_more_is_refused, all_types)
{
	size_t size;
	const char *data = encode_only(all_types[_i], FILL_DISTINCT, &size);
	char *longer = calloc(1, size + 1);

	for (size_t shorter = 0; shorter < size; shorter++)
		assert_refused(data, shorter, wire_type_name(all_types[_i]), (int)shorter);
	memcpy(longer, data, size);
	assert_refused(longer, size + 1, wire_type_name(all_types[_i]), 0);
	free(longer);
}

/* One object of every msgpack type. */
static const msgpack_object kinds[] = {
	{.type = MSGPACK_OBJECT_NIL},
	{.type = MSGPACK_OBJECT_BOOLEAN, .via.boolean = true},
	{.type = MSGPACK_OBJECT_POSITIVE_INTEGER, .via.u64 = 1},
	{.type = MSGPACK_OBJECT_NEGATIVE_INTEGER, .via.i64 = -1},
	{.type = MSGPACK_OBJECT_NEGATIVE_INTEGER, .via.i64 = INT64_MIN},
	{.type = MSGPACK_OBJECT_FLOAT32, .via.f64 = 1.0},
	{.type = MSGPACK_OBJECT_FLOAT64, .via.f64 = 1.0},
	{.type = MSGPACK_OBJECT_STR, .via.str = {.size = 4, .ptr = "text"}},
	{.type = MSGPACK_OBJECT_BIN, .via.bin = {.size = 4, .ptr = "text"}},
	{.type = MSGPACK_OBJECT_MAP, .via.map = {.size = 0}},
	{.type = MSGPACK_OBJECT_EXT, .via.ext = {.type = 1, .size = 4, .ptr = "text"}},
	{.type = MSGPACK_OBJECT_ARRAY, .via.array = {.size = 0}},
};

static void assert_object_refused(const msgpack_object *message, const char *what, int index)
{
	msgpack_sbuffer buffer;
	msgpack_packer packer;

	msgpack_sbuffer_init(&buffer);
	msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
	ck_assert_int_eq(msgpack_pack_object(&packer, *message), 0);
	assert_refused(buffer.data, buffer.size, what, index);
	msgpack_sbuffer_destroy(&buffer);
}

/* Replaces each item by an object of every other type. */
static void replace_items(const msgpack_object *message, const char *what)
{
	const msgpack_object_array *array = &message->via.array;

	for (uint32_t i = 0; i < array->size; i++) {
		msgpack_object kept = array->ptr[i];

		for (size_t kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
			if (kinds[kind].type == kept.type)
				continue;
			array->ptr[i] = kinds[kind];
			assert_object_refused(message, what, (int)i);
		}
		array->ptr[i] = kept;
	}
}

/* One item less, and one more. */
static void resize_array(msgpack_object message, const char *what)
{
	msgpack_object_array *array = &message.via.array;
	msgpack_object *longer = calloc(array->size + 1, sizeof(*longer));

	memcpy(longer, array->ptr, array->size * sizeof(*longer));
	longer[array->size] = longer[array->size - 1];
	array->ptr = longer;
	array->size--;
	assert_object_refused(&message, what, -1);
	array->size += 2;
	assert_object_refused(&message, what, 1);
	free(longer);
}

/* The message as msgpack-c decodes it, with other items. */
TEST_EACH(other_items_are_refused, all_types)
{
	const char *what = wire_type_name(all_types[_i]);
	msgpack_zone zone;
	msgpack_object message;
	size_t size, position = 0;
	const char *data = encode_only(all_types[_i], FILL_DISTINCT, &size);

	msgpack_zone_init(&zone, 4096);
	ck_assert_int_eq(msgpack_unpack(data, size, &position, &zone, &message), MSGPACK_UNPACK_SUCCESS);
	ck_assert_uint_eq(position, size);
	ck_assert_int_eq(message.type, MSGPACK_OBJECT_ARRAY);
	ck_assert_uint_eq(message.via.array.ptr[0].via.u64, all_types[_i]);
	replace_items(&message, what);
	resize_array(message, what);
	msgpack_zone_destroy(&zone);
}

/* Bytes that no encoder produces, without the terminating NUL of the literal. */
static const struct {
	const char *data;
	size_t size;
} hostile[] = {
/* clang-format off */
#define BYTES(text) { text, sizeof(text) - 1 }
	BYTES(""),
	BYTES("\x90"),                                 /* an empty array */
	BYTES("\x91\x03"),                             /* ack without its offset */
	BYTES("\x92\x00\x00"),                         /* type 0 */
	BYTES("\x92\x7f\x00"),                         /* an unknown type */
	BYTES("\x92\xcf\x00\x00\x00\x01\x00\x00\x00\x03\x00"), /* ack's type as a 64-bit number with bit 32 set */
	BYTES("\x92\xff\x00"),                         /* a negative type */
	BYTES("\x92\xd3\x00\x00\x00\x00\x00\x00\x00\x03\x00"), /* a signed type */
	BYTES("\x92\x03\xc1"),                         /* the byte that msgpack does not use */
	BYTES("\xc1"),
	BYTES("\x82\x03\x00\x00\x00"),                 /* a map */
	BYTES("\xdd\xff\xff\xff\xff"),                 /* an array of 4294967295 */
	BYTES("\xdd\xff\xff\xff\xff\x03\x00"),
	BYTES("\xdf\xff\xff\xff\xff\x03\x00"),         /* a map of the same size */
	BYTES("\x92\x03\xc6\xff\xff\xff\xff"),         /* bin of 4 GiB */
	BYTES("\x92\x03\xc9\xff\xff\xff\xff\x01"),     /* ext of 4 GiB */
	BYTES("\x92\x03\xd8\x01"),                     /* fixext 16 without its bytes */
	BYTES("\x93\x10\x00\xc6\xff\xff\xff\xff" "a"), /* event: record of 4 GiB */
	BYTES("\x93\x10\x00\xc5\x00\x02" "a"),     /* event: record one byte short */
	BYTES("\x93\x10\x00\xa1" "a"),             /* event: record as a msgpack string */
/* clang-format on */
#undef BYTES
};

TEST_EACH(hostile_bytes, hostile)
{
	assert_refused(hostile[_i].data, hostile[_i].size, "hostile", _i);
}

/* Inputs that would crash a decoder that recurses, or allocates what it is asked to. */
TEST(hostile_depth)
{
	static char nested[WIRE_FRAME_MAX];
	static const char array32[] = {'\xdd', '\x7f', '\xff', '\xff', '\xff'};

	memset(nested, '\x91', sizeof(nested));
	assert_refused(nested, sizeof(nested), "arrays of one", 0);
	nested[0] = '\x92';
	nested[1] = WIRE_ACK;
	assert_refused(nested, sizeof(nested), "arrays of one in a field", 0);
	for (size_t i = 0; i + sizeof(array32) <= sizeof(nested); i += sizeof(array32))
		memcpy(nested + i, array32, sizeof(array32));
	assert_refused(nested, sizeof(nested), "huge arrays in huge arrays", 0);
}

/* Any single byte changed to any value: refused, or decoded as a message that can be encoded again. */
TEST_EACH(changed_bytes, all_types)
{
	struct wire_output again = {0};
	size_t size;
	const char *data = encode_only(all_types[_i], FILL_DISTINCT, &size);
	char *copy = malloc(size);
	const char *reason;

	for (size_t position = 0; position < size; position++) {
		memcpy(copy, data, size);
		for (int value = 0; value <= UCHAR_MAX; value++) {
			copy[position] = (char)value;
			if (wire_decode(copy, size, &received, &reason))
				continue;
			again.size = 0;
			ck_assert_int_eq(wire_encode(&again, &received), 0);
		}
	}
	free(copy);
	wire_output_deinit(&again);
}

static void feed(struct wire_input *input, const void *data, size_t size)
{
	char *room;

	ck_assert_int_eq(wire_input_reserve(input, size, &room), 0);
	memcpy(room, data, size);
	wire_input_filled(input, size);
}

/* The largest possible frame is accepted; the encoder refuses one byte more, and keeps what it had. */
TEST(largest_frame)
{
	const uint32_t others = 6; /* array, type, offset 0, bin 16 */
	struct wire_input input = {0};
	char *text = calloc(1, WIRE_FRAME_MAX);
	const char *data, *reason;
	size_t size;

	fill_message(WIRE_EVENT, FILL_LEAST, &sent);
	sent.event.record = (struct wire_bytes){.data = text, .size = WIRE_FRAME_MAX - others};
	ck_assert_int_eq(wire_encode(&output, &sent), 0);
	ck_assert_uint_eq(output.size, WIRE_FRAME_HEADER_SIZE + WIRE_FRAME_MAX);
	feed(&input, output.data, output.size);
	ck_assert_int_eq(wire_input_next(&input, &data, &size), 1);
	ck_assert_int_eq(wire_decode(data, size, &received, &reason), 0);
	ck_assert(wire_message_equal(&sent, &received));

	size = output.size;
	sent.event.record.size++;
	ck_assert_int_eq(wire_encode(&output, &sent), -EMSGSIZE);
	sent.type = 0;
	ck_assert_int_eq(wire_encode(&output, &sent), -EINVAL);
	ck_assert_uint_eq(output.size, size);
	free(text);
	wire_input_deinit(&input);
}

/* Feeds `stream` in pieces and compares the result with every message. */
static void feed_in_pieces(const struct wire_output *stream, size_t piece)
{
	struct wire_input input = {0};
	size_t taken = 0, size;
	const char *data, *reason;

	for (size_t fed = 0; fed < stream->size; fed += piece) {
		feed(&input, stream->data + fed, stream->size - fed < piece ? stream->size - fed : piece);
		ck_assert_uint_le(input.capacity, WIRE_FRAME_HEADER_SIZE + WIRE_FRAME_MAX + piece);
		while (wire_input_next(&input, &data, &size) == 1) {
			ck_assert_uint_lt(taken, ARRAY_SIZE(all_types));
			fill_message(all_types[taken++], FILL_MAX, &sent);
			ck_assert_int_eq(wire_decode(data, size, &received, &reason), 0);
			ck_assert(wire_message_equal(&sent, &received));
		}
	}
	ck_assert_uint_eq(taken, ARRAY_SIZE(all_types));
	ck_assert_uint_eq(input.position, input.size);
	wire_input_deinit(&input);
}

TEST(frames_in_pieces)
{
	static const size_t pieces[] = {1, 2, 3, 7, 4096, 65536, 1 << 20};
	struct wire_output stream = {0};

	for (size_t i = 0; i < ARRAY_SIZE(all_types); i++) {
		fill_message(all_types[i], FILL_MAX, &sent);
		ck_assert_int_eq(wire_encode(&stream, &sent), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
		feed_in_pieces(&stream, pieces[i]);
	wire_output_deinit(&stream);
}

TEST(frame_sizes_refused)
{
	static const char headers[][WIRE_FRAME_HEADER_SIZE] = {
		{0, 0, 0, 0},                     /* nothing */
		{0, 1, 0, 1},                     /* WIRE_FRAME_MAX + 1 */
		{'\xff', '\xff', '\xff', '\xff'}, /* 4 GiB */
		{'G', 'E', 'T', ' '},             /* another protocol */
	};

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		struct wire_input input = {0};
		const char *data;
		size_t size;

		feed(&input, headers[i], sizeof(headers[i]) - 1);
		ck_assert_int_eq(wire_input_next(&input, &data, &size), 0);
		feed(&input, headers[i] + sizeof(headers[i]) - 1, 1);
		ck_assert_int_eq(wire_input_next(&input, &data, &size), -EBADMSG);
		ck_assert_int_eq(wire_input_next(&input, &data, &size), -EBADMSG);
		wire_input_deinit(&input);
	}
}

/* The buffer does not grow if the reader takes no frames. */
TEST(input_is_bounded)
{
	const size_t piece = 16384;
	struct wire_input input = {0};
	char *room;
	int r;

	for (int i = 0; i < 1000; i++) {
		r = wire_input_reserve(&input, piece, &room);
		if (r)
			break;
		memset(room, 1, piece);
		wire_input_filled(&input, piece);
	}
	ck_assert_int_eq(r, -ENOBUFS);
	ck_assert_uint_le(input.capacity, WIRE_FRAME_HEADER_SIZE + WIRE_FRAME_MAX + piece);
	ck_assert_int_eq(wire_input_reserve(&input, SIZE_MAX, &room), -ENOBUFS);
	wire_input_deinit(&input);
	ck_assert_int_eq(wire_input_reserve(&input, SIZE_MAX, &room), -ENOMEM);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(long_text); i++)
		long_text[i] = (char)i;
	return suite_run("wire", NULL, forget_output);
}
