/* Headers of questions: what is accepted, what is refused and where, and how values are converted. */

#include <errno.h>

#include "analysis/query/ask.h"
#include "analysis/query/catalogue.h"
#include "tests/suite.h"

#define HEAD "-- title: T\n-- explanation: E\n"
#define COLUMN "-- column: id id; it\n"
#define WALL "-- column: wall_ns duration; its time\n"
#define FINDING "-- finding: tune\n-- subject: id\n-- impact: wall = wall_ns\n-- advice: a\n"

TEST(header_is_read)
{
	static const char text[] =
		"-- title: What is there?\n"
		"-- explanation: A line\n--   and another\n--\n--   of it.\n"
		"-- parameter: run_id run = latest; the run,\n--   whose id\n"
		"-- parameter: least_share share = 10%; of it; source: a paper; page 2\n"
		"-- parameter: user_id user = none; a user\n"
		"-- parameter: started_unix_ns time; then\n"
		"-- columns: runs\n"
		"-- column: id id; it\n-- column: wall_ns duration?; from; to\n"
		"SELECT * FROM runs\n-- :no_parameter\n"
		"WHERE id = :run_id AND host_id = :host_id AND ':nor this' <> :least_share AND :user_id IS NULL"
		" AND started_unix_ns > :started_unix_ns;\n";
	struct tree_error error;
	struct question *question;
	char title[64];

	ck_assert_msg(question_parse("q", NULL, text, strlen(text), &question, &error) == 0, "%u: %s", error.line,
		      error.reason);
	ck_assert_str_eq(question->title, "What is there?");
	ck_assert_str_eq(question->explanation, "A line\nand another\n\nof it.");
	ck_assert(!question->columns[0].is_optional && question->columns[1].is_optional);
	ck_assert_int_eq(question->columns[1].type, QUESTION_DURATION);
	ck_assert_str_eq(question->relation, "runs");
	ck_assert_str_eq(question->sql, text);
	ck_assert_uint_eq(question->parameter_count, 4);
	ck_assert_str_eq(question->parameters[0].meaning, "the run, whose id");
	ck_assert_str_eq(question->parameters[0].preset, "latest");
	ck_assert_str_eq(question->parameters[1].source, "a paper; page 2");
	ck_assert_int_eq(question->parameters[1].type, QUESTION_SHARE);
	ck_assert_ptr_null(question->parameters[3].preset);
	ck_assert_str_eq(question_field_title(&question->parameters[0], '-', title, sizeof(title)), "run");
	ck_assert_str_eq(question_field_title(&question->parameters[1], '-', title, sizeof(title)), "least-share");
	ck_assert_str_eq(question_field_title(&question->parameters[3], '-', title, sizeof(title)), "started");
	ck_assert_str_eq(question->columns[1].meaning, "from; to");
	ck_assert_str_eq(question_field_title(&question->columns[0], ' ', title, sizeof(title)), "id");
	question_free(question);
}

TEST(header_of_a_finding_is_read)
{
	static const char text[] =
		HEAD "-- subject: id\n-- impact: cpu = own_ns, memory = own_byte_seconds\n" COLUMN
		     "-- column: own_ns duration; d\n-- column: own_byte_seconds byte_seconds; b\n-- finding: sweep\n"
		     "-- sentence: {id} held {own_ns}\n-- advice: Less.\n-- saving: least\nSELECT 1";
	struct tree_error error;
	struct question *question;

	ck_assert_msg(question_parse("q", NULL, text, strlen(text), &question, &error) == 0, "%u: %s", error.line,
		      error.reason);
	ck_assert_str_eq(question->finding.kind, "sweep");
	ck_assert_str_eq(question->columns[0].name, "host_id");
	ck_assert_str_eq(question->columns[7].name, "run");
	ck_assert_ptr_eq(question->finding.subject, &question->columns[8]);
	ck_assert_ptr_null(question->finding.impacts[QUESTION_SAVES_WALL]);
	ck_assert_ptr_eq(question->finding.impacts[QUESTION_SAVES_CPU], &question->columns[9]);
	ck_assert_ptr_eq(question->finding.impacts[QUESTION_SAVES_MEMORY], &question->columns[10]);
	ck_assert_str_eq(question->finding.sentence, "{id} held {own_ns}");
	ck_assert_str_eq(question->finding.advice, "Less.");
	ck_assert_int_eq(question->finding.saving, QUESTION_SAVING_LEAST);
	question_free(question);
}

