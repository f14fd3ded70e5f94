/* Aligned tables of cells. See table.h. */
#include "cli/screen/table.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "common/text.h"

#define GAP 2            /* spaces between columns */
#define FLEXIBLE_LEAST 8 /* minimum width, whatever its share */
#define BAR_LEAST 12
#define BAR_MAX 48
#define COLUMNS_MAX 24

/* Stored in a row as: style (one byte); text; if the text is BAR, the two ends of the bar. */
struct cell {
	enum style style;
	const char *text;
	float begin, end; /* of a bar; none if `end` is 0 */
};
#define BAR "\1" /* cannot occur in safe text */

struct table {
	const struct table_column *columns;
	size_t column_count;
	size_t width[COLUMNS_MAX]; /* of the widest cell */
	bool filled[COLUMNS_MAX];  /* at least one cell is not empty or 0 */
	char *row;                 /* the row that cells are added to */
	size_t row_size, row_capacity, cell_count;
	FILE *rows; /* complete rows: size and bytes of each; NULL if there are none */
	int error;
};

struct table *table_new(const struct table_column *columns, size_t column_count)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table || column_count > COLUMNS_MAX) {
		free(table);
		return NULL;
	}
	table->columns = columns;
	table->column_count = column_count;
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	if (table->rows)
		fclose(table->rows);
	free(table->row);
	free(table);
}

static bool is_nothing(const char *text)
{
	return *text == '\0' || strcmp(text, "-") == 0 || strcmp(text, "0") == 0 || strncmp(text, "0 ", 2) == 0;
}

/* Opens an unnamed temporary file, or memory if that fails. */
static FILE *rows_open(void)
{
	FILE *file = tmpfile();
	int fd;

	if (file)
		return file;
	fd = memfd_create("tracer-table", MFD_CLOEXEC);
	return fd < 0 ? NULL : fdopen(fd, "w+");
}

static int row_put_away(struct table *table)
{
	if (!table->rows)
		table->rows = rows_open();
	if (!table->rows)
		return -ENOMEM;
	if (fwrite(&table->row_size, sizeof(table->row_size), 1, table->rows) != 1 ||
	    fwrite(table->row, table->row_size, 1, table->rows) != 1)
		return -EIO;
	table->row_size = table->cell_count = 0;
	return 0;
}

/* Reads the next row back into the table's row. Returns 1, 0 at the end, or -EIO. */
static int row_take_back(struct table *table)
{
	size_t size;

	if (!table->rows || fread(&size, sizeof(size), 1, table->rows) != 1)
		return table->rows && ferror(table->rows) ? -EIO : 0;
	return fread(table->row, size, 1, table->rows) == 1 ? 1 : -EIO;
}

/* Returns space in the row for a cell with up to `size` bytes of text, or NULL if out of memory. */
static char *cell_begin(struct table *table, enum style style, size_t size)
{
	size_t needed = table->row_size + size + 1;
	char *row;

	if (table->error == 0 && needed > table->row_capacity) {
		row = realloc(table->row, 2 * needed);
		if (!row) {
			table->error = -ENOMEM;
			return NULL;
		}
		table->row = row;
		table->row_capacity = 2 * needed;
	}
	if (table->error < 0)
		return NULL;
	table->row[table->row_size++] = (char)style;
	return table->row + table->row_size;
}

/* Completes a cell whose text of `size` bytes is in place; writes a full row to the file. */
static void cell_end(struct table *table, const char *text, size_t size)
{
	size_t column = table->cell_count++, width = text_width(text);

	table->width[column] = width > table->width[column] ? width : table->width[column];
	table->filled[column] = table->filled[column] || !is_nothing(text);
	table->row_size += size;
	if (table->cell_count == table->column_count)
		table->error = row_put_away(table);
}

void table_add(struct table *table, enum style style, const char *text)
{
	size_t size = strlen(text) + 1;
	char *place = cell_begin(table, style, size);

	if (place)
		cell_end(table, memcpy(place, text, size), size);
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
	size_t prefix_size = strlen(prefix), size = strlen(shown);
	char *place = cell_begin(table, style, prefix_size + 4 * size + 1);

	if (!place)
		return;
	memcpy(place, prefix, prefix_size);
	size = text_escape(shown, size, place + prefix_size, 4 * size + 1);
	cell_end(table, place, prefix_size + size + 1);
}

