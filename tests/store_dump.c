/* Prints the canonical dump of a store, which must be identical when a recording is replayed twice.
 *
 * A table is a line "table NAME: COLUMN, ..." followed by one line per row, ordered by
 * key. Integers are printed as they are, text in quotes with all but plain ASCII as
 * \xHH, blobs as x'HH...', NULL as NULL. What depends on the time of commits, not
 * on their content, is omitted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/store/store.h"

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

static void write_text(const char *text, size_t size)
{
	putchar('"');
	for (size_t i = 0; i < size; i++)
		if (text[i] >= 0x20 && text[i] < 0x7f && text[i] != '"' && text[i] != '\\')
			putchar(text[i]);
		else
			printf("\\x%02x", (unsigned char)text[i]);
	putchar('"');
}

static void write_blob(const char *data, size_t size)
{
	printf("x'");
	for (size_t i = 0; i < size; i++)
		printf("%02x", (unsigned char)data[i]);
	putchar('\'');
}

static void write_value(struct store_value value)
{
	switch (value.type) {
	case STORE_VALUE_NULL: printf("NULL"); break;
	case STORE_VALUE_TEXT: write_text(value.data, value.size); break;
	case STORE_VALUE_BLOB: write_blob(value.data, value.size); break;
	default: printf("%lld", (long long)value.integer);
	}
}

static void write_head(const struct store_result *result, const char *table)
{
	printf("table %s:", table);
	for (size_t i = 0; i < store_result_width(result); i++)
		if (column_is_dumped(result, i))
			printf(" %s", store_result_name(result, i));
	putchar('\n');
}

static void write_row(struct store_result *result)
{
	const char *separator = "";

	for (size_t i = 0; i < store_result_width(result); i++) {
		if (!column_is_dumped(result, i))
			continue;
		printf("%s", separator);
		write_value(store_result_value(result, i));
		separator = " ";
	}
	putchar('\n');
}

static int dump_table(struct store *store, const char *table, const char *key)
{
	struct store_result *result;
	char sql[128];
	int error;

	snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY %s", table, key);
	error = store_query_text(store, &(struct store_text){table, sql, 0}, NULL, &result);
	if (error < 0)
		return error;
	write_head(result, table);
	while ((error = store_result_next(result)) == 1)
		write_row(result);
	store_result_free(result);
	return error;
}

/* Returns 0 or -errno. */
static int store_dump(struct store *store)
{
	int error = store_begin_reading(store);

	for (size_t i = 0; error == 0 && i < sizeof(tables) / sizeof(tables[0]); i++)
		error = dump_table(store, tables[i].name, tables[i].key);
	store_end_reading(store);
	if (error == 0 && (fflush(stdout) != 0 || ferror(stdout)))
		error = -EIO;
	return error;
}

int main(int argc, char **argv)
{
	struct store_error error;
	struct store *store;
	int r;

	if (argc != 2) {
		fputs("usage: store_dump STORE\n", stderr);
		return 2;
	}
	if (store_open_reader(argv[1], &store, &error) < 0) {
		fprintf(stderr, "store_dump: %s\n", error.text);
		return EXIT_FAILURE;
	}
	r = store_dump(store);
	if (r < 0)
		fprintf(stderr, "store_dump: %s\n", strerror(-r));
	store_close(store);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