static const struct {
	const char *name, *text;
	unsigned line;
	const char *reason;
} wrong[] = {
	{"q", "", 1, "no title"},
	{"q", "SELECT 1", 1, "no title"},
	{"q", "-- title: T\n" COLUMN "SELECT id FROM runs", 1, "no explanation"},
	{"q", HEAD "SELECT 1", 1, "declares no columns"},
	{"q", HEAD "-- column id id; it\nSELECT 1", 3, "KEY: VALUE"},
	{"q", HEAD "-- nothing\n" COLUMN "SELECT 1", 3, "KEY: VALUE"},
	{"q", HEAD "-- title: again\n" COLUMN, 3, "twice"},
	{"q", "-- title:\n", 1, "is empty"},
	{"q", HEAD "-- colour: red\n", 3, "unknown key 'colour'"},
	{"q", HEAD "-- column: id\n", 3, "unknown type ''"},
	{"q", HEAD "-- column: id ids; it\n", 3, "unknown type 'ids'"},
	{"q", HEAD "-- column: id id\n", 3, "has no meaning"},
	{"q", HEAD "-- column: id id?!; it\n", 3, "'!' follows the ?"},
	{"q", HEAD "-- column: ID id; it\n", 3, "'ID' is not a valid name"},
	{"q", HEAD "-- column: a\033[2J text; it\n", 3, "\\e[2J"},
	{"q", HEAD "-- column: wall duration; it\n", 3, "the suffix must match the unit"},
	{"q", HEAD "-- column: wall_ns bytes; it\n", 3, "the suffix must match the unit"},
	{"q", HEAD "-- column: run_id run; it\n", 3, "the suffix must match the unit"},
	{"q", HEAD COLUMN "-- column: id id; it\n", 4, "declared twice"},
	{"q", HEAD "-- parameter: a count = many; it\n", 3, "'many' is not a valid default"},
	{"q", HEAD "-- parameter: a arguments; it\n", 3, "the suffix must match the unit"},
	{"q", HEAD COLUMN "-- columns: no view\n", 4, "the name of a view"},
	{"q", HEAD COLUMN "-- replaces: runs\n", 4, "of the same name"},
	{"q", HEAD COLUMN "SELECT id FROM runs\nWHERE id = :run_id", 5, ":run_id is not declared"},
	{"q", HEAD COLUMN "-- parameter: run_id run; it\nSELECT id FROM runs", 1, "never used"},
	{"q", HEAD "--   goes on\n-- explanation: again\n", 4, "twice"},
	{"q", HEAD COLUMN "-- finding: best\n", 4, "expected tune, sweep or top"},
	{"q", HEAD COLUMN "-- sentence: {id}\nSELECT id", 1, "belong to a finding"},
	{"q", HEAD COLUMN "-- saving: most\nSELECT id", 1, "belong to a finding"},
	{"q", HEAD COLUMN "-- saving: some\nSELECT id", 4, "expected most, least or beyond"},
	{"q", HEAD COLUMN "-- finding: tune\n-- subject: id\n-- impact: wall = id\n-- advice: a\nSELECT id", 1,
	 "needs sentence"},
	{"q", HEAD COLUMN WALL FINDING "-- sentence: {id\nSELECT id", 1, "is not a declared column"},
	{"q", HEAD COLUMN WALL FINDING "-- sentence: {ids}\nSELECT id", 1, "{ids} is not a declared column"},
	{"q",
	 HEAD COLUMN WALL
	 "-- sentence: s\n-- subject: name\n-- finding: tune\n-- advice: a\n-- impact: wall = wall_ns\nSELECT id",
	 6, "name is not a declared column"},
	{"q",
	 HEAD COLUMN WALL
	 "-- sentence: s\n-- finding: tune\n-- subject: id\n-- advice: a\n-- impact: wall = id\nSELECT id",
	 9, "'id' is not a column that is a duration"},
	{"q",
	 HEAD COLUMN WALL
	 "-- sentence: s\n-- finding: tune\n-- subject: id\n-- advice: a\n-- impact: time = id\nSELECT id",
	 9, "wall, cpu, memory or gpu"},
	{"q",
	 HEAD COLUMN WALL
	 "-- sentence: s\n-- finding: tune\n-- subject: id\n-- advice: a\n-- impact: wall = wall_ns wall = wall_ns\n",
	 9, "expected a comma"},
	{"no name", HEAD COLUMN, 0, "lowercase letters"},
	{"q", HEAD "-- column: a text; \xff\n", 0, "not UTF-8"},
};

TEST_EACH(wrong_headers_are_refused_with_their_line, wrong)
{
	struct tree_error error;
	struct question *question = NULL;

	ck_assert_int_eq(
		question_parse(wrong[_i].name, "/etc/q.sql", wrong[_i].text, strlen(wrong[_i].text), &question, &error),
		-EINVAL);
	ck_assert_ptr_null(question);
	ck_assert_str_eq(error.file, "/etc/q.sql");
	ck_assert_msg(strstr(error.reason, wrong[_i].reason), "%s: %s", wrong[_i].text, error.reason);
	ck_assert_uint_eq(error.line, wrong[_i].line);
}

