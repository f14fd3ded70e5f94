/* Human-readable figures. See units.h. */
#include "analysis/query/units.h"

#include <inttypes.h>
#include <langinfo.h>
#include <math.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/duration.h"
#include "common/identity.h"

#define SECOND_NS 1000000000LL

/* Returns the buffer for the next text. */
static char *text_next(void)
{
	static char texts[UNITS_TEXTS][UNITS_SIZE];
	static size_t next;

	return texts[next++ % UNITS_TEXTS];
}

__attribute__((format(printf, 1, 2))) static const char *text_make(const char *format, ...)
{
	char *text = text_next();
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, UNITS_SIZE, format, arguments);
	va_end(arguments);
	return text;
}

static const char *plain(int64_t number)
{
	return text_make("%" PRId64, number);
}

const char *units_duration(int64_t ns, bool raw)
{
	const char *micro = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? "µs" : "us";

	if (ns == ROW_NULL || ns < 0)
		return "-";
	return raw ? plain(ns) : duration_format(text_next(), (uint64_t)ns, micro);
}

const char *units_bytes(int64_t bytes, bool raw)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes == ROW_NULL)
		return "-";
	if (raw)
		return plain(bytes);
	if (bytes < 1024)
		return text_make("%" PRId64 " B", bytes);
	while (value >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	/* Three digits: 1.23, 12.3, 123; values that round up to 10 or 100 get one decimal less. */
	return text_make("%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
}

const char *units_rate(int64_t bytes_per_second, bool raw)
{
	const char *bytes = units_bytes(bytes_per_second, raw);

	return raw || bytes_per_second == ROW_NULL ? bytes : text_make("%s/s", bytes);
}

const char *units_count(int64_t count, bool raw)
{
	const char *digits = plain(count);
	size_t size = strlen(digits), used = 0;
	char *text;

	if (count == ROW_NULL)
		return "-";
	if (raw || count < 0)
		return digits;
	text = text_next();
	for (size_t i = 0; i < size; i++) {
		if (i > 0 && (size - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = digits[i];
	}
	text[used] = '\0';
	return text;
}

const char *units_ratio(double ratio)
{
	return isfinite(ratio) ? text_make("%.2f", ratio) : "-";
}

const char *units_number(double number)
{
	double size = fabs(number);

	if (size >= 999.5)
		return text_make("%.0f", number);
	return size > 0 && size < 0.0001 ? text_make("%.6f", number) : text_make("%.3g", number);
}

const char *units_share(int64_t part, int64_t whole)
{
	return part != ROW_NULL && whole > 0 ? text_make("%.1f %%", 100.0 * (double)part / (double)whole) : "-";
}

const char *units_cores(int64_t cpu_ns, int64_t wall_ns)
{
	double cores = (double)cpu_ns / (double)wall_ns;

	if (cpu_ns == ROW_NULL || wall_ns == ROW_NULL || wall_ns <= 0)
		return "-";
	return text_make("%.*f", cores < 9.995 ? 2 : 1, cores);
}

const char *units_core_limit(int64_t milli)
{
	return text_make("%.15g", (double)milli / 1e3);
}

/* Looking a user up reads files or asks a server: the last ones are kept. */
const char *units_user(int64_t user_id)
{
	static struct {
		int64_t id;
		char name[64]; /* "": none yet */
	} kept[128], *user;
	const struct passwd *entry;

	if (user_id == ROW_NULL)
		return units_count(user_id, true);
	user = &kept[(uint64_t)user_id % 128];
	if (user->id == user_id && *user->name)
		return user->name;
	entry = getpwuid((uid_t)user_id);
	user->id = user_id;
	snprintf(user->name, sizeof(user->name), "%s", entry ? entry->pw_name : units_count(user_id, true));
	return user->name;
}

/* A share from 0 to 1 as "12.3 %"; other values as plain numbers. */
static const char *units_real(enum question_type type, double real, bool raw)
{
	if (raw)
		return text_make("%.15g", real);
	if (type != QUESTION_SHARE)
		return units_number(real);
	return text_make("%.*f %%", fabs(real) < 0.0995 ? 1 : 0, real * 100);
}

/* Millionths as "12.34"; amounts below 1 with four decimals: "0.0042". */
#define NANOS INT64_C(1000000000)
#define DECIMALS_LEAST 2
#define DECIMALS_MOST 9
#define BILL_UNITS_LEAST 1000

unsigned units_decimals(int64_t bill_nanos, int64_t *ret_unit_nanos)
{
	unsigned decimals = DECIMALS_LEAST;
	int64_t unit_nanos = NANOS / 100;

	for (; decimals < DECIMALS_MOST && bill_nanos / unit_nanos < BILL_UNITS_LEAST; decimals++)
		unit_nanos /= 10;
	*ret_unit_nanos = unit_nanos;
	return decimals;
}

const char *units_amount(int64_t units, unsigned decimals)
{
	int64_t one = 1;

	for (unsigned i = 0; i < decimals; i++)
		one *= 10;
	return text_make("%s.%0*lld", units_count(units / one, false), (int)decimals, (long long)(units % one));
}

static const char *units_money(int64_t micros)
{
	return micros == ROW_NULL
		       ? "-"
		       : text_make("%.*f", micros > -1000000 && micros < 1000000 ? 4 : 2, (double)micros / 1e6);
}

const char *units_value(enum question_type type, const struct store_value *value, bool raw)
{
	int64_t number = value->integer;

	if (value->type == STORE_VALUE_REAL)
		return units_real(type, value->real, raw);
	if (value->type != STORE_VALUE_INTEGER)
		return "-";
	switch (type) {
	case QUESTION_BOOT:
	case QUESTION_DURATION: return units_duration(number, raw);
	case QUESTION_BYTES: return units_bytes(number, raw);
	case QUESTION_SHARE: return units_real(type, (double)number, raw);
	case QUESTION_COUNT: return units_count(number, raw);
	case QUESTION_ID: return units_id(number, false);
	case QUESTION_TIME: return raw ? plain(number) : units_time(number);
	case QUESTION_MONEY: return raw && number != ROW_NULL ? plain(number) : units_money(number);
	case QUESTION_USER: return raw ? plain(number) : units_user(number);
	case QUESTION_FLAG: return raw ? plain(number) : number ? "yes" : "no";
	default: return plain(number);
	}
}

const char *units_time(int64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / SECOND_NS);
	char *text = text_next();
	struct tm local;

	if (unix_ns == ROW_NULL || !localtime_r(&seconds, &local) ||
	    strftime(text, UNITS_SIZE, "%Y-%m-%d %H:%M:%S", &local) == 0)
		return "-";
	return text;
}

const char *units_time_of_day(int64_t unix_ns)
{
	const char *text = units_time(unix_ns);

	return strlen(text) > sizeof("2025-11-20") ? text + sizeof("2025-11-20") : text;
}

const char *units_time_short(int64_t unix_ns)
{
	const size_t day_size = sizeof("2025-11-20");
	const char *full = units_time(unix_ns), *now = units_time((int64_t)time(NULL) * SECOND_NS);

	if (strlen(full) > day_size && strncmp(full, now, day_size) == 0)
		return full + day_size;
	return text_make("%.*s", (int)sizeof("2025-11-20 11:52") - 1, full);
}

const char *units_id(int64_t id, bool brief)
{
	char *text = text_next();

	identity_format(id, text);
	if (brief)
		text[UNITS_ID_BRIEF] = '\0';
	return text;
}

const char *units_plural(int64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

const char *units_counted(int64_t count, bool raw, const char *one, const char *many)
{
	return text_make("%s %s", units_count(count, raw), units_plural(count, one, many));
}

const char *units_signal(int64_t signal)
{
	const char *name = signal > 0 && signal < 64 ? sigabbrev_np((int)signal) : NULL;

	return name ? text_make("SIG%s", name) : text_make("signal %" PRId64, signal);
}

const char *units_result(int64_t exit_code, int64_t signal)
{
	if (signal != ROW_NULL && signal > 0)
		return units_signal(signal);
	if (exit_code == ROW_NULL)
		return "";
	return exit_code == 0 ? "ok" : text_make("exit %" PRId64, exit_code);
}
