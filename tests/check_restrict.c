/* A reader restricted to a user: compared with a store that has only what that user ran. */
#include "tests/stores.h"

#include <errno.h>

#include "analysis/query/ask.h"
#include "common/store/internal.h"

enum { ALICE = 1, BOB, NEITHER };

#define HOST 7
#define SECOND_NS INT64_C(1000000000)
#define REFUSED "refused\n"
#define QUERIES_MAX 256
#define SETS_MAX 8

static const char *const names[] = {"", "alice", "bob"};

/* ---- what each of them ran ------------------------------------------------------ */

static void put_run_of(int64_t user, int64_t id, int64_t parts)
{
	struct row_run run = fill_run(id, names[user]);
	struct row_container container = fill_container(id, names[user]);

	run.host_id = container.host_id = HOST;
	run.user_id = user;
	run.run_key = NULL;
	run.status = "failed";
	put_run(&run);
	put_container(&container);
	for (int64_t part = id; part < id + parts; part++) {
		struct row_task task = fill_task(part, names[user]);
		struct row_tool tool = fill_tool(part, names[user]);
		struct row_process process = fill_process(part, names[user]);
		struct row_sample sample = fill_sample(part, names[user]);
		struct row_incident incident = fill_incident(part, names[user]);

		task.host_id = tool.host_id = process.host_id = incident.host_id = HOST;
		task.run_id = tool.run_id = process.run_id = incident.run_id = id;
		task.merged_into_id = ROW_NULL;
		task.kind = part == id ? "main" : "engine";
		task.status = "failed";
		process.user_id = part == id ? user : NEITHER; /* sudo */
		process.end_boot_ns = part == id ? ROW_NULL : part;
		put_task(&task);
		put_tool(&tool);
		put_process(&process);
		put_sample(&sample);
		put_incident(&incident);
	}
}

static void put_work_of(int64_t user)
{
	put_run_of(user, user * 10, 3);
	put_run_of(user, user * 100, 2);
	commit((uint64_t)user);
}

static void put_host_work(void)
{
	struct row_host host = fill_host(HOST, "host");
	struct row_loss loss = fill_loss(HOST, "host");

	loss.cgroup_path = NULL;
	put_host(&host);
	put_loss(&loss);
}

/* ---- answers --------------------------------------------------------------------- */

static void print_value(FILE *out, struct store_value value)
{
	switch (value.type) {
	case STORE_VALUE_INTEGER: fprintf(out, "%lld|", (long long)value.integer); break;
	case STORE_VALUE_REAL: fprintf(out, "%.17g|", value.real); break;
	case STORE_VALUE_NULL: fprintf(out, "NULL|"); break;
	default: fprintf(out, "'%.*s'|", (int)value.size, value.data); break;
	}
}

/* Returns all rows as text, or REFUSED. */
static char *ask(struct store *reader, const struct store_text *text, const struct store_parameter *parameters)
{
	struct store_result *result = NULL;
	char *rows = NULL;
	size_t size;
	FILE *out = open_memstream(&rows, &size);
	int more = store_query_text(reader, text, parameters, &result);

	if (more == -EPERM || (more < 0 && strstr(store_error_text(reader), "not authorized")))
		fprintf(out, REFUSED);
	else
		ck_assert_msg(more == 0, "%s: %s", text->name, store_error_text(reader));
	while (result && (more = store_result_next(result)) == 1) {
		for (size_t i = 0; i < store_result_width(result); i++)
			print_value(out, store_result_value(result, i));
		fprintf(out, "\n");
	}
	ck_assert_msg(!result || more == 0, "%s: %s", text->name, store_error_text(reader));
	store_result_free(result);
	fclose(out);
	return rows;
}

static void expect(char *found, const char *expected)
{
	ck_assert_str_eq(found, expected);
	free(found);
}

/* A parameter of that name, as someone would choose it who looks for what `user` ran. */
static struct store_parameter parameter_of(const char *name, int set)
{
	static const int64_t ids[] = {10, 11, 20, 21, 100, 200};
	int64_t user = set % 2 == 0 ? ALICE : BOB;

