/* Prints a recording (tracer-probe --record) as JSON, one message a line, so that
 * tests and people can read what the probe has seen.
 *
 * Text is printed without loss: bytes that are not UTF-8 as the lone surrogates
 * U+DC80..U+DCFF, which Python's "surrogateescape" turns back into bytes. Counters
 * that are not valid are null.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/wire/wire.h"

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

static void print_arguments(const struct wire_strings *argv)
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
	printf("[%" PRIu32 ", %" PRIu64 ", %" PRIu32 "]", image->pid, image->start_boot_ns,
	       image->exec_id);
}

static void print_counters(const struct counters *counters)
{
	const char *separator = "";

	putchar('{');
#define X(name, source)                                                                       \
	printf("%s\"" #name "\": ", separator);                                               \
	separator = ", ";                                                                     \
	if (counters->valid & COUNTER_VALID(name))                                            \
		printf("%" PRIu64, counters->name);                                           \
	else                                                                                  \
		fputs("null", stdout);
	RECORD_COUNTERS(X)
#undef X
	putchar('}');
}

static void print_message(const struct wire_message *message)
{
	printf("{\"message\": \"%s\"", wire_type_name(message->type));
	switch (message->type) {
#define DUMP_U(name) printf(", \"" #name "\": %" PRIu64, from->name);
#define DUMP_T(name)                                                                          \
	fputs(", \"" #name "\": ", stdout);                                                   \
	print_text(from->name.data, from->name.size);
#define DUMP_A(name)                                                                          \
	fputs(", \"" #name "\": ", stdout);                                                   \
	print_arguments(&from->name);
#define DUMP_I(name)                                                                          \
	fputs(", \"" #name "\": ", stdout);                                                   \
	print_image(&from->name);
#define DUMP_C(name)                                                                          \
	fputs(", \"" #name "\": ", stdout);                                                   \
	print_counters(&from->name);
#define M(NAME, name, number)                                                                 \
	case WIRE_##NAME: {                                                                   \
		const struct wire_##name *from = &message->name;                              \
		WIRE_##NAME##_FIELDS(DUMP_U, DUMP_T, DUMP_A, DUMP_I, DUMP_C)                  \
		break;                                                                        \
	}
		WIRE_MESSAGES(M)
#undef M
	}
	puts("}");
}

/* All whole frames of what was read. 0 or a negative errno. */
static int dump_frames(struct wire_input *input, struct wire_message *message)
{
	const char *data, *reason = "impossible frame size";
	size_t size;
	int result;

	while ((result = wire_input_next(input, &data, &size)) > 0) {
		result = wire_decode(data, size, message, &reason);
		if (result)
			break;
		print_message(message);
	}
	if (result)
		fprintf(stderr, "wire_dump: %s\n", reason);
	return result;
}

static int dump_file(FILE *file)
{
	static struct wire_message message; /* 17 KiB */
	struct wire_input input = {0};
	char magic[WIRE_RECORDING_MAGIC_SIZE], *room;
	int result = 0;

	if (fread(magic, 1, sizeof(magic), file) != sizeof(magic) ||
	    memcmp(magic, WIRE_RECORDING_MAGIC, sizeof(magic)) != 0) {
		fputs("wire_dump: this is no recording of this version\n", stderr);
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
