/* Aligned tables of cells. See table.h. */
#include "cli/screen/table.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>

#include "common/text.h"

#define GAP 2            /* spaces between columns */
#define FLEXIBLE_LEAST 8 /* minimum width, whatever its share */
#define BAR_LEAST 12
#define BAR_MAX 48
#define COLUMNS_MAX 24
#define RANK_OF_BAR COLUMNS_MAX /* after those of all columns */

struct table {
	const struct table_column *columns;
	size_t column_count;
	size_t next_column;        /* of the next cell */
	size_t width[COLUMNS_MAX]; /* of the widest cell */
	bool filled[COLUMNS_MAX];  /* at least one cell is not empty or 0 */
	FILE *cells;               /* row by row: the style, one byte, and the text with its NUL */
	int error;
};

/* Opens an unnamed temporary file, or memory if that fails. */
static FILE *cells_open(void)
{
	FILE *file = tmpfile();
	int fd;

	if (file)
		return file;
	fd = memfd_create("tracer-table", MFD_CLOEXEC);
	return fd < 0 ? NULL : fdopen(fd, "w+");
}

struct table *table_new(const struct table_column *columns, size_t column_count)
{
	struct table *table = column_count <= COLUMNS_MAX ? calloc(1, sizeof(*table)) : NULL;
	FILE *cells = table ? cells_open() : NULL;

	if (!cells) {
		free(table);
		return NULL;
	}
	*table = (struct table){.columns = columns, .column_count = column_count, .cells = cells};
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	fclose(table->cells);
	free(table);
}

/* ---- cells --------------------------------------------------------------------- */

static bool is_nothing(const char *text)
{
	return *text == '\0' || strcmp(text, "-") == 0 || strcmp(text, "0") == 0 || strncmp(text, "0 ", 2) == 0;
}

static void cell_add(struct table *table, enum style style, const char *prefix, const char *text)
{
	size_t column = table ? table->next_column : 0, width = text_width(prefix) + text_width(text);

	if (!table)
		return;
	table->next_column = (column + 1) % table->column_count;
	table->width[column] = MAX(table->width[column], width);
	table->filled[column] = table->filled[column] || !is_nothing(text);
	putc_unlocked('A' + (int)style, table->cells);
	fputs_unlocked(prefix, table->cells);
	fputs_unlocked(text, table->cells);
	putc_unlocked('\0', table->cells);
}

void table_add(struct table *table, enum style style, const char *text)
{
	cell_add(table, style, "", text);
}

void table_add_all(struct table *table, ...)
{
	const char *text;
	va_list texts;

	va_start(texts, table);
	while ((text = va_arg(texts, const char *)))
		table_add(table, STYLE_PLAIN, text);
	va_end(texts);
}

void table_add_name(struct table *table, enum style style, const char *prefix, const char *text)
{
	const char *shown = text ? text : "-";
	size_t size = strlen(shown), capacity = 4 * size + 1;
	char *safe = malloc(capacity);

	if (safe)
		text_escape(shown, size, safe, capacity);
	else if (table)
		table->error = -ENOMEM;
	cell_add(table, style, prefix, safe ? safe : "");
	free(safe);
}

void table_add_bar(struct table *table, enum style style, double begin, double end)
{
	char text[64];

	snprintf(text, sizeof(text), "%a %a", begin, end); /* drawn when its width is known */
	table_add(table, style, text);
}

/* ---- layout -------------------------------------------------------------------- */

/* The widths of columns of which there is enough space for all; 0: not shown. */
static void widths_measure(const struct table *table, bool is_limited, size_t *ret_widths)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];
		size_t width = MAX(table->width[i], text_width(column->title));

		if (is_limited && column->most)
			width = MIN(width, column->most);
		if (column->align == TABLE_BAR)
			width = is_limited ? BAR_LEAST : 0;
		ret_widths[i] = column->optional && !table->filled[i] ? 0 : width;
	}
}

/* Keeps columns, by rank and then from the left, until one does not fit; then columns of higher ranks that
 * still fit. Adds up the width of those kept, with a gap after each. Returns how many were dropped. */
static size_t columns_drop(const struct table *table, size_t limit, size_t *widths, size_t *ret_used)
{
	size_t dropped = 0;

	*ret_used = 0;
	for (unsigned rank = 0; rank <= RANK_OF_BAR; rank++) {
		bool fits = true;

		for (size_t i = 0; i < table->column_count; i++) {
			bool is_bar = table->columns[i].align == TABLE_BAR;

			if (widths[i] == 0 || (is_bar ? RANK_OF_BAR : table->columns[i].rank) != rank)
				continue;
			fits = fits && (rank == 0 || *ret_used + widths[i] <= limit);
			*ret_used += fits ? widths[i] + GAP : 0;
			widths[i] = fits ? widths[i] : 0;
			dropped += !fits && !is_bar;
		}
	}
	return dropped;
}

