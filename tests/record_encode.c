/* Events into records. See record_encode.h. */
#include "tests/record_encode.h"

#include <stdlib.h>
#include <string.h>

/* The names of an absolute path from the leaf to the root, each ended by NUL. */
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

static size_t string_put(const struct wire_bytes *string, char *text)
{
	memcpy(text, string->data, string->size);
	text[string->size] = '\0';
	return string->size + 1;
}

/* What is full has no room for the last NUL, as where the kernel side cuts. */
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

static void header_fill(struct record_header *header, uint32_t type, size_t size,
			uint64_t boot_ns, const struct image_key *image)
{
	*header = (struct record_header){.type = type, .size = (uint32_t)size, .boot_ns = boot_ns};
	if (image)
		header->image = *image;
}

static size_t encode_fork(const struct event_fork *fork, struct record_fork *record)
{
	*record = (struct record_fork){
		.parent = fork->parent,
		.cgroup_id = fork->cgroup_id,
		.sid = (uint32_t)fork->sid,
		.pgid = (uint32_t)fork->pgid,
		.uid = (uint32_t)fork->uid,
		.flags = (uint32_t)fork->flags,
	};
	header_fill(&record->header, RECORD_FORK, sizeof(*record), fork->boot_ns, &fork->image);
	return sizeof(*record);
}

static size_t encode_exec(uint32_t type, const struct event_exec *exec, struct record_exec *record)
{
	char *text = (char *)(record + 1);

	*record = (struct record_exec){
		.context = {
			.parent = exec->parent,
			.cgroup_id = exec->cgroup_id,
			.pid_namespace = (uint32_t)exec->pid_namespace,
			.mount_namespace = (uint32_t)exec->mount_namespace,
			.uid = (uint32_t)exec->uid,
			.gid = (uint32_t)exec->gid,
			.sid = (uint32_t)exec->sid,
			.pgid = (uint32_t)exec->pgid,
			.tty = (uint32_t)exec->tty,
			.stdin_pipe = (uint32_t)exec->stdin_pipe,
			.stdout_pipe = (uint32_t)exec->stdout_pipe,
			.flags = (uint32_t)exec->flags,
		},
		.counters = exec->counters,
	};
	if (exec->comm.size)
		memcpy(record->comm, exec->comm.data, exec->comm.size);
	if (exec->filename.size)
		record->filename_size = (uint16_t)(type == RECORD_EXEC
			? string_put(&exec->filename, text) : path_split(&exec->filename, text));
	text += record->filename_size;
	record->cwd_size = (uint16_t)path_split(&exec->cwd, text);
	record->argv_size = (uint32_t)arguments_put(&exec->argv, text + record->cwd_size);
	size_t size = sizeof(*record) + record->filename_size + record->cwd_size +
		record->argv_size;
	header_fill(&record->header, type, size, exec->boot_ns, &exec->image);
	return size;
}

static size_t encode_exit(uint32_t type, const struct event_exit *exit, struct record_exit *record)
{
	*record = (struct record_exit){
		.counters = exit->counters,
		.wait_status = (uint32_t)exit->wait_status,
		.flags = (uint32_t)exit->flags,
	};
	header_fill(&record->header, type, sizeof(*record), exit->boot_ns, &exit->image);
	return sizeof(*record);
}

static size_t encode_cgroup(const struct event_cgroup *cgroup, struct record_cgroup *record)
{
	*record = (struct record_cgroup){.cgroup_id = cgroup->cgroup_id};
	struct wire_bytes path = cgroup->path;
	size_t mark = strlen(EVENT_PATH_MARK);

	if (path.size > mark && memcmp(path.data, EVENT_PATH_MARK, mark) == 0) {
		path = (struct wire_bytes){path.data + mark, (uint32_t)(path.size - mark)};
		record->flags = RECORD_CGROUP_TRUNCATED;
	}
	record->path_size = (uint32_t)path_split(&path, (char *)(record + 1));
	size_t size = sizeof(*record) + record->path_size;
	header_fill(&record->header, RECORD_CGROUP, size, cgroup->boot_ns, NULL);
	return size;
}

static size_t encode_signal(const struct event_signal *signal, struct record_signal *record)
{
	*record = (struct record_signal){
		.sender = signal->sender,
		.sender_uid = (uint32_t)signal->sender_uid,
		.signal = (uint32_t)signal->signal,
		.code = (int32_t)signal->code,
		.flags = (uint32_t)signal->flags,
	};
	header_fill(&record->header, RECORD_SIGNAL, sizeof(*record), signal->boot_ns,
		    &signal->image);
	return sizeof(*record);
}

static size_t encode_device(const struct event_device *device, struct record_device *record)
{
	*record = (struct record_device){
		.major = (uint32_t)device->major,
		.minor = (uint32_t)device->minor,
	};
	header_fill(&record->header, RECORD_DEVICE, sizeof(*record), device->boot_ns,
		    &device->image);
	return sizeof(*record);
}

size_t record_encode(const struct event *event, void *ret_record)
{
	switch (event->type) {
	case EVENT_FORK:
		return encode_fork(&event->fork, ret_record);
	case EVENT_EXEC:
	case EVENT_SAMPLE:
		return encode_exec(event->type, &event->exec, ret_record);
	case EVENT_EXIT:
	case EVENT_FINAL:
		return encode_exit(event->type, &event->exit, ret_record);
	case EVENT_CGROUP:
		return encode_cgroup(&event->cgroup, ret_record);
	case EVENT_IGNORED:
		header_fill(ret_record, RECORD_IGNORED, sizeof(struct record_header),
			    event->ignored.boot_ns, &event->ignored.image);
		return sizeof(struct record_header);
	case EVENT_SIGNAL:
		return encode_signal(&event->signal, ret_record);
	case EVENT_DEVICE:
		return encode_device(&event->device, ret_record);
	}
	abort();
}
