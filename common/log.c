/* Log lines on standard error. See log.h. */
#include "common/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"

#define LINE_MAX_BYTES 2048

static const char *log_program = "tracer";
static enum log_level log_threshold = LOG_LEVEL_INFO;
static bool log_to_journal;
static const int journal_priorities[] = {3, 4, 6, 7}; /* of syslog(3) */

/* Returns true if standard error is connected to the journal. The variable alone does not tell: a child of a
 * service inherits it but may write to a terminal or a file. It holds "device:inode" (systemd.exec(5)). */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat status;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && fstat(STDERR_FILENO, &status) == 0 &&
	       status.st_dev == device && status.st_ino == inode;
}

void log_init(const char *program, enum log_level level)
{
	log_program = program;
	log_threshold = level;
	log_to_journal = is_journal(); /* a sandbox may forbid fstat() later */
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
	if (log_to_journal)
		snprintf(prefix, sizeof(prefix), "<%d>", journal_priorities[level]);
	/* One write per line, so that lines of several processes do not interleave. */
	size = snprintf(line, sizeof(line), "%s%s: %s\n", prefix, log_program, safe);
	if (size > 0 && write(STDERR_FILENO, line, (size_t)size) < 0)
		return; /* nowhere to report it */
}
