/* Derives the stream of another host from a recording, to simulate a fleet.
 *
 *   host_stream RECORDING HOST ROUNDS ROUND_MS >STREAM
 *
 * The recorded activity happens ROUNDS times, starting every ROUND_MS; if it lasts longer
 * than that, it is compressed, including every timestamp and duration. Host, boot,
 * processes, times and ring are specific to HOST. To prevent a thousand hosts from
 * compressing like one, the figures of each process are scaled by a factor between 0.5
 * and 1.5, and the directory and sample names recorded in tests/golden/ differ in every
 * round. STREAM is for `tracer-correlator --replay`; a pipe needs no disk space. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/identity.h"
#include "common/wire/recording.h"
#include "tests/record_encode.h"

#define PASS_PERIOD_NS 1000000000U /* the probe scans once a second */
#define PIDS_A_ROUND 5000
#define PIDS_MAX 4000000
#define FIRST_PID 300
#define HEX_RUN 32 /* that many consecutive hex digits form a random name */
#define KEY_BYTES 32

struct story {
	uint64_t first_ns, last_ns;         /* boot clock of its first and last event */
	uint64_t first_offset, last_offset; /* in the ring */
	uint64_t host, round, round_ns;
	uint64_t told_pass_ns; /* the last pass written, 0: none */
	struct wire_output output;
	bool in_pass;     /* the last message written was a sample */
	size_t pass_size; /* size of the output before the samples of this pass */
};

static uint64_t hash(const struct story *story, const char *kind, const void *data, size_t size)
{
	struct identity identity;

	identity_begin(&identity, kind);
	identity_add_u64(&identity, story->host);
	identity_add_u64(&identity, story->round);
	identity_add_bytes(&identity, data, size);
	return (uint64_t)identity_end(&identity);
}

/* ---- times, processes, figures ------------------------------------------------------- */

/* Scales a duration to this round. */
static uint64_t shorten(const struct story *story, uint64_t duration_ns)
{
	uint64_t lasts_ns = story->last_ns - story->first_ns;

	if (story->round_ns >= lasts_ns)
		return duration_ns;
	return (uint64_t)((double)duration_ns * (double)story->round_ns / (double)lasts_ns);
}

static uint64_t move_ns(const struct story *story, uint64_t boot_ns)
{
	uint64_t begin_ns = story->first_ns + story->round * story->round_ns;

	return boot_ns >= story->first_ns ? begin_ns + shorten(story, boot_ns - story->first_ns)
					  : begin_ns - shorten(story, story->first_ns - boot_ns);
}

static uint64_t move_offset(const struct story *story, uint64_t offset)
{
	return offset + story->round * (story->last_offset - story->first_offset + 4096);
}

static uint64_t move_pid(const struct story *story, uint64_t pid)
{
	return pid == 0 ? 0 : FIRST_PID + (pid + story->round * PIDS_A_ROUND) % PIDS_MAX;
}

static void move_image(const struct story *story, struct image_key *image)
{
	if (image->start_boot_ns == 0)
		return; /* stays unknown */
	image->pid = (uint32_t)move_pid(story, image->pid);
	image->start_boot_ns = move_ns(story, image->start_boot_ns);
}

