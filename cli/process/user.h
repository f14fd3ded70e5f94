/* The user as which a command is run and files are written. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#define USER_GROUPS_MAX 256

struct user {
	bool differs; /* from us; if not, nothing is changed */
	uid_t uid;
	gid_t gid;
	char name[64];
	char home[256];
	gid_t groups[USER_GROUPS_MAX]; /* supplementary */
	int group_count;
};

/* The user who started us: under sudo (SUDO_UID, trusted only if we are root) the
 * user who called sudo, else our own. Returns 0 or -errno. */
int user_read_invoking(struct user *user);

/* Sets the path of a file that Tracer keeps for the invoking user: below the home directory, under sudo that of the user
 * who called sudo. Returns false if none is known. */
bool user_path(const char *name, char ret_path[PATH_MAX]);
/* The store among these files, in which `tracer run` keeps runs if no services do. "" if none is known. */
const char *user_store_path(void);

/* Looks up a name or number, for --as. Returns 0, -ENOENT, or -EPERM if we are not root. */
int user_read_named(struct user *user, const char *text);

/* Switches permanently, in a child about to exec: groups, then ids. Replaces HOME,
 * USER and LOGNAME by the user's own if they are still root's, as sudo leaves them;
 * changes nothing else in the environment. Returns 0 or -errno. */
int user_become(const struct user *user);

/* Between these two, files are accessed with the user's rights, so that no symbolic
 * link makes us write where the user may not. They do nothing if the user does not
 * differ. user_leave() aborts if it cannot restore our own rights. */
struct user_saved {
	gid_t gid;
	gid_t groups[USER_GROUPS_MAX];
	int group_count;
};
int user_enter(const struct user *user, struct user_saved *saved);
void user_leave(const struct user *user, const struct user_saved *saved);

/* Creates the directories above a file (mode 0700), with the user's rights. Returns 0 or -errno. */
int user_make_directories(const struct user *user, const char *path);

/* open() with the user's rights. Returns the descriptor (close-on-exec) or -errno. */
int user_open(const struct user *user, const char *path, int flags, mode_t mode);
