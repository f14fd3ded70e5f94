/* What a person waits for: one line on a terminal's standard error, written anew in its own
 * place, and gone at the end. Nowhere else is anything printed.
 *
 * The cursor stays at the line's beginning: what is logged meanwhile goes over it. Lines are
 * shorter than that.
 */
#pragma once

/* Shows the line, ten times a second at most: call it as often as there is something new. The
 * arguments must be safe text. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Takes it away, before anything else is printed. */
void progress_hide(void);

/* Shows nothing from now on: the whole screen is used otherwise. */
void progress_disable(void);