/* Scales all figures of one process by the same factor, so that growing figures keep growing. */
static void vary_counters(const struct story *story, const struct image_key *image, struct counters *counters)
{
	const uint64_t factor = 512 + hash(story, "figures", &image->pid, sizeof(image->pid)) % 1024;
	uint64_t *const times[] = {
		&counters->cpu_ns,       &counters->user_ns,           &counters->system_ns,
		&counters->run_delay_ns, &counters->block_io_delay_ns, &counters->memory_delay_ns,
	};
	uint64_t *const figures[] = {
		&counters->voluntary_switches,    &counters->involuntary_switches, &counters->minor_faults,
		&counters->major_faults,          &counters->read_bytes,           &counters->write_bytes,
		&counters->cancelled_write_bytes, &counters->rchar_bytes,          &counters->wchar_bytes,
		&counters->syscr_count,           &counters->syscw_count,          &counters->peak_rss_bytes,
		&counters->maxrss_bytes,          &counters->rss_anon_bytes,       &counters->rss_file_bytes,
		&counters->rss_shmem_bytes,       &counters->sent_bytes,           &counters->received_bytes,
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		*times[i] = shorten(story, *times[i]) * factor / 1024;
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		*figures[i] = *figures[i] * factor / 1024;
}

/* ---- text ---------------------------------------------------------------------------- */

/* Writes `number` into `size` bytes, least significant digit first. */
static void digits_put(char *text, size_t size, uint64_t number, unsigned base)
{
	for (size_t i = 0; i < size; i++, number /= base)
		text[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[number % base];
}

/* Replaces `word` by one of the same length: `begin`, followed by digits. */
static void vary_word(const struct story *story, const struct wire_bytes *text, const char *word, const char *begin)
{
	const size_t size = strlen(word), kept = strlen(begin);
	const char *end = text->data + text->size;
	char *found = (char *)text->data;

	while ((found = memmem(found, (size_t)(end - found), word, size))) {
		memcpy(found, begin, kept);
		digits_put(found + kept, size - kept, hash(story, "word", word, size), 36);
		found += size;
	}
}

static void vary_random_names(const struct story *story, const struct wire_bytes *text)
{
	char *data = (char *)text->data;

	for (size_t i = 0, run; i < text->size; i += run + 1) {
		for (run = 0; i + run < text->size && isxdigit((unsigned char)data[i + run]);)
			run++;
		if (run >= HEX_RUN) {
			uint64_t half = hash(story, "name", data + i, run);

			digits_put(data + i, run / 2, half, 16);
			digits_put(data + i + run / 2, run - run / 2, half * 0x9e3779b97f4a7c15U, 16);
		}
	}
}

/* `text` points into writable memory: the frame just read, or the event. */
static void vary_text(const struct story *story, const struct wire_bytes *text)
{
	static const char *const names[][2] = {
		{"/tmp/golden", "/data/p"},
		{"brain", "s"},
		{"heart", "s"},
		{"liver", "s"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		vary_word(story, text, names[i][0], names[i][1]);
	vary_random_names(story, text);
}

/* ---- events -------------------------------------------------------------------------- */

static void move_exec(const struct story *story, struct event_exec *exec)
{
	vary_counters(story, &exec->image, &exec->counters);
	move_image(story, &exec->parent);
	exec->pgid = move_pid(story, exec->pgid);
	vary_text(story, &exec->filename);
	vary_text(story, &exec->cwd);
	for (uint32_t i = 0; i < exec->argv.count; i++)
		vary_text(story, &exec->argv.item[i]);
}

/* Every event begins with a time, followed by an image except for cgroups. */
static void move_event(const struct story *story, struct event *event)
{
	switch (event->type) {
	case EVENT_FORK:
		move_image(story, &event->fork.parent);
		event->fork.pgid = move_pid(story, event->fork.pgid);
		break;
	case EVENT_EXEC:
	case EVENT_SAMPLE: /* same structure (correlator/record/events.h) */ move_exec(story, &event->exec); break;
	case EVENT_EXIT:
	case EVENT_FINAL: vary_counters(story, &event->exit.image, &event->exit.counters); break;
	case EVENT_SIGNAL: move_image(story, &event->signal.sender); break;
	case EVENT_CGROUP:
	case EVENT_IGNORED:
	case EVENT_DEVICE: break;
	}
	event->ignored.boot_ns = move_ns(story, event->ignored.boot_ns);
	if (event->type != EVENT_CGROUP)
		move_image(story, &event->ignored.image);
}

static int tell_record(struct story *story, const void *record, size_t size, struct wire_message *message)
{
	static struct event event; /* 20 KiB */
	static _Alignas(8) char moved[EVENT_RECORD_MAX + 8];
	int r = event_decode(record, size, &event);

	if (r < 0)
		return r;
	move_event(story, &event);
	memset(moved, 0, sizeof(moved));
	size = record_encode(&event, moved);
	if (message->type == WIRE_EVENT)
		message->event.record = (struct wire_bytes){moved, (uint32_t)size};
	else
		message->sample.records = (struct wire_bytes){moved, (uint32_t)((size + 7) & ~7ULL)};
	return wire_encode(&story->output, message);
}

/* ---- messages ------------------------------------------------------------------------ */

static int tell_samples(struct story *story, struct event_pieces *pieces, struct wire_message *message)
{
	const void *record;
	size_t size;
	int r;

	event_pieces_add(pieces, message->sample.records.data, message->sample.records.size);
	while ((r = event_pieces_next(pieces, &record, &size)) > 0) {
		r = tell_record(story, record, size, message);
		if (r < 0)
			return r;
	}
	return r;
}

static int tell_hello(struct story *story, struct wire_message *message)
{
	struct wire_hello *hello = &message->hello;
	char machine[KEY_BYTES + 1], boot[KEY_BYTES + 1], name[KEY_BYTES + 1];

	hello->ring_epoch = hash(story, "ring", NULL, 0);
	snprintf(machine, sizeof(machine), "%032" PRIx64, hash(story, "machine", NULL, 0));
	snprintf(boot, sizeof(boot), "%032" PRIx64, hash(story, "boot", NULL, 0));
	snprintf(name, sizeof(name), "host-%05" PRIu64, story->host);
	hello->host_id = (struct wire_bytes){machine, (uint32_t)strlen(machine)};
	hello->boot_id = (struct wire_bytes){boot, (uint32_t)strlen(boot)};
	hello->hostname = (struct wire_bytes){name, (uint32_t)strlen(name)};
	return wire_encode(&story->output, message);
}

/* Drops a pass and its samples if passes are too close together, in a compressed round. */
static int tell_pass(struct story *story, struct wire_message *message)
{
	struct wire_pass *pass = &message->pass;
	const uint64_t moved_ns = move_ns(story, pass->boot_ns);

	if (story->told_pass_ns && moved_ns < story->told_pass_ns + PASS_PERIOD_NS * 9 / 10) {
		if (story->in_pass)
			story->output.size = story->pass_size;
		return 0;
	}
	story->told_pass_ns = moved_ns;
	pass->unix_ns += moved_ns - pass->boot_ns;
	pass->boot_ns = moved_ns;
	pass->ring_offset = move_offset(story, pass->ring_offset);
	return wire_encode(&story->output, message);
}

static int tell_message(struct story *story, struct event_pieces *pieces, struct wire_message *message)
{
	const struct wire_bytes *record = &message->event.record;
	int r = 0;

	if (message->type == WIRE_SAMPLE && !story->in_pass)
		story->pass_size = story->output.size;
	if (message->type == WIRE_HELLO && story->round == 0) {
		r = tell_hello(story, message);
	} else if (message->type == WIRE_EVENT) {
		message->event.offset = move_offset(story, message->event.offset);
		r = tell_record(story, record->data, record->size, message);
	} else if (message->type == WIRE_SAMPLE) {
		r = tell_samples(story, pieces, message);
	} else if (message->type == WIRE_PASS) {
		r = tell_pass(story, message);
	}
	story->in_pass = message->type == WIRE_SAMPLE;
	return r;
}

/* ---- the recording ------------------------------------------------------------------- */

/* Finds the first and last time and ring offset of the recording. */
static int learn_message(struct story *story, struct event_pieces *pieces, struct wire_message *message)
{
	struct record_header header;

	if (message->type != WIRE_EVENT ||
	    event_peek(message->event.record.data, message->event.record.size, &header) != 0)
		return 0;
	if (story->first_ns == 0 || header.boot_ns < story->first_ns)
		story->first_ns = header.boot_ns;
	if (header.boot_ns > story->last_ns)
		story->last_ns = header.boot_ns;
	if (story->last_offset == 0)
		story->first_offset = message->event.offset;
	story->last_offset = message->event.offset;
	return 0;
}

/* Reads the recording once and calls `take` for each message. */
static int read_all(struct story *story, const char *path,
		    int (*take)(struct story *, struct event_pieces *, struct wire_message *))
{
	static struct event_pieces pieces;
	struct recording recording;
	struct wire_message message;
	const char *data, *reason = NULL;
	size_t size;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : recording_init(&recording, fd, &reason);

	if (r == 0) {
		event_pieces_reset(&pieces);
		while ((r = recording_next(&recording, &data, &size, &reason)) == RECORDING_FRAME) {
			r = wire_decode(data, size, &message, &reason);
			if (r == 0)
				r = take(story, &pieces, &message);
			if (r < 0)
				break;
		}
		recording_deinit(&recording);
	}
	if (r != 0)
		fprintf(stderr, "host_stream: %s: %s\n", path,
			reason  ? reason
			: r < 0 ? strerror(-r)
				: "cut off in the middle of a message");
	if (fd >= 0)
		close(fd);
	return r;
}

static int tell_round(struct story *story, const char *path)
{
	int r = read_all(story, path, tell_message);

	if (r == 0 && fwrite(story->output.data, story->output.size, 1, stdout) != 1) {
		perror("host_stream");
		r = -EIO;
	}
	story->output.size = 0;
	return r;
}

int main(int argc, char **argv)
{
	struct story story = {0};
	uint64_t rounds;
	int r;

	if (argc != 5) {
		fputs("usage: host_stream RECORDING HOST ROUNDS ROUND_MS >STREAM\n", stderr);
		return 2;
	}
	story.host = strtoull(argv[2], NULL, 10);
	rounds = strtoull(argv[3], NULL, 10);
	story.round_ns = strtoull(argv[4], NULL, 10) * 1000000;
	r = read_all(&story, argv[1], learn_message);
	if (r == 0 && story.first_ns == story.last_ns) {
		fprintf(stderr, "host_stream: %s: nothing happens in it\n", argv[1]);
		r = -ENODATA;
	}
	fputs(WIRE_RECORDING_MAGIC, stdout);
	for (; r == 0 && story.round < rounds; story.round++)
		r = tell_round(&story, argv[1]);
	if (r == 0 && fflush(stdout) != 0)
		r = -EIO;
	wire_output_deinit(&story.output);
	return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
