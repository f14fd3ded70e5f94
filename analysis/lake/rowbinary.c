/* Parser of RowBinaryWithNamesAndTypes. See rowbinary.h.
 *
 * The head holds the number of columns, their names and their types. The rows follow, each value
 * encoded by its type: integers little-endian; strings and arrays preceded by their length
 * (LEB128); Nullable preceded by a byte that says whether the value is missing.
 */
#include "analysis/lake/rowbinary.h"

#include <string.h>

#include "common/grow.h"

enum kind { KIND_INTEGER, KIND_REAL, KIND_TEXT, KIND_STRINGS };

struct column {
	char name[ROWBINARY_NAME_BYTES_MAX + 1];
	enum kind kind;
	bool nullable;
	bool is_signed;
	size_t size; /* of a number, in bytes */
	struct store_value value;
	size_t data_offset; /* of a text, in `texts` */
};

struct rowbinary {
	unsigned char *data; /* received, not yet read */
	size_t begin, end, capacity;
	size_t width;
	struct column *columns;
	char *texts; /* of the current row, each NUL-terminated */
	size_t texts_size, texts_capacity;
};

/* Position within a row; a row is read completely or not at all. */
struct cursor {
	const unsigned char *at, *end;
};

struct rowbinary *rowbinary_new(void)
{
	return calloc(1, sizeof(struct rowbinary));
}

void rowbinary_free(struct rowbinary *rows)
{
	if (!rows)
		return;
	free(rows->columns);
	free(rows->data);
	free(rows->texts);
	free(rows);
}

int rowbinary_feed(struct rowbinary *rows, const void *data, size_t size)
{
	size_t pending = rows->end - rows->begin;
	unsigned char *grown;

	if (rows->begin > 0) {
		memmove(rows->data, rows->data + rows->begin, pending);
		rows->begin = 0;
		rows->end = pending;
	}
	grown = grow(rows->data, &rows->capacity, pending + size, 1);
	if (!grown)
		return -ENOMEM;
	rows->data = grown;
	memcpy(rows->data + rows->end, data, size);
	rows->end += size;
	return 0;
}

size_t rowbinary_pending(const struct rowbinary *rows)
{
	return rows->end - rows->begin;
}

/* ---- values ------------------------------------------------------------------- */

/* These functions return 1; 0 if more bytes are needed; -EPROTO. */

static int take_bytes(struct cursor *cursor, size_t size, const unsigned char **ret_bytes)
{
	if ((size_t)(cursor->end - cursor->at) < size)
		return 0;
	*ret_bytes = cursor->at;
	cursor->at += size;
	return 1;
}

static int take_length(struct cursor *cursor, uint64_t most, uint64_t *ret_length)
{
	uint64_t length = 0;
	const unsigned char *byte;

	for (unsigned shift = 0; shift < 63; shift += 7) {
		if (take_bytes(cursor, 1, &byte) == 0)
			return 0;
		length |= (uint64_t)(*byte & 0x7f) << shift;
		if (*byte & 0x80)
			continue;
		*ret_length = length;
		return length <= most ? 1 : -EPROTO;
	}
	return -EPROTO;
}

static int take_text(struct cursor *cursor, size_t most, const unsigned char **ret_text, size_t *ret_size)
{
	uint64_t length;
	int taken = take_length(cursor, most, &length);

	if (taken <= 0)
		return taken;
	*ret_size = (size_t)length;
	return take_bytes(cursor, (size_t)length, ret_text);
}

static int64_t number_of(const unsigned char *bytes, size_t size, bool is_signed)
{
	uint64_t number = 0;

	for (size_t i = size; i-- > 0;)
		number = number << 8 | bytes[i];
	if (is_signed && size < 8 && bytes[size - 1] & 0x80)
		number |= UINT64_MAX << (8 * size);
	return (int64_t)number;
}

/* ---- the head ----------------------------------------------------------------- */

/* If `type` is WRAPPER(...), replaces it with the inner type and returns true. */
static bool type_unwrap(char *type, const char *wrapper)
{
	size_t size = strlen(type), head = strlen(wrapper);

	if (size < head + 2 || strncmp(type, wrapper, head) != 0 || type[head] != '(' || type[size - 1] != ')')
		return false;
	memmove(type, type + head + 1, size - head - 2);
	type[size - head - 2] = '\0';
	return true;
}

/* Accepts the types of the lake's columns and of sums of them. */
static int column_set_type(struct column *column, char *type)
{
	static const struct {
		const char *name;
		enum kind kind;
		size_t size;
		bool is_signed;
	} types[] = {
		{"Int64", KIND_INTEGER, 8, true},          {"UInt64", KIND_INTEGER, 8, false},
		{"Int32", KIND_INTEGER, 4, true},          {"UInt32", KIND_INTEGER, 4, false},
		{"Int16", KIND_INTEGER, 2, true},          {"UInt16", KIND_INTEGER, 2, false},
		{"Int8", KIND_INTEGER, 1, true},           {"UInt8", KIND_INTEGER, 1, false},
		{"Bool", KIND_INTEGER, 1, false},          {"Float64", KIND_REAL, 8, false},
		{"Nothing", KIND_INTEGER, 0, false},       {"String", KIND_TEXT, 0, false},
		{"Array(String)", KIND_STRINGS, 0, false},
	};

	type_unwrap(type, "LowCardinality");
	column->nullable = type_unwrap(type, "Nullable");
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(type, types[i].name) != 0)
			continue;
		column->kind = types[i].kind;
		column->size = types[i].size;
		column->is_signed = types[i].is_signed;
		/* The type Nothing must be Nullable: a value of no bytes would allow empty rows. */
		return column->size == 0 && column->kind == KIND_INTEGER && !column->nullable ? -EPROTO : 1;
	}
	return -ENOTSUP;
}

