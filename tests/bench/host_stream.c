/* The stream of another host, made of a recording: what a fleet is simulated with.
 *
 *   host_stream RECORDING HOST ROUNDS ROUND_MS >STREAM
 *
 * What the recording tells happens ROUNDS times, one beginning every ROUND_MS; it is made
 * shorter where it would last longer than that, every time and figure of time in it too.
 * Host, boot, processes, times and ring are HOST's own. Lest a thousand hosts compress
 * as one, the figures of each process are between half and one and a half of what was
 * recorded, and the names of places and samples that tests/golden/ records are others in
 * every round. STREAM is for `tracer-correlator --replay`; on a pipe it takes no disk.
 */
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

#define PASS_PERIOD_NS 1000000000U /* the probe looks once a second */
#define PIDS_A_ROUND 5000
#define PIDS_MAX 4000000
#define FIRST_PID 300
#define HEX_RUN 32 /* so many digits in a row are a random name */
#define FLUSH_BYTES (1 << 20)
#define KEY_BYTES 32

/* One frame of the recording. */
struct frame {
	char *data;
	size_t size;
	uint64_t pass_boot_ns; /* of the pass that it belongs to, 0: none */
};

struct story {
	struct frame *frames;
	size_t count;
	uint64_t first_ns, last_ns;         /* boot clock, of what happened in it */
	uint64_t first_offset, last_offset; /* ring */
	uint64_t host, round, round_ns;
	uint64_t told_pass_ns; /* the latest pass that was told, 0: none */
	struct wire_output output;
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

static uint64_t story_ns(const struct story *story)
{
	return story->last_ns - story->first_ns;
}

/* A duration in the time of this round. */
static uint64_t shorten(const struct story *story, uint64_t duration_ns)
{
	if (story->round_ns >= story_ns(story))
		return duration_ns;
	return (uint64_t)((double)duration_ns * (double)story->round_ns / (double)story_ns(story));
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
		return; /* unknown, and stays so */
	image->pid = (uint32_t)move_pid(story, image->pid);
	image->start_boot_ns = move_ns(story, image->start_boot_ns);
}

/* All figures of one process by the same factor, so that what grows goes on growing. */
static void vary_counters(const struct story *story, const struct image_key *image,
			  struct counters *counters)
{
	const uint64_t factor = 512 + hash(story, "figures", &image->pid, sizeof(image->pid)) % 1024;

#define VARY(name) counters->name = counters->name * factor / 1024
#define VARY_NS(name) counters->name = shorten(story, counters->name) * factor / 1024
	VARY_NS(cpu_ns);
	VARY_NS(user_ns);
	VARY_NS(system_ns);
	VARY_NS(run_delay_ns);
	VARY_NS(block_io_delay_ns);
	VARY_NS(memory_delay_ns);
	VARY(voluntary_switches);
	VARY(involuntary_switches);
	VARY(minor_faults);
	VARY(major_faults);
	VARY(read_bytes);
	VARY(write_bytes);
	VARY(cancelled_write_bytes);
	VARY(rchar_bytes);
	VARY(wchar_bytes);
	VARY(syscr_count);
	VARY(syscw_count);
	VARY(peak_rss_bytes);
	VARY(maxrss_bytes);
	VARY(rss_anon_bytes);
	VARY(rss_file_bytes);
	VARY(rss_shmem_bytes);
	VARY(sent_bytes);
	VARY(received_bytes);
#undef VARY
#undef VARY_NS
}

/* ---- text ---------------------------------------------------------------------------- */

/* Writes digits of `number` over `size` bytes, the last one in front. */
static void digits_put(char *text, size_t size, uint64_t number, unsigned base)
{
	for (size_t i = 0; i < size; i++, number /= base)
		text[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[number % base];
}

/* Replaces `word` by another of its length: its first `kept` bytes and digits. */
static void vary_word(const struct story *story, const struct wire_bytes *text, const char *word,
		      const char *begin)
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

/* `text` lies in memory of ours: a copy of the frame, or the event. */
static void vary_text(const struct story *story, const struct wire_bytes *text)
{
	static const char *const names[][2] = {
		{"/tmp/golden", "/data/p"}, {"brain", "s"}, {"heart", "s"}, {"liver", "s"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		vary_word(story, text, names[i][0], names[i][1]);
	vary_random_names(story, text);
}

/* ---- events -------------------------------------------------------------------------- */

static void move_fork(const struct story *story, struct event_fork *fork)
{
	fork->boot_ns = move_ns(story, fork->boot_ns);
	move_image(story, &fork->image);
	move_image(story, &fork->parent);
	fork->sid = move_pid(story, fork->sid);
	fork->pgid = move_pid(story, fork->pgid);
}

static void move_exec(const struct story *story, struct event_exec *exec)
{
	vary_counters(story, &exec->image, &exec->counters);
	exec->boot_ns = move_ns(story, exec->boot_ns);
	move_image(story, &exec->image);
	move_image(story, &exec->parent);
	exec->sid = move_pid(story, exec->sid);
	exec->pgid = move_pid(story, exec->pgid);
	vary_text(story, &exec->filename);
	vary_text(story, &exec->cwd);
	for (uint32_t i = 0; i < exec->argv.count; i++)
		vary_text(story, &exec->argv.item[i]);
}

static void move_exit(const struct story *story, struct event_exit *exit)
{
	vary_counters(story, &exit->image, &exit->counters);
	exit->boot_ns = move_ns(story, exit->boot_ns);
	move_image(story, &exit->image);
}

static void move_event(const struct story *story, struct event *event)
{
	switch (event->type) {
	case EVENT_FORK:
		move_fork(story, &event->fork);
		break;
	case EVENT_EXEC:
	case EVENT_SAMPLE: /* the same structure (correlator/record/events.h) */
		move_exec(story, &event->exec);
		break;
	case EVENT_EXIT:
	case EVENT_FINAL:
		move_exit(story, &event->exit);
		break;
	case EVENT_CGROUP:
		event->cgroup.boot_ns = move_ns(story, event->cgroup.boot_ns);
		break;
	case EVENT_IGNORED:
		event->ignored.boot_ns = move_ns(story, event->ignored.boot_ns);
		move_image(story, &event->ignored.image);
		break;
	case EVENT_SIGNAL:
		event->signal.boot_ns = move_ns(story, event->signal.boot_ns);
		move_image(story, &event->signal.image);
		move_image(story, &event->signal.sender);
		break;
	case EVENT_DEVICE:
		event->device.boot_ns = move_ns(story, event->device.boot_ns);
		move_image(story, &event->device.image);
		break;
	}
}

static int tell_record(struct story *story, const void *record, size_t size,
		       struct wire_message *message)
{
	static struct event event; /* 20 KiB */
	static _Alignas(8) char moved[EVENT_RECORD_MAX + 8];
	int r = event_decode(record, size, &event);

	if (r < 0)
		return r;
	move_event(story, &event);
	size = record_encode(&event, moved);
	memset(moved + size, 0, sizeof(moved) - size < 8 ? sizeof(moved) - size : 8);
	if (message->type == WIRE_EVENT)
		message->event.record = (struct wire_bytes){moved, (uint32_t)size};
	else
		message->sample.records = (struct wire_bytes){moved, (uint32_t)((size + 7) & ~7ULL)};
	return wire_encode(&story->output, message);
}

/* ---- messages ------------------------------------------------------------------------ */

static int tell_samples(struct story *story, struct event_pieces *pieces,
			struct wire_message *message)
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

static int tell_hello(struct story *story, struct wire_hello *hello)
{
	char machine[KEY_BYTES + 1], boot[KEY_BYTES + 1], name[KEY_BYTES + 1];

	hello->ring_epoch = hash(story, "ring", NULL, 0);
	snprintf(machine, sizeof(machine), "%032" PRIx64, hash(story, "machine", NULL, 0));
	snprintf(boot, sizeof(boot), "%032" PRIx64, hash(story, "boot", NULL, 0));
	snprintf(name, sizeof(name), "host-%05" PRIu64, story->host);
	hello->host_id = (struct wire_bytes){machine, (uint32_t)strlen(machine)};
	hello->boot_id = (struct wire_bytes){boot, (uint32_t)strlen(boot)};
	hello->hostname = (struct wire_bytes){name, (uint32_t)strlen(name)};
	return wire_encode(&story->output, &(struct wire_message){.type = WIRE_HELLO, .hello = *hello});
}

static void move_pass(const struct story *story, struct wire_pass *pass)
{
	const uint64_t moved_ns = move_ns(story, pass->boot_ns);

	pass->unix_ns += moved_ns - pass->boot_ns;
	pass->boot_ns = moved_ns;
	pass->ring_offset = move_offset(story, pass->ring_offset);
}

static int tell_message(struct story *story, struct event_pieces *pieces,
			struct wire_message *message)
{
	switch (message->type) {
	case WIRE_HELLO:
		return story->round == 0 ? tell_hello(story, &message->hello) : 0;
	case WIRE_EVENT:
		message->event.offset = move_offset(story, message->event.offset);
		return tell_record(story, message->event.record.data, message->event.record.size,
				   message);
	case WIRE_SAMPLE:
		return tell_samples(story, pieces, message);
	case WIRE_PASS:
		move_pass(story, &message->pass);
		return wire_encode(&story->output, message);
	default:
		return 0;
	}
}

/* In a round that is made shorter passes would come too often. */
static bool is_left_out(struct story *story, const struct frame *frame)
{
	uint64_t pass_ns = frame->pass_boot_ns ? move_ns(story, frame->pass_boot_ns) : 0;

	if (pass_ns == 0 || pass_ns == story->told_pass_ns)
		return false;
	if (story->told_pass_ns && pass_ns < story->told_pass_ns + PASS_PERIOD_NS * 9 / 10)
		return true;
	story->told_pass_ns = pass_ns;
	return false;
}

static int flush(struct story *story, size_t most)
{
	size_t size = story->output.size;

	if (size <= most)
		return 0;
	story->output.size = 0;
	return fwrite(story->output.data, size, 1, stdout) == 1 ? 0 : -EIO;
}

static int tell_round(struct story *story)
{
	static struct event_pieces pieces;
	static char copy[WIRE_FRAME_MAX];
	struct wire_message message;
	const char *reason;
	int r = 0;

	event_pieces_reset(&pieces);
	for (size_t i = 0; i < story->count && r == 0; i++) {
		const struct frame *frame = &story->frames[i];

		if (is_left_out(story, frame))
			continue;
		memcpy(copy, frame->data, frame->size);
		r = wire_decode(copy, frame->size, &message, &reason);
		if (r == 0)
			r = tell_message(story, &pieces, &message);
		if (r == 0)
			r = flush(story, FLUSH_BYTES);
	}
	return r;
}

/* ---- the recording ------------------------------------------------------------------- */

static void learn_times(struct story *story, uint64_t boot_ns)
{
	if (story->first_ns == 0 || boot_ns < story->first_ns)
		story->first_ns = boot_ns;
	if (boot_ns > story->last_ns)
		story->last_ns = boot_ns;
}

static void learn_pass(struct story *story, uint64_t boot_ns)
{
	story->frames[story->count - 1].pass_boot_ns = boot_ns;
	for (size_t i = story->count - 1; i-- > 0;) {
		struct wire_message message;
		const char *reason;

		if (wire_decode(story->frames[i].data, story->frames[i].size, &message, &reason) < 0 ||
		    message.type != WIRE_SAMPLE)
			return;
		story->frames[i].pass_boot_ns = boot_ns;
	}
}

static int learn_frame(struct story *story, const char *data, size_t size, const char **ret_reason)
{
	struct record_header header;
	struct wire_message message;
	struct frame *frames;
	char *copy;

	if (wire_decode(data, size, &message, ret_reason) < 0)
		return -EBADMSG;
	frames = realloc(story->frames, (story->count + 1) * sizeof(*frames));
	copy = malloc(size);
	if (frames)
		story->frames = frames;
	if (!frames || !copy) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, data, size);
	story->frames[story->count++] = (struct frame){.data = copy, .size = size};
	if (message.type == WIRE_EVENT &&
	    event_peek(message.event.record.data, message.event.record.size, &header) == 0) {
		learn_times(story, header.boot_ns);
		if (story->last_offset == 0)
			story->first_offset = message.event.offset;
		story->last_offset = message.event.offset;
	} else if (message.type == WIRE_PASS) {
		learn_pass(story, message.pass.boot_ns);
	}
	return 0;
}

static int story_read(struct story *story, const char *path)
{
	struct recording recording;
	const char *data, *reason = NULL;
	size_t size;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : recording_init(&recording, fd, &reason);

	if (r == 0) {
		while ((r = recording_next(&recording, &data, &size, &reason)) == RECORDING_FRAME) {
			r = learn_frame(story, data, size, &reason);
			if (r < 0)
				break;
		}
		recording_deinit(&recording);
	}
	if (r == 0 && story->first_ns == story->last_ns) {
		reason = "nothing happens in it";
		r = -ENODATA;
	}
	if (r != 0)
		fprintf(stderr, "host_stream: %s: %s\n", path,
			reason ? reason : r < 0 ? strerror(-r) : "cut off in the middle of a message");
	if (fd >= 0)
		close(fd);
	return r;
}

static void story_deinit(struct story *story)
{
	for (size_t i = 0; i < story->count; i++)
		free(story->frames[i].data);
	free(story->frames);
	wire_output_deinit(&story->output);
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
	r = story_read(&story, argv[1]);
	if (r == 0 && fwrite(WIRE_RECORDING_MAGIC, WIRE_RECORDING_MAGIC_SIZE, 1, stdout) != 1)
		r = -EIO;
	for (; r == 0 && story.round < rounds; story.round++)
		r = tell_round(&story);
	if (r == 0)
		r = flush(&story, 0);
	if (r == 0 && fflush(stdout) != 0)
		r = -EIO;
	if (r < 0)
		fprintf(stderr, "host_stream: %s\n", strerror(-r));
	story_deinit(&story);
	return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
