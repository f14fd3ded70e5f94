/* Reading rows: columns that a store always has are present in any answer, and a run shared by several
 * hosts is the sum of its parts. Writing them as CSV. */
#include <math.h>

#include "analysis/query/ask.h"
#include "analysis/query/csv.h"
#include "analysis/query/joined.h"
#include "common/store/driver.h"
#include "correlator/store/writer.h"
#include "tests/suite.h"

static const struct {
	const char *table; /* as stored */
	const struct row_type *type;
} kept[] = {
	/* clang-format off */
	{"hosts", &row_type_host}, {"hosts", &row_type_cloud_host}, {"containers", &row_type_container}, {"runs", &row_type_run},
	{"runs", &row_type_part}, {"tasks", &row_type_task}, {"tools", &row_type_tool},
	{"process_rows", &row_type_process}, {"images", &row_type_process}, {"samples", &row_type_sample},
	{"host_samples", &row_type_host_sample}, {"incidents", &row_type_incident},
	{"losses", &row_type_loss}, {"cgroups", &row_type_cgroup},
	/* clang-format on */
};

/* ---- the schema ------------------------------------------------------------------ */

static const struct row_field *field_find(const struct row_type *type, const char *name)
{
	for (size_t i = 0; i < type->field_count; i++)
		if (strcmp(type->fields[i].name, name) == 0)
			return &type->fields[i];
	return NULL;
}

TEST(test_known_texts_are_the_schemas)
{
	char directory[128], path[160], sql[96], name[64];
	struct store_error error;
	struct store *store;
	size_t known_count = 0;
	int is_known, size;

	suite_directory(directory, sizeof(directory));
	snprintf(path, sizeof(path), "%s/store.db", directory);
	ck_assert_int_eq(store_open_writer(path, &store, &error), 0);
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		snprintf(sql, sizeof(sql), "SELECT name, \"notnull\" FROM pragma_table_info('%s')", kept[i].table);
		for (const char *row = suite_rows(path, sql, "");
		     sscanf(row, "%63s %d %n", name, &is_known, &size) == 2; row += size) {
			const struct row_field *field = field_find(kept[i].type, name);

			if (!field || field->kind != ROW_FIELD_TEXT)
				continue;
			ck_assert_msg(rows_text_is_known(kept[i].type, name) == is_known, "%s.%s", kept[i].table, name);
			known_count += (size_t)is_known;
		}
	}
	ck_assert_uint_gt(known_count, 31);
	store_close(store);
}

/* ---- arbitrary answers ----------------------------------------------------------- */

/* Answers with one row of that type, with the same value in every column. */
static const struct row_type *answer_type;
static struct store_value answer_value;
static int answers_left;

static int answer_query(struct store *store, const struct store_text *text, const struct store_parameter *given,
			struct store_result **ret_result)
{
	static struct store_result result;

	answers_left = 1;
	*ret_result = &result;
	return 0;
}

static int answer_next(struct store_result *result)
{
	return answers_left-- > 0;
}

static size_t answer_width(const struct store_result *result)
{
	return answer_type->field_count;
}

static const char *answer_column(const struct store_result *result, size_t column)
{
	return answer_type->fields[column].name;
}

static struct store_value answer_of(struct store_result *result, size_t column)
{
	return answer_value;
}

static void answer_free(struct store_result *result)
{
}

static const struct store_driver anybody = {
	.query = answer_query,
	.next = answer_next,
	.width = answer_width,
	.column = answer_column,
	.value = answer_of,
	.free = answer_free,
};

static void answer_load(struct rows *ret_rows, struct store_value value)
{
	static struct store_base base = {.driver = &anybody};

	answer_value = value;
	ck_assert_int_eq(rows_load(ret_rows, answer_type, (struct store *)&base, "hosts", NULL), 0);
	ck_assert_uint_eq(ret_rows->count, 1);
}

TEST_EACH(test_null_is_no_pointer, kept)
{
	struct rows rows = {0};
	json_t *json;

	answer_type = kept[_i].type;
	answer_load(&rows, (struct store_value){.type = STORE_VALUE_NULL});
	json = row_to_json(answer_type, rows.items);
	for (size_t i = 0; i < answer_type->field_count; i++) {
		const struct row_field *field = &answer_type->fields[i];
		const char *text = *(const char **)((char *)rows.items + field->offset);

		if (field->kind == ROW_FIELD_TEXT && rows_text_is_known(answer_type, field->name))
			ck_assert_str_eq(text, "-");
		else if (field->kind == ROW_FIELD_TEXT)
			ck_assert_ptr_null(text);
		ck_assert_msg(json_is_null(json_object_get(json, field->name)), "%s", field->name);
	}
	json_decref(json);
	rows_free(&rows);
}

