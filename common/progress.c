/* See progress.h. */
#include "common/progress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"

#define INTERVAL_NS 100000000
#define LINE_BYTES_MAX 80

static bool disabled;
static uint64_t shown_boot_ns; /* 0: nothing is shown */

static bool terminal_can(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

/* One write, as for log lines. */
static void put(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		disabled = true;
}

void progress_show(const char *format, ...)
{
	char text[LINE_BYTES_MAX], line[LINE_BYTES_MAX + 8];
	uint64_t now_boot_ns = clock_boot_ns();
	va_list arguments;

	if (disabled || now_boot_ns - shown_boot_ns < INTERVAL_NS || !terminal_can())
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	snprintf(line, sizeof(line), "\r\033[K%s\r", text);
	put(line);
	shown_boot_ns = now_boot_ns;
}

void progress_hide(void)
{
	if (shown_boot_ns != 0)
		put("\r\033[K");
	shown_boot_ns = 0;
}

void progress_disable(void)
{
	disabled = true;
}