#define REFUSED INT64_MIN

static const struct {
	enum question_type type;
	const char *text;
	int64_t expected; /* fractions in thousandths */
} values[] = {
	/* clang-format off */
	{QUESTION_DURATION, "500ms", 500000000}, {QUESTION_DURATION, "2h", 7200000000000}, {QUESTION_DURATION, "2y", REFUSED},
	{QUESTION_DURATION, "90", REFUSED}, {QUESTION_DURATION, "99999999d", REFUSED}, {QUESTION_DURATION, "-1s", REFUSED},
	{QUESTION_BYTES, "64K", 65536}, {QUESTION_BYTES, "4096", 4096}, {QUESTION_BYTES, "1T", REFUSED},
	{QUESTION_SHARE, "10%", 100}, {QUESTION_SHARE, "0.25", 250}, {QUESTION_SHARE, "nan", REFUSED},
	{QUESTION_SHARE, "1e999", REFUSED}, {QUESTION_SHARE, "%", REFUSED}, {QUESTION_NUMBER, "1.5", 1500},
	{QUESTION_NUMBER, "10%", REFUSED}, {QUESTION_MONEY, "12.34", 12340000}, {QUESTION_MONEY, "-0.000001", -1},
	{QUESTION_MONEY, "1e13", REFUSED}, {QUESTION_COUNT, "0", 0}, {QUESTION_COUNT, "9223372036854775807", INT64_MAX},
	{QUESTION_COUNT, "9223372036854775808", REFUSED}, {QUESTION_COUNT, "1.5", REFUSED}, {QUESTION_FLAG, "yes", 1},
	{QUESTION_FLAG, "no", 0}, {QUESTION_FLAG, "1", REFUSED}, {QUESTION_ID, "00000000000000ff", 255},
	{QUESTION_ID, "ff", REFUSED}, {QUESTION_TIME, "1970-01-02", 86400000000000},
	{QUESTION_TIME, "1970-01-02 00:00:01", 86401000000000}, {QUESTION_TIME, "9999-01-01", REFUSED},
	{QUESTION_DURATION, "2w", 1209600000000000}, {QUESTION_TIME, "1970-01-02T00:01", 86460000000000},
	{QUESTION_TIME, "1970-01-02T00:00:01Z", 86401000000000}, {QUESTION_TIME, "1970-01-02Z", 86400000000000},
	{QUESTION_TIME, "1970-02-30", REFUSED}, {QUESTION_TIME, "1970-01-02T", REFUSED}, {QUESTION_TIME, "Z", REFUSED},
	{QUESTION_TIME, "1970-01-02T00:00:01+01:00", REFUSED}, {QUESTION_TIME, "90", REFUSED},
	{QUESTION_TIME, "yesterday", REFUSED}, {QUESTION_USER, "0", 0}, {QUESTION_USER, "no such user", REFUSED},
	{QUESTION_COUNT, "none", REFUSED}, {QUESTION_ARGUMENTS, "a", REFUSED},
	/* clang-format on */
};

TEST_EACH(values_are_taken_as_people_write_them, values)
{
	const struct question_field parameter = {.name = "p", .type = values[_i].type};
	struct store_parameter value;
	int error;

	setenv("TZ", "UTC", 1);
	error = question_parse_value(&parameter, values[_i].text, &value);
	ck_assert_msg((error == -EINVAL) == (values[_i].expected == REFUSED), "%s", values[_i].text);
	if (error == 0 && value.type == STORE_REAL)
		ck_assert_int_eq((int64_t)(value.real * 1000 + 0.5), values[_i].expected);
	else if (error == 0)
		ck_assert_int_eq(value.integer, values[_i].expected);
}

/* ---- the catalogue ------------------------------------------------------------------ */

static char refusals[4096];

static void refused(const struct tree_error *error, void *data)
{
	size_t used = strlen(refusals);

	snprintf(refusals + used, sizeof(refusals) - used, "%s:%u: %s\n", strrchr(error->file, '/') + 1, error->line,
		 error->reason);
}

