/* Refused batches. See quarantine.h. */
#include "shipper/quarantine.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"
#include "shipper/file.h"

#define REASON_SUFFIX ".reason"

struct oldest {
	const char *directory;
	uint64_t total_bytes;
	struct timespec time;
	struct batch batch;
	bool found;
};

static int consider(const struct batch *batch, void *data)
{
	struct oldest *oldest = data;
	char path[PATH_MAX];
	struct stat status;

	if (file_path(path, oldest->directory, batch->name) < 0 || stat(path, &status) < 0)
		return 0;
	oldest->total_bytes += (uint64_t)status.st_size;
	if (oldest->found &&
	    (status.st_mtim.tv_sec > oldest->time.tv_sec ||
	     (status.st_mtim.tv_sec == oldest->time.tv_sec && status.st_mtim.tv_nsec >= oldest->time.tv_nsec)))
		return 0;
	oldest->found = true;
	oldest->time = status.st_mtim;
	oldest->batch = *batch;
	return 0;
}

int quarantine_remove(const char *directory, const struct batch *batch)
{
	char name[BATCH_NAME_BYTES + sizeof(REASON_SUFFIX)], path[PATH_MAX];

	snprintf(name, sizeof(name), "%s" REASON_SUFFIX, batch->name);
	if (file_path(path, directory, name) == 0)
		unlink(path);
	return file_path(path, directory, batch->name) < 0 || unlink(path) < 0 ? -errno : 0;
}

/* Each iteration removes one batch, so the loop ends. */
static int64_t trim(const char *directory, uint64_t bytes_max)
{
	int64_t dropped = 0;

	for (;;) {
		struct oldest oldest = {.directory = directory};
		int error = batch_each(directory, consider, &oldest);

		if (error < 0)
			return error;
		if (!oldest.found || oldest.total_bytes <= bytes_max)
			return dropped;
		error = quarantine_remove(directory, &oldest.batch);
		if (error < 0)
			return error;
		dropped += (int64_t)oldest.batch.row_count;
	}
}

int64_t quarantine_put(const char *state, const struct batch *batch, const char *reason, uint64_t bytes_max)
{
	char directory[PATH_MAX], name[BATCH_NAME_BYTES + sizeof(REASON_SUFFIX)], line[1024];
	size_t size;
	int error;

	if (file_path(directory, state, QUARANTINE_DIRECTORY) < 0)
		return -ENAMETOOLONG;
	if (mkdir(directory, 0750) < 0 && errno != EEXIST)
		return -errno;
	snprintf(name, sizeof(name), "%s" REASON_SUFFIX, batch->name);
	size = text_escape(reason, strlen(reason), line, sizeof(line) - 1); /* it quotes the server */
	line[size++] = '\n';
	error = file_write(directory, name, line, size, 0640, false);
	if (error == 0)
		error = file_copy(state, directory, batch->name);
	if (error < 0)
		return error;
	return trim(directory, bytes_max);
}
