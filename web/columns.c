/* Columns of numbers, compressed. See columns.h. */
#include "web/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <zlib.h>

#include "common/grow.h"
#include "common/store/rows.h"
#include "common/text.h"

/* ---- tables ---------------------------------------------------------------------- */

void *web_table_add(struct web_table *table)
{
	void *rows = grow(table->rows, &table->capacity, table->count + 1, table->row_size);
	char *row;

	if (!rows)
		return NULL;
	table->rows = rows;
	row = (char *)rows + table->count++ * table->row_size;
	for (size_t i = 0; i < table->column_count; i++)
		*(int64_t *)(void *)(row + table->columns[i].offset) = ROW_NULL;
	return row;
}

void web_table_free(struct web_table *table)
{
	free(table->rows);
	table->rows = NULL;
	table->count = table->capacity = 0;
}

/* ---- texts ----------------------------------------------------------------------- */

struct web_text {
	UT_hash_handle hh;
	int64_t index;
	char text[];
};

struct length_row {
	int64_t length;
};

static const struct web_column length_columns[] = {{"length", offsetof(struct length_row, length), WEB_PLAIN}};

void web_texts_init(struct web_texts *texts)
{
	*texts = (struct web_texts){.lengths = {"texts", length_columns, 1, sizeof(struct length_row)}};
}

static int text_add(struct web_texts *texts, const char *escaped, size_t size, struct web_text **ret_text)
{
	struct web_text *text = malloc(sizeof(*text) + size + 1);
	struct length_row *row;

	if (!text)
		return -ENOMEM;
	row = web_table_add(&texts->lengths);
	if (!row) {
		free(text);
		return -ENOMEM;
	}
	row->length = (int64_t)size;
	text->index = (int64_t)texts->lengths.count - 1;
	memcpy(text->text, escaped, size + 1);
	HASH_ADD(hh, texts->texts, text, size, text);
	*ret_text = text;
	return 0;
}

int64_t web_texts_add(struct web_texts *texts, const char *text)
{
	size_t length = text ? strlen(text) : 0, capacity = 4 * length + 1, size;
	struct web_text *found;
	char *escaped;
	int error = 0;

	if (!text)
		return ROW_NULL;
	escaped = malloc(capacity);
	if (!escaped)
		return -ENOMEM;
	size = text_escape(text, length, escaped, capacity);
	HASH_FIND(hh, texts->texts, escaped, size, found);
	if (!found)
		error = text_add(texts, escaped, size, &found);
	free(escaped);
	return error < 0 ? error : found->index;
}

void web_texts_free(struct web_texts *texts)
{
	struct web_text *text, *next;

	HASH_ITER (hh, texts->texts, text, next) {
		HASH_DEL(texts->texts, text);
		free(text);
	}
	web_table_free(&texts->lengths);
}

/* ---- compression, base64 --------------------------------------------------------- */

#define LEVEL 5      /* of 9, which takes nine times as long, for 5 % less */
#define LEVEL_DATA 1 /* of what is sent each second and not kept: half the time, for 7 % more */

struct packer {
	FILE *file;
	bool is_text; /* base64 */
	z_stream stream;
	unsigned char out[16384];
	unsigned char rest[3]; /* bytes that do not make four characters yet */
	size_t rest_count;
};

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void base64_write(struct packer *packer, const unsigned char *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		packer->rest[packer->rest_count++] = data[i];
		if (packer->rest_count < sizeof(packer->rest))
			continue;
		fputc(base64_digits[packer->rest[0] >> 2], packer->file);
		fputc(base64_digits[(packer->rest[0] & 3) << 4 | packer->rest[1] >> 4], packer->file);
		fputc(base64_digits[(packer->rest[1] & 15) << 2 | packer->rest[2] >> 6], packer->file);
		fputc(base64_digits[packer->rest[2] & 63], packer->file);
		packer->rest_count = 0;
	}
}

