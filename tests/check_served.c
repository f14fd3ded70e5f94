/* Rows and parameters as they are exchanged with `tracer serve`. */
#include "tests/stores.h"

#include <curl/curl.h>
#include <errno.h>

#include "analysis/query/ask.h"
#include "analysis/served/parameters.h"
#include "analysis/served/rows.h"
#include "analysis/served/served.h"

#define WIDTH 5

static struct store_error problem;

/* Returns the answer to a query, or NULL. */
static char *answer(struct store *reader, const char *query, const char *parameter, size_t *ret_size, int *ret_error)
{
	char *words[] = {parameter ? strdup(parameter) : NULL, NULL}, *bytes = NULL;
	FILE *out = open_memstream(&bytes, ret_size);

	*ret_error = served_answer(out, reader, query, words, &problem);
	ck_assert_int_eq(fclose(out), 0);
	free(words[0]);
	return bytes;
}

static void ck_assert_same(const struct store_value *found, const struct store_value *expected)
{
	ck_assert_int_eq(found->type, expected->type);
	ck_assert_int_eq(found->integer, expected->integer);
	ck_assert_double_eq(found->real, expected->real);
	ck_assert_uint_eq(found->size, expected->size);
	if (expected->data)
		ck_assert_mem_eq(found->data, expected->data, expected->size + (expected->type == STORE_VALUE_TEXT));
}

static const struct store_value row[WIDTH] = {
	{STORE_VALUE_NULL, 0, 0, NULL, 0},    {STORE_VALUE_INTEGER, INT64_MIN, 0, NULL, 0},
	{STORE_VALUE_REAL, 0, -0.1, NULL, 0}, {STORE_VALUE_TEXT, 0, 0, HOSTILE, sizeof(HOSTILE) - 1},
	{STORE_VALUE_BLOB, 0, 0, "a\0b", 3},
};
static const struct served_head head = {7, true, WIDTH, {"a", "b", "c", "d", "e"}};

static char *encode(size_t *ret_size)
{
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, ret_size);

	served_head_encode(out, &head);
	served_row_encode(out, row, WIDTH);
	served_row_encode(out, row, WIDTH);
	served_end_encode(out, 2);
	fclose(out);
	return bytes;
}

/* Returns the number of rows, or -EPROTO. */
static int decode(const char *bytes, size_t size)
{
	struct served_rows rows = {bytes, bytes + size, 0};
	struct store_value values[SERVED_COLUMNS_MAX];
	struct served_head found;
	int more = served_head_decode(&rows, &found), count = 0;

	while (more == 0 && (more = served_row_decode(&rows, values, found.width)) == 1) {
		count++;
		more = 0;
	}
	return more < 0 ? more : rows.next != rows.end ? -EPROTO : count;
}

TEST(values_keep_their_types)
{
	size_t size;
	char *bytes = encode(&size);
	struct served_rows rows = {bytes, bytes + size, 0};
	struct store_value values[WIDTH];
	struct served_head found;

	ck_assert_int_eq(served_head_decode(&rows, &found), 0);
	ck_assert_uint_eq(found.schema_version, 7);
	ck_assert(found.is_restricted);
	ck_assert_uint_eq(found.width, WIDTH);
	ck_assert_str_eq(found.names[4], "e");
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(served_row_decode(&rows, values, WIDTH), 1);
		for (size_t column = 0; column < WIDTH; column++)
			ck_assert_same(&values[column], &row[column]);
	}
	ck_assert_int_eq(served_row_decode(&rows, values, WIDTH), 0);
	free(bytes);
}

/* In memory of exactly that size, so that a sanitizer sees a byte read behind it. */
TEST(a_cut_answer_is_an_error)
{
	size_t size;
	char *bytes = encode(&size);

	for (size_t cut = 0; cut < size; cut++) {
		char *part = memcpy(malloc(cut + 1), bytes, cut);

		part = realloc(part, cut ? cut : 1);
		ck_assert_msg(decode(part, cut) == -EPROTO, "after %zu of %zu bytes", cut, size);
		free(part);
	}
	bytes = realloc(bytes, size + 1);
	bytes[size] = 0;
	ck_assert_int_eq(decode(bytes, size), 2);
	ck_assert_int_eq(decode(bytes, size + 1), -EPROTO);
	free(bytes);
}

TEST(a_damaged_answer_is_no_fault)
{
	size_t size;
	char *bytes = encode(&size);

	for (size_t at = 0; at < size; at++)
		for (int bit = 0; bit < 8; bit++) {
			bytes[at] ^= (char)(1 << bit);
			ck_assert_int_le(decode(bytes, size), 2);
			bytes[at] ^= (char)(1 << bit);
		}
	free(bytes);
}

