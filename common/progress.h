/* Progress display: one line on standard error, rewritten in place and erased at the end. Nothing is
 * printed unless standard error is a terminal.
 *
 * The cursor stays at the start of the line, so a log line written meanwhile overwrites it; progress
 * lines are shorter than log lines.
 */
#pragma once

/* Shows the line, at most ten times a second; call it whenever there is something new. The
 * arguments must be safe text (common/text.h). */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Erases the line. Call it before printing anything else. */
void progress_hide(void);

/* Turns the display off permanently, for a caller that uses the whole screen. */
void progress_disable(void);
