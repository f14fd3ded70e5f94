/* Cuts a recording down to what marked commands did, so that nothing else of the
 * machine it was made on is in it.
 *
 * The mark is a program called `tracer` with the argument `run`. Kept are the processes that
 * executed it, their parents unknown, and their descendants, with every pass and the cgroups they
 * were in; what the machine and the cgroups are called is replaced by fixed values, so
 * this is no tool for containers. Losses are left out: they are the machine's.
 *
 * The recording is read twice: a cgroup is told of before it is used.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <uthash.h>

#include "common/wire/recording.h"
#include "tests/record_encode.h"

struct member_key {
	uint64_t start_boot_ns;
	uint64_t pid;
};

struct member {
	struct member_key key;
	bool is_root;
	bool begun; /* in this reading, the root has executed the mark */
	UT_hash_handle hh;
};

struct used_cgroup {
	uint64_t id;
	UT_hash_handle hh;
};

struct cut {
	struct member *members;
	struct used_cgroup *cgroups;
	struct wire_output *output; /* NULL in the first reading */
};

static struct member_key key_of(const struct image_key *image)
{
	return (struct member_key){.start_boot_ns = image->start_boot_ns, .pid = image->pid};
}

static struct member *find_member(const struct cut *cut, const struct image_key *image)
{
	const struct member_key key = key_of(image);
	struct member *member;

	HASH_FIND(hh, cut->members, &key, sizeof(key), member);
	return member;
}

static bool is_member(const struct cut *cut, const struct image_key *image)
{
	const struct member *member = find_member(cut, image);

	return member && (member->begun || !member->is_root);
}

static void *allocate(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		abort();
	return memory;
}

static struct member *add_member(struct cut *cut, const struct image_key *image)
{
	struct member *member = find_member(cut, image);

	if (!member) {
		member = allocate(sizeof(*member));
		member->key = key_of(image);
		HASH_ADD(hh, cut->members, key, sizeof(member->key), member);
	}
	return member;
}

static void add_cgroup(struct cut *cut, uint64_t id)
{
	struct used_cgroup *used;

	HASH_FIND(hh, cut->cgroups, &id, sizeof(id), used);
	if (used)
		return;
	used = allocate(sizeof(*used));
	used->id = id;
	HASH_ADD(hh, cut->cgroups, id, sizeof(used->id), used);
}

static bool bytes_are(const struct wire_bytes *bytes, const char *text)
{
	return bytes->size == strlen(text) && memcmp(bytes->data, text, bytes->size) == 0;
}

static bool is_mark(const struct event_exec *exec)
{
	static const char name[] = "/tracer";
	const size_t length = sizeof(name) - 1;

	return exec->filename.size > length &&
	       memcmp(exec->filename.data + exec->filename.size - length, name, length) == 0 &&
	       exec->argv.count > 1 && bytes_are(&exec->argv.item[1], "run");
}

/* Whether the message stays; learns from it who belongs. */
static bool keep_exec(struct cut *cut, struct event_exec *exec)
{
	struct member *member = find_member(cut, &exec->image);

	if (is_mark(exec) && (!member || member->is_root)) {
		member = add_member(cut, &exec->image);
		member->is_root = member->begun = true;
	}
	if (!is_member(cut, &exec->image))
		return false;
	if (member->is_root)
		exec->parent = (struct image_key){0};
	add_cgroup(cut, exec->cgroup_id);
	return true;
}

static bool keep_fork(struct cut *cut, const struct event_fork *fork)
{
	if (!is_member(cut, &fork->parent))
		return false;
	add_member(cut, &fork->image);
	add_cgroup(cut, fork->cgroup_id);
	return true;
}

static bool keep_sample(struct cut *cut, struct event_sample *sample)
{
	if (!is_member(cut, &sample->image))
		return false;
	if (find_member(cut, &sample->image)->is_root)
		sample->parent = (struct image_key){0};
	return true;
}

static struct wire_bytes bytes(const char *text)
{
	return (struct wire_bytes){.data = text, .size = (uint32_t)strlen(text)};
}

static bool keep_cgroup(const struct cut *cut, struct event_cgroup *cgroup)
{
	struct used_cgroup *used;

	HASH_FIND(hh, cut->cgroups, &cgroup->cgroup_id, sizeof(cgroup->cgroup_id), used);
	cgroup->path = bytes("/golden");
	return used;
}

static void disguise(struct wire_hello *hello)
{
	hello->cpu_count = 2;
	hello->memory_bytes = UINT64_C(4) << 30;
	hello->boot_id = bytes("00000000-0000-4000-8000-000000000000");
	hello->host_id = bytes("00000000000000000000000000000000");
	hello->hostname = bytes("golden");
	hello->kernel = bytes("6.1.0");
}

