/* Output of a verb, adapted to what the destination can show.
 *
 * Colour is used only on a terminal (or as requested), line drawing only in a UTF-8
 * locale, a width only on a terminal: output to a pipe or a file is never truncated.
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
	size_t width; /* columns; 0: unlimited */
};

void output_init(struct output *output, FILE *file, enum output_color color);

/* Updates the width after the terminal was resized. */
void output_measure(struct output *output);

/* Escape sequences to switch a style on and off, "" without colour. */
const char *output_style(const struct output *output, enum style style);
const char *output_reset(const struct output *output);

/* Prints in a style. Sanitizes the formatted text, except for a newline at the end of `format`: arguments
 * may contain text from a traced process. */
void output_print(const struct output *output, enum style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for a single text. NULL prints "-". */
void output_print_text(const struct output *output, enum style style, const char *text);

/* Prints safe text, cut to `columns` with an ellipsis if it is longer. Returns the columns used. */
size_t output_print_fitted(const struct output *output, const char *text, size_t columns);

/* Wraps lines that are longer than the terminal is wide, between words. What is printed to `inner` is
 * written at the end; continuation lines are indented by `indent` columns. Without a width lines are
 * not wrapped. */
struct output_flow {
	struct output inner;
	const struct output *outer;
	char *text;
	size_t size;
};
void output_flow_begin(struct output_flow *flow, const struct output *output);
void output_flow_end(struct output_flow *flow, size_t indent);

/* Ends a list that --limit cut: says so on standard error, so that programs can parse the list. `what` is a plural.
 * Prints nothing if the list is complete. */
void say_cut(size_t shown, size_t count, const char *what);

/* Shows on the terminal how far a long answer is that goes elsewhere. */
void output_advance(size_t done, size_t count);

/* Prints a sanitized line to standard error. Returns VERB_FAILED. */
int say(const char *format, ...) __attribute__((format(printf, 1, 2)));
