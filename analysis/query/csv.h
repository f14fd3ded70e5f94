/* Rows as CSV (RFC 4180, but lines end with \n): for spreadsheets.
 *
 * Numbers and ids are those of JSON; unknown is an empty field, an empty text is "". Texts are escaped as for a terminal
 * (common/text.h), so that a row is always one line. A text that a spreadsheet would take for a formula, because it
 * begins with = + - or @, gets an apostrophe in front: names come from any process on the host. Arrays are JSON.
 */
#pragma once

#include "analysis/query/rows.h"

/* Writes a field of the line: json_write_member() of a writer with a form of CSV. */
void csv_write_member(struct json_writer *writer, const char *name, const struct store_value *value);

/* Writes the line of a row that is a tree. `columns` is an object whose members are the columns, in this order; those of
 * an object in it are NAME.MEMBER. What it does not have is left out. */
void csv_write_row(struct json_writer *writer, const json_t *columns, const json_t *row);
