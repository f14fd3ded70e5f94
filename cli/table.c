/* Aligned tables of cells. See table.h. */
#include "cli/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

#define GAP 2                /* blanks between columns */
#define FLEXIBLE_LEAST 8      /* columns of text, whatever its share */
#define BAR_LEAST 12
#define BAR_MOST 48
#define COLUMNS_MAX 24

struct cell {
	char *text;
	enum style style;
	float begin, end; /* of a bar; end 0: none */
};

struct table {
	const struct table_column *columns;
	size_t column_count;
	struct cell *cells;
	size_t cell_count;
	size_t capacity;
	bool failed;
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
	for (size_t i = 0; i < table->cell_count; i++)
		free(table->cells[i].text);
	free(table->cells);
	free(table);
}

size_t table_row_count(const struct table *table)
{
	return table->cell_count / table->column_count;
}

static void cell_append(struct table *table, struct cell cell)
{
	size_t capacity = table->capacity ? table->capacity * 2 : 64 * table->column_count;
	struct cell *cells;

	if (table->cell_count == table->capacity) {
		cells = reallocarray(table->cells, capacity, sizeof(*cells));
		if (!cells) {
			table->failed = true;
			free(cell.text);
			return;
		}
		table->cells = cells;
		table->capacity = capacity;
	}
	table->cells[table->cell_count++] = cell;
}

void table_add(struct table *table, enum style style, const char *text)
{
	struct cell cell = {.text = strdup(text), .style = style};

	if (!cell.text)
		table->failed = true;
	else
		cell_append(table, cell);
}

void table_add_name(struct table *table, enum style style, const char *prefix, const char *text)
{
	const char *shown = text ? text : "-";
	size_t prefix_size = strlen(prefix), size = strlen(shown);
	struct cell cell = {.text = malloc(prefix_size + 4 * size + 1), .style = style};

	if (!cell.text) {
		table->failed = true;
		return;
	}
	memcpy(cell.text, prefix, prefix_size);
	text_escape(shown, size, cell.text + prefix_size, 4 * size + 1);
	cell_append(table, cell);
}

void table_add_bar(struct table *table, enum style style, double begin, double end)
{
	struct cell cell = {.text = strdup(""), .style = style};

	if (!cell.text) {
		table->failed = true;
		return;
	}
	cell.begin = (float)(begin < 0 ? 0 : begin > 1 ? 1 : begin);
	cell.end = (float)(end < cell.begin ? cell.begin : end > 1 ? 1 : end);
	if (cell.end <= 0)
		cell.end = 1e-6f; /* at the very beginning: one mark */
	cell_append(table, cell);
}

/* ---- layout ------------------------------------------------------------------ */

struct layout {
	size_t width[COLUMNS_MAX]; /* 0: not shown */
	size_t dropped;
};

static bool is_nothing(const char *text)
{
	return *text == '\0' || strcmp(text, "-") == 0 || strcmp(text, "0") == 0 || strncmp(text, "0 ", 2) == 0;
}

static void hide_empty(const struct table *table, struct layout *layout)
{
	bool filled[COLUMNS_MAX] = {false};

	for (size_t i = 0; i < table->cell_count; i++)
		if (!is_nothing(table->cells[i].text))
			filled[i % table->column_count] = true;
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].optional && !filled[i])
			layout->width[i] = 0;
}

static void widths_measure(const struct table *table, bool titles, struct layout *layout)
{
	for (size_t i = 0; i < table->column_count; i++) {
		layout->width[i] = titles ? text_width(table->columns[i].title) : 1;
		if (table->columns[i].align == TABLE_BAR)
			layout->width[i] = 0;
	}
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t column = i % table->column_count, width = text_width(table->cells[i].text);

		if (width > layout->width[column])
			layout->width[column] = width;
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

/* The shown column that is the first to go: highest rank, rightmost. */
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

/* What a flexible column can give before others are dropped. */
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

/* Columns are dropped until the rest fits. Those that then fit after all come back, but not where
 * one of the same rank before them does not. */
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
		total += GAP + BAR_LEAST; /* long names leave room for it where they can */
	if (total <= width || flexible == table->column_count)
		return;
	if (total - width > slack) /* nothing is left to drop */
		slack = layout->width[flexible] > FLEXIBLE_LEAST ? layout->width[flexible] - FLEXIBLE_LEAST : 0;
	layout->width[flexible] -= total - width < slack ? total - width : slack;
}

static void layout_bar(const struct table *table, struct layout *layout, size_t width)
{
	size_t last = table->column_count - 1, used = total_width(table, layout);

	if (!has_bar(table) || width < used + GAP + BAR_LEAST)
		return;
	layout->width[last] = width - used - GAP;
	if (layout->width[last] > BAR_MOST)
		layout->width[last] = BAR_MOST;
}

/* ---- printing ---------------------------------------------------------------- */

static void print_blanks(const struct output *output, size_t count)
{
	fprintf(output->file, "%*s", (int)count, "");
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

/* `is_last`: nothing follows on the line, so no blanks either. */
static void print_cell(const struct output *output, const struct table_column *column,
		       const struct cell *cell, size_t width, bool is_last)
{
	size_t used = text_width(cell->text);

	if (column->align == TABLE_BAR) {
		print_bar(output, cell, width);
		return;
	}
	if (column->align == TABLE_RIGHT && used < width)
		print_blanks(output, width - used);
	fputs(output_style(output, cell->style), output->file);
	used = output_print_fitted(output, cell->text, width);
	if (cell->style != STYLE_PLAIN)
		fputs(output_reset(output), output->file);
	if (column->align == TABLE_LEFT && used < width && !is_last)
		print_blanks(output, width - used);
}

static void print_row(const struct table *table, const struct output *output,
		      const struct layout *layout, const struct cell *cells)
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

static void print_titles(const struct table *table, const struct output *output,
			 const struct layout *layout)
{
	size_t blanks = 0; /* owed before the next title, so that no line ends in blanks */

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

int table_print(const struct table *table, const struct output *output, bool titles,
		size_t *ret_dropped)
{
	struct layout layout = {0};

	if (table->failed)
		return -ENOMEM;
	widths_measure(table, titles, &layout);
	hide_empty(table, &layout);
	if (output->width) {
		widths_limit(table, &layout);
		layout_fit(table, &layout, output->width);
		layout_bar(table, &layout, output->width);
	}
	if (titles)
		print_titles(table, output, &layout);
	for (size_t i = 0; i + table->column_count <= table->cell_count; i += table->column_count)
		print_row(table, output, &layout, &table->cells[i]);
	if (ret_dropped)
		*ret_dropped = layout.dropped;
	return 0;
}