void table_add_bar(struct table *table, enum style style, double begin, double end)
{
	float ends[2];
	char *place = cell_begin(table, style, sizeof(BAR) + sizeof(ends));

	if (!place)
		return;
	ends[0] = (float)(begin < 0 ? 0 : begin > 1 ? 1 : begin);
	ends[1] = (float)(end < ends[0] ? ends[0] : end > 1 ? 1 : end);
	if (ends[1] <= 0)
		ends[1] = 1e-6f; /* at the very beginning: draw one mark */
	memcpy(place, BAR, sizeof(BAR));
	memcpy(place + sizeof(BAR), ends, sizeof(ends));
	cell_end(table, place, sizeof(BAR) + sizeof(ends));
}

/* Parses the cells of a stored row. */
static void row_read(const struct table *table, const char *row, struct cell *cells)
{
	float ends[2];

	for (size_t i = 0; i < table->column_count; i++) {
		cells[i] = (struct cell){.style = (enum style)row[0], .text = row + 1};
		row += 1 + strlen(cells[i].text) + 1;
		if (strcmp(cells[i].text, BAR) != 0)
			continue;
		memcpy(ends, row, sizeof(ends));
		cells[i].begin = ends[0];
		cells[i].end = ends[1];
		row += sizeof(ends);
	}
}

/* ---- layout ------------------------------------------------------------------ */

struct layout {
	size_t width[COLUMNS_MAX]; /* 0: not shown */
	size_t dropped;
};

static void widths_measure(const struct table *table, bool titles, struct layout *layout)
{
	for (size_t i = 0; i < table->column_count; i++) {
		size_t title = titles ? text_width(table->columns[i].title) : 1;

		layout->width[i] = table->width[i] > title ? table->width[i] : title;
		if (table->columns[i].align == TABLE_BAR || (table->columns[i].optional && !table->filled[i]))
			layout->width[i] = 0;
	}
}

static void widths_limit(const struct table *table, struct layout *layout)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].most && layout->width[i] > table->columns[i].most)
			layout->width[i] = table->columns[i].most;
}

static size_t total_width(const struct table *table, const struct layout *layout)
{
	size_t total = 0;

	for (size_t i = 0; i < table->column_count; i++)
		total += layout->width[i] ? layout->width[i] + GAP : 0;
	return total > GAP ? total - GAP : 0;
}

/* Returns the shown column to drop first: of the highest rank, the rightmost. */
static size_t find_dispensable(const struct table *table, const struct layout *layout)
{
	size_t found = table->column_count;
	unsigned rank = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		unsigned own = table->columns[i].rank;

		if (layout->width[i] && own >= rank && own > 0) {
			rank = own;
			found = i;
		}
	}
	return found;
}

static size_t find_flexible(const struct table *table)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].flexible)
			return i;
	return table->column_count;
}

/* How much a flexible column can shrink before others are dropped. */
static size_t layout_slack(const struct table *table, const struct layout *layout, size_t width)
{
	size_t flexible = find_flexible(table), share;

	if (flexible == table->column_count)
		return 0;
	share = width * table->columns[flexible].flexible / 100;
	return layout->width[flexible] > share ? layout->width[flexible] - share : 0;
}

static bool has_bar(const struct table *table)
{
	return table->columns[table->column_count - 1].align == TABLE_BAR;
}

/* Drops columns until the rest fits. Then restores dropped columns that still fit, unless an earlier
 * one of the same rank does not. */
static void layout_drop(const struct table *table, struct layout *layout, size_t most)
{
	size_t dropped[COLUMNS_MAX], widths[COLUMNS_MAX], column;
	unsigned refused = 0;

	for (layout->dropped = 0; total_width(table, layout) > most; layout->dropped++) {
		column = find_dispensable(table, layout);
		if (column == table->column_count)
			break;
		dropped[layout->dropped] = column;
		widths[layout->dropped] = layout->width[column];
		layout->width[column] = 0;
	}
	for (size_t i = layout->dropped; i-- > 0;) {
		unsigned rank = table->columns[dropped[i]].rank;

		if (rank == refused || total_width(table, layout) + GAP + widths[i] > most) {
			refused = rank;
			continue;
		}
		layout->width[dropped[i]] = widths[i];
		layout->dropped--;
	}
}

static void layout_fit(const struct table *table, struct layout *layout, size_t width)
{
	size_t slack = layout_slack(table, layout, width), flexible = find_flexible(table), total;

	layout_drop(table, layout, width + slack);
	total = total_width(table, layout);
	if (has_bar(table) && total > slack && total - slack + GAP + BAR_LEAST <= width)
		total += GAP + BAR_LEAST; /* long names leave room for it if they can */
	if (total <= width || flexible == table->column_count)
		return;
	if (total - width > slack) /* no column is left to drop */
		slack = layout->width[flexible] > FLEXIBLE_LEAST ? layout->width[flexible] - FLEXIBLE_LEAST : 0;
	layout->width[flexible] -= total - width < slack ? total - width : slack;
}

