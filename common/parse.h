/* What people write on command lines and into settings for a number, a size, a time, a user.
 *
 * Each gives 0, -EINVAL (it is not that) or -ERANGE (out of bounds); what `ret_` points to
 * is untouched then.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* What may stand behind a number, and what it makes of it; ends with a NULL suffix. */
struct parse_unit {
	const char *suffix;
	uint64_t factor;
};

extern const struct parse_unit parse_counts[];    /* nothing */
extern const struct parse_unit parse_sizes[];     /* K, M, G: bytes */
extern const struct parse_unit parse_durations[]; /* s, m, h, d: seconds */

/* Digits, then one of the units. */
int parse_number(const char *text, const struct parse_unit *units, uint64_t least, uint64_t most, uint64_t *ret);

/* A decimal fraction of seconds: "0.2". */
int parse_seconds(const char *text, uint64_t least_ns, uint64_t most_ns, uint64_t *ret_ns);

/* By name, or by number, which need not have a name. Its group is its own; for a number
 * without a name the same number. */
int parse_user(const char *text, uid_t *ret_uid, gid_t *ret_gid);
int parse_group(const char *text, gid_t *ret_gid);
