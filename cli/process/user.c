/* The user as which a command is run. See user.h. */
#include "cli/process/user.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/parse.h"

/* Fills in the account of `uid`; without a passwd entry `gid` is its only group. */
static int user_fill(struct user *user, uid_t uid, gid_t gid)
{
	const struct passwd *entry = getpwuid(uid);

	*user = (struct user){.differs = uid != geteuid(), .uid = uid, .gid = gid, .groups = {gid}, .group_count = 1};
	if (!entry)
		return 0;
	snprintf(user->name, sizeof(user->name), "%s", entry->pw_name);
	snprintf(user->home, sizeof(user->home), "%s", entry->pw_dir);
	user->group_count = USER_GROUPS_MAX;
	return getgrouplist(user->name, gid, user->groups, &user->group_count) < 0 ? -E2BIG : 0;
}

/* Returns false if we are not root, or not under sudo. */
static bool read_sudo(uid_t *ret_uid, gid_t *ret_gid)
{
	const char *sudo_uid = getenv("SUDO_UID"), *sudo_gid = getenv("SUDO_GID");
	uint64_t uid, gid;

	if (geteuid() != 0 || !sudo_uid || !sudo_gid || parse_number(sudo_uid, parse_counts, 0, UINT32_MAX - 1, &uid) ||
	    parse_number(sudo_gid, parse_counts, 0, UINT32_MAX - 1, &gid))
		return false;
	*ret_uid = (uid_t)uid;
	*ret_gid = (gid_t)gid;
	return true;
}

int user_read_invoking(struct user *user)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	read_sudo(&uid, &gid);
	return user_fill(user, uid, gid);
}

bool user_path(const char *name, char ret_path[PATH_MAX])
{
	uid_t uid = geteuid();
	gid_t gid;
	/* sudo sets HOME to root's, and removes XDG_STATE_HOME: with and without it, the place has to be the same. */
	const char *home = read_sudo(&uid, &gid) ? NULL : getenv("HOME");
	const struct passwd *entry = home && *home ? NULL : getpwuid(uid);

	if (entry)
		home = entry->pw_dir;
	return home && *home == '/' && snprintf(ret_path, PATH_MAX, "%s/.local/state/tracer/%s", home, name) < PATH_MAX;
}

const char *user_store_path(void)
{
	static char path[PATH_MAX];

	return user_path("tracer.db", path) ? path : "";
}

int user_read_named(struct user *user, const char *text)
{
	uid_t uid;
	gid_t gid;

	if (parse_user(text, &uid, &gid) < 0)
		return -ENOENT;
	if (uid != geteuid() && geteuid() != 0)
		return -EPERM;
	return user_fill(user, uid, gid);
}

static void environment_restore(const struct user *user)
{
	const struct passwd *root = getpwuid(0);
	const char *home = getenv("HOME");

	if (home && root && *user->home && strcmp(home, root->pw_dir) == 0)
		setenv("HOME", user->home, 1);
	for (size_t i = 0; i < 2 && *user->name; i++) {
		const char *name = i == 0 ? "USER" : "LOGNAME", *value = getenv(name);

		if (value && strcmp(value, "root") == 0)
			setenv(name, user->name, 1);
	}
}

int user_become(const struct user *user)
{
	if (!user->differs)
		return 0;
	environment_restore(user); /* reads the accounts, so before rights are dropped */
	if (setgroups((size_t)user->group_count, user->groups) < 0 || setresgid(user->gid, user->gid, user->gid) < 0 ||
	    setresuid(user->uid, user->uid, user->uid) < 0)
		return -errno;
	return 0;
}

int user_enter(const struct user *user, struct user_saved *saved)
{
	int error;

	if (!user->differs)
		return 0;
	saved->gid = getegid();
	saved->group_count = getgroups(USER_GROUPS_MAX, saved->groups);
	if (saved->group_count < 0 || setgroups((size_t)user->group_count, user->groups) < 0)
		return -errno;
	if (setegid(user->gid) == 0 && seteuid(user->uid) == 0)
		return 0;
	error = -errno;
	user_leave(user, saved);
	return error;
}

void user_leave(const struct user *user, const struct user_saved *saved)
{
	if (!user->differs)
		return;
	if (seteuid(0) < 0 || setegid(saved->gid) < 0 || setgroups((size_t)saved->group_count, saved->groups) < 0)
		abort(); /* a mixture of both users: it is not safe to continue */
}

int user_make_directories(const struct user *user, const char *path)
{
	struct user_saved saved;
	char part[PATH_MAX];
	int error = user_enter(user, &saved);

	if (error < 0)
		return error;
	for (const char *slash = strchr(path + 1, '/'); error == 0 && slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		if (mkdir(part, 0700) < 0 && errno != EEXIST)
			error = -errno;
	}
	user_leave(user, &saved);
	return error;
}

int user_open(const struct user *user, const char *path, int flags, mode_t mode)
{
	struct user_saved saved;
	int fd = user_enter(user, &saved);

	if (fd < 0)
		return fd;
	fd = open(path, flags | O_CLOEXEC, mode);
	if (fd < 0)
		fd = -errno;
	user_leave(user, &saved);
	return fd;
}