/* As a browser or libcurl decodes them. */
static void check_parameter(const struct store_parameter *parameter, const char *expected)
{
	const struct store_parameter parameters[] = {*parameter, {0}};
	char *url = served_parameters_add(strdup("/q"), parameters);
	char *text = curl_easy_unescape(NULL, url + strlen("/q?"), 0, NULL);
	struct store_parameter parsed;

	ck_assert_str_eq(text, expected);
	ck_assert_int_eq(served_parameter_parse(text, &parsed), 0);
	ck_assert_str_eq(parsed.name, parameter->name);
	ck_assert_int_eq(parsed.type, parameter->type);
	ck_assert_int_eq(parsed.integer, parameter->integer);
	ck_assert_double_eq(parsed.real, parameter->real);
	if (parameter->text)
		ck_assert_str_eq(parsed.text, parameter->text);
	curl_free(text);
	free(url);
}

TEST(parameters_keep_their_types)
{
	check_parameter(&(struct store_parameter){"n", STORE_INTEGER, INT64_MIN}, "n=i:-9223372036854775808");
	check_parameter(&(struct store_parameter){"n", STORE_REAL, .real = 0.1}, "n=r:0x1.999999999999ap-4");
	check_parameter(&(struct store_parameter){"n", STORE_TEXT, .text = HOSTILE "&=%?#"}, "n=t:" HOSTILE "&=%?#");
	check_parameter(&(struct store_parameter){"n", STORE_TEXT, .text = ""}, "n=t:");
}

TEST(wrong_questions_are_refused)
{
	static const struct {
		const char *query, *parameter;
		int error;
		const char *words;
	} cases[] = {
		{"nonsense", NULL, -ENOENT, "nonsense: no such query"},
		{"SELECT 1", NULL, -ENOENT, "no such query"},
		{"\033[2J", NULL, -ENOENT, "\\e[2J: no such query"},
		{"run", "nonsense=i:1", -EINVAL, "run"},
		{"run", "run_id=1", -EINVAL, "not a parameter"},
		{"run", "run_id=i:1x", -EINVAL, "not a parameter"},
		{"run", "run_id=i:", -EINVAL, "not a parameter"},
		{"run", "run_id=i:9223372036854775808", -EINVAL, "not a parameter"},
		{"run", "run_id=l:", -EINVAL, "not a parameter"},
		{"run", "run_id=l:1,,2", -EINVAL, "not a parameter"},
		{"run", "run_id=l:1,2,", -EINVAL, "not a parameter"},
		{"run", "=i:1", -EINVAL, "not a parameter"},
		{"run", "run_id", -EINVAL, "not a parameter"},
		{"host_samples", NULL, -EPERM, "ask a member of the group tracer"},
	};
	struct store *reader = open_reader();

	ck_assert_int_eq(store_restrict(reader, 1), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t size;
		int error;

		free(answer(reader, cases[i].query, cases[i].parameter, &size, &error));
		ck_assert_msg(error == cases[i].error && strstr(problem.text, cases[i].words), "%s %s: %d %s",
			      cases[i].query, cases[i].parameter, error, problem.text);
	}
	store_close(reader);
}

TEST(queries_are_answered)
{
	struct store *reader = open_reader();
	size_t size, answered = 0;
	int error;
	char *bytes;

	put_everything(1);
	commit(1);
	for (size_t i = 0; query_name(i); i++) {
		bytes = answer(reader, query_name(i), NULL, &size, &error);
		if (error == 0) /* some need a limit */
			ck_assert_int_ge(decode(bytes, size), 0);
		answered += error == 0;
		free(bytes);
	}
	ck_assert_uint_gt(answered, 60);
	bytes = answer(reader, "read_stream", NULL, &size, &error);
	ck_assert_int_eq(error, 0);
	ck_assert_int_eq(decode(bytes, size), 1);
	free(bytes);
	store_close(reader);
}

/* One answer after the other. */
TEST(a_list_is_asked_one_by_one)
{
	struct store *reader = open_reader();
	struct served_rows rows;
	size_t size;
	int error;
	char *bytes;

	put_everything(1);
	put_everything(2);
	commit(1);
	bytes = answer(reader, "run_latest", "user_id=l:1,2,3", &size, &error);
	ck_assert_msg(error == 0, "%s", problem.text);
	rows = (struct served_rows){bytes, bytes + size, 0};
	for (int64_t id = 1; id <= 3; id++) {
		const char *begin = rows.next;

		ck_assert_int_eq(served_rows_skip(&rows), 0);
		ck_assert_int_eq(decode(begin, (size_t)(rows.next - begin)), id < 3);
	}
	ck_assert_ptr_eq(rows.next, bytes + size);
	free(bytes);
	store_close(reader);
}

TEST(nothing_listens)
{
	struct store *opened = NULL;
	char socket_path[192];

	snprintf(socket_path, sizeof(socket_path), "%s/serve.sock", directory);
	ck_assert_int_eq(served_open(socket_path, &opened, &problem), -ENOENT);
	ck_assert_ptr_null(opened);
	ck_assert_ptr_nonnull(strstr(problem.text, socket_path));
}

int main(void)
{
	return stores_run("served");
}
