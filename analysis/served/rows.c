/* See rows.h. */
#include "analysis/served/rows.h"

#include <errno.h>
#include <string.h>

#define MAGIC "tracer rows 1\n"

enum mark { ROW = 'r', END = 'e' };

/* ---- bytes ------------------------------------------------------------------------ */

static void put(FILE *out, const void *bytes, size_t size)
{
	fwrite(bytes, 1, size, out);
}

static int take(struct served_rows *rows, void *ret_bytes, size_t size)
{
	if ((size_t)(rows->end - rows->next) < size)
		return -EPROTO;
	memcpy(ret_bytes, rows->next, size);
	rows->next += size;
	return 0;
}

/* Its size, its bytes, and NUL. */
static void put_text(FILE *out, const char *text, size_t size)
{
	const uint32_t bytes = (uint32_t)size;

	put(out, &bytes, sizeof(bytes));
	put(out, text, size);
	put(out, "", 1);
}

static int take_text(struct served_rows *rows, const char **ret_text, size_t *ret_size)
{
	uint32_t size;

	if (take(rows, &size, sizeof(size)) < 0 || (size_t)(rows->end - rows->next) <= size || rows->next[size])
		return -EPROTO;
	*ret_text = rows->next;
	*ret_size = size;
	rows->next += (size_t)size + 1;
	return 0;
}

/* ---- the head --------------------------------------------------------------------- */

void served_head_encode(FILE *out, const struct served_head *head)
{
	const uint8_t is_restricted = head->is_restricted;

	put(out, MAGIC, sizeof(MAGIC));
	put(out, &head->schema_version, sizeof(head->schema_version));
	put(out, &is_restricted, sizeof(is_restricted));
	put(out, &head->width, sizeof(head->width));
	for (uint32_t i = 0; i < head->width; i++)
		put_text(out, head->names[i], strlen(head->names[i]));
}

int served_head_decode(struct served_rows *rows, struct served_head *ret_head)
{
	char magic[sizeof(MAGIC)];
	uint8_t is_restricted;
	size_t size;

	if (take(rows, magic, sizeof(magic)) < 0 || memcmp(magic, MAGIC, sizeof(magic)) != 0 ||
	    take(rows, &ret_head->schema_version, sizeof(ret_head->schema_version)) < 0 ||
	    take(rows, &is_restricted, sizeof(is_restricted)) < 0 || is_restricted > 1 ||
	    take(rows, &ret_head->width, sizeof(ret_head->width)) < 0 || ret_head->width > SERVED_COLUMNS_MAX)
		return -EPROTO;
	ret_head->is_restricted = is_restricted;
	for (uint32_t i = 0; i < ret_head->width; i++)
		if (take_text(rows, &ret_head->names[i], &size) < 0 || strlen(ret_head->names[i]) != size)
			return -EPROTO;
	return 0;
}

/* ---- values ----------------------------------------------------------------------- */

static void value_encode(FILE *out, const struct store_value *value)
{
	const uint8_t type = (uint8_t)value->type;

	put(out, &type, sizeof(type));
	switch (value->type) {
	case STORE_VALUE_INTEGER: put(out, &value->integer, sizeof(value->integer)); break;
	case STORE_VALUE_REAL: put(out, &value->real, sizeof(value->real)); break;
	case STORE_VALUE_TEXT:
	case STORE_VALUE_BLOB: put_text(out, value->data, value->size); break;
	default: break;
	}
}

static int value_decode(struct served_rows *rows, struct store_value *ret_value)
{
	uint8_t type;

	if (take(rows, &type, sizeof(type)) < 0)
		return -EPROTO;
	*ret_value = (struct store_value){.type = type};
	switch (type) {
	case STORE_VALUE_NULL: return 0;
	case STORE_VALUE_INTEGER: return take(rows, &ret_value->integer, sizeof(ret_value->integer));
	case STORE_VALUE_REAL: return take(rows, &ret_value->real, sizeof(ret_value->real));
	case STORE_VALUE_TEXT:
	case STORE_VALUE_BLOB: return take_text(rows, &ret_value->data, &ret_value->size);
	default: return -EPROTO;
	}
}

/* ---- rows ------------------------------------------------------------------------- */

void served_row_encode(FILE *out, const struct store_value *values, uint32_t width)
{
	putc(ROW, out);
	for (uint32_t i = 0; i < width; i++)
		value_encode(out, &values[i]);
}

void served_end_encode(FILE *out, uint64_t row_count)
{
	putc(END, out);
	put(out, &row_count, sizeof(row_count));
}

int served_row_decode(struct served_rows *rows, struct store_value *ret_values, uint32_t width)
{
	uint64_t row_count;
	char mark;

	if (take(rows, &mark, sizeof(mark)) < 0)
		return -EPROTO;
	if (mark == END)
		return take(rows, &row_count, sizeof(row_count)) < 0 || row_count != rows->row_count ? -EPROTO : 0;
	if (mark != ROW)
		return -EPROTO;
	for (uint32_t i = 0; i < width; i++)
		if (value_decode(rows, &ret_values[i]) < 0)
			return -EPROTO;
	rows->row_count++;
	return 1;
}

int served_rows_skip(struct served_rows *rows)
{
	struct store_value values[SERVED_COLUMNS_MAX];
	struct served_head head;
	int more = served_head_decode(rows, &head);

	rows->row_count = 0;
	if (more == 0)
		do
			more = served_row_decode(rows, values, head.width);
		while (more > 0);
	return more;
}
