/* Fuzz target: any bytes as one record of the kernel side.
 *
 * The record has its exact size in memory, so that reads past its end are detected. Every text of what is
 * accepted must be readable and within its limit.
 */
#include <errno.h>

#include "correlator/record/record.h"
#include "tests/fuzz/fuzz.h"

static void check_text(const struct wire_bytes *text, size_t most)
{
	static volatile char last;

	require(text->size <= most);
	for (uint32_t i = 0; i < text->size; i++)
		last = text->data[i];
	(void)last;
}

static void check_record(const void *data, size_t size)
{
	static struct record record;
	int r = record_read(data, size, &record);

	require(r == 0 || r == -EBADMSG);
	if (r < 0)
		return;
	require(memcmp(&record.header, data, sizeof(record.header)) == 0);
	if (record.header.type == RECORD_CGROUP)
		check_text(&record.path, sizeof(record.room[0]));
	if (record.header.type != RECORD_EXEC && record.header.type != RECORD_SAMPLE)
		return;
	check_text(&record.path, sizeof(record.room[0]));
	check_text(&record.cwd, sizeof(record.room[1]));
	check_text(&record.comm, RECORD_COMM_SIZE);
	require(record.argv.count <= RECORD_ARGUMENTS_MAX);
	for (uint32_t i = 0; i < record.argv.count; i++)
		check_text(&record.argv.item[i], RECORD_ARGV_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record_header *record = calloc(1, size ? size : 1); /* gcc takes malloc for uninitialized */

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
