/* See names_kept.h. */
#include "cli/report/names_kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/query/units.h"
#include "cli/process/user.h"
#include "cli/screen/output.h"

/* Returns false if the user has no home directory. */
static bool path_of(int64_t run_id, char path[PATH_MAX])
{
	char name[32];

	snprintf(name, sizeof(name), "names/%s", units_id(run_id, false));
	return user_path(name, path);
}

/* The copy is complete, or there is none. Returns 0 or -errno. */
static int replace(const char *path, int from, off_t size)
{
	char temporary[PATH_MAX + sizeof(".new")];
	ssize_t copied = 0;
	int error, to;

	snprintf(temporary, sizeof(temporary), "%s.new", path);
	to = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (to < 0)
		return -errno;
	while (size > 0 && (copied = sendfile(to, from, NULL, (size_t)size)) > 0)
		size -= copied;
	error = copied < 0 ? -errno : 0;
	if (close(to) < 0 && error == 0)
		error = -errno;
	if (error == 0 && rename(temporary, path) < 0)
		error = -errno;
	if (error < 0)
		unlink(temporary);
	return error;
}

bool names_kept_find(int64_t run_id, char ret_path[PATH_MAX])
{
	return path_of(run_id, ret_path) && access(ret_path, R_OK) == 0;
}

/* With the user's rights throughout: under sudo, a copy has nothing that the user may not read. */
static int copy_keep(const struct user *user, const char *kept, const char *path)
{
	int from = user_open(user, path, O_RDONLY, 0), error;
	struct user_saved saved;
	struct stat status;

	if (from < 0)
		return from;
	error = fstat(from, &status) < 0 ? -errno : user_make_directories(user, kept);
	if (error == 0)
		error = user_enter(user, &saved);
	if (error == 0) {
		error = S_ISREG(status.st_mode) ? replace(kept, from, status.st_size) : 0;
		user_leave(user, &saved);
	}
	close(from);
	return error;
}

void names_kept_put(int64_t run_id, const char *path)
{
	char kept[PATH_MAX];
	struct user user;
	int error;

	if (!path_of(run_id, kept))
		return;
	error = user_read_invoking(&user);
	if (error == 0)
		error = copy_keep(&user, kept, path);
	if (error < 0)
		say("tracer: the names are not kept for this run: %s: %s", kept, strerror(-error));
}

void names_kept_drop(int64_t run_id)
{
	struct user_saved saved;
	char path[PATH_MAX];
	struct user user;

	if (!path_of(run_id, path) || user_read_invoking(&user) < 0 || user_enter(&user, &saved) < 0)
		return;
	unlink(path);
	user_leave(&user, &saved);
}
