/* Output of a verb. See output.h. */
#include "cli/screen/output.h"

#include <errno.h>
#include <langinfo.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/verb.h"
#include "common/clock.h"
#include "common/parse.h"
#include "common/progress.h"
#include "common/text.h"

#define OUTPUT_BUFFER_BYTES 65536

#define ADVANCE_AFTER_NS 1000000000 /* a shorter answer needs no progress */

#define WIDTH_LEAST 40 /* narrower terminals wrap lines themselves */

void output_measure(struct output *output)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t number;

	output->width = 0;
	if (!output->is_terminal)
		return;
	if (columns && !parse_number(columns, parse_counts, 0, 10000, &number) && number > 0)
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
	if (!output->is_terminal)
		setvbuf(file, NULL, _IOFBF, OUTPUT_BUFFER_BYTES);
	output->color = color_wanted(output, color);
	output_measure(output);
}

const char *output_style(const struct output *output, enum style style)
{
	static const char *const sequences[] = {
		[STYLE_PLAIN] = "",        [STYLE_TITLE] = "\033[1m",  [STYLE_DIM] = "\033[2m",
		[STYLE_GOOD] = "\033[32m", [STYLE_BAD] = "\033[1;31m", [STYLE_WARNING] = "\033[33m",
		[STYLE_BAR] = "\033[36m",
	};

	return output->color ? sequences[style] : "";
}

const char *output_reset(const struct output *output)
{
	return output->color ? "\033[0m" : "";
}

/* Returns the formatted text, sanitized except for a final newline, to be freed; NULL if out of memory. */
static char *safe_text(const char *format, va_list arguments)
{
	char *raw = NULL, *safe = NULL;
	int size = vasprintf(&raw, format, arguments);
	size_t line_end = strlen(format) > 0 && format[strlen(format) - 1] == '\n', used;

	if (size >= 0)
		safe = malloc(4 * (size_t)size + 1);
	if (safe) {
		used = text_escape(raw, (size_t)size - line_end, safe, 4 * (size_t)size + 1);
		strcpy(safe + used, line_end ? "\n" : "");
	}
	if (size >= 0)
		free(raw);
	return safe;
}

void output_print(const struct output *output, enum style style, const char *format, ...)
{
	va_list arguments;
	char *safe;

	va_start(arguments, format);
	safe = safe_text(format, arguments);
	va_end(arguments);
	if (style != STYLE_PLAIN)
		fputs(output_style(output, style), output->file);
	fputs(safe ? safe : "", output->file);
	if (style != STYLE_PLAIN)
		fputs(output_reset(output), output->file);
	free(safe);
}

void output_print_text(const struct output *output, enum style style, const char *text)
{
	output_print(output, style, "%s", text ? text : "-");
}

/* Returns the bytes of the character at `text`, and the columns it takes. */
static size_t character_measure(const char *text, size_t size, size_t *ret_columns)
{
	size_t bytes = text_utf8_size(text, size);
	char piece[8] = "";

	bytes = bytes ? bytes : 1;
	memcpy(piece, text, bytes);
	*ret_columns = text_width(piece);
	return bytes;
}

size_t output_print_fitted(const struct output *output, const char *text, size_t columns)
{
	const char *mark = output->unicode ? "…" : "...";
	size_t room = columns > text_width(mark) ? columns - text_width(mark) : 0, used = text_width(text);
	size_t size = strlen(text), wide, end, bytes;

	if (used <= columns) {
		fputs(text, output->file);
		return used;
	}
	for (used = end = 0; end < size; end += bytes) {
		bytes = character_measure(text + end, size - end, &wide);
		if (used + wide > room)
			break;
		used += wide;
	}
	fprintf(output->file, "%.*s%s", (int)end, text, mark);
	return used + text_width(mark);
}

/* ---- lines that wrap ------------------------------------------------------------ */

void output_flow_begin(struct output_flow *flow, const struct output *output)
{
	*flow = (struct output_flow){.inner = *output, .outer = output};
	flow->inner.file = open_memstream(&flow->text, &flow->size);
	if (!flow->inner.file)
		flow->inner.file = output->file; /* no memory: nothing wraps */
}

/* Columns of `size` bytes of safe text, not counting our own style sequences. */
static size_t styled_width(const char *text, size_t size)
{
	size_t width = 0, wide = 0;

	for (size_t i = 0; i < size;) {
		if (text[i] == '\033') {
			i += strcspn(text + i, "m") + 1;
			continue;
		}
		i += character_measure(text + i, size - i, &wide);
		width += wide;
	}
	return width;
}

/* Whether `word` is a unit: it stays with the figure before it. */
static bool is_unit(const char *word, size_t size)
{
	static const char units[] = " s ms us µs B KiB MiB GiB TiB B/s KiB/s MiB/s GiB/s % ";
	char spaced[12];

	while (size > 0 && strchr(",;:.)", word[size - 1]))
		size--;
	snprintf(spaced, sizeof(spaced), " %.*s ", (int)(size < 8 ? size : 8), word);
	return size > 0 && strstr(units, spaced);
}

/* The bytes of a word, including the unit after a figure. */
static size_t word_size(const char *word)
{
	size_t size = strcspn(word, " \n");

	if (word[size] == ' ' && size > 0 && word[0] >= '0' && word[0] <= '9' &&
	    is_unit(word + size + 1, strcspn(word + size + 1, " \n")))
		size += 1 + strcspn(word + size + 1, " \n");
	return size;
}

/* Wraps a line of `size` bytes, without its end. Leading spaces are kept. */
static void line_wrap(const struct output *output, const char *line, size_t size, size_t indent)
{
	size_t column = 0;

	for (size_t i = 0, blanks, word; i < size; i += blanks + word) {
		blanks = strspn(line + i, " ");
		blanks = blanks < size - i ? blanks : size - i;
		word = word_size(line + i + blanks);
		size_t width = styled_width(line + i + blanks, word);

		if (column > indent && column + blanks + width > output->width) {
			fprintf(output->file, "\n%*s", (int)indent, "");
			column = indent;
		} else {
			fprintf(output->file, "%*s", (int)blanks, "");
			column += blanks;
		}
		fwrite(line + i + blanks, 1, word, output->file);
		column += width;
	}
}

void output_flow_end(struct output_flow *flow, size_t indent)
{
	const struct output *output = flow->outer;

	if (flow->inner.file == output->file)
		return;
	fclose(flow->inner.file);
	for (const char *line = flow->text; line && *line;) {
		size_t size = strcspn(line, "\n");

		if (output->width)
			line_wrap(output, line, size, indent);
		else
			fwrite(line, 1, size, output->file);
		line += size;
		if (*line == '\n')
			fputc(*line++, output->file);
	}
	free(flow->text);
	flow->text = NULL;
}

void say_cut(size_t shown, size_t count, const char *what)
{
	if (shown < count)
		say("%zu of %zu %s; --limit 0 shows all", shown, count, what);
}

void output_advance(size_t done, size_t count)
{
	static uint64_t first_boot_ns;
	uint64_t now_boot_ns = clock_boot_ns();

	first_boot_ns = first_boot_ns ? first_boot_ns : now_boot_ns;
	if (now_boot_ns - first_boot_ns >= ADVANCE_AFTER_NS && !isatty(STDOUT_FILENO))
		progress_show("tracer: %zu of %zu tasks", done, count);
}

int say(const char *format, ...)
{
	va_list arguments;
	char *safe;

	va_start(arguments, format);
	safe = safe_text(format, arguments);
	va_end(arguments);
	fprintf(stderr, "%s\n", safe ? safe : "");
	free(safe);
	return VERB_FAILED;
}
