/* Aligned tables of cells, fitted to the width of a terminal.
 *
 * On a terminal that is too narrow the flexible column is cut to its share of the
 * width, then columns of the highest `rank` are dropped. If the output has no
 * width, nothing is cut. The bar column, if any, is the last: it takes the remaining
 * space, or is omitted.
 *
 * Rows are buffered in a temporary file, so that a table of any length takes little memory.
 */
#pragma once

#include "cli/screen/output.h"

enum table_align { TABLE_LEFT, TABLE_RIGHT, TABLE_BAR };

struct table_column {
	const char *title;
	enum table_align align;
	unsigned flexible; /* at most one column, that of names: percentage of a terminal's width that it
			    * keeps while others are dropped. 0: never cut */
	unsigned rank;     /* 0: never dropped */
	bool optional;     /* omitted if all cells are empty or 0 */
	unsigned most;     /* maximum width on a terminal; 0: no limit */
};

struct table;

/* `columns` is borrowed for the table's lifetime. Returns NULL if out of memory: table_print() reports it, the
 * others do nothing then. */
struct table *table_new(const struct table_column *columns, size_t column_count);
void table_free(struct table *table);

/* Adds cells row by row, from left to right; text is copied and must be safe
 * (common/text.h) UTF-8. Errors are reported by table_print(). */
void table_add(struct table *table, enum style style, const char *text);

/* Adds plain cells of such texts; the list ends with NULL. */
void table_add_all(struct table *table, ...) __attribute__((sentinel));

/* Adds a cell of text that is sanitized; `prefix` (tree lines) is used as it is. */
void table_add_name(struct table *table, enum style style, const char *prefix, const char *text);

/* Adds a bar that covers the part from `begin` to `end` (0..1) of the bar column. */
void table_add_bar(struct table *table, enum style style, double begin, double end);

/* Prints a line of titles, if there are any, and the rows. `ret_dropped` may be NULL and gets the number of
 * columns that did not fit. Returns 0 or -errno. */
int table_print(struct table *table, const struct output *output, size_t *ret_dropped);
/* Prints and frees a table. Returns 0 or -errno. */
int table_finish(struct table *table, const struct output *output);
