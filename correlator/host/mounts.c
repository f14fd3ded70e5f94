/* Parses /proc/self/mountinfo. See mounts.h, and proc_pid_mountinfo(5) for the fields. */
#include "correlator/host/mounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 4096

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- lines ----------------------------------------------------------------------- */

/* Blank, tab, newline, # and \ are written as \ and three octal digits. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		unsigned value = 0, digit;

		for (digit = 1; *text == '\\' && digit <= 3 && text[digit] >= '0' && text[digit] <= '7'; digit++)
			value = value * 8 + (unsigned)(text[digit] - '0');
		if (digit == 4 && value > 0 && value < 256) {
			*to++ = (char)value;
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

/* ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG]... - TYPE SOURCE SUPER-OPTIONS */
static bool take_line(char *text, struct mount *ret)
{
	const char *type;
	char *field;

	ret->id = strtoull(text, &text, 10);
	if (*text != ' ')
		return false;
	for (int skipped = 0; skipped < 3; skipped++)
		strsep(&text, " ");
	ret->root = strsep(&text, " ");
	ret->point = strsep(&text, " ");
	while ((field = strsep(&text, " ")) && strcmp(field, "-") != 0)
		;
	type = strsep(&text, " ");
	if (!strsep(&text, " ") || !text || ret->point[0] != '/')
		return false;
	strncpy(ret->type, type, sizeof(ret->type) - 1);
	ret->super_options = text;
	unescape((char *)ret->point);
	return true;
}

/* Returns 0 or -EINVAL. */
static int take_lines(char *text, struct mounts *mounts)
{
	char *line;

	while ((line = strsep(&text, "\n")) && *line)
		if (mounts->count == LINES_MAX || !take_line(line, &mounts->items[mounts->count++]))
			return -EINVAL;
	return 0;
}

static bool is_beneath(const char *path, const char *directory)
{
	const char *at = path;

	for (; *directory && *at == *directory; directory++)
		at++;
	return !*directory && (*at == '/' || *at == '\0' || at[-1] == '/'); /* at[-1]: the root */
}

/* Of mounts at one point the last is on top. */
static bool is_covered(const struct mounts *mounts, const struct mount *mount)
{
	for (const struct mount *later = mount + 1; later < mounts->items + mounts->count; later++)
		if (strcmp(mount->point, later->point) == 0)
			return true;
	return false;
}

/* ---- which are kept ---------------------------------------------------------------- */

static bool is_one_of(const char *text, const char *const names[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(text, names[i]) == 0)
			return true;
	return false;
}

/* File systems without storage, and what runtimes mount for containers: no process of the host itself works there. */
static bool is_left_out(const struct mount *mount)
{
	static const char *const types[] = {
		"binfmt_misc", "bpf",      "cgroup",     "cgroup2",    "configfs",  "debugfs", "devpts",
		"devtmpfs",    "efivarfs", "fusectl",    "hugetlbfs",  "mqueue",    "nsfs",    "overlay",
		"proc",        "pstore",   "rpc_pipefs", "securityfs", "selinuxfs", "sysfs",   "tracefs",
	};
	static const char *const directories[] = {"/var/lib/docker", "/var/lib/containers", "/var/lib/kubelet",
						  "/run/containerd", "/run/credentials"};

	for (size_t i = 0; i < COUNT(directories); i++)
		if (is_beneath(mount->point, directories[i]) && strlen(mount->point) > strlen(directories[i]))
			return true;
	return is_one_of(mount->type, types, COUNT(types)) || strlen(mount->point) > MOUNT_POINT_MAX;
}

/* A request that a FUSE server has taken and does not answer cannot be ended, not even by SIGKILL: it would keep the
 * correlator from ending. */
static bool is_fuse(const char *type)
{
	return strncmp(type, "fuse", strlen("fuse")) == 0;
}

static bool is_in_fuse(const struct mounts *mounts, const struct mount *mount)
{
	for (size_t i = 0; i < mounts->count; i++)
		if (is_fuse(mounts->items[i].type) && is_beneath(mount->point, mounts->items[i].point))
			return true;
	return false;
}

static bool is_read_only(const char *options)
{
	return strncmp(options, "ro", 2) == 0 && (options[2] == ',' || options[2] == '\0');
}

/* Asking an automount point would mount it. systemd hides directories beneath an empty one of its own. */
static bool is_askable(const struct mounts *mounts, const struct mount *mount)
{
	return strcmp(mount->type, "autofs") != 0 && !is_read_only(mount->super_options) &&
	       !is_beneath(mount->root, "/systemd/inaccessible") && !is_in_fuse(mounts, mount);
}

static bool is_a_container_s(const struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++)
		if (strcmp(mounts->items[i].point, "/") == 0 && strcmp(mounts->items[i].type, "overlay") == 0)
			return true;
	return false;
}

/* What is kept moves to the front. */
static void choose(struct mounts *mounts)
{
	bool is_container = is_a_container_s(mounts);
	size_t count = 0;

	for (size_t i = 0; i < mounts->count; i++)
		mounts->items[i].is_askable = is_askable(mounts, &mounts->items[i]);
	for (size_t i = 0; i < mounts->count; i++)
		if (!is_left_out(&mounts->items[i]) && !is_covered(mounts, &mounts->items[i]))
			mounts->items[count++] = mounts->items[i];
	mounts->count = is_container || count > MOUNTS_MAX ? 0 : count;
}

int mounts_parse(const char *text, struct mounts *ret_mounts)
{
	*ret_mounts = (struct mounts){.text = strdup(text), .items = calloc(LINES_MAX, sizeof(struct mount))};
	if (!ret_mounts->text || !ret_mounts->items) {
		mounts_deinit(ret_mounts);
		return -ENOMEM;
	}
	if (take_lines(ret_mounts->text, ret_mounts) < 0)
		ret_mounts->count = 0;
	choose(ret_mounts);
	return 0;
}

void mounts_deinit(struct mounts *mounts)
{
	free(mounts->items);
	free(mounts->text);
	*mounts = (struct mounts){0};
}
