/* Parses parameter values as users write them. See question.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/query/question.h"
#include "common/clock.h"
#include "common/identity.h"
#include "common/parse.h"

#define SECOND_NS UINT64_C(1000000000)

static const struct parse_unit durations_ns[] = {
	/* clang-format off */
	{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", SECOND_NS}, {"m", 60 * SECOND_NS},
	{"h", 3600 * SECOND_NS}, {"d", 86400 * SECOND_NS}, {"w", 7 * 86400 * SECOND_NS}, {0},
	/* clang-format on */
};

const char *question_type_example(enum question_type type)
{
	static const char *const examples[] = {
		[QUESTION_TIME] = "a time such as 2h, 3d or 2w (ago), 2026-11-22 or 2026-11-22T10:30[Z]",
		[QUESTION_BOOT] = "a time since boot such as 90s, 15m or 2h",
		[QUESTION_DURATION] = "a duration such as 500ms, 90s, 15m, 2h, 3d or 2w",
		[QUESTION_BYTES] = "a size such as 4096, 64K, 100M or 2G",
		[QUESTION_BYTE_SECONDS] = "a number",
		[QUESTION_SHARE] = "a share such as 10% or 0.1",
		[QUESTION_MONEY] = "an amount such as 12.50",
		[QUESTION_RUN] = "a run (the beginning of its id, its name, or latest)",
		[QUESTION_USER] = "a user's name or number",
		[QUESTION_ID] = "an id of 16 hexadecimal digits",
		[QUESTION_COUNT] = "a number",
		[QUESTION_NUMBER] = "a number",
		[QUESTION_FLAG] = "yes or no",
		[QUESTION_TEXT] = "a text",
		[QUESTION_ARGUMENTS] = "",
	};

	return examples[type];
}

static int number_parse(const char *text, const struct parse_unit *units, int64_t *ret_number)
{
	uint64_t number;

	if (parse_number(text, units, 0, INT64_MAX, &number) < 0)
		return -EINVAL;
	*ret_number = (int64_t)number;
	return 0;
}

/* Parses a date, with or without a time of day after a T or a blank: local, or UTC if it ends with Z. */
static int date_parse(const char *text, int64_t *ret_unix_ns)
{
	static const char *const formats[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"};
	char copy[32], *blank;
	size_t size = strlen(text);
	bool is_utc = size > 0 && text[size - 1] == 'Z';

	if (size >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, size + 1);
	copy[size - is_utc] = '\0';
	blank = strchr(copy, ' ');
	if (blank)
		*blank = 'T';
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm date = {.tm_isdst = -1};
		const char *end = strptime(copy, formats[i], &date);
		int day = date.tm_mday;
		time_t seconds = !end || *end ? -1 : is_utc ? timegm(&date) : mktime(&date);

		if (seconds < 0 || seconds > INT64_MAX / (int64_t)SECOND_NS || date.tm_mday != day)
			continue; /* another format; too large; or a day that the month does not have */
		*ret_unix_ns = seconds * (int64_t)SECOND_NS;
		return 0;
	}
	return -EINVAL;
}

int question_parse_time(const char *text, int64_t *ret_unix_ns)
{
	int64_t ago_ns;

	if (date_parse(text, ret_unix_ns) == 0)
		return 0;
	if (number_parse(text, durations_ns, &ago_ns) < 0)
		return -EINVAL;
	*ret_unix_ns = (int64_t)clock_unix_ns() - ago_ns;
	return 0;
}

/* A decimal number; if `percent`, optionally followed by a percent sign. */
static int real_parse(const char *text, bool percent, double *ret_real)
{
	char *end;
	double real = strtod(text, &end);

	if (end == text || !isfinite(real) || (*end && !(percent && strcmp(end, "%") == 0)))
		return -EINVAL;
	*ret_real = *end ? real / 100 : real;
	return 0;
}

static int money_parse(const char *text, int64_t *ret_micros)
{
	double amount;

	if (real_parse(text, false, &amount) < 0 || fabs(amount) > 1e12)
		return -EINVAL;
	*ret_micros = (int64_t)(amount * 1e6 + (amount < 0 ? -0.5 : 0.5));
	return 0;
}

int question_parse_value(const struct question_field *parameter, const char *text, struct store_parameter *ret_value)
{
	struct store_parameter value = {.name = parameter->name, .type = STORE_INTEGER};
	int64_t last;
	uid_t uid;
	gid_t gid;
	int error = 0;

	switch (parameter->type) {
	case QUESTION_RUN:
	case QUESTION_TEXT:
		value.type = STORE_TEXT;
		value.text = text;
		break;
	case QUESTION_TIME: error = question_parse_time(text, &value.integer); break;
	case QUESTION_BOOT:
	case QUESTION_DURATION: error = number_parse(text, durations_ns, &value.integer); break;
	case QUESTION_BYTES: error = number_parse(text, parse_sizes, &value.integer); break;
	case QUESTION_SHARE:
	case QUESTION_NUMBER:
		value.type = STORE_REAL;
		error = real_parse(text, parameter->type == QUESTION_SHARE, &value.real);
		break;
	case QUESTION_MONEY: error = money_parse(text, &value.integer); break;
	case QUESTION_USER:
		error = parse_user(text, &uid, &gid);
		value.integer = error == 0 ? (int64_t)uid : 0;
		break;
	case QUESTION_ID:
		error = strlen(text) == IDENTITY_TEXT_SIZE - 1 ? identity_parse_prefix(text, &value.integer, &last)
							       : -EINVAL;
		break;
	case QUESTION_BYTE_SECONDS:
	case QUESTION_COUNT: error = number_parse(text, parse_counts, &value.integer); break;
	case QUESTION_FLAG:
		value.integer = strcmp(text, "yes") == 0;
		error = value.integer || strcmp(text, "no") == 0 ? 0 : -EINVAL;
		break;
	default: error = -EINVAL;
	}
	if (parameter->preset == text && strcmp(text, "none") == 0)
		value = (struct store_parameter){.name = parameter->name, .type = STORE_NULL};
	else if (error < 0)
		return -EINVAL;
	*ret_value = value;
	return 0;
}
