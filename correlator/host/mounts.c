/* Parses /proc/self/mountinfo. See mounts.h, and proc_pid_mountinfo(5) for the fields. */
#include "correlator/host/mounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 4096

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct line {
	uint64_t id;
	const char *root, *point, *type, *super_options;
};

struct table {
	struct line *lines;
	size_t count;
};

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
static bool take_line(char *text, struct line *ret)
{
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
	ret->type = strsep(&text, " ");
	if (!strsep(&text, " ") || !text || ret->point[0] != '/')
		return false;
	ret->super_options = text;
	unescape((char *)ret->point);
	return true;
}

/* Returns 0, -EINVAL or -ENOMEM. The lines point into `text`. */
static int take_lines(char *text, struct table *table)
{
	char *line;

	table->lines = calloc(LINES_MAX, sizeof(*table->lines));
	if (!table->lines)
		return -ENOMEM;
	while ((line = strsep(&text, "\n")) && *line)
		if (table->count == LINES_MAX || !take_line(line, &table->lines[table->count++]))
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
static bool is_covered(const struct table *table, const struct line *line)
{
	for (const struct line *later = line + 1; later < table->lines + table->count; later++)
		if (strcmp(line->point, later->point) == 0)
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
static bool is_left_out(const struct line *line)
{
	static const char *const types[] = {
		"binfmt_misc", "bpf",      "cgroup",     "cgroup2",    "configfs",  "debugfs", "devpts",
		"devtmpfs",    "efivarfs", "fusectl",    "hugetlbfs",  "mqueue",    "nsfs",    "overlay",
		"proc",        "pstore",   "rpc_pipefs", "securityfs", "selinuxfs", "sysfs",   "tracefs",
	};
	static const char *const directories[] = {"/var/lib/docker", "/var/lib/containers", "/var/lib/kubelet",
						  "/run/containerd", "/run/credentials"};

	for (size_t i = 0; i < COUNT(directories); i++)
		if (is_beneath(line->point, directories[i]) && strlen(line->point) > strlen(directories[i]))
			return true;
	return is_one_of(line->type, types, COUNT(types)) || strlen(line->point) > MOUNT_POINT_MAX;
}

/* A request that a FUSE server has taken and does not answer cannot be ended, not even by SIGKILL: it would keep the
 * correlator from ending. */
static bool is_fuse(const char *type)
{
	return strncmp(type, "fuse", strlen("fuse")) == 0;
}

static bool is_in_fuse(const struct table *table, const struct line *line)
{
	for (size_t i = 0; i < table->count; i++)
		if (is_fuse(table->lines[i].type) && is_beneath(line->point, table->lines[i].point))
			return true;
	return false;
}

static bool is_read_only(const char *options)
{
	return strncmp(options, "ro", 2) == 0 && (options[2] == ',' || options[2] == '\0');
}

/* Asking an automount point would mount it. systemd hides directories beneath an empty one of its own. */
static bool is_askable(const struct table *table, const struct line *line)
{
	return strcmp(line->type, "autofs") != 0 && !is_read_only(line->super_options) &&
	       !is_beneath(line->root, "/systemd/inaccessible") && !is_in_fuse(table, line);
}

static bool is_a_container_s(const struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->lines[i].point, "/") == 0 && strcmp(table->lines[i].type, "overlay") == 0)
			return true;
	return false;
}

static int keep(const struct table *table, struct mounts *mounts)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct line *line = &table->lines[i];
		struct mount *mount = &mounts->items[mounts->count];

		if (is_left_out(line) || is_covered(table, line))
			continue;
		if (mounts->count == MOUNTS_MAX)
			return -EINVAL;
		mount->point = strdup(line->point);
		if (!mount->point)
			return -ENOMEM;
		mounts->count++;
		strncpy(mount->type, line->type, sizeof(mount->type) - 1);
		mount->id = line->id;
		mount->is_askable = is_askable(table, line);
	}
	return 0;
}

int mounts_parse(const char *text, struct mounts *ret_mounts)
{
	struct table table = {0};
	char *copy = strdup(text);
	int error = -ENOMEM;

	*ret_mounts = (struct mounts){.items = calloc(MOUNTS_MAX, sizeof(struct mount))};
	if (copy && ret_mounts->items)
		error = take_lines(copy, &table);
	if (error == 0 && !is_a_container_s(&table))
		error = keep(&table, ret_mounts);
	free(table.lines);
	free(copy);
	if (error < 0)
		mounts_deinit(ret_mounts);
	return error == -EINVAL ? 0 : error;
}

void mounts_deinit(struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++)
		free(mounts->items[i].point);
	free(mounts->items);
	*mounts = (struct mounts){0};
}
