/* Aligned tables of cells, fitted to the width of a terminal.
 *
 * On a terminal that is too narrow the flexible column is cut to its share of the
 * width, then columns of the highest `rank` are left out. Where the output has no
 * width, nothing is cut. The bar column, if any, is last: it takes the room that is
 * left, or is not there.
 *
 * Rows are kept as they will be printed, in a temporary file: a table of any length takes little memory.
 */
#pragma once

#include "cli/output.h"

enum table_align { TABLE_LEFT, TABLE_RIGHT, TABLE_BAR };

struct table_column {
	const char *title;
	enum table_align align;
	unsigned flexible; /* of at most one, the names: the percentage of a terminal's width that it
			    * keeps; others are dropped first. 0: never cut */
	unsigned rank;     /* 0: never dropped */
	bool optional;     /* not there where no cell says more than nothing or 0 */
	unsigned most;     /* columns of text on a terminal; 0: no limit */
};

struct table;

/* `columns` is borrowed for the table's life. NULL: out of memory. */
struct table *table_new(const struct table_column *columns, size_t column_count);
void table_free(struct table *table);

/* Cells are added row by row, from left to right; text is copied and must be safe
 * (common/text.h) UTF-8. What fails is reported by table_print(). */
void table_add(struct table *table, enum style style, const char *text);

/* Plain cells of such texts; the last is NULL. */
void table_add_all(struct table *table, ...) __attribute__((sentinel));

/* A cell of text that is made safe: `prefix` (tree lines) stays as it is. */
void table_add_name(struct table *table, enum style style, const char *prefix, const char *text);

/* The part from `begin` to `end` (0..1) of the bar column's width. */
void table_add_bar(struct table *table, enum style style, double begin, double end);

/* 0 or -errno. With `titles`, a line of titles first. `*ret_dropped`, unless
 * NULL: how many columns found no room. */
int table_print(struct table *table, const struct output *output, bool titles, size_t *ret_dropped);
