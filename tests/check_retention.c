/* What the store deletes: by age only what was sent; by size the oldest first; all of it counted. */

#include "analysis/query/ask.h"
#include "common/log.h"
#include "common/shipper_status.h"
#include "correlator/rows/retention.h"
#include "tests/stores.h"

#define DAY_NS (86400 * 1000000000LL)
#define NOW_UNIX_NS (20000 * DAY_NS)
#define FIRST_SEEN_UNIX_NS 12345

static struct retention_now now;
static int64_t user_id;  /* of the runs and processes to put */
static const char *kind; /* of the runs */

/* A process of that run; running until it has an end. */
static void put_process_of(int64_t id, int64_t tool_id, int64_t started_unix_ns, int64_t end_boot_ns)
{
	static const char arguments[2000] = {'a'};
	struct row_process process = fill_process(1, "text");

	process.id = id;
	process.tool_id = tool_id;
	process.user_id = user_id;
	process.end_boot_ns = end_boot_ns;
	process.started_unix_ns = started_unix_ns;
	process.arguments = (struct row_blob){arguments, sizeof(arguments)};
	put_process(&process);
}

static void put_run_row(int64_t id, int64_t started_unix_ns, int64_t end_boot_ns)
{
	struct row_run run = fill_run(1, "text");
	struct row_task task = fill_task(1, "text");
	struct row_tool tool = fill_tool(1, "text");

	run.id = task.id = tool.id = task.run_id = tool.run_id = tool.task_id = id;
	run.run_key = NULL; /* rows with the same key would be one run */
	task.merged_into_id = ROW_NULL;
	run.process_count = task.process_count = tool.process_count = 10;
	run.user_id = user_id;
	run.kind = kind;
	run.end_boot_ns = end_boot_ns;
	run.started_unix_ns = task.started_unix_ns = tool.started_unix_ns = started_unix_ns;
	put_run(&run);
	put_task(&task);
	put_tool(&tool);
}

/* A run with one task, one tool and ten processes, which begins and ends at that time. */
static void put_whole_run(int64_t id, int64_t started_unix_ns)
{
	for (int64_t i = 0; i < 10; i++)
		put_process_of(id * 100 + i, id, started_unix_ns, 2);
	put_run_row(id, started_unix_ns, 2);
}

static void put_sample_of(int64_t process_id, int64_t boot_ns)
{
	struct row_sample sample = fill_sample(process_id, "text");

	sample.boot_ns = boot_ns;
	put_sample(&sample);
}

static void put_incident_of(int64_t id, int64_t run_id, int64_t unix_ns)
{
	struct row_incident incident = fill_incident(1, "text");

	incident.id = id;
	incident.run_id = run_id;
	incident.unix_ns = unix_ns;
	put_incident(&incident);
}

static void commit_now(void)
{
	struct store_stream stream = {.boot_id = "boot", .committed_unix_ns = NOW_UNIX_NS};

	ck_assert_int_eq(store_commit(store, &stream), 0);
}