/* A text instead of a number, and vice versa. */
TEST_EACH(test_other_types, kept)
{
	struct rows rows = {0};

	answer_type = kept[_i].type;
	answer_load(&rows, (struct store_value){.type = STORE_VALUE_TEXT, .data = "x", .size = 1});
	for (size_t i = 0; i < answer_type->field_count; i++)
		if (answer_type->fields[i].kind == ROW_FIELD_INTEGER)
			ck_assert_int_eq(*(int64_t *)((char *)rows.items + answer_type->fields[i].offset), ROW_NULL);
	rows_free(&rows);
	answer_load(&rows, (struct store_value){.type = STORE_VALUE_INTEGER, .integer = 7});
	json_decref(row_to_json(answer_type, rows.items));
	rows_free(&rows);
}

TEST(test_getter_without_a_row_of_ours)
{
	struct store_result *result;
	struct store_base base = {.driver = &anybody};

	answer_type = &row_type_run;
	answer_value = (struct store_value){.type = STORE_VALUE_NULL};
	ck_assert_int_eq(query_ask((struct store *)&base, "runs", NULL, &result), 0);
	ck_assert_int_eq(store_result_next(result), 1);
	ck_assert_str_eq(store_result_get(result, "name").data, "");
	ck_assert_int_eq(store_result_get(result, "name").type, STORE_VALUE_NULL);
	store_result_free(result);
}

TEST(test_sums_without_a_place)
{
	ck_assert_int_eq(row_add(1, 2), 3);
	ck_assert_int_eq(row_subtract(1, 2), -1);
	ck_assert_int_eq(row_add(ROW_NULL, 1), ROW_NULL);
	ck_assert_int_eq(row_subtract(1, ROW_NULL), ROW_NULL);
	ck_assert_int_eq(row_add(INT64_MAX, 1), ROW_NULL);
	ck_assert_int_eq(row_subtract(-2, INT64_MAX), ROW_NULL);
}

/* ---- parts ------------------------------------------------------------------------- */

static struct row_part part(int64_t id, const char *status, int64_t begin, int64_t end)
{
	return (struct row_part){
		.run = {.id = id,
			.host_id = id % 10,
			.status = status,
			.name = "job",
			.exit_code = id,
			.signal = ROW_NULL,
			.begin_boot_ns = 1000 * id + begin,
			.started_unix_ns = 50000 + begin,
			.end_boot_ns = end == ROW_NULL ? ROW_NULL : 1000 * id + end,
			.cpu_ns = id,
			.peak_rss_bytes = 100 * id,
			.task_count = 2,
			.sent_bytes = ROW_NULL,
			.memory_limit_bytes = 5,
			.concurrent_memory_bytes = ROW_NULL},
		.joined_id = 1,
	};
}

TEST(test_parts_are_summed)
{
	struct row_part parts[] = {part(1, "succeeded", 0, 10), part(2, "failed", 5, 30), part(3, "killed", 8, 20)};
	struct row_run whole = joined_sum(parts, 3);

	ck_assert_int_eq(whole.id, 1);
	ck_assert_int_eq(whole.cpu_ns, 6);
	ck_assert_int_eq(whole.task_count, 6);
	ck_assert_int_eq(whole.peak_rss_bytes, 300);
	ck_assert_int_eq(whole.sent_bytes, ROW_NULL);
	ck_assert_int_eq(whole.memory_limit_bytes, ROW_NULL);
	ck_assert_int_eq(whole.begin_boot_ns, 1000);
	ck_assert_int_eq(whole.end_boot_ns, 1030); /* on the clock of the first part */
	ck_assert_str_eq(whole.status, "failed");
	ck_assert_int_eq(whole.exit_code, 2);
	parts[2] = part(3, "running", 8, ROW_NULL);
	whole = joined_sum(parts, 3);
	ck_assert_int_eq(whole.end_boot_ns, ROW_NULL);
	ck_assert_str_eq(whole.status, "running");
	parts[1].run.cpu_ns = INT64_MAX;
	ck_assert_int_eq(joined_sum(parts, 3).cpu_ns, ROW_NULL);
}

