/* Log lines on standard error. See log.h. */
#include "common/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/text.h"

#define LINE_MAX_BYTES 2048

static const char *log_program = "tracer";
static enum log_level log_threshold = LOG_LEVEL_INFO;

void log_init(const char *program, enum log_level level)
{
	log_program = program;
	log_threshold = level;
}

bool log_is_wanted(enum log_level level)
{
	return level <= log_threshold;
}

void log_line(enum log_level level, const char *format, ...)
{
	char raw[LINE_MAX_BYTES], safe[LINE_MAX_BYTES * 4 + 1], line[sizeof(safe) + 128];
	char prefix[8] = "";
	va_list arguments;

	if (!log_is_wanted(level))
		return;
	va_start(arguments, format);
	int size = vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	if (size < 0)
		return;
	if ((size_t)size >= sizeof(raw))
		size = sizeof(raw) - 1;
	text_escape(raw, (size_t)size, safe, sizeof(safe));
	if (getenv("JOURNAL_STREAM"))
		snprintf(prefix, sizeof(prefix), "<%d>", level);
	/* One write a line: lines of several processes do not mix. */
	size = snprintf(line, sizeof(line), "%s%s: %s\n", prefix, log_program, safe);
	if (size > 0 && write(STDERR_FILENO, line, (size_t)size) < 0)
		return; /* nowhere left to say so */
}
