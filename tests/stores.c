/* A store in a directory of the test's own. See stores.h. */
#include "tests/stores.h"

#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "analysis/query/ask.h"

char directory[128], path[160];
struct store *store;

void make_directory(void)
{
	suite_directory(directory, sizeof(directory));
	snprintf(path, sizeof(path), "%s/tracer.db", directory);
}

void remove_directory(void)
{
	if (store)
		close_store();
	umount2(directory, MNT_DETACH); /* a file system that the test may have mounted */
	suite_directory_remove(directory);
}

void open_store(void)
{
	struct store_error error_text;
	int error = store_open_writer(path, &store, &error_text);

	ck_assert_msg(error == 0, "%d: %s", error, error_text.text);
}

void close_store(void)
{
	store_close(store);
	store = NULL;
}

struct store *open_reader(void)
{
	struct store *reader = NULL;
	struct store_error error_text;
	int error = store_open_reader(path, &reader, &error_text);

	ck_assert_msg(error == 0, "%d: %s", error, error_text.text);
	return reader;
}

#define FILL_I(column) row.column = value;
#define FILL_T(column) row.column = text;
#define FILL_B(column) row.column = (struct row_blob){text, strlen(text)};
#define R(NAME, name, table, key) \
	struct row_##name fill_##name(int64_t value, const char *text) \
	{ \
		struct row_##name row = {0}; \
\
		ROW_##NAME##_COLUMNS(FILL_I, FILL_T, FILL_B) return row; \
	} \
\
	void put_##name(const struct row_##name *row) \
	{ \
		int error = store_put_##name(store, row); \
\
		ck_assert_msg(error == 0, "%d: %s", error, store_error_text(store)); \
	}
ROWS(R)
#undef R

struct store_stream stream_at(uint64_t offset)
{
	struct store_stream stream = {.boot_id = "boot",
				      .ring_epoch = 1,
				      .ring_offset = offset,
				      .committed_boot_ns = offset,
				      .committed_unix_ns = offset};

	return stream;
}

void commit(uint64_t offset)
{
	struct store_stream stream = stream_at(offset);
	int error = store_commit(store, &stream);

	ck_assert_msg(error == 0, "%d: %s", error, store_error_text(store));
}

void put_everything(int64_t value)
{
#define R(NAME, name, table, key) put_##name(&(struct row_##name[]){fill_##name(value, "text")}[0]);
	ROWS(R)
#undef R
	ck_assert_int_eq(store_put_state(store, "run", value, ROW_NULL, (struct row_blob){"state", 5}), 0);
}

size_t count_rows(struct store *reader, const char *query, const struct store_parameter *parameters)
{
	struct store_result *result = NULL;
	size_t count = 0;
	int got = query_ask(reader, query, parameters, &result);

	ck_assert_msg(got == 0, "%s: %s", query, store_error_text(reader));
	while ((got = store_result_next(result)) == 1)
		count++;
	ck_assert_msg(got == 0, "%s: %s", query, store_error_text(reader));
	store_result_free(result);
	return count;
}

static const struct store_parameter *parameter_find(const struct store_parameter *parameters, const char *name)
{
	while (parameters->name && strcmp(parameters->name, name) != 0)
		parameters++;
	return parameters->name ? parameters : NULL;
}

static const struct store_parameter every_parameter[] = {
	{"with_system", STORE_INTEGER, 1, NULL},
	{"window_ns", STORE_INTEGER, 1000, NULL},
	{"limit", STORE_INTEGER, 100, NULL},
	{"candidate_limit", STORE_INTEGER, 100, NULL},
	{"first_id", STORE_INTEGER, 0, NULL},
	{"last_id", STORE_INTEGER, INT64_MAX, NULL},
	{"name", STORE_TEXT, 0, "text"},
	{"kind", STORE_TEXT, 0, "text"},
	{"run_id", STORE_INTEGER, 1, NULL},
	{"task_id", STORE_INTEGER, 1, NULL},
	{"process_id", STORE_INTEGER, 1, NULL},
	{"pid", STORE_INTEGER, 1, NULL},
	{"begin_boot_ns", STORE_INTEGER, 0, NULL},
	{"end_boot_ns", STORE_INTEGER, INT64_MAX, NULL},
	{"first_boot_ns", STORE_INTEGER, 0, NULL},
	{"last_boot_ns", STORE_INTEGER, INT64_MAX, NULL},
	{"until_unix_ns", STORE_INTEGER, INT64_MAX, NULL},
	{"tool_id", STORE_INTEGER, 1, NULL},
	{"status", STORE_NULL},
	{"user_id", STORE_NULL},
	{"host", STORE_NULL},
	{"host_id", STORE_INTEGER, 1, NULL},
	{"first_host_id", STORE_INTEGER, 1, NULL},
	{"last_host_id", STORE_INTEGER, 1, NULL},
	{0},
};

size_t run_query(struct store *reader, const char *query)
{
	struct store_parameter parameters[16] = {{0}};
	char names[16][64];
	size_t used = 0, size;

	if (strstr(query_text(query), "\n-- rows: account\n")) /* no query */
		return 0;
	for (const char *name = query_text(query); (name = store_next_parameter(name, &size));) {
		snprintf(names[used], sizeof(names[used]), "%.*s", (int)size, name);
		if (parameter_find(parameters, names[used]))
			continue;
		parameters[used] = (struct store_parameter){names[used], STORE_INTEGER}; /* 0 if not in the list */
		if (parameter_find(every_parameter, names[used]))
			parameters[used] = *parameter_find(every_parameter, names[used]);
		used++;
	}
	return count_rows(reader, query, parameters);
}

int64_t read_integer(const char *sql)
{
	char *text = suite_rows(path, sql, "");

	ck_assert_msg(*text, "%s: no row", sql);
	return strtoll(text, NULL, 10);
}

int64_t count_of(const char *table)
{
	char sql[96];

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", table);
	return read_integer(sql);
}

void kill_and_wait(pid_t child)
{
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

pid_t start_child(void (*run)(int ready_fd))
{
	int ready[2];
	char byte;
	pid_t child;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(ready[1]);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

/* One commit, then enough rows that part of them reaches the WAL. */
static void write_and_hang(int ready_fd)
{
	struct row_run run = fill_run(1, "text");

	open_store();
	put_run(&run);
	commit(1);
	for (run.id = 2; run.id < 100000; run.id++)
		put_run(&run);
	ck_assert_int_eq(write(ready_fd, "1", 1), 1);
	for (;;)
		pause();
}

void kill_a_writer(void)
{
	kill_and_wait(start_child(write_and_hang));
}

static void begin(void)
{
	make_directory();
	open_store();
}

int stores_run(const char *name)
{
	return suite_run(name, begin, remove_directory);
}