static int head_read_columns(struct cursor *cursor, struct column *columns, size_t width)
{
	char type[ROWBINARY_NAME_BYTES_MAX + 1];
	const unsigned char *text;
	size_t size;
	int taken;

	for (size_t i = 0; i < 2 * width; i++) {
		struct column *column = &columns[i % width];

		taken = take_text(cursor, ROWBINARY_NAME_BYTES_MAX, &text, &size);
		if (taken <= 0)
			return taken;
		memcpy(i < width ? column->name : type, text, size);
		(i < width ? column->name : type)[size] = '\0';
		taken = i < width ? 1 : column_set_type(column, type);
		if (taken <= 0)
			return taken;
	}
	return 1;
}

int rowbinary_read_head(struct rowbinary *rows)
{
	struct cursor cursor = {rows->data + rows->begin, rows->data + rows->end};
	struct column *columns;
	uint64_t width;
	int taken = rows->end == rows->begin ? 0 : take_length(&cursor, ROWBINARY_COLUMNS_MAX, &width);

	if (taken <= 0)
		return taken;
	if (width == 0)
		return -EPROTO;
	columns = calloc((size_t)width, sizeof(*columns));
	if (!columns)
		return -ENOMEM;
	taken = head_read_columns(&cursor, columns, (size_t)width);
	if (taken <= 0) {
		free(columns);
		return taken;
	}
	rows->columns = columns;
	rows->width = (size_t)width;
	rows->begin = (size_t)(cursor.at - rows->data);
	return 1;
}

/* ---- rows --------------------------------------------------------------------- */

static int texts_add(struct rowbinary *rows, const unsigned char *text, size_t size)
{
	char *grown = grow(rows->texts, &rows->texts_capacity, rows->texts_size + size + 1, 1);

	if (!grown)
		return -ENOMEM;
	rows->texts = grown;
	memcpy(rows->texts + rows->texts_size, text, size);
	rows->texts_size += size;
	rows->texts[rows->texts_size++] = '\0';
	return 1;
}

static int read_text(struct rowbinary *rows, struct column *column, struct cursor *cursor)
{
	const unsigned char *text;
	int taken = take_text(cursor, ROWBINARY_ROW_BYTES_MAX, &text, &column->value.size);

	if (taken <= 0)
		return taken;
	column->value.type = STORE_VALUE_TEXT;
	column->data_offset = rows->texts_size;
	return texts_add(rows, text, column->value.size);
}

/* As in SQLite: a blob of NUL-terminated strings. An empty array means unknown. */
static int read_strings(struct rowbinary *rows, struct column *column, struct cursor *cursor)
{
	const unsigned char *text;
	uint64_t count;
	size_t size;
	int taken = take_length(cursor, ROWBINARY_ROW_BYTES_MAX, &count);

	column->data_offset = rows->texts_size;
	for (uint64_t i = 0; taken > 0 && i < count; i++) {
		taken = take_text(cursor, ROWBINARY_ROW_BYTES_MAX, &text, &size);
		if (taken > 0)
			taken = texts_add(rows, text, size);
	}
	if (taken <= 0)
		return taken;
	column->value.type = count > 0 ? STORE_VALUE_BLOB : STORE_VALUE_NULL;
	column->value.size = rows->texts_size - column->data_offset;
	return 1;
}

static int read_number(struct column *column, struct cursor *cursor)
{
	const unsigned char *bytes;

	if (column->size == 0)
		return -EPROTO; /* type Nothing with a value */
	if (take_bytes(cursor, column->size, &bytes) == 0)
		return 0;
	if (column->kind == KIND_REAL) {
		column->value.type = STORE_VALUE_REAL;
		memcpy(&column->value.real, bytes, sizeof(column->value.real));
	} else {
		column->value.type = STORE_VALUE_INTEGER;
		column->value.integer = number_of(bytes, column->size, column->is_signed);
	}
	return 1;
}

static int read_value(struct rowbinary *rows, struct column *column, struct cursor *cursor)
{
	const unsigned char *missing;

	column->value = (struct store_value){.type = STORE_VALUE_NULL};
	if (column->nullable) {
		if (take_bytes(cursor, 1, &missing) == 0)
			return 0;
		if (*missing > 1)
			return -EPROTO;
		if (*missing)
			return 1;
	}
	switch (column->kind) {
	case KIND_TEXT: return read_text(rows, column, cursor);
	case KIND_STRINGS: return read_strings(rows, column, cursor);
	default: return read_number(column, cursor);
	}
}

int rowbinary_next(struct rowbinary *rows)
{
	struct cursor cursor = {rows->data + rows->begin, rows->data + rows->end};

	if (cursor.at == cursor.end)
		return 0;
	rows->texts_size = 0;
	for (size_t i = 0; i < rows->width; i++) {
		int taken = read_value(rows, &rows->columns[i], &cursor);

		if (taken == 0 && rowbinary_pending(rows) > ROWBINARY_ROW_BYTES_MAX)
			return -EPROTO;
		if (taken <= 0)
			return taken;
	}
	rows->begin = (size_t)(cursor.at - rows->data);
	return 1;
}

size_t rowbinary_width(const struct rowbinary *rows)
{
	return rows->width;
}

const char *rowbinary_name(const struct rowbinary *rows, size_t column)
{
	return rows->columns[column].name;
}

struct store_value rowbinary_value(const struct rowbinary *rows, size_t column)
{
	struct store_value value = rows->columns[column].value;

	if (value.type == STORE_VALUE_TEXT || value.type == STORE_VALUE_BLOB)
		value.data = rows->texts + rows->columns[column].data_offset;
	return value;
}