	if (strcmp(name, "host_id") == 0)
		return (struct store_parameter){name, STORE_INTEGER, HOST};
	if (strcmp(name, "host") == 0)
		return (struct store_parameter){name, set < 4 ? STORE_NULL : STORE_TEXT, 0, "host"};
	if (strcmp(name, "user_id") == 0)
		return (struct store_parameter){name, set < 4 ? STORE_NULL : STORE_INTEGER, user};
	if (strcmp(name, "name") == 0 || strcmp(name, "part") == 0)
		return (struct store_parameter){name, STORE_TEXT, 0, names[user]};
	if (strcmp(name, "status") == 0)
		return (struct store_parameter){name, STORE_NULL};
	if (strcmp(name, "kind") == 0)
		return (struct store_parameter){name, set < 4 ? STORE_NULL : STORE_TEXT, 0, names[user]};
	if (strncmp(name, "first_", 6) == 0 || strncmp(name, "begin_", 6) == 0 || strncmp(name, "since_", 6) == 0)
		return (struct store_parameter){name, STORE_INTEGER, 0};
	if (strncmp(name, "last_", 5) == 0 || strncmp(name, "end_", 4) == 0 || strncmp(name, "until_", 6) == 0)
		return (struct store_parameter){name, STORE_INTEGER, INT64_MAX};
	if (strstr(name, "limit") || strcmp(name, "with_system") == 0)
		return (struct store_parameter){name, STORE_INTEGER, 100};
	return (struct store_parameter){name, STORE_INTEGER, ids[set % 6]};
}

#define PARAMETERS_MAX 47 /* of a query, each as often as it is there */

static char *ask_by_name(struct store *reader, const char *query, int set)
{
	const struct store_text text = {query, query_text(query), 0};
	struct store_parameter parameters[PARAMETERS_MAX + 1] = {{0}};
	char spelled[PARAMETERS_MAX][64];
	size_t used = 0, size;

	for (const char *name = text.sql; (name = store_next_parameter(name, &size)); used++) {
		ck_assert_uint_lt(used, PARAMETERS_MAX);
		snprintf(spelled[used], sizeof(spelled[used]), "%.*s", (int)size, name);
		parameters[used] = parameter_of(spelled[used], set);
	}
	return ask(reader, &text, parameters);
}

static struct store *open_restricted(int64_t user)
{
	struct store *reader = open_reader();

	ck_assert_msg(store_restrict(reader, user) == 0, "%s", store_error_text(reader));
	ck_assert(store_is_restricted(reader));
	return reader;
}

/* What a restricted reader must not be asked: it would be wrong. */
static bool needs_all(const char *query)
{
	return strstr(query_text(query), "host_samples") || strstr(query_text(query), "host_activity") ||
	       strstr(query_text(query), STORE_NEEDS_ALL_LINE);
}

TEST(every_query_answers_as_if_the_others_did_not_exist)
{
	static char *expected[QUERIES_MAX][SETS_MAX];
	struct store *reader;
	char *found_all;
	const char *query;
	size_t rows = 0;

	put_host_work();
	put_work_of(ALICE);
	reader = open_reader();
	for (size_t i = 0; (query = query_name(i)); i++)
		for (int set = 0; set < SETS_MAX && !strstr(query_text(query), "\n-- rows: account\n"); set++) {
			expected[i][set] = needs_all(query) ? strdup(REFUSED) : ask_by_name(reader, query, set);
			rows += strlen(expected[i][set]) > 0;
		}
	ck_assert_uint_gt(rows, 200);
	store_close(reader);
	put_work_of(BOB);
	reader = open_restricted(ALICE);
	for (size_t i = 0; (query = query_name(i)); i++)
		for (int set = 0; set < SETS_MAX && expected[i][set]; set++) {
			char *found = ask_by_name(reader, query, set);

			ck_assert_msg(strcmp(found, expected[i][set]) == 0, "%s, parameters %d: expected\n%sfound\n%s",
				      query, set, expected[i][set], found);
			free(found);
			free(expected[i][set]);
		}
	store_close(reader);
	/* And the test would see it. */
	reader = open_reader();
	found_all = ask_by_name(reader, "runs", 1);
	ck_assert_ptr_nonnull(strstr(found_all, "bob"));
	free(found_all);
	store_close(reader);
}

