/* Logging to standard error, one line per message, for journald or a terminal.
 *
 * If standard error is the stream named by JOURNAL_STREAM (systemd.exec(5)), lines carry the
 * <N> priority prefix.
 * Messages are escaped (common/text.h), so text from other processes cannot break a line.
 */
#pragma once

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

#define LOG_LEVEL_WORDS "error warning info debug"

/* `program` (borrowed) is the prefix of every line. The default level is info. */
void log_init(const char *program, enum log_level level);
bool log_is_wanted(enum log_level level);

void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)
