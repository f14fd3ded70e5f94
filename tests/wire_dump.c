/* Prints a recording (tracer-probe --record) as JSON, one line for each message or, if it
 * carries events, for each event. For tests and for people.
 *
 * Text is printed without loss: bytes that are not UTF-8 become the lone surrogates
 * U+DC80..U+DCFF, which Python's "surrogateescape" turns back into bytes. Invalid
 * counters are null.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "correlator/record/event.h"

#define READ_BYTES 65536

static void print_text(const char *data, size_t size)
{
	const char *end = data + size;

	putchar('"');
	while (data < end) {
		size_t length = text_utf8_size(data, (size_t)(end - data));

		if (length == 0)
			printf("\\udc%02x", (unsigned char)*data);
		else if (*data == '"' || *data == '\\')
			printf("\\%c", *data);
		else if ((unsigned char)*data < 0x20)
			printf("\\u%04x", (unsigned char)*data);
		else
			fwrite(data, 1, length, stdout);
		data += length ? length : 1;
	}
	putchar('"');
}

static void print_arguments(const struct event_strings *argv)
{
	putchar('[');
	for (uint32_t i = 0; i < argv->count; i++) {
		fputs(i ? ", " : "", stdout);
		print_text(argv->item[i].data, argv->item[i].size);
	}
	putchar(']');
}

static void print_image(const struct image_key *image)
{
	printf("[%" PRIu32 ", %" PRIu64 ", %" PRIu32 "]", image->pid, image->start_boot_ns, image->exec_id);
}

static void print_counters(const struct counters *counters)
{
	const char *separator = "";

	putchar('{');
#define X(name, source) \
	printf("%s\"" #name "\": ", separator); \
	separator = ", "; \
	if (counters->valid & COUNTER_VALID(name)) \
		printf("%" PRIu64, counters->name); \
	else \
		fputs("null", stdout);
	RECORD_COUNTERS(X)
#undef X
	printf(", \"partial\": %s}", counters->valid & COUNTERS_PARTIAL ? "true" : "false");
}

#define DUMP_U(name) printf(", \"" #name "\": %" PRIu64, from->name);
#define DUMP_S(name) printf(", \"" #name "\": %" PRId64, from->name);
#define DUMP_T(name) \
	fputs(", \"" #name "\": ", stdout); \
	print_text(from->name.data, from->name.size);
#define DUMP_A(name) \
	fputs(", \"" #name "\": ", stdout); \
	print_arguments(&from->name);
#define DUMP_I(name) \
	fputs(", \"" #name "\": ", stdout); \
	print_image(&from->name);
#define DUMP_C(name) \
	fputs(", \"" #name "\": ", stdout); \
	print_counters(&from->name);

static void print_message(const struct wire_message *message)
{
	printf("{\"message\": \"%s\"", wire_type_name(message->type));
	switch (message->type) {
#define M(NAME, name, number) \
	case WIRE_##NAME: { \
		const struct wire_##name *from = &message->name; \
		WIRE_##NAME##_FIELDS(DUMP_U, DUMP_T) break; \
	}
		WIRE_MESSAGES(M)
#undef M
	}
	puts("}");
}

/* `offset` is NULL for a record that is not in the ring. */
static int print_event(const void *record, size_t size, const uint64_t *offset)
{
	static struct event event; /* 20 KiB */
	int result = event_decode(record, size, &event);

	if (result)
		return result;
	printf("{\"message\": \"%s\"", event_type_name(event.type));
	if (offset)
		printf(", \"offset\": %" PRIu64, *offset);
	switch (event.type) {
#define E(NAME, name) \
	case EVENT_##NAME: { \
		const struct event_##name *from = &event.name; \
		EVENT_HEADER_FIELDS(DUMP_U, DUMP_I) \
		EVENT_##NAME##_FIELDS(DUMP_U, DUMP_S, DUMP_T, DUMP_A, DUMP_I, DUMP_C) break; \
	}
		EVENTS(E)
#undef E
	}
	puts("}");
	return 0;
}

static int print_samples(const struct wire_bytes *records)
{
	const void *record;
	size_t at = 0, size;
	int result;

	while ((result = event_find(records, &at, &record, &size)) > 0) {
		result = print_event(record, size, NULL);
		if (result)
			return result;
	}
	return result;
}

/* Each slot is a cumulative count. */
static int print_losses(const struct wire_bytes *slots)
{
	struct loss_slot slot;

	for (size_t at = 0; at + sizeof(slot) <= slots->size; at += sizeof(slot)) {
		memcpy(&slot, slots->data + at, sizeof(slot));
		if (slot.count)
			printf("{\"message\": \"loss\", \"type\": %" PRIu32 ", \"cgroup_id\": %" PRIu64
			       ", \"count\": %" PRIu64 ", \"first_boot_ns\": %" PRIu64 ", \"last_boot_ns\": %" PRIu64
			       "}\n",
			       slot.type, slot.cgroup_id, slot.count, slot.first_boot_ns, slot.last_boot_ns);
	}
	return slots->size % sizeof(slot) ? -EBADMSG : 0;
}

static int print_what_is_in(const struct wire_message *message)
{
	const struct wire_event *event = &message->event;

	if (message->type == WIRE_EVENT)
		return print_event(event->record.data, event->record.size, &event->offset);
	if (message->type == WIRE_SAMPLE)
		return print_samples(&message->sample.records);
	if (message->type == WIRE_LOSSES)
		return print_losses(&message->losses.slots);
	print_message(message);
	return 0;
}

/* Prints all complete frames read so far. Returns 0 or a negative errno. */
static int dump_frames(struct wire_input *input, struct wire_message *message)
{
	const char *data, *reason = "impossible frame size";
	size_t size;
	int result;

	while ((result = wire_input_next(input, &data, &size)) > 0) {
		result = wire_decode(data, size, message, &reason);
		if (result)
			break;
		reason = "a record of another version";
		result = print_what_is_in(message);
		if (result)
			break;
	}
	if (result)
		fprintf(stderr, "wire_dump: %s\n", reason);
	return result;
}

static int dump_file(FILE *file)
{
	struct wire_message message;
	struct wire_input input = {0};
	char magic[WIRE_RECORDING_MAGIC_SIZE], *room;
	int result = 0;

	if (fread(magic, 1, sizeof(magic), file) != sizeof(magic) ||
	    memcmp(magic, WIRE_RECORDING_MAGIC, sizeof(magic)) != 0) {
		fputs("wire_dump: this is not a recording of this version\n", stderr);
		return -EBADMSG;
	}
	while (!result && !feof(file)) {
		result = wire_input_reserve(&input, READ_BYTES, &room);
		if (result)
			break;
		wire_input_filled(&input, fread(room, 1, READ_BYTES, file));
		result = dump_frames(&input, &message);
	}
	if (!result && input.size != input.position) {
		fputs("wire_dump: the recording is cut in the middle of a message\n", stderr);
		result = -EBADMSG;
	}
	wire_input_deinit(&input);
	return result;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: wire_dump RECORDING\n", stderr);
		return 2;
	}
	FILE *file = fopen(argv[1], "rb");
	if (!file) {
		perror(argv[1]);
		return 1;
	}
	int result = dump_file(file);
	fclose(file);
	return result ? 1 : 0;
}