/* All tables and views, for what no query reads. */
TEST(every_table_and_view_has_only_their_rows)
{
	char *objects =
		strdup(suite_rows(path,
				  "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT IN "
				  "('cgroups', 'host_activity', 'host_samples', 'images', 'states', 'stream')",
				  ""));
	char *expected[64], *position = NULL, sql[160];
	const char *names_of[64];
	struct store *reader;
	size_t count = 0;

	put_host_work();
	put_work_of(ALICE);
	reader = open_reader();
	for (char *name = strtok_r(objects, "\n", &position); name; name = strtok_r(NULL, "\n", &position)) {
		ck_assert_uint_lt(count, 64);
		snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY 1, 2", name);
		names_of[count] = name;
		expected[count++] = ask(reader, &(struct store_text){name, sql, 0}, NULL);
	}
	store_close(reader);
	put_work_of(BOB);
	reader = open_restricted(ALICE);
	for (size_t i = 0; i < count; i++) {
		char *found;

		snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY 1, 2", names_of[i]);
		found = ask(reader, &(struct store_text){names_of[i], sql, 0}, NULL);
		ck_assert_msg(strcmp(found, expected[i]) == 0, "%s: expected\n%sfound\n%s", names_of[i], expected[i],
			      found);
		free(found);
		free(expected[i]);
	}
	store_close(reader);
	reader = open_restricted(NEITHER);
	expect(ask(reader, &(struct store_text){"all", "SELECT id FROM process_rows", 0}, NULL), "");
	store_close(reader);
	free(objects);
}

/* They belong to no user, but what was written over weeks is not everybody's. */
TEST(of_file_systems_only_the_last_half_hour)
{
	static const int64_t ago_s[] = {0, 1800, 1801};
	struct row_host host = fill_host(HOST, "host");
	struct row_file_system_sample sample = fill_file_system_sample(HOST, "disk");
	struct store *reader;

	host.last_seen_unix_ns = 2000 * SECOND_NS;
	put_host(&host);
	for (size_t i = 0; i < 3; i++) {
		sample.unix_ns = host.last_seen_unix_ns - ago_s[i] * SECOND_NS;
		put_file_system_sample(&sample);
	}
	commit(1);
	reader = open_restricted(ALICE);
	expect(ask(reader,
		   &(struct store_text){"file systems", "SELECT unix_ns FROM file_system_samples ORDER BY 1", 0}, NULL),
	       "200000000000|\n2000000000000|\n");
	store_close(reader);
}

/* ---- what is not answered ---------------------------------------------------------- */

static char *ask_sql(struct store *reader, const char *sql, unsigned limit_s)
{
	return ask(reader, &(struct store_text){"query", sql, limit_s}, NULL);
}

