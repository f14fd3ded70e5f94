/* What the store forgets: by age no more than was sent, by size the oldest, and counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/shipping.h"
#include "correlator/retention.h"
#include "tests/suite.h"

#define DAY_NS (86400 * 1000000000LL)
#define NOW_UNIX_NS (20000 * DAY_NS)
#define FIRST_SEEN_UNIX_NS 12345

static char directory[128], path[160];
static struct store *store;
static const struct retention_now now = {NOW_UNIX_NS, 1000};

#define NULL_I(column) .column = ROW_NULL,
#define ZERO_I(column) .column = 0,
#define NULL_T(column)
#define NULL_B(column)

static void put_host(void)
{
	struct row_host host = {ROW_HOST_COLUMNS(ZERO_I, NULL_T, NULL_B)};

	host.id = 1;
	host.host_key = host.hostname = host.boot_id = host.kernel = host.machine = "text";
	host.probe_version = "text";
	host.first_seen_unix_ns = FIRST_SEEN_UNIX_NS;
	ck_assert_int_eq(store_put_host(store, &host), 0);
}

static void put_process(int64_t id, int64_t tool_id, int64_t started_unix_ns)
{
	static const char arguments[2000] = {'a'};
	struct row_process process = {ROW_PROCESS_COLUMNS(NULL_I, NULL_T, NULL_B)};

	process.id = id;
	process.host_id = process.run_id = process.task_id = 1;
	process.tool_id = tool_id;
	process.pid = process.exec_id = process.redacted_count = process.arguments_truncated = 0;
	process.began = "exec";
	process.ended = "exit";
	process.totals = "final";
	process.role = process.reason = process.program = "text";
	process.begin_boot_ns = 1;
	process.end_boot_ns = 2;
	process.started_unix_ns = started_unix_ns;
	process.arguments = (struct row_blob){arguments, sizeof(arguments)};
	ck_assert_int_eq(store_put_process(store, &process), 0);
}

/* A run of one task, one tool and ten processes, begun and ended then. */
static void put_run(int64_t id, int64_t started_unix_ns)
{
	struct row_run run = {ROW_RUN_COLUMNS(ZERO_I, NULL_T, NULL_B)};
	struct row_task task = {ROW_TASK_COLUMNS(ZERO_I, NULL_T, NULL_B)};
	struct row_tool tool = {ROW_TOOL_COLUMNS(ZERO_I, NULL_T, NULL_B)};

	run.id = task.id = tool.id = task.run_id = tool.run_id = tool.task_id = id;
	run.host_id = task.host_id = tool.host_id = 1;
	run.kind = run.name = run.status = run.reason = "text";
	task.kind = task.name = task.status = task.reason = tool.name = tool.role = "text";
	task.merged_into_id = ROW_NULL;
	run.process_count = task.process_count = tool.process_count = 10;
	run.started_unix_ns = task.started_unix_ns = tool.started_unix_ns = started_unix_ns;
	for (int64_t i = 0; i < 10; i++)
		put_process(id * 100 + i, id, started_unix_ns);
	ck_assert_int_eq(store_put_run(store, &run), 0);
	ck_assert_int_eq(store_put_task(store, &task), 0);
	ck_assert_int_eq(store_put_tool(store, &tool), 0);
}

static void commit(void)
{
	struct store_stream stream = {.boot_id = "boot", .committed_unix_ns = NOW_UNIX_NS};

	ck_assert_int_eq(store_commit(store, &stream), 0);
}

static int64_t count_of(const char *name)
{
	struct store_result *result;
	int64_t count = -1;

	ck_assert_int_eq(store_query(store, "status", NULL, &result), 0);
	while (store_result_next(result) == 1)
		if (strcmp(store_result_get(result, "name").data, name) == 0)
			count = store_result_get(result, "row_count").integer;
	store_result_free(result);
	return count;
}

static int64_t current_rev(void)
{
	struct store_stream stream;

	ck_assert_int_eq(store_read_stream(store, &stream), 0);
	return (int64_t)stream.rev;
}

