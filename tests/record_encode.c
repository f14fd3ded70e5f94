/* Encodes records. See record_encode.h. */
#include "tests/record_encode.h"

#include <string.h>

/* The names of an absolute path from the leaf to the root, each terminated by NUL. Returns their end. */
static char *put_names(const struct wire_bytes *path, char *to)
{
	size_t end = path->size;

	while (end > 0) {
		size_t start = end;

		while (start > 0 && path->data[start - 1] != '/')
			start--;
		to = mempcpy(to, path->data + start, end - start);
		*to++ = '\0';
		end = start ? start - 1 : 0;
	}
	return to;
}

static char *put_string(const struct wire_bytes *string, char *to)
{
	to = mempcpy(to, string->data, string->size);
	*to++ = '\0';
	return to;
}

static char *put_exec_text(const struct record *record, struct record_exec *exec, char *text)
{
	char *end = text;

	memset(exec->comm, 0, sizeof(exec->comm));
	if (record->comm.size)
		memcpy(exec->comm, record->comm.data, record->comm.size);
	if (record->path.size)
		end = exec->header.type == RECORD_EXEC ? put_string(&record->path, end) : put_names(&record->path, end);
	exec->filename_size = (uint16_t)(end - text);
	text = end;
	end = put_names(&record->cwd, end);
	exec->cwd_size = (uint16_t)(end - text);
	text = end;
	for (uint32_t i = 0; i < record->argv.count; i++)
		end = put_string(&record->argv.item[i], end);
	exec->argv_size = (uint32_t)(end - text);
	return end;
}

size_t record_encode(const struct record *record, void *ret_data)
{
	struct record_header *header = ret_data;
	char *text = mempcpy(ret_data, record, record_fixed_size(record->header.type)), *end = text;

	if (header->type == RECORD_EXEC || header->type == RECORD_SAMPLE) {
		end = put_exec_text(record, ret_data, text);
	} else if (header->type == RECORD_CGROUP) {
		end = put_names(&record->path, text);
		((struct record_cgroup *)ret_data)->path_size = (uint32_t)(end - text);
	}
	header->size = (uint32_t)(end - (char *)ret_data);
	return header->size;
}
