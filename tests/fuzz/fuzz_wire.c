/* Fuzz target: any bytes as a stream of frames and as one message.
 *
 * Nothing may crash, leak or exceed its limit, and whatever decodes must, when encoded
 * again, decode to the same message.
 */

#include "common/wire/wire.h"
#include "tests/fuzz/fuzz.h"
#include "tests/wire_compare.h"

/* Size of a read: several reads for each frame, so that frames are assembled from pieces. */
#define READ_SIZE 64

static void check_message(const char *data, size_t size)
{
	static struct wire_message message, again;
	static struct wire_output output;
	const char *reason = NULL;

	if (wire_decode(data, size, &message, &reason)) {
		require(reason);
		return;
	}
	output.size = 0;
	require(wire_encode(&output, &message) == 0);
	require(output.size <= WIRE_FRAME_HEADER_SIZE + size); /* the encoding is minimal */
	require(wire_decode(output.data + WIRE_FRAME_HEADER_SIZE, output.size - WIRE_FRAME_HEADER_SIZE, &again,
			    &reason) == 0);
	require(wire_message_equal(&message, &again));
}

static void check_stream(const char *data, size_t size)
{
	struct wire_input input = {0};
	size_t frame_size;
	const char *frame;
	char *room;
	int r = 0;

	for (size_t fed = 0; r == 0 && fed < size; fed += READ_SIZE) {
		size_t piece = size - fed < READ_SIZE ? size - fed : READ_SIZE;

		require(wire_input_reserve(&input, READ_SIZE, &room) == 0);
		memcpy(room, data + fed, piece);
		wire_input_filled(&input, piece);
		require(input.capacity <= WIRE_FRAME_HEADER_SIZE + WIRE_FRAME_MAX + READ_SIZE);
		while ((r = wire_input_next(&input, &frame, &frame_size)) == 1)
			check_message(frame, frame_size);
	}
	wire_input_deinit(&input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size <= WIRE_FRAME_MAX)
		check_message((const char *)data, size);
	check_stream((const char *)data, size);
	return 0;
}