static void layout_bar(const struct table *table, struct layout *layout, size_t width)
{
	size_t last = table->column_count - 1, used = total_width(table, layout);

	if (!has_bar(table) || width < used + GAP + BAR_LEAST)
		return;
	layout->width[last] = width - used - GAP;
	if (layout->width[last] > BAR_MAX)
		layout->width[last] = BAR_MAX;
}

/* ---- printing ---------------------------------------------------------------- */

static void print_blanks(const struct output *output, size_t count)
{
	static const char blanks[] = "                                ";

	for (size_t some; count > 0; count -= some) {
		some = count < sizeof(blanks) - 1 ? count : sizeof(blanks) - 1;
		fwrite_unlocked(blanks, 1, some, output->file);
	}
}

static void print_bar(const struct output *output, const struct cell *cell, size_t width)
{
	size_t begin = (size_t)(cell->begin * (float)width);
	size_t end = (size_t)(cell->end * (float)width + 0.999f);

	if (cell->end <= 0)
		return;
	if (begin >= width)
		begin = width - 1;
	if (end > width)
		end = width;
	print_blanks(output, begin);
	fputs(output_style(output, cell->style), output->file);
	for (size_t i = begin; i < end || i == begin; i++)
		fputs(output->unicode ? "━" : "=", output->file);
	fputs(output_reset(output), output->file);
}

/* `is_last`: nothing follows on the line, so no padding either. */
static void print_cell(const struct output *output, const struct table_column *column, const struct cell *cell,
		       size_t width, bool is_last)
{
	bool is_whole = is_last && column->align == TABLE_LEFT && !output->width; /* its width does not matter */
	size_t used = is_whole ? 0 : text_width(cell->text);

	if (column->align == TABLE_BAR) {
		print_bar(output, cell, width);
		return;
	}
	if (column->align == TABLE_RIGHT && used < width)
		print_blanks(output, width - used);
	fputs(output_style(output, cell->style), output->file);
	if (used <= width)
		fputs_unlocked(cell->text, output->file);
	else
		used = output_print_fitted(output, cell->text, width);
	if (cell->style != STYLE_PLAIN)
		fputs(output_reset(output), output->file);
	if (column->align == TABLE_LEFT && used < width && !is_last)
		print_blanks(output, width - used);
}

static void print_row(const struct table *table, const struct output *output, const struct layout *layout,
		      const struct cell *cells)
{
	size_t last = 0;

	for (size_t i = 0; i < table->column_count; i++)
		if (layout->width[i] && (*cells[i].text || table->columns[i].align == TABLE_BAR))
			last = i;
	for (size_t i = 0; i <= last; i++) {
		if (!layout->width[i])
			continue;
		print_cell(output, &table->columns[i], &cells[i], layout->width[i], i == last);
		if (i != last)
			print_blanks(output, GAP);
	}
	fputc('\n', output->file);
}

static void print_titles(const struct table *table, const struct output *output, const struct layout *layout)
{
	size_t blanks = 0; /* pending before the next title, so that no line ends in spaces */

	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];
		size_t width = layout->width[i], used = text_width(column->title);

		if (!width || column->align == TABLE_BAR)
			continue;
		used = used < width ? used : width;
		print_blanks(output, blanks + (column->align == TABLE_RIGHT ? width - used : 0));
		output_print(output, STYLE_DIM, "%s", column->title);
		blanks = GAP + (column->align == TABLE_RIGHT ? 0 : width - used);
	}
	fputc('\n', output->file);
}

int table_print(struct table *table, const struct output *output, bool titles, size_t *ret_dropped)
{
	struct layout layout = {0};
	struct cell cells[COLUMNS_MAX];
	int more;

	if (table->error < 0)
		return table->error;
	if (table->rows)
		rewind(table->rows);
	widths_measure(table, titles, &layout);
	if (output->width) {
		widths_limit(table, &layout);
		layout_fit(table, &layout, output->width);
		layout_bar(table, &layout, output->width);
	}
	if (titles)
		print_titles(table, output, &layout);
	while ((more = row_take_back(table)) > 0) {
		row_read(table, table->row, cells);
		print_row(table, output, &layout, cells);
	}
	if (table->rows)
		fseek(table->rows, 0, SEEK_END); /* more rows may be appended */
	if (ret_dropped)
		*ret_dropped = layout.dropped;
	return more;
}
