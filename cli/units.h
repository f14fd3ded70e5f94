/* Figures as people read them: three digits that matter and a unit.
 *
 * A text stays until UNITS_TEXTS more are made: enough for all of one line. ROW_NULL, the unknown, is
 * "-". With `raw`, whole nanoseconds, bytes and counts without a unit.
 */
#pragma once

#include "query/question.h"

#define UNITS_SIZE 32
#define UNITS_TEXTS 16

/* "0 s", "420 µs" ("us" without UTF-8), "1.23 ms", "12.4 s", "3m07s", "2h05m", "4d03h" */
const char *units_duration(int64_t ns, bool raw);

/* "0 B", "812 B", "1.23 KiB", "413 MiB" */
const char *units_bytes(int64_t bytes, bool raw);

/* Bytes a second. */
const char *units_rate(int64_t bytes_per_second, bool raw);

/* "1,234,567" */
const char *units_count(int64_t count, bool raw);

/* Processors used on average: "0.02", "1.47", "31.8"; "-" without a duration. */
const char *units_cores(int64_t cpu_ns, int64_t wall_ns);

/* The name of a user; the number where this host has no user of that number. */
const char *units_user(int64_t user_id);

/* A value of an answer, as its type is shown; texts and arguments are none of these, and "-". */
const char *units_value(enum question_type type, const struct store_value *value, bool raw);

/* Local time: "2025-11-20 11:52:03" */
const char *units_time(int64_t unix_ns);

/* "11:52:03" */
const char *units_time_of_day(int64_t unix_ns);
/* The same without what today has in common, and without seconds before: "11:52:03",
 * "2025-11-20 11:52". */
const char *units_time_short(int64_t unix_ns);

/* 16 hexadecimal digits; or, `brief`, as many as name what it is of well enough. */
#define UNITS_ID_BRIEF 8
const char *units_id(int64_t id, bool brief);

/* `one` where there is one, else `many`. */
const char *units_plural(int64_t count, const char *one, const char *many);

/* "SIGKILL", "signal 70" */
const char *units_signal(int64_t signal);

/* How something ended: "ok", "exit 1", "SIGKILL", "" where it is not known. */
const char *units_result(int64_t exit_code, int64_t signal);

/* The command line of a process as a shell would read it back: arguments ended by NUL, quoted where they
 * need it; "(PROGRAM)" where they are not known. `whole`: with the folder that the first of them names.
 * Cut at `capacity`. The bytes are still the traced system's: what shows them must make them safe.
 * Returns `text`. */
const char *command_text(const struct row_blob *arguments, const char *program, bool whole, char *text,
			 size_t capacity);
