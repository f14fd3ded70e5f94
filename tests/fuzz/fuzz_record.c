/* Fuzz target: any bytes as one record of the kernel side, and as the output of an iterator.
 *
 * The record has its exact size in memory, so that reads past its end are detected. Whatever
 * is accepted as a record must survive being encoded and decoded again.
 */
#include <errno.h>

#include "tests/fuzz/fuzz.h"
#include "tests/record_encode.h"
#include "tests/wire_compare.h"

static void check_record(const void *record, size_t size)
{
	static _Alignas(8) char encoded[EVENT_RECORD_MAX + 8];
	static struct event event, again;
	int r = event_decode(record, size, &event);

	require(r == 0 || r == -EBADMSG);
	if (r < 0)
		return;
	size_t encoded_size = record_encode(&event, encoded);
	require(encoded_size <= EVENT_RECORD_MAX);
	require(event_decode(encoded, encoded_size, &again) == 0);
	require(event_equal(&event, &again));
}

/* Pieces of any size yield the same records. */
static void check_pieces(const char *data, size_t size, size_t piece)
{
	static struct event_pieces pieces;
	const void *record;
	size_t record_bytes, taken = 0;
	int r = 0;

	event_pieces_reset(&pieces);
	for (size_t at = 0; r == 0 && at < size; at += piece) {
		event_pieces_add(&pieces, data + at, size - at < piece ? size - at : piece);
		while ((r = event_pieces_next(&pieces, &record, &record_bytes)) > 0) {
			require(memcmp(record, data + taken, record_bytes) == 0);
			taken += (record_bytes + 7) & ~(size_t)7;
			require(taken <= size);
		}
	}
	require(r == 0 || r == -EBADMSG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record_header *record = malloc(size ? size : 1);

	require(record);
	if (size)
		memcpy(record, data, size);
	check_record(record, size);
	check_pieces((const char *)record, size, 1 + size / 3);
	/* Chance seldom produces the size that every record contains. */
	if (size >= sizeof(*record)) {
		record->size = (uint32_t)size;
		check_record(record, size);
		check_pieces((const char *)record, size, 7);
	}
	free(record);
	return 0;
}