/* Fits columns to a terminal. Returns how many were dropped. */
static size_t widths_fit(const struct table *table, size_t limit, size_t *widths)
{
	size_t last = table->column_count - 1, flexible = 0, most, used, others, dropped;
	unsigned percent;

	while (flexible < last && !table->columns[flexible].flexible)
		flexible++;
	percent = table->columns[flexible].flexible;
	most = widths[flexible];
	if (percent)
		widths[flexible] = MIN(most, limit * percent / 100);
	dropped = columns_drop(table, limit, widths, &used);
	others = used - GAP - widths[flexible];
	if (percent && widths[flexible])
		widths[flexible] = MIN(most, MAX(limit > others ? limit - others : 0, FLEXIBLE_LEAST));
	used = others + widths[flexible];
	if (table->columns[last].align == TABLE_BAR && widths[last])
		widths[last] = MIN(limit - used + BAR_LEAST, BAR_MAX);
	return dropped;
}

/* ---- printing ------------------------------------------------------------------ */

static void print_bar(const struct output *output, enum style style, const char *text, size_t width)
{
	double begin = 0, end = 0;
	size_t first, last;

	sscanf(text, "%la %la", &begin, &end);
	first = begin <= 0 ? 0 : MIN((size_t)(begin * (double)width), width - 1);
	last = end <= 0 ? 0 : MIN((size_t)(end * (double)width + 0.999), width);
	fprintf(output->file, "%*s%s", (int)first, "", output_style(output, style));
	for (size_t i = first; i < MAX(last, first + 1); i++)
		fputs(output->unicode ? "━" : "=", output->file);
	fputs(output_reset(output), output->file);
}

/* `blanks` are pending before the cell, so that no line ends in spaces. Returns those after it. */
static size_t print_cell(const struct output *output, const struct table_column *column, size_t width, enum style style,
			 const char *text, size_t blanks)
{
	size_t used;

	if (width == 0)
		return blanks;
	if (*text == '\0')
		return blanks + width + GAP;
	used = text_width(text);
	blanks += column->align == TABLE_RIGHT && used < width ? width - used : 0;
	fprintf(output->file, "%*s", (int)blanks, "");
	if (column->align == TABLE_BAR) {
		print_bar(output, style, text, width);
		return 0;
	}
	fputs_unlocked(output_style(output, style), output->file);
	if (used <= width)
		fputs_unlocked(text, output->file);
	else
		used = output_print_fitted(output, text, width);
	if (style != STYLE_PLAIN)
		fputs_unlocked(output_reset(output), output->file);
	return GAP + (column->align == TABLE_LEFT ? width - used : 0);
}

static int print_cells(const struct table *table, const struct output *output, const size_t *widths)
{
	size_t column = 0, blanks = 0, capacity = 0;
	char *cell = NULL;

	rewind(table->cells);
	while (getdelim(&cell, &capacity, '\0', table->cells) > 0) {
		blanks = print_cell(output, &table->columns[column], widths[column], (enum style)(cell[0] - 'A'),
				    cell + 1, blanks);
		column = (column + 1) % table->column_count;
		if (column > 0)
			continue;
		putc_unlocked('\n', output->file);
		blanks = 0;
	}
	free(cell);
	return ferror(table->cells) ? -EIO : table->error;
}

int table_print(struct table *table, const struct output *output, size_t *ret_dropped)
{
	size_t widths[COLUMNS_MAX], blanks = 0, dropped = 0;
	bool has_titles = false;

	if (!table)
		return -ENOMEM;
	widths_measure(table, output->width > 0, widths);
	if (output->width)
		dropped = widths_fit(table, output->width, widths);
	for (size_t i = 0; i < table->column_count; i++) {
		blanks = print_cell(output, &table->columns[i], widths[i], STYLE_DIM, table->columns[i].title, blanks);
		has_titles = has_titles || table->columns[i].title[0];
	}
	if (has_titles)
		fputc('\n', output->file);
	if (ret_dropped)
		*ret_dropped = dropped;
	return print_cells(table, output, widths);
}

int table_finish(struct table *table, const struct output *output)
{
	int error = table_print(table, output, NULL);

	table_free(table);
	return error;
}
