/* Units: how figures are printed, at the edges where the unit changes. */
#include <locale.h>
#include <time.h>

#include "analysis/query/units.h"
#include "tests/suite.h"

TEST(duration_changes_units)
{
	ck_assert_str_eq(units_duration(0, false), "0 s");
	ck_assert_str_eq(units_duration(420, false), "0.42 µs");
	ck_assert_str_eq(units_duration(999499, false), "999 µs");
	ck_assert_str_eq(units_duration(999500, false), "1.00 ms");
	ck_assert_str_eq(units_duration(9994000, false), "9.99 ms");
	ck_assert_str_eq(units_duration(9996000, false), "10.0 ms");
	ck_assert_str_eq(units_duration(99960000, false), "100 ms");
	ck_assert_str_eq(units_duration(999500000, false), "1.00 s");
	ck_assert_str_eq(units_duration(12400000000, false), "12.4 s");
	ck_assert_str_eq(units_duration(59940000000, false), "59.9 s");
	ck_assert_str_eq(units_duration(59950000000, false), "1m00s");
	ck_assert_str_eq(units_duration(187 * 1000000000LL, false), "3m07s");
	ck_assert_str_eq(units_duration(3599600000000, false), "1h00m");
	ck_assert_str_eq(units_duration(7500 * 1000000000LL, false), "2h05m");
	ck_assert_str_eq(units_duration(99 * 3600 * 1000000000LL, false), "4d03h");
}

TEST(bytes_change_units)
{
	ck_assert_str_eq(units_bytes(0, false), "0 B");
	ck_assert_str_eq(units_bytes(1023, false), "1023 B");
	ck_assert_str_eq(units_bytes(1024, false), "1.00 KiB");
	ck_assert_str_eq(units_bytes(10 * 1024 - 1, false), "10.0 KiB");
	ck_assert_str_eq(units_bytes(1024 * 1024 - 1, false), "1.00 MiB");
	ck_assert_str_eq(units_bytes(413LL << 20, false), "413 MiB");
	ck_assert_str_eq(units_bytes(INT64_MAX, false), "8.00 EiB");
	ck_assert_str_eq(units_rate(2048, false), "2.00 KiB/s");
}

TEST(numbers_have_no_exponent)
{
	static const struct {
		double number;
		const char *text;
	} numbers[] = {{0, "0"},       {0.0000612, "0.000061"}, {0.000612, "0.000612"}, {12.5, "12.5"},
		       {999.4, "999"}, {999.6, "1000"},         {1234567.8, "1234568"}, {-2500, "-2500"}};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		ck_assert_str_eq(units_number(numbers[i].number), numbers[i].text);
}

TEST(unknown_is_a_dash)
{
	ck_assert_str_eq(units_duration(ROW_NULL, false), "-");
	ck_assert_str_eq(units_duration(ROW_NULL, true), "-");
	ck_assert_str_eq(units_duration(-1, false), "-");
	ck_assert_str_eq(units_bytes(ROW_NULL, false), "-");
	ck_assert_str_eq(units_rate(ROW_NULL, false), "-");
	ck_assert_str_eq(units_count(ROW_NULL, false), "-");
	ck_assert_str_eq(units_cores(ROW_NULL, 5), "-");
	ck_assert_str_eq(units_cores(5, 0), "-");
	ck_assert_str_eq(units_time(ROW_NULL), "-");
}

TEST(raw_is_whole)
{
	ck_assert_str_eq(units_duration(12400000001, true), "12400000001");
	ck_assert_str_eq(units_bytes(4096, true), "4096");
	ck_assert_str_eq(units_count(1234567, true), "1234567");
}

TEST(counts_cores_signals)
{
	ck_assert_str_eq(units_count(999, false), "999");
	ck_assert_str_eq(units_count(1000, false), "1,000");
	ck_assert_str_eq(units_count(1234567, false), "1,234,567");
	ck_assert_str_eq(units_cores(147, 100), "1.47");
	ck_assert_str_eq(units_cores(3175, 100), "31.8");
	ck_assert_str_eq(units_signal(9), "SIGKILL");
	ck_assert_str_eq(units_signal(64), "signal 64");
	ck_assert_str_eq(units_signal(-3), "signal -3");
	ck_assert_str_eq(units_time(1763639523 * 1000000000LL), "2025-11-20 11:52:03");
}

TEST(today_has_no_date)
{
	int64_t now = (int64_t)time(NULL) * 1000000000LL, long_ago = 1763639523 * 1000000000LL;

	ck_assert_str_eq(units_time_short(long_ago), "2025-11-20 11:52");
	ck_assert_str_eq(units_time_short(ROW_NULL), "-");
	ck_assert_str_eq(units_time_short(now), units_time(now) + strlen("2025-11-20 "));
	ck_assert_str_eq(units_plural(1, "host", "hosts"), "host");
	ck_assert_str_eq(units_plural(0, "host", "hosts"), "hosts");
	ck_assert_str_eq(units_counted(1, false, "host", "hosts"), "1 host");
	ck_assert_str_eq(units_counted(1234, false, "host", "hosts"), "1,234 hosts");
	ck_assert_str_eq(units_counted(1234, true, "host", "hosts"), "1234 hosts");
	ck_assert_str_eq(units_counted(INT64_MAX, false, "process", "processes"),
			 "9,223,372,036,854,775,807 processes");
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	setenv("TZ", "UTC", 1);
	tzset();
	return suite_run("cli_units", NULL, NULL);
}
