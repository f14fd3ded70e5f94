/* Fuzz target: any bytes as one record of the kernel side.
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record_header *record = malloc(size ? size : 1);

	require(record);
	if (size)
		memcpy(record, data, size);
	check_record(record, size);
	/* Chance seldom produces the size that every record contains. */
	if (size >= sizeof(*record)) {
		record->size = (uint32_t)size;
		check_record(record, size);
	}
	free(record);
	return 0;
}
