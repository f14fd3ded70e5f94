/* Where a verb prints. See output.h. */
#include "cli/output.h"

#include <errno.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/options.h"
#include "common/print.h"
#include "common/text.h"

#define WIDTH_LEAST 40 /* narrower than this, lines wrap */

void output_measure(struct output *output)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t number;

	output->width = 0;
	if (!output->is_terminal)
		return;
	if (columns && options_parse_number(columns, 10000, &number) == 0 && number > 0)
		output->width = number;
	else if (ioctl(fileno(output->file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		output->width = size.ws_col;
	else
		output->width = 80;
	if (output->width < WIDTH_LEAST)
		output->width = WIDTH_LEAST;
}

static bool color_wanted(const struct output *output, enum output_color color)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (color != OUTPUT_COLOR_AUTO)
		return color == OUTPUT_COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	return output->is_terminal && term && strcmp(term, "dumb") != 0;
}

void output_init(struct output *output, FILE *file, enum output_color color)
{
	*output = (struct output){
		.file = file,
		.is_terminal = isatty(fileno(file)),
		.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
	};
	output->color = color_wanted(output, color);
	output_measure(output);
}

const char *output_style(const struct output *output, enum style style)
{
	static const char *const sequences[] = {
		[STYLE_PLAIN] = "",
		[STYLE_TITLE] = "\033[1m",
		[STYLE_DIM] = "\033[2m",
		[STYLE_GOOD] = "\033[32m",
		[STYLE_BAD] = "\033[1;31m",
		[STYLE_WARNING] = "\033[33m",
		[STYLE_BAR] = "\033[36m",
	};

	return output->color ? sequences[style] : "";
}

const char *output_reset(const struct output *output)
{
	return output->color ? "\033[0m" : "";
}

void output_print(const struct output *output, enum style style, const char *format, ...)
{
	bool styled = style != STYLE_PLAIN;
	va_list arguments;

	if (styled)
		fputs(output_style(output, style), output->file);
	va_start(arguments, format);
	vfprintf(output->file, format, arguments);
	va_end(arguments);
	if (styled)
		fputs(output_reset(output), output->file);
}

void output_print_text(const struct output *output, enum style style, const char *text)
{
	size_t size = text ? strlen(text) : 0;
	char *safe = malloc(4 * size + 2);

	if (!safe)
		return;
	if (text)
		text_escape(text, size, safe, 4 * size + 1);
	else
		strcpy(safe, "-");
	output_print(output, style, "%s", safe);
	free(safe);
}

int output_finish(const struct output *output)
{
	return print_finish(output->file);
}
