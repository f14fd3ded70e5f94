/* The user that a command is run as, and files are written as. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define USER_GROUPS_MAX 256

struct user {
	bool differs; /* from us: nothing is changed where it does not */
	uid_t uid;
	gid_t gid;
	char name[64];
	char home[256];
	gid_t groups[USER_GROUPS_MAX]; /* supplementary */
	int group_count;
};

/* Whoever started us: behind sudo (SUDO_UID, believed only of root's environment)
 * the user who called it, else ourselves. 0 or -errno. */
int user_read_invoking(struct user *user);

/* By name or number, for --as. 0, -ENOENT; -EPERM where we are not root. */
int user_read_named(struct user *user, const char *text);

/* For good, in a child about to exec: groups, then ids. HOME, USER and LOGNAME
 * that still speak of root, as sudo leaves them, become the user's own; nothing
 * else of the environment changes. 0 or -errno. */
int user_become(const struct user *user);

/* Between these two, files are reached with the user's rights, so that no symbolic
 * link makes us write where the user may not. Nothing changes where the user does
 * not differ. user_leave() does not return if it cannot restore ours. */
struct user_saved {
	gid_t gid;
	gid_t groups[USER_GROUPS_MAX];
	int group_count;
};
int user_enter(const struct user *user, struct user_saved *saved);
void user_leave(const struct user *user, const struct user_saved *saved);

/* open() so: the descriptor, close-on-exec, or -errno. */
int user_open(const struct user *user, const char *path, int flags, mode_t mode);
