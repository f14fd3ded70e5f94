/* How a daemon gives its privileges away, for good: the steps. Which of them, in which order and
 * with which lists, each daemon says itself (probe/sandbox.c, correlator/confine.c,
 * shipper/sandbox.c).
 *
 * Each gives 0 or a negative errno; what failed has been logged, but for
 * privilege_landlock_allow().
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include <linux/landlock.h>
#include <seccomp.h>

#define PRIVILEGE_NO_GROUP ((gid_t)-1)
#define PRIVILEGE_NO_CAPABILITY 0

/* No capability can be had again by executing something. Before another user is become. */
int privilege_drop_bounds(void);

/* Another user. Its groups are those that `name` is in, or for NULL `group` alone, if any. */
int privilege_become(uid_t uid, gid_t gid, const char *name, gid_t group);

/* No capability; who runs as root nevertheless keeps those of `kept` (bits below 32) that it has. */
int privilege_drop_capabilities(uint32_t kept);

/* Executing something gives none either, and nobody of the same user looks in. */
int privilege_forbid_new(void);

/* Landlock: nothing may be done with files but what is allowed beneath paths, by bits of
 * LANDLOCK_ACCESS_FS_*. Where the kernel has no Landlock, or a service manager's filter does
 * not let it through, `*ret_rules` is -1 and the others do nothing. */
int privilege_landlock_begin(int *ret_rules);
int privilege_landlock_allow(int rules, const char *path, uint64_t access);
int privilege_landlock_enter(int rules); /* closes `rules` */

/* A system call; `is_narrow`: only where that argument is so. */
struct privilege_call {
	int number;
	bool is_narrow;
	struct scmp_arg_cmp argument;
};

/* seccomp: `action` (SCMP_ACT_*) for these calls, `otherwise` for all others. */
int privilege_enter_seccomp(uint32_t otherwise, uint32_t action, const struct privilege_call *calls, size_t count);