static bool keep_event(struct cut *cut, struct event *event)
{
	switch (event->type) {
	case EVENT_FORK:
		return keep_fork(cut, &event->fork);
	case EVENT_EXEC:
		return keep_exec(cut, &event->exec);
	case EVENT_EXIT:
		return is_member(cut, &event->exit.image);
	case EVENT_FINAL:
		return is_member(cut, &event->final.image);
	case EVENT_IGNORED:
		return is_member(cut, &event->ignored.image);
	case EVENT_SIGNAL:
		return is_member(cut, &event->signal.image);
	case EVENT_DEVICE:
		return is_member(cut, &event->device.image);
	case EVENT_SAMPLE:
		return keep_sample(cut, &event->sample);
	case EVENT_CGROUP:
		return keep_cgroup(cut, &event->cgroup);
	}
	return false;
}

/* One record, from the ring or from an iterator: `message` carries what is kept of it. */
static int cut_record(struct cut *cut, const void *record, size_t size,
		      struct wire_message *message)
{
	static struct event event; /* 20 KiB */
	static _Alignas(8) char kept[EVENT_RECORD_MAX + 8];
	int r = event_decode(record, size, &event);

	if (r < 0 || !keep_event(cut, &event) || !cut->output)
		return r;
	memset(kept, 0, sizeof(kept));
	size = record_encode(&event, kept);
	if (message->type == WIRE_EVENT)
		message->event.record = (struct wire_bytes){kept, (uint32_t)size};
	else
		message->sample.records = (struct wire_bytes){kept, (uint32_t)((size + 7) & ~7ULL)};
	return wire_encode(cut->output, message);
}

static int cut_samples(struct cut *cut, struct event_pieces *pieces, struct wire_message *message)
{
	const void *record;
	size_t size;
	int r;

	event_pieces_add(pieces, message->sample.records.data, message->sample.records.size);
	while ((r = event_pieces_next(pieces, &record, &size)) > 0) {
		r = cut_record(cut, record, size, message);
		if (r < 0)
			return r;
	}
	return r;
}

static int cut_message(struct cut *cut, struct event_pieces *pieces, struct wire_message *message)
{
	switch (message->type) {
	case WIRE_EVENT:
		return cut_record(cut, message->event.record.data, message->event.record.size,
				  message);
	case WIRE_SAMPLE:
		return cut_samples(cut, pieces, message);
	case WIRE_HELLO:
		disguise(&message->hello);
		break;
	case WIRE_PASS:
		break;
	default:
		return 0;
	}
	return cut->output ? wire_encode(cut->output, message) : 0;
}

static int cut_messages(struct cut *cut, struct recording *recording, const char **ret_reason)
{
	static struct event_pieces pieces;
	struct wire_message message;
	struct member *member;
	const char *data;
	size_t size;
	int r;

	for (member = cut->members; member; member = member->hh.next)
		member->begun = false;
	event_pieces_reset(&pieces);
	while ((r = recording_next(recording, &data, &size, ret_reason)) == RECORDING_FRAME) {
		r = wire_decode(data, size, &message, ret_reason);
		if (r == 0)
			r = cut_message(cut, &pieces, &message);
		if (r < 0)
			return r;
	}
	if (r == RECORDING_END && !cut->members) {
		*ret_reason = "nobody in it executed `tracer run`";
		return -ENODATA;
	}
	return r;
}

static int read_once(struct cut *cut, const char *path)
{
	struct recording recording;
	const char *reason = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : recording_init(&recording, fd, &reason);

	if (r == 0) {
		r = cut_messages(cut, &recording, &reason);
		recording_deinit(&recording);
	}
	if (r != 0)
		fprintf(stderr, "recording_cut: %s: %s\n", path,
			reason ? reason : r < 0 ? strerror(-r) : "cut off in the middle of a message");
	if (fd >= 0)
		close(fd);
	return r;
}

static int write_result(const struct wire_output *output, const char *path)
{
	FILE *file = fopen(path, "wb");
	bool written;

	if (!file) {
		perror(path);
		return -errno;
	}
	written = fwrite(WIRE_RECORDING_MAGIC, WIRE_RECORDING_MAGIC_SIZE, 1, file) == 1 &&
		  fwrite(output->data, output->size, 1, file) == 1;
	if (fclose(file) != 0 || !written) {
		perror(path);
		return -EIO;
	}
	return 0;
}

static void cut_deinit(struct cut *cut)
{
	struct member *member, *next_member;
	struct used_cgroup *used, *next_used;

	HASH_ITER (hh, cut->members, member, next_member) {
		HASH_DELETE(hh, cut->members, member);
		free(member);
	}
	HASH_ITER (hh, cut->cgroups, used, next_used) {
		HASH_DELETE(hh, cut->cgroups, used);
		free(used);
	}
}

int main(int argc, char **argv)
{
	struct wire_output output = {0};
	struct cut cut = {0};
	int r;

	if (argc != 3) {
		fputs("usage: recording_cut RECORDING RESULT\n", stderr);
		return 2;
	}
	r = read_once(&cut, argv[1]);
	if (r == 0) {
		cut.output = &output;
		r = read_once(&cut, argv[1]);
	}
	if (r == 0)
		r = write_result(&output, argv[2]);
	cut_deinit(&cut);
	wire_output_deinit(&output);
	return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
