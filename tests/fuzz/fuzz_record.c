/* Fuzz target: any bytes as a record of the kernel side, made into a message.
 *
 * The kernel side is trusted, the text of traced processes in its records is not. The
 * record lies at its exact size in memory, so that a read past its end is seen. What
 * is translated must be a message that the wire takes and gives back the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/translate.h"
#include "tests/wire_compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OFFSET 4096

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_message(const struct wire_message *message)
{
	static struct wire_message again;
	static struct wire_output output;
	const char *reason = NULL;

	output.size = 0;
	require(wire_encode(&output, message) == 0);
	require(wire_decode(output.data + WIRE_FRAME_HEADER_SIZE,
			    output.size - WIRE_FRAME_HEADER_SIZE, &again, &reason) == 0);
	require(wire_message_equal(message, &again));
}

static void check_record(const void *record, size_t size)
{
	static struct translation translation;
	int r = record_translate(record, size, OFFSET, &translation);

	require(r == 0 || r == -EBADMSG);
	if (r == 0)
		check_message(&translation.message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record_header *record = malloc(size ? size : 1);

	require(record);
	if (size)
		memcpy(record, data, size);
	check_record(record, size);
	/* The size that every record states is seldom found by chance. */
	if (size >= sizeof(*record)) {
		record->size = (uint32_t)size;
		check_record(record, size);
	}
	free(record);
	return 0;
}
