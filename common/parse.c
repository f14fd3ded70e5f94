/* See parse.h. */
#include "common/parse.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

const struct parse_unit parse_counts[] = {{"", 1}, {0}};
const struct parse_unit parse_sizes[] = {{"", 1}, {"K", 1ULL << 10}, {"M", 1ULL << 20}, {"G", 1ULL << 30}, {0}};
const struct parse_unit parse_durations[] = {{"", 1},      {"s", 1},      {"m", 60}, {"h", 3600},
					     {"d", 86400}, {"w", 604800}, {0}};

int parse_number(const char *text, const struct parse_unit *units, uint64_t least, uint64_t most, uint64_t *ret)
{
	char *end;

	if (*text < '0' || *text > '9') /* strtoull() accepts blanks and signs */
		return -EINVAL;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	for (; units->suffix; units++) {
		if (strcmp(end, units->suffix) != 0)
			continue;
		if (errno || number > most / units->factor || number * units->factor < least)
			return -ERANGE;
		*ret = number * units->factor;
		return 0;
	}
	return -EINVAL;
}

int parse_duration(const char *text, uint64_t least_ns, uint64_t most_ns, uint64_t *ret_ns)
{
	const struct parse_unit *unit = parse_durations;
	char *end;
	double ns = strtod(text, &end) * 1e9;

	while (unit->suffix && strcmp(end, unit->suffix) != 0)
		unit++;
	if (*text < '0' || *text > '9' || !unit->suffix)
		return -EINVAL;
	ns *= (double)unit->factor;
	if (!(ns >= (double)least_ns && ns <= (double)most_ns))
		return -ERANGE;
	*ret_ns = (uint64_t)ns;
	return 0;
}

int parse_user(const char *text, uid_t *ret_uid, gid_t *ret_gid)
{
	uint64_t number;
	int result = parse_number(text, parse_counts, 0, UINT32_MAX - 1, &number);
	const struct passwd *user = result ? getpwnam(text) : getpwuid((uid_t)number);

	if (result && !user)
		return result;
	*ret_uid = user ? user->pw_uid : (uid_t)number;
	*ret_gid = user ? user->pw_gid : (gid_t)number;
	return 0;
}

int parse_group(const char *text, gid_t *ret_gid)
{
	uint64_t number;
	int result = parse_number(text, parse_counts, 0, UINT32_MAX - 1, &number);
	const struct group *group = result ? getgrnam(text) : NULL;

	if (result && !group)
		return result;
	*ret_gid = group ? group->gr_gid : (gid_t)number;
	return 0;
}
