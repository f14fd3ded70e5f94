/* The canonical dump. See dump.h. */
#include "tests/dump.h"

#include <errno.h>
#include <string.h>

static const char *const left_out[] = {"rev", "committed_boot_ns", "committed_unix_ns"};

static const struct {
	const char *name;
	const char *key;
} tables[] = {
#define R(NAME, name, table, key) {#table, key},
	ROWS(R)
#undef R
		{"states", "id"},
	{"stream", "id"},
};

static bool column_is_dumped(const struct store_result *result, size_t column)
{
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (strcmp(store_result_name(result, column), left_out[i]) == 0)
			return false;
	return true;
}

static void write_text(FILE *file, const char *text, size_t size)
{
	fputc('"', file);
	for (size_t i = 0; i < size; i++)
		if (text[i] >= 0x20 && text[i] < 0x7f && text[i] != '"' && text[i] != '\\')
			fputc(text[i], file);
		else
			fprintf(file, "\\x%02x", (unsigned char)text[i]);
	fputc('"', file);
}

static void write_blob(FILE *file, const char *data, size_t size)
{
	fputs("x'", file);
	for (size_t i = 0; i < size; i++)
		fprintf(file, "%02x", (unsigned char)data[i]);
	fputc('\'', file);
}

static void write_value(FILE *file, struct store_value value)
{
	switch (value.type) {
	case STORE_VALUE_NULL: fputs("NULL", file); break;
	case STORE_VALUE_TEXT: write_text(file, value.data, value.size); break;
	case STORE_VALUE_BLOB: write_blob(file, value.data, value.size); break;
	default: fprintf(file, "%lld", (long long)value.integer);
	}
}

static void write_head(FILE *file, const struct store_result *result, const char *table)
{
	fprintf(file, "table %s:", table);
	for (size_t i = 0; i < store_result_width(result); i++)
		if (column_is_dumped(result, i))
			fprintf(file, " %s", store_result_name(result, i));
	fputc('\n', file);
}

static void write_row(FILE *file, struct store_result *result)
{
	const char *separator = "";

	for (size_t i = 0; i < store_result_width(result); i++) {
		if (!column_is_dumped(result, i))
			continue;
		fputs(separator, file);
		write_value(file, store_result_value(result, i));
		separator = " ";
	}
	fputc('\n', file);
}

static int dump_table(struct store *store, FILE *file, const char *table, const char *key)
{
	struct store_result *result;
	char sql[128];
	int error;

	snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY %s", table, key);
	error = store_query_text(store, &(struct store_text){table, sql, 0}, NULL, &result);
	if (error < 0)
		return error;
	write_head(file, result, table);
	while ((error = store_result_next(result)) == 1)
		write_row(file, result);
	store_result_free(result);
	return error;
}

int store_dump(struct store *store, FILE *file)
{
	int error = store_begin_reading(store);

	for (size_t i = 0; error == 0 && i < sizeof(tables) / sizeof(tables[0]); i++)
		error = dump_table(store, file, tables[i].name, tables[i].key);
	store_end_reading(store);
	if (error == 0 && (fflush(file) != 0 || ferror(file)))
		error = -EIO;
	return error;
}
