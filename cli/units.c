/* Figures as people read them. See units.h. */
#include "cli/units.h"

#include <inttypes.h>
#include <langinfo.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/duration.h"
#include "common/store/rows.h"

#define SECOND_NS 1000000000LL

static const char *unknown(char *text)
{
	strcpy(text, "-");
	return text;
}

static const char *plain(char *text, int64_t number)
{
	snprintf(text, UNITS_SIZE, "%" PRId64, number);
	return text;
}

/* Three significant digits: 1.23, 12.3, 123; what rounds up to 10 or 100 loses one. */
static const char *three_digits(char *text, double value, const char *unit)
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(text, UNITS_SIZE, "%.*f %s", decimals, value, unit);
	return text;
}

static const char *micro_unit(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? "µs" : "us";
}

const char *units_duration(char text[UNITS_SIZE], int64_t ns, bool raw)
{
	if (ns == ROW_NULL || ns < 0)
		return unknown(text);
	return raw ? plain(text, ns) : duration_format(text, (uint64_t)ns, micro_unit());
}

const char *units_bytes(char text[UNITS_SIZE], int64_t bytes, bool raw)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes == ROW_NULL)
		return unknown(text);
	if (raw)
		return plain(text, bytes);
	if (bytes < 1024) {
		snprintf(text, UNITS_SIZE, "%" PRId64 " B", bytes);
		return text;
	}
	while (value >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	return three_digits(text, value, units[unit]);
}

const char *units_rate(char text[UNITS_SIZE], int64_t bytes_per_second, bool raw)
{
	size_t size;

	units_bytes(text, bytes_per_second, raw);
	size = strlen(text);
	if (!raw && bytes_per_second != ROW_NULL)
		snprintf(text + size, UNITS_SIZE - size, "/s");
	return text;
}

const char *units_count(char text[UNITS_SIZE], int64_t count, bool raw)
{
	char digits[UNITS_SIZE];
	size_t size, used = 0;

	if (count == ROW_NULL)
		return unknown(text);
	plain(digits, count);
	if (raw || count < 0)
		return strcpy(text, digits);
	size = strlen(digits);
	for (size_t i = 0; i < size; i++) {
		if (i > 0 && (size - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = digits[i];
	}
	text[used] = '\0';
	return text;
}

const char *units_cores(char text[UNITS_SIZE], int64_t cpu_ns, int64_t wall_ns)
{
	double cores;

	if (cpu_ns == ROW_NULL || wall_ns == ROW_NULL || wall_ns <= 0)
		return unknown(text);
	cores = (double)cpu_ns / (double)wall_ns;
	snprintf(text, UNITS_SIZE, "%.*f", cores < 9.995 ? 2 : 1, cores);
	return text;
}

const char *units_time(char text[UNITS_SIZE], int64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / SECOND_NS);
	struct tm local;

	if (unix_ns == ROW_NULL || !localtime_r(&seconds, &local) ||
	    strftime(text, UNITS_SIZE, "%Y-%m-%d %H:%M:%S", &local) == 0)
		return unknown(text);
	return text;
}

const char *units_time_short(char text[UNITS_SIZE], int64_t unix_ns)
{
	char today[UNITS_SIZE];

	units_time(text, unix_ns);
	if (strlen(text) != sizeof("2025-11-20 11:52:03") - 1)
		return text;
	units_time(today, (int64_t)time(NULL) * SECOND_NS);
	if (strncmp(text, today, sizeof("2025-11-20")) == 0)
		memmove(text, text + sizeof("2025-11-20"), strlen(text + sizeof("2025-11-20")) + 1);
	else
		text[sizeof("2025-11-20 11:52") - 1] = '\0';
	return text;
}

const char *units_plural(int64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

const char *units_signal(char text[UNITS_SIZE], int64_t signal)
{
	const char *name = signal > 0 && signal < 64 ? sigabbrev_np((int)signal) : NULL;

	if (name)
		snprintf(text, UNITS_SIZE, "SIG%s", name);
	else
		snprintf(text, UNITS_SIZE, "signal %" PRId64, signal);
	return text;
}
