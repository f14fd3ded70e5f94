/* Decodes records into events. See event.h. The layouts are those of bpf/record.h. */
#include <errno.h>
#include <string.h>

#include "correlator/record/event.h"

_Static_assert(COUNTER_COUNT < 64, "struct counters.valid has one bit per counter");

const char *event_type_name(enum event_type type)
{
	switch (type) {
#define E(NAME, name) \
	case EVENT_##NAME: return #name;
		EVENTS(E)
#undef E
	}
	return "unknown";
}

/* Whether a text of a record is at most `most` bytes of complete strings. */
static bool text_is_whole(const char *text, size_t size, size_t most)
{
	return size <= most && (size == 0 || text[size - 1] == '\0');
}

/* Joins names, from leaf to root and each terminated by NUL, into an absolute path of the
 * same number of bytes, after a mark if it is cut. The root itself is one empty name. */
static struct wire_bytes path_join(const char *names, size_t size, bool is_cut, char *path)
{
	size_t end = size, used = size && is_cut ? strlen(EVENT_PATH_MARK) : 0;

	memcpy(path, EVENT_PATH_MARK, used);
	while (end > 0) {
		size_t start = end - 1;

		while (start > 0 && names[start - 1] != '\0')
			start--;
		path[used++] = '/';
		memcpy(path + used, names + start, end - 1 - start);
		used += end - 1 - start;
		end = start;
	}
	return (struct wire_bytes){path, (uint32_t)used};
}

/* The path given to execve, with a mark at its end if it is cut. */
static struct wire_bytes path_copy(const char *text, size_t size, bool is_cut, char *path)
{
	size_t mark = size && is_cut ? strlen(EVENT_PATH_MARK) : 0;

	size = strnlen(text, size);
	memcpy(path, text, size);
	memcpy(path + size, EVENT_PATH_MARK, mark);
	return (struct wire_bytes){path, (uint32_t)(size + mark)};
}

/* Each argument is terminated by NUL, except perhaps the last one of a cut argv. */
static void arguments_split(const char *data, size_t size, struct event_strings *argv, uint64_t *flags)
{
	const char *end = data + size;

	argv->count = 0;
	while (data < end) {
		if (argv->count == EVENT_ARGV_MAX) {
			*flags |= RECORD_ARGV_TRUNCATED;
			return;
		}
		const char *stop = memchr(data, '\0', (size_t)(end - data));
		size_t length = (size_t)((stop ? stop : end) - data);
		argv->item[argv->count++] = (struct wire_bytes){data, (uint32_t)length};
		data += length + 1;
	}
}

static bool counters_are_known(const struct counters *counters)
{
	return (counters->valid & ~COUNTERS_PARTIAL) >> COUNTER_COUNT == 0;
}

/* Decodes a record of fixed size, field by field. Returns false if it has another size. */
#define COPY(name) event->name = record.name;
#define DECODE(NAME, kind) \
	static bool decode_##kind(const void *data, size_t size, struct event_##kind *event) \
	{ \
		struct record_##kind record; \
\
		if (size != sizeof(record)) \
			return false; \
		memcpy(&record, data, sizeof(record)); \
		event->boot_ns = record.header.boot_ns; \
		event->image = record.header.image; \
		EVENT_##NAME##_FIELDS(COPY, COPY, COPY, COPY, COPY, COPY) return true; \
	}
DECODE(FORK, fork)
DECODE(EXIT, exit)
DECODE(IGNORED, ignored)
DECODE(SIGNAL, signal)
DECODE(DEVICE, device)
#undef DECODE
#undef COPY

static void context_fill(struct event_exec *exec, const struct record_exec *record)
{
#define COPY(name) exec->name = record->context.name;
#define TEXT(name)
	EVENT_EXEC_FIELDS(COPY, COPY, TEXT, TEXT, COPY, TEXT)
#undef TEXT
#undef COPY
	exec->boot_ns = record->header.boot_ns;
	exec->image = record->header.image;
	exec->counters = record->counters;
	if (!(exec->flags & RECORD_CORE_LIMIT))
		exec->core_limit_milli = 0;
}

