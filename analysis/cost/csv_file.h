/* CSV files with a header line, such as lists of prices: fields by the name of their column.
 *
 * As in RFC 4180. Columns may be in any order, and others are ignored. Sizes are bounded: a file comes from a site's
 * administrator or a cloud provider, not from us.
 */
#pragma once

#include <stdbool.h>

#include "common/yaml/arena.h"
#include "common/yaml/tree.h"

#define CSV_COLUMNS_MAX 32
#define CSV_FIELD_BYTES_MAX 4096

struct csv_row {
	unsigned line;                       /* where it ends, 1-based */
	const char *fields[CSV_COLUMNS_MAX]; /* by index of the column; "" if absent. Valid until the next row */
};

/* Returns 0; -EINVAL with `ret_error->reason` set, which stops the reading; -ENOMEM. */
typedef int csv_take(void *context, const struct csv_row *row, struct tree_error *ret_error);

/* What to read: names of columns, compared without case; a file without one of the required ones is refused. */
struct csv_columns {
	const char *const *names;
	size_t count, required_count; /* the first are required */
	unsigned skip_lines;          /* before the header line */
	bool may_have_tabs;           /* instead of commas, if the header line has some */
};

/* Reads a file of any size. Returns 0; -EINVAL or -errno with `*ret_error`; -ENOMEM. */
int csv_read(const char *path, const struct csv_columns *columns, csv_take *take, void *context,
	     struct tree_error *ret_error);

/* A pattern in a field: a text, or one with * ? [ ] as in a shell; empty or *: anything. Most are plain texts: comparing
 * these is much faster than fnmatch(). */
struct pattern {
	const char *text; /* NULL: any */
	bool has_wildcard;
};

/* Copies the text into the arena. Returns 0 or -ENOMEM. */
int pattern_make(struct arena *arena, const char *text, struct pattern *ret_pattern);

/* `text` is NULL if it is unknown: only a pattern for anything matches that. */
bool pattern_matches(const struct pattern *pattern, const char *text);
