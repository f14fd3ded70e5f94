/* The database of `tracer run --store FILE`. See keep.h. */
#include "cli/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/progress.h"
#include "common/store/store.h"
#include "common/text.h"

#define QUIET_BYTES (16 << 20) /* copied in far less than a second */

static int say(const char *path, const char *what, int error)
{
	char safe[512];

	text_escape(path, strlen(path), safe, sizeof(safe));
	fprintf(stderr, "tracer run: --store %s: %s: %s\n", safe, what, strerror(-error));
	return error;
}

/* The name with something behind it; 0 or -ENAMETOOLONG. */
static int name_with(const char *path, const char *suffix, char ret_name[PATH_MAX])
{
	return snprintf(ret_name, PATH_MAX, "%s%s", path, suffix) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int write_all(int fd, const char *data, ssize_t size)
{
	while (size > 0) {
		ssize_t written = write(fd, data, (size_t)size);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			data += written;
			size -= written;
		}
	}
	return 0;
}

static int copy_bytes(int from_fd, int to_fd)
{
	static char buffer[1 << 17];
	uint64_t copied_bytes = 0;
	ssize_t size;
	int error = 0;

	while (error == 0 && (size = read(from_fd, buffer, sizeof(buffer))) != 0) {
		if (size > 0)
			error = write_all(to_fd, buffer, size);
		else if (errno != EINTR)
			error = -errno;
		copied_bytes += size > 0 ? (uint64_t)size : 0;
		if (copied_bytes > QUIET_BYTES)
			progress_show("tracer: copying the database: %" PRIu64 " MiB",
				      copied_bytes >> 20);
	}
	progress_hide();
	return error;
}

/* ---- in ---------------------------------------------------------------------- */

static int lock_take(struct keep *keep)
{
	char name[PATH_MAX];
	int error = name_with(keep->path, ".lock", name);

	keep->lock_fd = error < 0 ? error : user_open(keep->user, name, O_RDWR | O_CREAT, 0600);
	if (keep->lock_fd < 0)
		return say(keep->path, "cannot create its lock file", keep->lock_fd);
	if (flock(keep->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return say(keep->path, "another tracer run, or a correlator, writes it",
			   errno == EWOULDBLOCK ? -EBUSY : -errno);
	return 0;
}

/* -ENOENT: there is none yet. */
static int store_check(const struct keep *keep)
{
	struct user_saved saved;
	struct store_error text;
	struct store *store = NULL;
	int error = user_enter(keep->user, &saved);

	if (error < 0)
		return error;
	error = store_open_reader(keep->path, &store, &text);
	store_close(store);
	user_leave(keep->user, &saved);
	if (error < 0 && error != -ENOENT)
		fprintf(stderr, "tracer run: %s\n", text.text);
	return error;
}

/* For the owner of the directory that it stands in: the correlator. */
static int copy_in(const struct keep *keep, const char *path, const char *copy_path)
{
	char directory[PATH_MAX];
	struct stat status;
	int from_fd, to_fd, error;

	snprintf(directory, sizeof(directory), "%s", copy_path);
	if (stat(dirname(directory), &status) < 0)
		return -errno;
	from_fd = user_open(keep->user, path, O_RDONLY, 0);
	if (from_fd < 0)
		return from_fd;
	to_fd = open(copy_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	error = to_fd < 0 ? -errno : copy_bytes(from_fd, to_fd);
	if (error == 0 && fchown(to_fd, status.st_uid, status.st_gid) < 0)
		error = -errno;
	close(from_fd);
	if (to_fd >= 0)
		close(to_fd);
	return error;
}

int keep_begin(struct keep *keep, const char *path, const struct user *user,
	       const char *copy_path)
{
	char log[PATH_MAX], copy_log[PATH_MAX];
	int error;

	*keep = (struct keep){.path = path, .user = user, .lock_fd = -1};
	if (!path)
		return 0;
	error = lock_take(keep);
	if (error < 0)
		return error;
	error = store_check(keep);
	if (error < 0)
		return error == -ENOENT ? 0 : error; /* there is none yet */
	error = copy_in(keep, path, copy_path);
	if (error == 0)
		error = name_with(path, "-wal", log);
	if (error == 0)
		error = name_with(copy_path, "-wal", copy_log);
	if (error == 0) /* what a killed writer left there belongs to it */
		error = copy_in(keep, log, copy_log);
	return error < 0 && error != -ENOENT ? say(path, "cannot copy it", error) : 0;
}

/* ---- out --------------------------------------------------------------------- */

static int log_fold(const char *path)
{
	struct store_error text;
	struct store *store = NULL;
	int error = store_open_writer(path, &store, &text);

	store_close(store);
	if (error < 0)
		fprintf(stderr, "tracer run: %s\n", text.text);
	return error;
}

/* With the user's rights. */
static int replace(const char *path, const char *new_path)
{
	static const char *const leftovers[] = {"-wal", "-shm"};
	char name[PATH_MAX];

	for (size_t i = 0; i < sizeof(leftovers) / sizeof(leftovers[0]); i++)
		if (name_with(path, leftovers[i], name) == 0 && unlink(name) < 0 && errno != ENOENT)
			return -errno;
	return rename(new_path, path) < 0 ? -errno : 0;
}

static int copy_out(const struct keep *keep, const char *copy_path)
{
	struct user_saved saved;
	char name[PATH_MAX];
	int from_fd = open(copy_path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), to_fd, error;

	if (from_fd < 0)
		return -errno;
	error = name_with(keep->path, ".new", name);
	if (error == 0)
		error = user_enter(keep->user, &saved);
	if (error < 0) {
		close(from_fd);
		return error;
	}
	unlink(name); /* of a run that was killed */
	to_fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	error = to_fd < 0 ? -errno : copy_bytes(from_fd, to_fd);
	if (error == 0)
		error = replace(keep->path, name);
	if (error < 0 && to_fd >= 0)
		unlink(name);
	user_leave(keep->user, &saved);
	close(from_fd);
	if (to_fd >= 0)
		close(to_fd);
	return error;
}

int keep_finish(struct keep *keep, const char *copy_path, bool clean)
{
	int error;

	if (!keep->path)
		return 0;
	error = clean ? 0 : log_fold(copy_path);
	if (error < 0)
		return error;
	error = copy_out(keep, copy_path);
	return error < 0 ? say(keep->path, "cannot write it", error) : 0;
}

void keep_release(struct keep *keep)
{
	if (keep->lock_fd >= 0)
		close(keep->lock_fd);
	keep->lock_fd = -1;
}
