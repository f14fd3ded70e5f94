/* Where a verb prints: what that place can show, and whether it arrived.
 *
 * Colour only on a terminal (or as asked), line drawing only where the locale is
 * UTF-8, a width only on a terminal: what goes into a pipe or a file is never cut.
 */
#pragma once

#include <stdbool.h>

#include <jansson.h>

enum output_color { OUTPUT_COLOR_AUTO, OUTPUT_COLOR_ALWAYS, OUTPUT_COLOR_NEVER };

enum style {
	STYLE_PLAIN,
	STYLE_TITLE,
	STYLE_DIM,
	STYLE_GOOD,
	STYLE_BAD,
	STYLE_WARNING,
	STYLE_BAR,
};

struct output {
	FILE *file;
	bool is_terminal;
	bool color;
	bool unicode;
	size_t width; /* columns; 0: without limit */
};

void output_init(struct output *output, FILE *file, enum output_color color);

/* Again after the terminal changed its size. */
void output_measure(struct output *output);

/* Escape sequences to switch a style on and off, "" where there is no colour. */
const char *output_style(const struct output *output, enum style style);
const char *output_reset(const struct output *output);

/* Prints in a style. What it makes is made safe, but for a newline that `format` ends with: arguments may
 * be text of a traced process. */
void output_print(const struct output *output, enum style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same of one text. NULL prints "-". */
void output_print_text(const struct output *output, enum style style, const char *text);

/* Safe text, or as much of it as fits into `columns`, with an ellipsis. Returns the columns it took. */
size_t output_print_fitted(const struct output *output, const char *text, size_t columns);

/* Lines that wrap between words where they are longer than the terminal is wide: what is printed to
 * `inner` comes out at the end, the rest of a long line `indent` columns in. Without a width lines
 * stay as they are. */
struct output_flow {
	struct output inner;
	const struct output *outer;
	char *text;
	size_t size;
};
void output_flow_begin(struct output_flow *flow, const struct output *output);
void output_flow_end(struct output_flow *flow, size_t indent);

/* A line on standard error, made safe. Returns VERB_FAILED. */
int say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* To standard output, in ASCII alone: what a name does to terminals is in no byte of it. 0 or
 * -EIO. */
int json_print(const json_t *root);