static void write_status(int64_t first_seen_unix_ns, int64_t rev, int64_t unix_ns)
{
	struct shipping_status status = {.store_first_seen_unix_ns = first_seen_unix_ns,
					 .shipped_rev = rev, .shipped_unix_ns = unix_ns};
	char file_path[160], *text = shipping_status_format(&status);
	FILE *file;

	snprintf(file_path, sizeof(file_path), "%s/" SHIPPING_STATUS_FILE, directory);
	file = fopen(file_path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
	free(text);
}

/* Ten runs, of 1 to 10 days ago. */
static void begin(void)
{
	struct store_error error;

	log_init("check_retention", LOG_LEVEL_ERROR);
	suite_directory(directory, sizeof(directory));
	snprintf(path, sizeof(path), "%s/tracer.db", directory);
	ck_assert_int_eq(store_open_writer(path, &store, &error), 0);
	put_host();
	for (int64_t i = 1; i <= 10; i++)
		put_run(i, NOW_UNIX_NS - i * DAY_NS);
	commit();
}

static void end(void)
{
	store_close(store);
	suite_directory_remove(directory);
}

static struct retention_options options_of(int days, uint64_t bytes_most)
{
	return (struct retention_options){days, bytes_most, directory};
}

START_TEST(without_a_shipper_age_decides)
{
	const struct retention_options options = options_of(5, 0);

	retention_by_age(&options, store, &now);
	ck_assert_int_eq(count_of("runs"), 5);
	ck_assert_int_eq(count_of("processes"), 50);
}
END_TEST

START_TEST(unsent_is_kept_whatever_its_age)
{
	const struct retention_options options = options_of(5, 0);

	write_status(FIRST_SEEN_UNIX_NS, current_rev(), NOW_UNIX_NS - 8 * DAY_NS);
	retention_by_age(&options, store, &now);
	ck_assert_int_eq(count_of("runs"), 8); /* those of 9 and 10 days ago are sent and old */
	write_status(FIRST_SEEN_UNIX_NS, 1, NOW_UNIX_NS);
	retention_by_age(&options, store, &now);
	ck_assert_int_eq(count_of("runs"), 8); /* by the revision nothing is sent */
	write_status(FIRST_SEEN_UNIX_NS, current_rev(), NOW_UNIX_NS);
	retention_by_age(&options, store, &now);
	ck_assert_int_eq(count_of("runs"), 5);
}
END_TEST

START_TEST(status_of_another_store_or_none_keeps_all)
{
	const struct retention_options options = options_of(5, 0);
	char command[192];

	write_status(FIRST_SEEN_UNIX_NS + 1, current_rev(), NOW_UNIX_NS);
	retention_by_age(&options, store, &now);
	ck_assert_int_eq(count_of("runs"), 10);
	snprintf(command, sizeof(command), "printf nonsense > '%s/" SHIPPING_STATUS_FILE "'", directory);
	ck_assert_int_eq(system(command), 0);
	retention_by_age(&options, store, &now);
	ck_assert_int_eq(count_of("runs"), 10);
}
END_TEST

START_TEST(bound_is_kept_and_counted)
{
	struct retention_options options = options_of(0, 0);
	struct store_result *result;
	int64_t used = store_used_bytes(store), left;

	options.bytes_most = (uint64_t)used - 40000;
	write_status(FIRST_SEEN_UNIX_NS, 0, 0);
	retention_by_size(&options, store, &now);
	left = count_of("runs");
	ck_assert_int_lt(left, 10);
	ck_assert_int_gt(left, 0);
	ck_assert_int_le(store_used_bytes(store), (int64_t)options.bytes_most);
	ck_assert_int_eq(count_of("processes"), 10 * left);
	ck_assert_int_eq(store_query(store, "losses_by_kind", NULL, &result), 0);
	ck_assert_int_eq(store_result_next(result), 1);
	ck_assert_str_eq(store_result_get(result, "kind").data, "unsent");
	ck_assert_int_eq(store_result_get(result, "lost_count").integer, 10 * (10 - left));
	store_result_free(result);
}
END_TEST

START_TEST(bound_loses_nothing_that_was_sent)
{
	struct retention_options options = options_of(0, 0);

	options.bytes_most = (uint64_t)store_used_bytes(store) - 40000;
	write_status(FIRST_SEEN_UNIX_NS, current_rev(), NOW_UNIX_NS);
	retention_by_size(&options, store, &now);
	ck_assert_int_lt(count_of("runs"), 10);
	ck_assert_int_eq(count_of("losses"), 0);
}
END_TEST

START_TEST(below_the_bound_nothing_goes)
{
	const struct retention_options options = options_of(0, 1ULL << 30);

	retention_by_size(&options, store, &now);
	ck_assert_int_eq(count_of("runs"), 10);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{.test = without_a_shipper_age_decides},
		{.test = unsent_is_kept_whatever_its_age},
		{.test = status_of_another_store_or_none_keeps_all},
		{.test = bound_is_kept_and_counted},
		{.test = bound_loses_nothing_that_was_sent},
		{.test = below_the_bound_nothing_goes},
		{0},
	};

	return suite_run("retention", begin, end, tests);
}
