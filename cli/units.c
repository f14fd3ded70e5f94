/* Figures as people read them. See units.h. */
#include "cli/units.h"

#include <inttypes.h>
#include <langinfo.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/duration.h"
#include "common/identity.h"
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

/* "12.3 %" of a share of 0 to 1 */
static const char *share_text(char text[UNITS_SIZE], double share, bool raw)
{
	snprintf(text, UNITS_SIZE, raw ? "%.15g" : fabs(share) < 0.0995 ? "%.1f %%" : "%.0f %%", raw ? share : share * 100);
	return text;
}

/* "12.34" of millionths; what is below 1 with four digits: "0.0042" */
static const char *money_text(char text[UNITS_SIZE], int64_t micros, bool raw)
{
	if (micros == ROW_NULL)
		return unknown(text);
	if (raw)
		return plain(text, micros);
	snprintf(text, UNITS_SIZE, micros > -1000000 && micros < 1000000 ? "%.4f" : "%.2f", (double)micros / 1e6);
	return text;
}

const char *units_user(char text[UNITS_SIZE], int64_t user_id)
{
	const struct passwd *user = user_id == ROW_NULL ? NULL : getpwuid((uid_t)user_id);

	return user ? user->pw_name : units_count(text, user_id, true);
}

static const char *units_real(char text[UNITS_SIZE], enum question_type type, double real, bool raw)
{
	if (type == QUESTION_SHARE)
		return share_text(text, real, raw);
	snprintf(text, UNITS_SIZE, raw ? "%.15g" : "%.3g", real);
	return text;
}

const char *units_value(char text[UNITS_SIZE], enum question_type type, const struct store_value *value,
			bool raw)
{
	int64_t number = value->integer;

	if (value->type == STORE_VALUE_REAL)
		return units_real(text, type, value->real, raw);
	if (value->type != STORE_VALUE_INTEGER)
		return unknown(text);
	switch (type) {
	case QUESTION_TIME:
		return raw ? plain(text, number) : units_time(text, number);
	case QUESTION_BOOT:
	case QUESTION_DURATION:
		return units_duration(text, number, raw);
	case QUESTION_BYTES:
		return units_bytes(text, number, raw);
	case QUESTION_SHARE:
		return share_text(text, (double)number, raw);
	case QUESTION_MONEY:
		return money_text(text, number, raw);
	case QUESTION_COUNT:
		return units_count(text, number, raw);
	case QUESTION_USER:
		return raw ? plain(text, number) : units_user(text, number);
	case QUESTION_FLAG:
		return raw ? plain(text, number) : strcpy(text, number ? "yes" : "no");
	case QUESTION_ID:
		identity_format(number, text);
		return text;
	default:
		return plain(text, number);
	}
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

const char *units_time_of_day(char text[UNITS_SIZE], int64_t unix_ns)
{
	units_time(text, unix_ns);
	return strlen(text) > sizeof("2025-11-20") ? text + sizeof("2025-11-20") : text;
}

const char *units_time_short(char text[UNITS_SIZE], int64_t unix_ns)
{
	const size_t day_size = sizeof("2025-11-20");
	char full[UNITS_SIZE], now[UNITS_SIZE];

	units_time(full, unix_ns);
	units_time(now, (int64_t)time(NULL) * SECOND_NS);
	if (strlen(full) > day_size && strncmp(full, now, day_size) == 0)
		snprintf(text, UNITS_SIZE, "%s", full + day_size);
	else
		snprintf(text, UNITS_SIZE, "%.*s", (int)sizeof("2025-11-20 11:52") - 1, full);
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
