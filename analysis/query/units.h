/* Human-readable figures: three significant digits and a unit.
 *
 * A text is valid until UNITS_TEXTS more are made, which is enough for one line. ROW_NULL (unknown) is
 * "-". With `raw`, figures are whole nanoseconds, bytes and counts without a unit.
 */
#pragma once

#include "analysis/query/question.h"

#define UNITS_SIZE 40
#define UNITS_TEXTS 16

/* "0 s", "420 µs" ("us" without UTF-8), "1.23 ms", "12.4 s", "3m07s", "2h05m", "4d03h" */
const char *units_duration(int64_t ns, bool raw);

/* "0 B", "812 B", "1.23 KiB", "413 MiB" */
const char *units_bytes(int64_t bytes, bool raw);

/* Bytes a second. */
const char *units_rate(int64_t bytes_per_second, bool raw);

/* "1,234,567" */
const char *units_count(int64_t count, bool raw);

/* "1.02"; "-" if it is not finite. */
const char *units_ratio(double ratio);
/* A plain number of three digits, or of all before the point. */
const char *units_number(double number);

/* "12.3 %"; "-" if it is unknown, or there is no whole. */
const char *units_share(int64_t part, int64_t whole);

/* Processors used on average: "0.02", "1.47", "31.8"; "-" without a duration. */
const char *units_cores(int64_t cpu_ns, int64_t wall_ns);
/* "4", "0.35", of thousandths. */
const char *units_core_limit(int64_t milli);

/* The number of decimals that a bill is shown with: four digits, at least to the cent; and the last one's worth. */
unsigned units_decimals(int64_t bill_nanos, int64_t *ret_unit_nanos);
/* "1,234.56", of a whole number of the last decimal. */
const char *units_amount(int64_t units, unsigned decimals);

/* The name of a user, or the number if this host has no such user. */
const char *units_user(int64_t user_id);

/* A value of an answer, formatted by type; "-" for texts and arguments, which are not handled here. */
const char *units_value(enum question_type type, const struct store_value *value, bool raw);

/* Local time: "2025-11-20 11:52:03" */
const char *units_time(int64_t unix_ns);

/* "11:52:03" */
const char *units_time_of_day(int64_t unix_ns);
/* The time of day if it is today, else date and time without seconds: "11:52:03",
 * "2025-11-20 11:52". */
const char *units_time_short(int64_t unix_ns);

/* 16 hexadecimal digits; with `brief` the first UNITS_ID_BRIEF, usually enough to identify a row. */
#define UNITS_ID_BRIEF 8
const char *units_id(int64_t id, bool brief);

/* "1,234 hosts" */
const char *units_counted(int64_t count, bool raw, const char *one, const char *many);
/* Returns `one` if the count is 1, else `many`. */
const char *units_plural(int64_t count, const char *one, const char *many);

/* "SIGKILL", "signal 70" */
const char *units_signal(int64_t signal);

/* How something ended: "ok", "exit 1", "SIGKILL", "" if unknown. */
const char *units_result(int64_t exit_code, int64_t signal);