/* Errors in a site's files, by file name: all are reported, and the other files remain. */
TEST(broken_files_leave_the_others)
{
	struct catalogue *catalogue;
	char command[512], directory[128];

	suite_directory(directory, sizeof(directory));
	suite_file(directory, "a.sql", HEAD COLUMN "SELECT id FROM runs;\n");
	suite_file(directory, "attaches.sql", HEAD COLUMN "ATTACH 'x' AS id\n");
	suite_file(directory, "column.sql", HEAD COLUMN "SELECT id, name FROM runs\n");
	suite_file(directory, "deletes.sql", HEAD COLUMN "DELETE FROM runs RETURNING id\n");
	suite_file(directory, "hosts.sql", HEAD COLUMN "SELECT id FROM hosts\n");
	suite_file(directory, "lacks.sql", HEAD COLUMN "-- column: name text; n\nSELECT id FROM runs\n");
	suite_file(directory, "pragma.sql", HEAD COLUMN "PRAGMA user_version = 1\n");
	suite_file(directory, "runs.sql", HEAD COLUMN "-- replaces: runs\nSELECT id FROM runs\n");
	suite_file(directory, "syntax.sql", HEAD COLUMN "SELECT id\n  FORM runs\n");
	suite_file(directory, "two.sql", HEAD COLUMN "SELECT id FROM runs; SELECT 2\n");
	suite_file(directory, "unknown.sql", HEAD COLUMN "SELECT id FROM runs\n WHERE nonsense = 1\n");
	suite_file(directory, "notes.txt", "not a question\n");
	snprintf(command, sizeof(command), "mkdir '%s/folder.sql' && mkfifo '%s/pipe.sql'", directory, directory);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(catalogue_load(directory, refused, NULL, &catalogue), 0);
	ck_assert_str_eq(refusals,
			 "attaches.sql:0: a query may only read\n"
			 "column.sql:1: the column name must be both declared and selected\n"
			 "deletes.sql:0: a query may only read\n"
			 "folder.sql:0: not a regular file\n"
			 "hosts.sql:1: a shipped question has this name: choose another, or add `-- replaces: hosts`\n"
			 "lacks.sql:1: the column name must be both declared and selected\n"
			 "pipe.sql:0: not a regular file\n"
			 "pragma.sql:0: a query may only read\n"
			 "syntax.sql:5: near \"runs\": syntax error\n"
			 "two.sql:0: a query must be a single statement\n"
			 "unknown.sql:5: no such column: nonsense\n");
	ck_assert_ptr_nonnull(catalogue_find(catalogue, "a")->file);
	ck_assert_ptr_nonnull(catalogue_find(catalogue, "runs")->file);
	ck_assert_ptr_null(catalogue_find(catalogue, "hosts")->file);
	ck_assert_ptr_null(catalogue_find(catalogue, "two"));
	catalogue_free(catalogue);
}

/* Every shipped question can be read, has all columns that it declares and (relations aside) no others. */
TEST(shipped_questions_are_as_they_say)
{
	struct catalogue *catalogue;
	const struct question *question;
	struct store_error words;
	struct store *store;
	size_t count = 0;

	refusals[0] = '\0';
	ck_assert_int_eq(catalogue_load(NULL, refused, NULL, &catalogue), 0);
	ck_assert_str_eq(refusals, "");
	ck_assert_int_eq(store_open_empty(&store, &words), 0);
	for (size_t i = 0; (question = catalogue_get(catalogue, i)); i++, count++) {
		struct store_result *result = NULL;

		if (question->of_account)
			continue;
		ck_assert_msg(question_ask(question, store, NULL, &result) == 0, "%s", store_error_text(store));
		for (size_t k = 0; k < question->column_count; k++)
			ck_assert_msg(store_result_find(result, question->columns[k].name) < store_result_width(result),
				      "%s", store_error_text(store));
		for (size_t k = 0; k < store_result_width(result) && !question->relation; k++)
			ck_assert_msg(question_column(question, store_result_name(result, k)), "%s: %s", question->name,
				      store_result_name(result, k));
		store_result_free(result);
	}
	ck_assert(query_is_question(count - 1) && !query_is_question(count));
	store_close(store);
	catalogue_free(catalogue);
}

TEST(a_question_of_a_site_ends_in_time)
{
	static const struct store_text endless = {
		"/etc/q.sql",
		"WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS i FROM n", 1};
	struct store_result *result;
	struct store_error words;
	struct store *store;

	ck_assert_int_eq(store_open_empty(&store, &words), 0);
	ck_assert_int_eq(store_query_text(store, &endless, NULL, &result), 0);
	ck_assert_int_eq(store_result_next(result), -ETIME);
	ck_assert_str_eq(store_error_text(store), "/etc/q.sql: exceeded the time limit of a query");
	store_result_free(result);
	ck_assert_int_eq(store_begin_reading(store), 0); /* the next statement has its own time limit */
	store_end_reading(store);
	store_close(store);
}

int main(void)
{
	return suite_run("question", NULL, NULL);
}