static int64_t count_of(const char *name)
{
	struct store_result *result;
	int64_t count = -1;

	ck_assert_int_eq(query_ask(store, "status", NULL, &result), 0);
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

static int64_t status_age_ns;

static void write_status(int64_t first_seen_unix_ns, int64_t rev, int64_t unix_ns)
{
	struct shipper_status status = {.store_first_seen_unix_ns = first_seen_unix_ns,
					.updated_unix_ns = NOW_UNIX_NS - status_age_ns,
					.shipped_rev = rev,
					.shipped_unix_ns = unix_ns};
	char *text = shipper_status_format(&status);

	suite_file(directory, SHIPPER_STATUS_FILE, text);
	free(text);
}

/* Ten runs, 1 to 10 days old. */
static void begin(void)
{
	struct row_host host = fill_host(1, "text");

	log_init("check_retention", LOG_LEVEL_ERROR);
	make_directory();
	open_store();
	host.first_seen_unix_ns = FIRST_SEEN_UNIX_NS;
	put_host(&host);
	status_age_ns = 0;
	user_id = 1;
	kind = "command";
	now = (struct retention_now){NOW_UNIX_NS, 1000};
	for (int64_t i = 10; i >= 1; i--)
		put_whole_run(i, NOW_UNIX_NS - i * DAY_NS);
	commit_now();
}

#define STEPS_MAX 1000

/* Expires until a round is complete. Returns the number of steps. */
static int expire(bool (*step)(struct retention *, const struct retention_now *), struct retention_options options)
{
	struct retention retention = {.options = options, .store = store};
	int steps = 1;

	while (step(&retention, &now))
		ck_assert_int_lt(steps++, STEPS_MAX);
	return steps;
}

static int expire_by_age(int days)
{
	return expire(retention_by_age, (struct retention_options){days, 0, directory});
}

static int expire_by_size(int64_t bytes_most)
{
	return expire(retention_by_size, (struct retention_options){0, bytes_most, directory});
}

/* Losses of kind "unsent", as readers and the lake see them. */
static int64_t unsent_count(void)
{
	struct store_result *result;
	int64_t count = 0;

	ck_assert_int_eq(query_ask(store, "losses_by_kind", NULL, &result), 0);
	if (store_result_next(result) == 1) {
		ck_assert_str_eq(store_result_get(result, "kind").data, "unsent");
		count = store_result_get(result, "lost_count").integer;
	}
	store_result_free(result);
	return count;
}

TEST(without_a_shipper_age_decides)
{
	expire_by_age(5);
	ck_assert_int_eq(count_of("runs"), 5);
	ck_assert_int_eq(count_of("processes"), 50);
}

TEST(unsent_is_kept_whatever_its_age)
{
	write_status(FIRST_SEEN_UNIX_NS, current_rev(), NOW_UNIX_NS - 8 * DAY_NS);
	expire_by_age(5);
	ck_assert_int_eq(count_of("runs"), 8); /* the runs of 9 and 10 days ago are sent and old */
	write_status(FIRST_SEEN_UNIX_NS, 1, NOW_UNIX_NS);
	expire_by_age(5);
	ck_assert_int_eq(count_of("runs"), 8); /* by revision, nothing has been sent */
	write_status(FIRST_SEEN_UNIX_NS, current_rev(), NOW_UNIX_NS);
	expire_by_age(5);
	ck_assert_int_eq(count_of("runs"), 5);
}

TEST(status_of_another_store_or_none_keeps_all)
{
	write_status(FIRST_SEEN_UNIX_NS + 1, current_rev(), NOW_UNIX_NS);
	expire_by_age(5);
	ck_assert_int_eq(count_of("runs"), 10);
	suite_file(directory, SHIPPER_STATUS_FILE, "nonsense");
	expire_by_age(5);
	ck_assert_int_eq(count_of("runs"), 10);
}

TEST(bound_is_kept_and_counted)
{
	int64_t most = store_used_bytes(store) - 40000, left;

	write_status(FIRST_SEEN_UNIX_NS, 0, 0);
	expire_by_size(most);
	left = count_of("runs");
	ck_assert_int_lt(left, 10);
	ck_assert_int_gt(left, 0);
	ck_assert_int_le(store_used_bytes(store), most);
	ck_assert_int_eq(count_of("processes"), 10 * left);
	ck_assert_int_eq(unsent_count(), 13 * (10 - left)); /* run, task, tool, processes */
}

TEST(bound_loses_nothing_that_was_sent)
{
	write_status(FIRST_SEEN_UNIX_NS, current_rev(), NOW_UNIX_NS);
	expire_by_size(store_used_bytes(store) - 40000);
	ck_assert_int_lt(count_of("runs"), 10);
	ck_assert_int_eq(count_of("losses"), 0);
}

/* The system run began long before all others, and never ends. */
TEST(bound_takes_the_oldest_beside_a_run_that_lives)
{
	int64_t most;

	put_process_of(5000, 11, NOW_UNIX_NS - 200 * DAY_NS, ROW_NULL);
	put_run_row(11, NOW_UNIX_NS - 200 * DAY_NS, ROW_NULL);
	commit_now();
	most = store_used_bytes(store) - 1;
	expire_by_size(most);
	ck_assert_int_le(store_used_bytes(store), most);
	ck_assert_int_lt(count_of("runs"), 11);
	ck_assert_int_gt(count_of("runs"), 8);
}

/* A single running run may fill the store: its oldest processes go, and samples of what still runs. */
TEST(bound_is_kept_within_a_run_that_lives)
{
	int64_t most;

	put_process_of(5000, 11, NOW_UNIX_NS, ROW_NULL);
	put_run_row(11, NOW_UNIX_NS, ROW_NULL);
	for (int64_t i = 0; i < 500; i++)
		put_process_of(6000 + i, 11, NOW_UNIX_NS, 2);
	for (int64_t i = 0; i < 30000; i++)
		put_sample_of(5000, i);
	commit_now();
	most = store_used_bytes(store) / 2;
	expire_by_size(most);
	ck_assert_int_le(store_used_bytes(store), most);
	ck_assert_int_eq(count_of("runs"), 1);
	ck_assert_int_gt(count_of("samples"), 0);
	ck_assert_int_lt(count_of("samples"), 30000);
	ck_assert_int_ge(count_of("processes"), 1); /* running processes stay */
}

TEST(every_kind_of_row_that_was_unsent_is_counted)
{
	struct row_host_sample sample = fill_host_sample(1, "text");

	sample.unix_ns = NOW_UNIX_NS;
	write_status(FIRST_SEEN_UNIX_NS, current_rev(), NOW_UNIX_NS);
	put_whole_run(20, NOW_UNIX_NS); /* 13 rows */
	put_incident_of(1, 20, NOW_UNIX_NS);
	put_incident_of(2, ROW_NULL, NOW_UNIX_NS);
	put_host_sample(&sample);
	put_sample_of(2000, 1);
	commit_now();
	expire_by_size(1);
	ck_assert_int_eq(count_of("runs"), 0);
	ck_assert_int_eq(count_of("incidents"), 0);
	ck_assert_int_eq(count_of("samples"), 0);
	ck_assert_int_eq(unsent_count(), 17);
}

TEST(any_number_of_old_runs_is_deleted)
{
	for (int64_t i = 0; i < 30000; i++)
		put_run_row(100 + i, NOW_UNIX_NS, 2);
	now.unix_ns += 10 * DAY_NS;
	put_whole_run(50000, now.unix_ns);
	commit_now();
	ck_assert_int_gt(expire_by_age(5), 10); /* bounded steps */
	ck_assert_int_eq(count_of("runs"), 1);
	ck_assert_int_eq(count_of("processes"), 10);
}

/* A run with many processes is deleted in steps, and its row stays until the last one. */
TEST(a_large_run_goes_in_steps)
{
	struct retention retention = {.options = {5, 0, directory}, .store = store};

	for (int64_t i = 0; i < 45000; i++)
		put_process_of(100000 + i, 30, NOW_UNIX_NS, 2);
	put_run_row(30, NOW_UNIX_NS, 2);
	commit_now();
	now.unix_ns += 10 * DAY_NS;
	for (int64_t before = count_of("processes"), steps = 0; before > 0; steps++) {
		bool more = retention_by_age(&retention, &now);
		int64_t left = count_of("processes");

		ck_assert_int_le(before - left, STORE_EXPIRY_ROWS_MAX + 100);
		ck_assert(more || left == 0);
		ck_assert_int_eq(count_of("runs") > 0, more);
		ck_assert_int_lt(steps, 10);
		before = left;
	}
}

/* A removed shipper would otherwise hold everything back for ever. */
TEST(a_shipper_that_is_gone_holds_nothing_back)
{
	status_age_ns = 29 * DAY_NS;
	write_status(FIRST_SEEN_UNIX_NS, 1, NOW_UNIX_NS - 40 * DAY_NS);
	expire_by_age(5);
	ck_assert_int_eq(count_of("runs"), 10);
	status_age_ns = 31 * DAY_NS;
	write_status(FIRST_SEEN_UNIX_NS, 1, NOW_UNIX_NS - 40 * DAY_NS);
	expire_by_age(5);
	ck_assert_int_eq(count_of("runs"), 5);
	ck_assert_int_eq(unsent_count(), 5 * 13);
}

/* A system daemon with one sample per second for a year. */
TEST(old_samples_of_what_lives_go)
{
	put_process_of(5000, 11, NOW_UNIX_NS, ROW_NULL);
	put_run_row(11, NOW_UNIX_NS, ROW_NULL);
	for (int64_t day = 0; day < 9; day++)
		put_sample_of(5000, 1 + day * DAY_NS);
	commit_now();
	now.unix_ns += 10 * DAY_NS;
	expire_by_age(5);
	ck_assert_int_eq(count_of("samples"), 4);
}

TEST(below_the_bound_nothing_is_deleted)
{
	expire_by_size(store_used_bytes(store));
	ck_assert_int_eq(count_of("runs"), 10);
}

static int64_t held_by(int64_t user)
{
	struct store_holding holdings[8];
	int count = store_find_holdings(store, holdings, 8);

	for (int i = 0; i < count; i++)
		if (holdings[i].user_id == user)
			return holdings[i].bytes;
	return 0;
}

static void put_runs_of(int64_t user, int64_t first_id, int64_t count)
{
	user_id = user;
	for (int64_t i = 0; i < count; i++)
		put_whole_run(first_id + i, NOW_UNIX_NS);
	commit_now();
}

/* Processes outside any run, of a user who did not begin the system run. */
TEST(a_flood_in_the_system_run_is_charged_to_its_user)
{
	int64_t most, held_bytes = held_by(1);

	user_id = 0;
	kind = "system";
	put_process_of(5000, 11, NOW_UNIX_NS, ROW_NULL);
	put_run_row(11, NOW_UNIX_NS, ROW_NULL);
	user_id = 2;
	for (int64_t i = 0; i < 2000; i++)
		put_process_of(6000 + i, 11, NOW_UNIX_NS, 2);
	commit_now();
	most = store_used_bytes(store) * 3 / 4;
	expire_by_size(most);
	ck_assert_int_le(store_used_bytes(store), most);
	ck_assert_int_eq(held_by(1), held_bytes);
	ck_assert_int_gt(held_by(2), 0);
}

/* However many users their processes became. */
TEST(a_run_is_charged_to_the_user_who_began_it)
{
	put_runs_of(2, 100, 1);
	for (user_id = 10; user_id < 20; user_id++)
		put_process_of(6000 + user_id, 100, NOW_UNIX_NS, 2);
	commit_now();
	ck_assert_int_eq(held_by(10), 0);
	ck_assert_int_gt(held_by(2), held_by(1) / 10);
}

TEST(samples_are_charged)
{
	put_runs_of(2, 100, 1);
	for (int64_t i = 0; i < 5000; i++)
		put_sample_of(100 * 100, i);
	commit_now();
	ck_assert_int_gt(held_by(2), 5000 * 100);
}

/* 30 above an equal share of 10, 25 and 5: to let 20 go, the first two come down to 17.5. */
TEST(users_above_the_share_come_down_to_the_same_level)
{
	const struct store_holding holdings[] = {{1, 30, 7}, {2, 25, 8}, {3, 5, 9}};
	struct retention_share shares[RETENTION_SHARES_MAX];

	ck_assert_uint_eq(retention_divide(holdings, 3, 20, shares), 2);
	ck_assert_int_eq(shares[0].user_id, 1);
	ck_assert_int_eq(shares[0].excess_bytes, 13);
	ck_assert_int_eq(shares[0].first_rev, 7);
	ck_assert_int_eq(shares[1].user_id, 2);
	ck_assert_int_eq(shares[1].excess_bytes, 8);
	ck_assert_uint_eq(retention_divide(holdings, 3, 5, shares), 1);
	ck_assert_int_eq(shares[0].excess_bytes, 5);
	ck_assert_uint_eq(retention_divide(holdings, 3, 60, shares), 3);
	ck_assert_int_eq(shares[2].excess_bytes, 5);
	ck_assert_uint_eq(retention_divide(holdings, 0, 60, shares), 0);
}

/* The rows of the user who has most lie far behind those of others, who have little each. */
TEST(steps_reach_a_flood_behind_many_rows)
{
	int64_t most;

	for (int64_t user = 100; user < 150; user++)
		put_runs_of(user, user * 100, 20);
	put_runs_of(2, 100, 50);
	most = store_used_bytes(store) - 200000;
	ck_assert_int_lt(expire_by_size(most), 100);
	ck_assert_int_le(store_used_bytes(store), most);
	ck_assert_int_gt(count_of("runs"), 1010);
}

int main(void)
{
	return suite_run("retention", begin, remove_directory);
}
