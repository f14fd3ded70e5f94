/* The machine-readable formats of a verb's answer: the document as JSON, or the rows of its main array as lines of JSON
 * or CSV. All are of pure ASCII or escaped: names cannot send escape sequences to a terminal.
 */
#pragma once

#include <jansson.h>

/* In the order of the words of --format; a verb's own formats follow. */
enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_NDJSON, FORMAT_CSV, FORMAT_COUNT };
#define FORMAT_WORDS "table json ndjson csv"

/* Prints the document to standard output. `rows` names its main array; NULL: the document is the only row. `columns` is
 * a row like any other, for the columns of CSV, which are the same whatever the rows are; NULL: all members of the rows.
 * Takes ownership of both. Returns 0, -ENOMEM or -EIO. */
int document_print(json_t *document, const char *rows, json_t *columns, enum format format);