static void base64_end(struct packer *packer)
{
	const unsigned char zeros[2] = {0};
	size_t count = packer->rest_count;

	if (count == 0)
		return;
	memcpy(packer->rest + count, zeros, sizeof(packer->rest) - count);
	fputc(base64_digits[packer->rest[0] >> 2], packer->file);
	fputc(base64_digits[(packer->rest[0] & 3) << 4 | packer->rest[1] >> 4], packer->file);
	fputc(count == 2 ? base64_digits[(packer->rest[1] & 15) << 2] : '=', packer->file);
	fputc('=', packer->file);
}

static void compressed_write(struct packer *packer, const unsigned char *data, size_t size)
{
	if (packer->is_text)
		base64_write(packer, data, size);
	else
		fwrite(data, 1, size, packer->file);
}

/* Compresses and writes; `flush` is Z_FINISH for the end. */
static void pack(struct packer *packer, const void *data, size_t size, int flush)
{
	packer->stream.next_in = (unsigned char *)data;
	packer->stream.avail_in = (unsigned)size;
	do {
		packer->stream.next_out = packer->out;
		packer->stream.avail_out = sizeof(packer->out);
		deflate(&packer->stream, flush);
		compressed_write(packer, packer->out, sizeof(packer->out) - packer->stream.avail_out);
	} while (packer->stream.avail_out == 0);
}

/* ---- columns --------------------------------------------------------------------- */

/* The number that is stored for each row, in the order of the rows. */
struct reader {
	const char *row;
	size_t row_size;
	enum web_coding coding;
	int64_t last;
	const int64_t *sums; /* of the parts of each row */
};

static const struct web_column *column_find(const struct web_table *table, const char *name)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (strcmp(table->columns[i].name, name) == 0)
			return &table->columns[i];
	return NULL;
}

static int64_t number_at(const struct web_table *table, size_t row, const struct web_column *column)
{
	return *(const int64_t *)(const void *)((const char *)table->rows + row * table->row_size + column->offset);
}

/* Adds up the parts of each row; what is unknown counts as 0. Returns NULL if out of memory. */
static int64_t *sums_make(const struct web_table *table, const struct web_column *column)
{
	const struct web_table *parts = table->parts;
	const struct web_column *of = column_find(parts, table->part_of), *number = column_find(parts, column->name);
	uint64_t *sums = calloc(table->count + 1, sizeof(*sums));

	for (size_t i = 0; sums && i < parts->count; i++) {
		int64_t row = number_at(parts, i, of), value = number_at(parts, i, number);

		if (row >= 0 && (size_t)row < table->count && value != ROW_NULL)
			sums[row] += (uint64_t)value;
	}
	return (int64_t *)sums;
}

static struct reader reader_of(const struct web_table *table, const struct web_column *column, const int64_t *sums)
{
	return (struct reader){(const char *)table->rows + column->offset, table->row_size, column->coding, 0, sums};
}

/* Small numbers, whatever their sign, become small. */
static uint64_t zigzag(int64_t value, int64_t expected)
{
	int64_t difference = (int64_t)((uint64_t)value - (uint64_t)expected);

	return (uint64_t)difference << 1 ^ (difference < 0 ? UINT64_MAX : 0);
}

static uint64_t reader_next(struct reader *reader)
{
	int64_t value = *(const int64_t *)(const void *)reader->row, last = reader->last;

	reader->row += reader->row_size;
	if (reader->coding == WEB_REST) {
		int64_t sum = *reader->sums++;

		return value == ROW_NULL ? 0 : zigzag(value, sum) + 1;
	}
	if (reader->coding == WEB_PLAIN)
		return value < 0 ? 0 : (uint64_t)value + 1;
	reader->last = value == ROW_NULL ? last : value;
	return zigzag(reader->last, last);
}

static unsigned column_bytes(const struct web_table *table, const struct web_column *column, const int64_t *sums)
{
	struct reader reader = reader_of(table, column, sums);
	uint64_t all = 0;

	for (size_t i = 0; i < table->count; i++)
		all |= reader_next(&reader);
	return all ? (unsigned)(71 - __builtin_clzll(all)) / 8 : 0;
}

