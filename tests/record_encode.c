/* Encodes events as records. See record_encode.h. */
#include "tests/record_encode.h"

#include <stdlib.h>
#include <string.h>

/* The names of an absolute path from the leaf to the root, each terminated by NUL. */
static size_t path_split(const struct wire_bytes *path, char *names)
{
	size_t end = path->size, used = 0;

	while (end > 0) {
		size_t start = end;

		while (start > 0 && path->data[start - 1] != '/')
			start--;
		memcpy(names + used, path->data + start, end - start);
		used += end - start;
		names[used++] = '\0';
		end = start ? start - 1 : 0;
	}
	return used;
}

/* A path without the mark that it has if it is cut. */
static struct wire_bytes path_unmarked(struct wire_bytes path, bool is_cut, bool is_at_end)
{
	uint32_t mark = (uint32_t)strlen(EVENT_PATH_MARK);

	if (!is_cut || path.size == 0)
		return path;
	return (struct wire_bytes){path.data + (is_at_end ? 0 : mark), path.size - mark};
}

static size_t string_put(const struct wire_bytes *string, char *text)
{
	memcpy(text, string->data, string->size);
	text[string->size] = '\0';
	return string->size + 1;
}

/* If the text is full, the last NUL is missing, as when the kernel side truncates. */
static size_t arguments_put(const struct event_strings *argv, char *text)
{
	char *all = malloc(RECORD_ARGV_MAX + 1);
	size_t used = 0;

	for (uint32_t i = 0; i < argv->count; i++)
		used += string_put(&argv->item[i], all + used);
	used = used < RECORD_ARGV_MAX ? used : RECORD_ARGV_MAX;
	memcpy(text, all, used);
	free(all);
	return used;
}

#define HEADER(number, bytes, event) \
	((struct record_header){ \
		.type = number, .size = (uint32_t)(bytes), .boot_ns = (event)->boot_ns, .image = (event)->image})

/* Fixed-size records, field by field. */
#define NUMBER(name) record->name = (__typeof__(record->name))event->name;
#define STRUCTURE(name) record->name = event->name;
#define ENCODE(NAME, kind) \
	static size_t encode_##kind(uint32_t type, const struct event_##kind *event, struct record_##kind *record) \
	{ \
		*record = (struct record_##kind){0}; \
		EVENT_##NAME##_FIELDS(NUMBER, NUMBER, NUMBER, NUMBER, STRUCTURE, STRUCTURE) record->header = \
			HEADER(type, sizeof(*record), event); \
		return sizeof(*record); \
	}
ENCODE(FORK, fork)
ENCODE(EXIT, exit)
ENCODE(IGNORED, ignored)
ENCODE(SIGNAL, signal)
ENCODE(DEVICE, device)
#undef ENCODE
#undef NUMBER
#undef STRUCTURE

static size_t encode_exec(uint32_t type, const struct event_exec *event, struct record_exec *record)
{
	bool is_exec = type == RECORD_EXEC;
	struct wire_bytes filename = path_unmarked(event->filename, event->flags & RECORD_PATH_TRUNCATED, is_exec);
	struct wire_bytes cwd = path_unmarked(event->cwd, event->flags & RECORD_CWD_TRUNCATED, false);
	char *text = (char *)(record + 1);

	*record = (struct record_exec){.counters = event->counters};
#define NUMBER(name) record->context.name = (__typeof__(record->context.name))event->name;
#define STRUCTURE(name) record->context.name = event->name;
#define BEHIND(name)
	EVENT_EXEC_FIELDS(NUMBER, NUMBER, BEHIND, BEHIND, STRUCTURE, BEHIND)
	if (event->comm.size)
		memcpy(record->comm, event->comm.data, event->comm.size);
	if (event->filename.size)
		record->filename_size = (uint16_t)(is_exec ? string_put(&filename, text) : path_split(&filename, text));
	text += record->filename_size;
	record->cwd_size = (uint16_t)path_split(&cwd, text);
	record->argv_size = (uint32_t)arguments_put(&event->argv, text + record->cwd_size);
	size_t size = sizeof(*record) + record->filename_size + record->cwd_size + record->argv_size;
	record->header = HEADER(type, size, event);
	return size;
}

static size_t encode_cgroup(const struct event_cgroup *cgroup, struct record_cgroup *record)
{
	*record = (struct record_cgroup){.cgroup_id = cgroup->cgroup_id};
	size_t mark = strlen(EVENT_PATH_MARK);
	bool is_cut = cgroup->path.size > mark && memcmp(cgroup->path.data, EVENT_PATH_MARK, mark) == 0;
	struct wire_bytes path = path_unmarked(cgroup->path, is_cut, false);

	record->flags = is_cut ? RECORD_CGROUP_TRUNCATED : 0;
	record->path_size = (uint32_t)path_split(&path, (char *)(record + 1));
	size_t size = sizeof(*record) + record->path_size;
	record->header = HEADER(RECORD_CGROUP, size, cgroup);
	return size;
}

size_t record_encode(const struct event *event, void *ret_record)
{
	switch (event->type) {
	case EVENT_FORK: return encode_fork(event->type, &event->fork, ret_record);
	case EVENT_EXEC:
	case EVENT_SAMPLE: return encode_exec(event->type, &event->exec, ret_record);
	case EVENT_EXIT:
	case EVENT_FINAL: return encode_exit(event->type, &event->exit, ret_record);
	case EVENT_CGROUP: return encode_cgroup(&event->cgroup, ret_record);
	case EVENT_IGNORED: return encode_ignored(event->type, &event->ignored, ret_record);
	case EVENT_SIGNAL: return encode_signal(event->type, &event->signal, ret_record);
	case EVENT_DEVICE: return encode_device(event->type, &event->device, ret_record);
	}
	abort();
}
