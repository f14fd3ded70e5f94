/* The mounted file systems that processes of the host may work in.
 *
 * Parses /proc/self/mountinfo: text in, mounts out, no I/O.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOUNTS_MAX 256
#define MOUNT_POINT_MAX 1024 /* a longer working directory is cut at its beginning, and so is beneath no mount point */

struct mount {
	uint64_t id;       /* as statx(2) has it, too */
	const char *point; /* as the kernel has it: any bytes but NUL */
	char type[32];
	const char *root, *super_options;
	bool is_askable; /* false: its free space is of no use, or asking could hang */
};

struct mounts {
	struct mount *items;
	size_t count;
	char *text; /* that they point into */
};

/* Each mount point once, in no order; those of the kernel's own file systems and of container runtimes are left out. None
 * if there are more than MOUNTS_MAX, if the text is invalid, or if the root is that of a container. Returns 0 or -ENOMEM. */
int mounts_parse(const char *text, struct mounts *ret_mounts);
void mounts_deinit(struct mounts *mounts);
