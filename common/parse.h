/* Parsing of numbers, sizes, times and users on command lines and in settings.
 *
 * Each function returns 0, -EINVAL (malformed or unknown) or -ERANGE (out of bounds). On error
 * the `ret_` parameters are unchanged.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* A unit suffix and its factor. Arrays of units end with a NULL suffix. */
struct parse_unit {
	const char *suffix;
	uint64_t factor;
};

extern const struct parse_unit parse_counts[];    /* no suffix */
extern const struct parse_unit parse_sizes[];     /* K, M, G: bytes */
extern const struct parse_unit parse_durations[]; /* s, m, h, d, w: seconds */

/* Digits followed by one of the units. */
int parse_number(const char *text, const struct parse_unit *units, uint64_t least, uint64_t most, uint64_t *ret);

/* Seconds, which may be a decimal fraction, or with a unit: "0.2", "90s", "1.5h". */
int parse_duration(const char *text, uint64_t least_ns, uint64_t most_ns, uint64_t *ret_ns);

/* A name or a number; a number need not have a passwd or group entry. `*ret_gid` of a user is its
 * primary group, or the same number if it has no entry. */
int parse_user(const char *text, uid_t *ret_uid, gid_t *ret_gid);
int parse_group(const char *text, gid_t *ret_gid);