static int column_pack(struct packer *packer, const struct web_table *table, const struct web_column *column)
{
	int64_t *sums = column->coding == WEB_REST ? sums_make(table, column) : NULL;
	unsigned char buffer[16384];
	unsigned bytes;

	if (column->coding == WEB_REST && !sums)
		return -ENOMEM;
	bytes = column_bytes(table, column, sums);
	for (unsigned plane = 0; plane < bytes; plane++) {
		struct reader reader = reader_of(table, column, sums);
		size_t used = 0;

		for (size_t i = 0; i < table->count; i++) {
			buffer[used++] = (unsigned char)(reader_next(&reader) >> 8 * plane);
			if (used < sizeof(buffer) && i + 1 < table->count)
				continue;
			pack(packer, buffer, used, Z_NO_FLUSH);
			used = 0;
		}
	}
	free(sums);
	return 0;
}

static json_t *column_to_json(const struct web_table *table, const struct web_column *column)
{
	int64_t *sums = column->coding == WEB_REST ? sums_make(table, column) : NULL;
	bool is_known = sums || column->coding != WEB_REST; /* else out of memory, as column_pack() finds, too */
	json_t *object = json_pack("{s:i}", "bytes", is_known ? (int)column_bytes(table, column, sums) : 0);

	free(sums);
	if (column->coding == WEB_DELTA)
		json_object_set_new(object, "delta", json_true());
	if (column->coding == WEB_REST)
		json_object_set_new(object, "rest", json_true());
	return object;
}

static json_t *table_to_json(const struct web_table *table)
{
	json_t *columns = json_object(), *object;

	for (size_t i = 0; i < table->column_count; i++)
		json_object_set_new(columns, table->columns[i].name, column_to_json(table, &table->columns[i]));
	object = json_pack("{s:I, s:o}", "count", (json_int_t)table->count, "columns", columns);
	if (table->parts)
		json_object_set_new(object, "parts", json_pack("[ss]", table->parts->name, table->part_of));
	return object;
}

static int head_pack(struct packer *packer, const json_t *facts, const struct web_table *const *tables,
		     size_t table_count)
{
	json_t *described = json_object(), *head = json_pack("{s:O, s:o}", "facts", facts, "tables", described);
	unsigned char length[4];
	char *text;
	size_t size;

	for (size_t i = 0; i < table_count; i++)
		json_object_set_new(described, tables[i]->name, table_to_json(tables[i]));
	text = json_dumps(head, JSON_COMPACT);
	json_decref(head);
	if (!text)
		return -ENOMEM;
	size = strlen(text);
	for (size_t i = 0; i < sizeof(length); i++)
		length[i] = (unsigned char)(size >> 8 * i);
	pack(packer, length, sizeof(length), Z_NO_FLUSH);
	pack(packer, text, size, Z_NO_FLUSH);
	free(text);
	return 0;
}

int web_columns_write(FILE *file, bool is_text, const json_t *facts, const struct web_table *const *tables,
		      size_t table_count, const struct web_texts *texts)
{
	struct packer packer = {.file = file, .is_text = is_text};
	int error;

	if (deflateInit(&packer.stream, is_text ? LEVEL : LEVEL_DATA) != Z_OK)
		return -ENOMEM;
	error = head_pack(&packer, facts, tables, table_count);
	for (size_t i = 0; i < table_count && error == 0; i++)
		for (size_t j = 0; j < tables[i]->column_count; j++)
			error = error < 0 ? error : column_pack(&packer, tables[i], &tables[i]->columns[j]);
	for (const struct web_text *text = texts->texts; text && error == 0; text = text->hh.next)
		pack(&packer, text->text, strlen(text->text), Z_NO_FLUSH);
	pack(&packer, NULL, 0, Z_FINISH);
	deflateEnd(&packer.stream);
	base64_end(&packer);
	return error;
}
