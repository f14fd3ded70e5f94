/* Fuzz target: answers of a lake, and queries sent to it.
 *
 * The first byte selects the rest: rows (and the size of the pieces in which they arrive), or a
 * query with a value. Rows do not depend on the pieces; every value can be read to its end; a
 * value never leaves its place in the URL.
 */

#include "analysis/lake/rowbinary.h"
#include "analysis/lake/statement.h"
#include "tests/fuzz/fuzz.h"

#define ROWS_MAX 10000

/* Sums all bytes, so that each of them is read. */
static uint64_t value_sum(const struct store_value *value)
{
	uint64_t sum = (uint64_t)value->type + (uint64_t)value->integer;

	if (value->type != STORE_VALUE_TEXT && value->type != STORE_VALUE_BLOB)
		return sum;
	for (size_t i = 0; i < value->size; i++)
		sum = sum * 31 + (unsigned char)value->data[i];
	require(value->type == STORE_VALUE_BLOB ? value->data[value->size - 1] == '\0'
						: value->data[value->size] == '\0');
	return sum;
}

struct outcome {
	int code;
	size_t row_count;
	uint64_t sum;
};

static void rows_take(struct rowbinary *rows, struct outcome *outcome)
{
	while (outcome->row_count < ROWS_MAX && (outcome->code = rowbinary_next(rows)) == 1) {
		outcome->row_count++;
		for (size_t i = 0; i < rowbinary_width(rows); i++) {
			struct store_value value = rowbinary_value(rows, i);

			require(strlen(rowbinary_name(rows, i)) <= ROWBINARY_NAME_BYTES_MAX);
			outcome->sum = outcome->sum * 31 + value_sum(&value);
		}
	}
}

static struct outcome rows_read(const uint8_t *data, size_t size, size_t piece)
{
	struct rowbinary *rows = rowbinary_new();
	struct outcome outcome = {0};
	int head = 0;

	require(rows);
	for (size_t at = 0, more; at < size && outcome.code >= 0 && outcome.row_count < ROWS_MAX; at += more) {
		more = size - at < piece ? size - at : piece;
		require(rowbinary_feed(rows, data + at, more) == 0);
		if (head == 0)
			outcome.code = head = rowbinary_read_head(rows);
		if (head == 1)
			rows_take(rows, &outcome);
	}
	rowbinary_free(rows);
	return outcome;
}

static void try_rows(const uint8_t *data, size_t size, size_t piece)
{
	struct outcome whole = rows_read(data, size, size + 1), parts = rows_read(data, size, piece);

	require(whole.code == parts.code && whole.row_count == parts.row_count && whole.sum == parts.sum);
}

static void try_statement(const uint8_t *data, size_t size)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%";
	char *text = strndup((const char *)data, size), *sql = NULL, *address;
	const char *value = text ? strchrnul(text, '\x01') : NULL;
	const struct store_parameter parameters[] = {{"name", STORE_TEXT, 0, value}, {0}};

	require(text);
	address = statement_format_parameters(parameters);
	require(address && strncmp(address, "&param_name=", 12) == 0);
	require(strspn(address + 12, plain) == strlen(address + 12));
	free(address);
	if (statement_translate(text, parameters, &sql) == 0)
		free(sql);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	if (data[0] < 0xc0)
		try_rows(data + 1, size - 1, data[0] + 1);
	else
		try_statement(data + 1, size - 1);
	return 0;
}