TEST(test_parts_are_found)
{
	struct row_part items[] = {part(1, "running", 0, 1), part(11, "running", 0, 1), part(2, "running", 0, 1),
				   part(7, "running", 0, 1), part(8, "running", 0, 1)};
	const struct rows parts = {&row_type_part, items, 5, 5};
	size_t count;

	items[3].joined_id = items[4].joined_id = 7;
	ck_assert_ptr_eq(joined_find(&parts, 1, &count), items);
	ck_assert_uint_eq(count, 3);
	ck_assert_ptr_eq(joined_find(&parts, 7, &count), items + 3);
	ck_assert_uint_eq(count, 2);
	joined_find(&parts, 5, &count);
	ck_assert_uint_eq(count, 0);
	joined_find(&(struct rows){0}, 5, &count);
	ck_assert_uint_eq(count, 0);
	ck_assert(joined_is_new_host(items, 0));
	ck_assert(!joined_is_new_host(items, 1));
	ck_assert(joined_is_new_host(items, 2));
}

/* ---- CSV ------------------------------------------------------------------------- */

/* Returns what is written of one value, or of a text; to be freed. */
static char *csv_of(const char *name, const struct store_value *value)
{
	char *text = NULL;
	size_t size;
	struct json_writer writer = {.file = open_memstream(&text, &size), .form = ROW_AS_CSV};

	json_write_line(&writer);
	json_write_member(&writer, name, value);
	ck_assert_int_eq(json_write_end(&writer), 0);
	fclose(writer.file);
	return text;
}

static const struct {
	const char *text, *csv;
} texts[] = {
	/* clang-format off */
	{"bwa mem", "bwa mem"}, {"", "\"\""}, {"a,b", "\"a,b\""}, {"a \"b\"", "\"a \"\"b\"\"\""}, {" a", "\" a\""}, {"a ", "\"a \""},
	{"a\nb\r", "a\\nb\\r"}, {"\033[2J", "\\e[2J"}, {"\xff", "\\xff"}, {"na\u00efve", "na\u00efve"},
	{"=1+1", "'=1+1"}, {"+1", "'+1"}, {"-bash", "'-bash"}, {"@a,b", "\"'@a,b\""}, {"a=b", "a=b"}, {"\t=1", "\\t=1"},
	/* clang-format on */
};

TEST_EACH(test_a_text_is_one_safe_field, texts)
{
	char *csv = csv_of("name", &(struct store_value){.type = STORE_VALUE_TEXT, .data = texts[_i].text});

	ck_assert_str_eq(csv, texts[_i].csv);
	free(csv);
}

static const struct {
	const char *name;
	struct store_value value;
	const char *csv;
} values[] = {
	{"cpu_ns", {.type = STORE_VALUE_INTEGER, .integer = -5}, "-5"},
	{"run_id", {.type = STORE_VALUE_INTEGER, .integer = 255}, "00000000000000ff"},
	{"cpu_ns", {.type = STORE_VALUE_INTEGER, .integer = ROW_NULL}, ""},
	{"share", {.type = STORE_VALUE_REAL, .real = 0.25}, "0.25"},
	{"share", {.type = STORE_VALUE_REAL, .real = INFINITY}, ""},
	{"name", {.type = STORE_VALUE_NULL}, ""},
	{"arguments", {.type = STORE_VALUE_BLOB, .data = "a\0=\"", .size = 5}, "\"[\"\"a\"\",\"\"=\\\"\"\"\"]\""},
};

TEST_EACH(test_a_value_is_a_field, values)
{
	char *csv = csv_of(values[_i].name, &values[_i].value);

	ck_assert_str_eq(csv, values[_i].csv);
	free(csv);
}

TEST(test_columns_of_a_tree)
{
	json_t *columns = json_pack("{s:n, s:{s:n}, s:n}", "a", "b", "c", "d");
	json_t *row = json_pack("{s:[i, s], s:{s:b}, s:s}", "d", 1, "x", "b", "c", 1, "other", "left out");
	char *text = NULL;
	size_t size;
	struct json_writer writer = {.file = open_memstream(&text, &size), .form = ROW_AS_CSV_NAMES};

	csv_write_row(&writer, columns, columns);
	writer.form = ROW_AS_CSV;
	csv_write_row(&writer, columns, row);
	ck_assert_int_eq(json_write_end(&writer), 0);
	fclose(writer.file);
	ck_assert_str_eq(text, "a,b.c,d\n,true,\"[1,\"\"x\"\"]\"\n");
	free(text);
	json_decref(columns);
	json_decref(row);
}

int main(void)
{
	return suite_run("cli_rows", NULL, NULL);
}
