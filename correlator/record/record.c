/* See record.h. */
#include "correlator/record/record.h"

#include <errno.h>
#include <string.h>

_Static_assert(COUNTER_COUNT < 64, "struct counters.valid has one bit per counter");
_Static_assert(RECORD_CGROUP_PATH_MAX <= RECORD_CWD_MAX && RECORD_FILENAME_MAX <= RECORD_CWD_MAX,
	       "struct record has room for every path");

/* Whether a text of a record is at most `most` bytes of complete strings. */
static bool text_is_whole(const char *text, size_t size, size_t most)
{
	return size <= most && (size == 0 || text[size - 1] == '\0');
}

/* Joins names, from leaf to root and each terminated by NUL, into an absolute path of the
 * same number of bytes, after a mark if it is cut. The root itself is one empty name. */
static struct wire_bytes path_join(const char *names, size_t size, bool is_cut, char *path)
{
	size_t end = size, used = size && is_cut ? strlen(RECORD_PATH_MARK) : 0;

	memcpy(path, RECORD_PATH_MARK, used);
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
	size_t mark = size && is_cut ? strlen(RECORD_PATH_MARK) : 0;

	size = strnlen(text, size);
	memcpy(path, text, size);
	memcpy(path + size, RECORD_PATH_MARK, mark);
	return (struct wire_bytes){path, (uint32_t)(size + mark)};
}

/* Each argument is terminated by NUL, except perhaps the last one of a cut argv. Returns false if there are
 * too many. */
static bool arguments_split(const char *data, size_t size, struct record_arguments *argv)
{
	const char *end = data + size;

	argv->count = 0;
	while (data < end) {
		if (argv->count == RECORD_ARGUMENTS_MAX)
			return false;
		const char *stop = memchr(data, '\0', (size_t)(end - data));
		size_t length = (size_t)((stop ? stop : end) - data);
		argv->item[argv->count++] = (struct wire_bytes){data, (uint32_t)length};
		data += length + 1;
	}
	return true;
}

static bool counters_are_known(const struct counters *counters)
{
	return (counters->valid & ~COUNTERS_PARTIAL) >> COUNTER_COUNT == 0;
}

static bool take_exec_text(struct record *record, const char *filename, size_t size)
{
	struct record_exec *exec = &record->exec;
	uint32_t *flags = &exec->context.flags;
	bool is_exec = exec->header.type == RECORD_EXEC;
	const char *cwd = filename + exec->filename_size, *argv = cwd + exec->cwd_size;

	if (exec->argv_size > RECORD_ARGV_MAX ||
	    size != (size_t)exec->filename_size + exec->cwd_size + exec->argv_size ||
	    !text_is_whole(filename, exec->filename_size, is_exec ? RECORD_FILENAME_MAX : RECORD_CWD_MAX) ||
	    !text_is_whole(cwd, exec->cwd_size, RECORD_CWD_MAX) || !counters_are_known(&exec->counters))
		return false;
	if (!(*flags & RECORD_CORE_LIMIT))
		exec->context.core_limit_milli = 0;
	record->comm = (struct wire_bytes){exec->comm, (uint32_t)strnlen(exec->comm, RECORD_COMM_SIZE)};
	record->path = (is_exec ? path_copy : path_join)(filename, exec->filename_size, *flags & RECORD_PATH_TRUNCATED,
							 record->room[0]);
	record->cwd = path_join(cwd, exec->cwd_size, *flags & RECORD_CWD_TRUNCATED, record->room[1]);
	if (!arguments_split(argv, exec->argv_size, &record->argv))
		*flags |= RECORD_ARGV_TRUNCATED;
	return true;
}

static bool take_cgroup_text(struct record *record, const char *names, size_t size)
{
	const struct record_cgroup *cgroup = &record->cgroup;

	if (size != cgroup->path_size || !text_is_whole(names, size, RECORD_CGROUP_PATH_MAX))
		return false;
	record->path = (struct wire_bytes){"/", 1};
	if (size)
		record->path = path_join(names, size, cgroup->flags & RECORD_CGROUP_TRUNCATED, record->room[0]);
	return true;
}

size_t record_fixed_size(uint32_t type)
{
	switch (type) {
	case RECORD_FORK: return sizeof(struct record_fork);
	case RECORD_EXEC:
	case RECORD_SAMPLE: return sizeof(struct record_exec);
	case RECORD_EXIT:
	case RECORD_FINAL: return sizeof(struct record_exit);
	case RECORD_CGROUP: return sizeof(struct record_cgroup);
	case RECORD_IGNORED: return sizeof(struct record_ignored);
	case RECORD_SIGNAL: return sizeof(struct record_signal);
	case RECORD_DEVICE: return sizeof(struct record_device);
	case RECORD_FILE: return sizeof(struct record_file);
	case RECORD_MEMORY: return sizeof(struct record_memory);
	default: return 0;
	}
}

/* Checks what follows the fixed part. */
static bool take_text(struct record *record, const char *text, size_t size)
{
	switch (record->header.type) {
	case RECORD_EXEC:
	case RECORD_SAMPLE: return take_exec_text(record, text, size);
	case RECORD_EXIT:
	case RECORD_FINAL: return size == 0 && counters_are_known(&record->exit.counters);
	case RECORD_CGROUP: return take_cgroup_text(record, text, size);
	default: return size == 0;
	}
}

int record_peek(const void *data, size_t size, struct record_header *ret_header)
{
	if (size < sizeof(*ret_header))
		return -EBADMSG;
	memcpy(ret_header, data, sizeof(*ret_header));
	return 0;
}

/* Of an earlier release: it ends before the memory of the child. */
static bool is_short_fork(const struct record_header *header)
{
	return header->type == RECORD_FORK && header->size == offsetof(struct record_fork, anon_kib);
}

int record_read(const void *data, size_t size, struct record *ret_record)
{
	struct record_header header;

	if (record_peek(data, size, &header) < 0 || header.size != size)
		return -EBADMSG;
	if (is_short_fork(&header)) {
		memcpy(ret_record, data, size);
		ret_record->fork.anon_kib = RECORD_KIB_UNKNOWN;
		ret_record->fork.parent_shared_kib = 0;
		ret_record->fork.flags &= ~RECORD_FORK_FAULTS;
		return 0;
	}
	size_t fixed = record_fixed_size(header.type);

	if (fixed == 0 || size < fixed)
		return -EBADMSG;
	memcpy(ret_record, data, fixed);
	return take_text(ret_record, (const char *)data + fixed, size - fixed) ? 0 : -EBADMSG;
}

int record_find(const struct wire_bytes *records, size_t *at, const void **ret_record, size_t *ret_size)
{
	const char *record = records->data + *at;
	size_t left = records->size - *at, padded_size;
	struct record_header header;

	if (left == 0)
		return 0;
	if (record_peek(record, left, &header) < 0)
		return -EBADMSG;
	padded_size = ((size_t)header.size + 7) & ~(size_t)7;
	if (header.size < sizeof(header) || padded_size > left)
		return -EBADMSG;
	*at += padded_size;
	*ret_record = record;
	*ret_size = header.size;
	return 1;
}
