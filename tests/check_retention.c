/* What the store deletes: by age only what was sent; by size the oldest first; all of it counted. */

#include <unistd.h>

#include "common/log.h"
#include "common/shipper_status.h"
#include "correlator/store/retention.h"
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

	PUT(PROCESS, process, .id = id, .host_id = 1, .tool_id = tool_id, .user_id = user_id,
	    .end_boot_ns = end_boot_ns, .started_unix_ns = started_unix_ns,
	    .arguments = {arguments, sizeof(arguments)});
}

static void put_run_row(int64_t id, int64_t started_unix_ns, int64_t end_boot_ns)
{
	PUT(RUN, run, .id = id, .host_id = 1, .kind = kind, .run_key = NULL, /* or they would be one run */
	    .process_count = 10, .user_id = user_id, .end_boot_ns = end_boot_ns, .started_unix_ns = started_unix_ns);
	PUT(TASK, task, .id = id, .host_id = 1, .run_id = id, .merged_into_id = ROW_NULL, .process_count = 10,
	    .started_unix_ns = started_unix_ns);
	PUT(TOOL, tool, .id = id, .host_id = 1, .run_id = id, .task_id = id, .process_count = 10,
	    .started_unix_ns = started_unix_ns);
}

/* A run with one task, one tool and ten processes, which begins and ends at that time. */
static void put_whole_run(int64_t id, int64_t started_unix_ns)
{
	for (int64_t i = 0; i < 10; i++)
		put_process_of(id * 100 + i, id, started_unix_ns, 2);
	put_run_row(id, started_unix_ns, 2);
}

static void put_samples_of(int64_t process_id, int64_t count, int64_t period_ns)
{
	for (int64_t i = 0; i < count; i++)
		PUT(SAMPLE, sample, .process_id = process_id, .boot_ns = 1 + i * period_ns);
}

static void commit_now(void)
{
	struct store_stream stream = {.boot_id = "boot", .committed_unix_ns = NOW_UNIX_NS};

	ck_assert_int_eq(store_commit(store, &stream), 0);
}

static int64_t current_rev(void)
{
	return read_integer("SELECT rev FROM stream");
}

static void write_status(const struct shipper_status *status)
{
	char *text = shipper_status_format(status);

	suite_file(directory, SHIPPER_STATUS_FILE, text);
	free(text);
}

static void write_shipped(int64_t rev)
{
	write_status(&(struct shipper_status){.store_first_seen_unix_ns = FIRST_SEEN_UNIX_NS,
					      .updated_unix_ns = NOW_UNIX_NS,
					      .shipped_rev = rev,
					      .shipped_unix_ns = rev ? NOW_UNIX_NS : 0});
}

/* Ten runs, 1 to 10 days old. */
static void begin(void)
{
	log_init("check_retention", LOG_LEVEL_ERROR);
	make_directory();
	open_store();
	PUT(HOST, host, .id = 1, .first_seen_unix_ns = FIRST_SEEN_UNIX_NS);
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

static int64_t unsent_count(void)
{
	return read_integer("SELECT total(lost_count) FROM losses WHERE kind = 'unsent'");
}

/* Without a shipper, age decides; with one, nothing goes that it has not sent, until it is gone for 30 days: a removed
 * one would otherwise hold everything back for ever. */
static const struct {
	int64_t store, silent_days; /* the store it sends, when it last wrote its status */
	bool has_sent_all;          /* by revision */
	int64_t sent_days;          /* ago, by time */
	int64_t runs_left, unsent_count;
} ages[] = {
	{FIRST_SEEN_UNIX_NS, 0, true, 8, 8, 0}, /* the runs of 9 and 10 days ago are sent and old */
	{FIRST_SEEN_UNIX_NS, 0, false, 0, 10, 0},    {FIRST_SEEN_UNIX_NS, 0, true, 0, 5, 0},
	{FIRST_SEEN_UNIX_NS + 1, 0, true, 0, 10, 0}, /* another store */
	{FIRST_SEEN_UNIX_NS, 29, false, 40, 10, 0},  {FIRST_SEEN_UNIX_NS, 31, false, 40, 5, 5 * 13},
};

TEST_EACH(age_takes_what_was_sent, ages)
{
	write_status(&(struct shipper_status){.store_first_seen_unix_ns = ages[_i].store,
					      .updated_unix_ns = NOW_UNIX_NS - ages[_i].silent_days * DAY_NS,
					      .shipped_rev = ages[_i].has_sent_all ? current_rev() : 1,
					      .shipped_unix_ns = NOW_UNIX_NS - ages[_i].sent_days * DAY_NS});
	expire_by_age(5);
	ck_assert_int_eq(count_of("runs"), ages[_i].runs_left);
	ck_assert_int_eq(unsent_count(), ages[_i].unsent_count);
}

TEST(age_takes_nothing_with_a_broken_status_and_all_without)
{
	suite_file(directory, SHIPPER_STATUS_FILE, "nonsense");
	expire_by_age(5);
	ck_assert_int_eq(count_of("runs"), 10);
	ck_assert_int_eq(unlink(suite_file(directory, SHIPPER_STATUS_FILE, "")), 0);
	expire_by_age(5);
	ck_assert_int_eq(count_of("runs"), 5);
	ck_assert_int_eq(count_of("processes"), 50);
}

/* What was not sent is counted, nothing that was is. */
TEST_TIMES(bound_is_kept_and_counted, 2)
{
	int64_t most = store_used_bytes(store) - 40000, left;

	expire_by_size(store_used_bytes(store)); /* below the bound nothing is deleted */
	ck_assert_int_eq(count_of("runs"), 10);
	write_shipped(_i ? current_rev() : 0);
	expire_by_size(most);
	left = count_of("runs");
	ck_assert_int_lt(left, 10);
	ck_assert_int_gt(left, 0);
	ck_assert_int_le(store_used_bytes(store), most);
	ck_assert_int_eq(count_of("processes"), 10 * left);
	ck_assert_int_eq(unsent_count(), _i ? 0 : 13 * (10 - left)); /* run, task, tool, processes */
	ck_assert_int_eq(count_of("losses") > 0, !_i);
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
	put_samples_of(5000, 30000, 1);
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
	write_shipped(current_rev());
	put_whole_run(20, NOW_UNIX_NS); /* 13 rows */
	PUT(INCIDENT, incident, .id = 1, .run_id = 20, .unix_ns = NOW_UNIX_NS);
	PUT(INCIDENT, incident, .id = 2, .run_id = ROW_NULL, .unix_ns = NOW_UNIX_NS);
	PUT(HOST_SAMPLE, host_sample, .host_id = 1, .unix_ns = NOW_UNIX_NS);
	put_samples_of(2000, 1, 1);
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

/* A system daemon with one sample per second for a year. */
TEST(old_samples_of_what_lives_go)
{
	put_process_of(5000, 11, NOW_UNIX_NS, ROW_NULL);
	put_run_row(11, NOW_UNIX_NS, ROW_NULL);
	put_samples_of(5000, 9, DAY_NS);
	commit_now();
	now.unix_ns += 10 * DAY_NS;
	expire_by_age(5);
	ck_assert_int_eq(count_of("samples"), 4);
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
	put_samples_of(100 * 100, 5000, 1);
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