TEST(only_the_views_may_be_read)
{
	static const char *const refused[] = {
		"SELECT * FROM main.runs",
		"SELECT count(*) FROM main.runs",
		"SELECT 1 FROM main.runs",
		"SELECT count(*) FROM main.processes",
		"SELECT * FROM main.readable_runs",
		"SELECT * FROM main.hosts",
		"SELECT * FROM images",
		"SELECT program FROM images",
		"WITH mine AS (SELECT program FROM images) SELECT * FROM mine",
		"SELECT * FROM states",
		"SELECT * FROM cgroups",
		"SELECT * FROM host_samples",
		"SELECT * FROM host_activity",
		"SELECT * FROM sqlite_schema",
		"SELECT sql FROM temp.sqlite_schema",
		"SELECT name FROM sqlite_temp_master",
		"SELECT * FROM pragma_table_info('runs')",
		"SELECT load_extension('x')",
		"PRAGMA user_version",
		"PRAGMA temp.foreign_keys = 1",
		"ATTACH ':memory:' AS other",
		"DETACH temp",
		"DROP VIEW temp.runs",
		"CREATE TEMP VIEW mine AS SELECT * FROM main.runs",
		"CREATE TEMP TABLE mine (a)",
		"DELETE FROM main.runs",
		"UPDATE main.runs SET user_id = 1",
		"INSERT INTO stream SELECT * FROM stream",
		"ANALYZE",
		"REINDEX",
	};
	struct store *reader;

	put_host_work();
	put_work_of(BOB);
	put_work_of(ALICE);
	reader = open_restricted(ALICE);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		char *found = ask_sql(reader, refused[i], 0);

		ck_assert_msg(strcmp(found, REFUSED) == 0, "%s: %s", refused[i], found);
		free(found);
	}
	expect(ask_sql(reader, "SELECT 1", 5), REFUSED); /* a text of a user */
	ck_assert_ptr_nonnull(strstr(store_error_text(reader), "ask a member of the group tracer"));
	expect(ask_sql(reader, "SELECT id FROM runs ORDER BY id", 0), "10|\n100|\n");
	expect(ask_sql(reader, "SELECT count(*) FROM hosts", 0), "1|\n");
	expect(ask_sql(reader, "SELECT count(*) FROM stream", 0), "1|\n");
	expect(ask_sql(reader, "SELECT count(*), min(program) FROM processes", 0), "5|'alice'|\n");
	store_close(reader);
}

TEST(a_restriction_cannot_be_undone)
{
	struct store *reader = open_reader();
	struct store_result *result = NULL;
	char *found;

	put_host_work();
	put_work_of(BOB);
	/* A statement from before is not used again. */
	found = ask_by_name(reader, "runs", 1);
	ck_assert_str_ne(found, "");
	free(found);
	ck_assert_int_eq(store_begin_reading(reader), 0);
	ck_assert_int_eq(store_restrict(reader, ALICE), -EBUSY);
	store_end_reading(reader);
	ck_assert_int_eq(query_ask(reader, "hosts", NULL, &result), 0);
	ck_assert_int_eq(store_restrict(reader, ALICE), -EBUSY);
	store_result_free(result);
	ck_assert(!store_is_restricted(reader));
	ck_assert_int_eq(store_restrict(reader, ALICE), 0);
	ck_assert_int_eq(store_restrict(reader, BOB), -EPERM);
	expect(ask_by_name(reader, "runs", 1), "");
	ck_assert_int_lt(store_limit_cache(reader, 100), 0); /* PRAGMA */
	ck_assert_int_eq(store_begin_reading(reader), 0);
	expect(ask_by_name(reader, "runs", 1), "");
	store_end_reading(reader);
	expect(ask_by_name(reader, "runs", 1), "");
	store_close(reader);
}

TEST(losses_do_not_say_where)
{
	struct row_loss loss = fill_loss(3, "/user.slice/bob");
	struct store *reader;

	put_loss(&loss);
	commit(1);
	reader = open_restricted(ALICE);
	expect(ask_sql(reader, "SELECT id, cgroup_path, lost_count FROM losses", 0), "3|NULL|3|\n");
	store_close(reader);
}

/* ---- a new table ------------------------------------------------------------------- */

static bool is_restricted_table(const char *table)
{
	const char *name;

	for (size_t i = 0; (name = store_restricted_table(i)); i++)
		if (strcmp(name, table) == 0)
			return true;
	return false;
}

/* A migration that adds a table must say in restricted/ and docs/security.md what an ordinary user sees of it. */
TEST(every_table_is_decided)
{
	char *tables = strdup(suite_rows(path,
					 "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN "
					 "('cgroups', 'host_samples', 'images', 'states')", /* refused */
					 ""));

	for (char *table = strtok(tables, "\n"); table; table = strtok(NULL, "\n"))
		ck_assert_msg(is_restricted_table(table), "what does an ordinary user see of the table %s?", table);
	free(tables);
}

int main(void)
{
	return stores_run("restrict");
}