/* Decodes exec and sample: both have the same layout and fields (EVENT_SAMPLE_FIELDS). */
static bool decode_exec(const void *data, size_t size, struct event *event)
{
	const char *text = (const char *)data + sizeof(struct record_exec);
	bool is_exec = event->type == EVENT_EXEC;
	struct event_exec *exec = &event->exec;
	struct record_exec record;

	if (size < sizeof(record))
		return false;
	memcpy(&record, data, sizeof(record));
	const char *cwd = text + record.filename_size, *argv = cwd + record.cwd_size;
	if (record.argv_size > RECORD_ARGV_MAX ||
	    size != sizeof(record) + record.filename_size + record.cwd_size + record.argv_size ||
	    !text_is_whole(text, record.filename_size, is_exec ? RECORD_FILENAME_MAX : RECORD_CWD_MAX) ||
	    !text_is_whole(cwd, record.cwd_size, RECORD_CWD_MAX) || !counters_are_known(&record.counters))
		return false;
	context_fill(exec, &record);
	const char *comm = (const char *)data + offsetof(struct record_exec, comm);
	exec->comm = (struct wire_bytes){comm, (uint32_t)strnlen(comm, RECORD_COMM_SIZE)};
	exec->filename = (is_exec ? path_copy : path_join)(text, record.filename_size,
							   exec->flags & RECORD_PATH_TRUNCATED, event->filename_text);
	exec->cwd = path_join(cwd, record.cwd_size, exec->flags & RECORD_CWD_TRUNCATED, event->path_text);
	arguments_split(argv, record.argv_size, &exec->argv, &exec->flags);
	return true;
}

static bool decode_cgroup(const void *data, size_t size, struct event *event)
{
	const char *names = (const char *)data + sizeof(struct record_cgroup);
	struct record_cgroup record;

	if (size < sizeof(record))
		return false;
	memcpy(&record, data, sizeof(record));
	if (size - sizeof(record) != record.path_size ||
	    !text_is_whole(names, record.path_size, RECORD_CGROUP_PATH_MAX))
		return false;
	struct wire_bytes path = {"/", 1};

	if (record.path_size)
		path = path_join(names, record.path_size, record.flags & RECORD_CGROUP_TRUNCATED, event->path_text);
	event->cgroup = (struct event_cgroup){.boot_ns = record.header.boot_ns,
					      .image = record.header.image,
					      .cgroup_id = record.cgroup_id,
					      .path = path};
	return true;
}

static bool decode(const void *record, size_t size, const struct record_header *header, struct event *event)
{
	event->type = (enum event_type)header->type;
	switch (event->type) {
	case EVENT_FORK: return decode_fork(record, size, &event->fork);
	case EVENT_EXEC:
	case EVENT_SAMPLE: return decode_exec(record, size, event);
	case EVENT_EXIT:
	case EVENT_FINAL: /* the same layout and fields (EVENT_FINAL_FIELDS) */
		return decode_exit(record, size, &event->exit) && counters_are_known(&event->exit.counters);
	case EVENT_CGROUP: return decode_cgroup(record, size, event);
	case EVENT_IGNORED: return decode_ignored(record, size, &event->ignored);
	case EVENT_SIGNAL: return decode_signal(record, size, &event->signal);
	case EVENT_DEVICE: return decode_device(record, size, &event->device);
	}
	return false;
}

int event_peek(const void *data, size_t size, struct record_header *ret_header)
{
	if (size < sizeof(*ret_header))
		return -EBADMSG;
	memcpy(ret_header, data, sizeof(*ret_header));
	return 0;
}

int event_decode(const void *record, size_t size, struct event *event)
{
	struct record_header header;

	if (event_peek(record, size, &header) || header.size != size || !decode(record, size, &header, event))
		return -EBADMSG;
	return 0;
}

int event_find(const struct wire_bytes *records, size_t *at, const void **ret_record, size_t *ret_size)
{
	const char *record = records->data + *at;
	size_t left = records->size - *at, padded_size;
	struct record_header header;

	if (left == 0)
		return 0;
	if (event_peek(record, left, &header) < 0)
		return -EBADMSG;
	padded_size = ((size_t)header.size + 7) & ~(size_t)7;
	if (header.size < sizeof(header) || padded_size > left)
		return -EBADMSG;
	*at += padded_size;
	*ret_record = record;
	*ret_size = header.size;
	return 1;
}
