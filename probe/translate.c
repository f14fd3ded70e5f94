/* Records into messages. See translate.h. */
#include "probe/translate.h"

#include <errno.h>
#include <string.h>

/* Names from the leaf to the root, each ended by NUL, as an absolute path: the same
 * number of bytes. The root itself is one empty name. */
static struct wire_bytes path_join(const char *names, size_t size, char *path)
{
	size_t end = size, used = 0;

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

/* Each argument is ended by NUL; the last one of a cut argv may not be. */
static void arguments_split(const char *data, size_t size, struct wire_strings *argv,
			    uint64_t *flags)
{
	const char *end = data + size;

	argv->count = 0;
	while (data < end) {
		if (argv->count == WIRE_ARGV_MAX) {
			*flags |= RECORD_ARGV_TRUNCATED;
			return;
		}
		const char *stop = memchr(data, '\0', (size_t)(end - data));
		size_t length = (size_t)((stop ? stop : end) - data);
		argv->item[argv->count++] = (struct wire_bytes){data, (uint32_t)length};
		data += length + 1;
	}
}

static int translate_fork(const struct record_fork *record, uint64_t offset,
			  struct translation *translation)
{
	if (record->header.size != sizeof(*record))
		return -EBADMSG;
	translation->message.type = WIRE_FORK;
	translation->message.fork = (struct wire_fork){
		.offset = offset,
		.boot_ns = record->header.boot_ns,
		.image = record->header.image,
		.parent = record->parent,
		.cgroup_id = record->cgroup_id,
		.sid = record->sid,
		.pgid = record->pgid,
		.uid = record->uid,
		.flags = record->flags,
	};
	return 0;
}

/* The fields that exec and sample share, in either message. */
#define CONTEXT_FILL(message, record, text, translation)                                       \
	do {                                                                                   \
		const struct record_context *from = &(record)->context;                        \
		(message)->boot_ns = (record)->header.boot_ns;                                 \
		(message)->image = (record)->header.image;                                     \
		(message)->parent = from->parent;                                              \
		(message)->cgroup_id = from->cgroup_id;                                        \
		(message)->pid_namespace = from->pid_namespace;                                \
		(message)->mount_namespace = from->mount_namespace;                            \
		(message)->uid = from->uid;                                                    \
		(message)->gid = from->gid;                                                    \
		(message)->sid = from->sid;                                                    \
		(message)->pgid = from->pgid;                                                  \
		(message)->tty = from->tty;                                                    \
		(message)->stdin_pipe = from->stdin_pipe;                                      \
		(message)->stdout_pipe = from->stdout_pipe;                                    \
		(message)->flags = from->flags;                                                \
		(message)->counters = (record)->counters;                                      \
		(message)->comm = (struct wire_bytes){                                         \
			(record)->comm,                                                        \
			(uint32_t)strnlen((record)->comm, sizeof((record)->comm))};            \
		(message)->cwd = path_join((text) + (record)->filename_size,                   \
					   (record)->cwd_size, (translation)->path);           \
		arguments_split((text) + (record)->filename_size + (record)->cwd_size,         \
				(record)->argv_size, &(message)->argv, &(message)->flags);     \
	} while (0)

static bool counters_are_known(const struct counters *counters)
{
	return counters->valid >> COUNTER_COUNT == 0;
}

static int translate_exec(const struct record_exec *record, uint64_t offset,
			  struct translation *translation)
{
	const char *text = (const char *)(record + 1);

	if (record->header.size < sizeof(*record) || record->filename_size > RECORD_CWD_MAX ||
	    record->cwd_size > RECORD_CWD_MAX || record->argv_size > RECORD_ARGV_MAX ||
	    record->header.size != sizeof(*record) + record->filename_size + record->cwd_size +
		    record->argv_size || !counters_are_known(&record->counters))
		return -EBADMSG;
	if (record->header.type == RECORD_EXEC) {
		struct wire_exec *exec = &translation->message.exec;

		translation->message.type = WIRE_EXEC;
		exec->offset = offset;
		CONTEXT_FILL(exec, record, text, translation);
		exec->filename = (struct wire_bytes){
			text, (uint32_t)strnlen(text, record->filename_size)};
	} else {
		struct wire_sample *sample = &translation->message.sample;

		translation->message.type = WIRE_SAMPLE;
		CONTEXT_FILL(sample, record, text, translation);
		sample->filename =
			path_join(text, record->filename_size, translation->filename);
	}
	return 0;
}

static int translate_exit(const struct record_exit *record, uint64_t offset,
			  struct translation *translation)
{
	if (record->header.size != sizeof(*record) || !counters_are_known(&record->counters))
		return -EBADMSG;
	translation->message.type = record->header.type == RECORD_EXIT ? WIRE_EXIT : WIRE_FINAL;
	/* Both messages have the same fields (WIRE_FINAL_FIELDS). */
	translation->message.exit = (struct wire_exit){
		.offset = offset,
		.boot_ns = record->header.boot_ns,
		.image = record->header.image,
		.counters = record->counters,
		.wait_status = record->wait_status,
		.flags = record->flags,
	};
	return 0;
}

static int translate_cgroup(const struct record_cgroup *record, uint64_t offset,
			    struct translation *translation)
{
	if (record->header.size < sizeof(*record) || record->path_size > RECORD_CGROUP_PATH_MAX ||
	    record->header.size != sizeof(*record) + record->path_size)
		return -EBADMSG;
	translation->message.type = WIRE_CGROUP;
	translation->message.cgroup = (struct wire_cgroup){
		.offset = offset,
		.boot_ns = record->header.boot_ns,
		.cgroup_id = record->cgroup_id,
		.path = record->path_size ? path_join((const char *)(record + 1),
						      record->path_size, translation->path)
					  : (struct wire_bytes){"/", 1},
	};
	return 0;
}

static int translate_ignored(const struct record_header *header, uint64_t offset,
			     struct translation *translation)
{
	if (header->size != sizeof(*header))
		return -EBADMSG;
	translation->message.type = WIRE_IGNORED;
	translation->message.ignored = (struct wire_ignored){
		.offset = offset,
		.boot_ns = header->boot_ns,
		.image = header->image,
	};
	return 0;
}

int record_translate(const void *record, size_t size, uint64_t offset,
		     struct translation *translation)
{
	const struct record_header *header = record;

	if (size < sizeof(*header) || header->size != size)
		return -EBADMSG;
	switch (header->type) {
	case RECORD_FORK:
		return translate_fork(record, offset, translation);
	case RECORD_EXEC:
	case RECORD_SAMPLE:
		return translate_exec(record, offset, translation);
	case RECORD_EXIT:
	case RECORD_FINAL:
		return translate_exit(record, offset, translation);
	case RECORD_CGROUP:
		return translate_cgroup(record, offset, translation);
	case RECORD_IGNORED:
		return translate_ignored(header, offset, translation);
	}
	return -EBADMSG;
}
