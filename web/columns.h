/* Rows of numbers stored by column, and the texts that they refer to: the data of the page (docs/page.md). */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How the numbers of a column are stored, so that they compress well. */
enum web_coding {
	WEB_PLAIN,
	WEB_DELTA, /* as differences; unknown is that of the row before */
	WEB_REST,  /* what is left when the sum of the row's parts is subtracted */
};

/* A whole number of a row, ROW_NULL (unknown), or the index of a text. */
struct web_column {
	const char *name;
	size_t offset; /* of an int64_t in the row */
	enum web_coding coding;
};

struct web_table {
	const char *name;
	const struct web_column *columns;
	size_t column_count;
	size_t row_size;
	/* A table whose rows are parts of rows of this one, and its column that says of which; NULL if there is none. */
	const struct web_table *parts;
	const char *part_of;
	void *rows;
	size_t count, capacity;
};

/* Returns a new row, all of it unknown, or NULL if out of memory. Valid until the next call. */
void *web_table_add(struct web_table *table);
void web_table_free(struct web_table *table);

struct web_text;
struct web_texts {
	struct web_text *texts;   /* in the order in which they were added */
	struct web_table lengths; /* one of the tables of the page */
};

void web_texts_init(struct web_texts *texts);
/* Returns the index of that text, adding it if it is new; ROW_NULL for NULL. Control, bidirectional and invalid
 * characters are escaped (common/text.h). Returns -ENOMEM if out of memory. */
int64_t web_texts_add(struct web_texts *texts, const char *text);
void web_texts_free(struct web_texts *texts);

/* Writes `facts`, the tables and the texts, compressed; in base64 if `is_text`. Returns 0 or -ENOMEM; check ferror(). */
int web_columns_write(FILE *file, bool is_text, const json_t *facts, const struct web_table *const *tables,
		      size_t table_count, const struct web_texts *texts);
