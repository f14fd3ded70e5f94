/* Human-readable durations. See duration.h. */
#include "common/duration.h"

#include <inttypes.h>
#include <stdio.h>

#define SECOND_NS UINT64_C(1000000000)

/* Three significant digits: 1.23, 12.3, 123. A value that rounds up to 10 or 100 has one decimal less. */
static const char *three_digits(char *text, double value, const char *unit)
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(text, DURATION_SIZE, "%.*f %s", decimals, value, unit);
	return text;
}

/* Two units, the smaller one padded to two digits: 3m07s. */
static const char *two_units(char *text, uint64_t larger, const char *larger_unit, uint64_t smaller,
			     const char *smaller_unit)
{
	snprintf(text, DURATION_SIZE, "%" PRIu64 "%s%02" PRIu64 "%s", larger, larger_unit, smaller, smaller_unit);
	return text;
}

const char *duration_format(char text[DURATION_SIZE], uint64_t ns, const char *microseconds)
{
	uint64_t seconds = ns / SECOND_NS + (ns % SECOND_NS >= SECOND_NS / 2);

	if (ns == 0)
		snprintf(text, DURATION_SIZE, "0 s");
	else if (ns < 999500)
		three_digits(text, (double)ns / 1e3, microseconds);
	else if (ns < 999500000)
		three_digits(text, (double)ns / 1e6, "ms");
	else if (ns < 60 * SECOND_NS - SECOND_NS / 20)
		three_digits(text, (double)ns / 1e9, "s");
	else if (seconds < 3600)
		two_units(text, seconds / 60, "m", seconds % 60, "s");
	else if (seconds < 86400)
		two_units(text, seconds / 3600, "h", seconds % 3600 / 60, "m");
	else
		two_units(text, seconds / 86400, "d", seconds % 86400 / 3600, "h");
	return text;
}
