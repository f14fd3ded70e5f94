/* What work cost: the parts add up to the bill, for any work at any price, whatever they are added up by. */
#include "analysis/cost/bill.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "tests/stores.h"

#define SECOND INT64_C(1000000000)
#define HOUR_S 3600
#define DAY_NS (24 * HOUR_S * SECOND)
#define DAYS_S (3 * 24 * HOUR_S)
#define GIB (INT64_C(1) << 30)
#define BEGIN_NS (INT64_C(1767225600) * SECOND) /* 2026-01-01T00:00:00Z */
#define END_NS (BEGIN_NS + DAYS_S * SECOND)
#define HOSTS 2
#define RUNS 8
#define TASKS_MAX 6
#define TOOLS_MAX 3
#define SCHEDULES 12
#define KEY_COUNT (BILL_BY_DAY + 1)
/* What a sum of floating-point shares may lose: the cost of a task alone and among others. */
#define SHARE_TOLERANCE_NANOS 20000

static uint64_t state;
static struct prices *prices;
static struct centres *centres;
static int64_t next_id;
static bool with_run_limits;
static struct row_run runs[HOSTS * RUNS]; /* all random ones */
static size_t run_count;

/* xorshift: the same numbers every time */
static int64_t random_below(int64_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (int64_t)(state % (uint64_t)limit);
}

static int64_t sometimes(int64_t value)
{
	return random_below(4) ? value : ROW_NULL;
}

static void load_prices(const char *rows)
{
	struct tree_error error;
	char text[1200];

	snprintf(text, sizeof(text), "AssetClass,MarketPriceHourly,EndTimestamp,InstanceID,InstanceIDField\n%s", rows);
	ck_assert_msg(prices_load(suite_file(NULL, "prices.csv", text), false, &prices, &error) == 0, "%s",
		      error.reason);
}

/* Users and runs of the random schedules; what is left has no centre. */
static void load_centres(const char *rows)
{
	struct tree_error error;
	char text[256];

	snprintf(text, sizeof(text), "Centre,User,Cgroup,Run\n%s", rows);
	ck_assert_msg(centres_load(suite_file(NULL, "centres.csv", text), &centres, &error) == 0, "%s", error.reason);
}

/* ---- a store ---------------------------------------------------------------------- */

static void add_host(int64_t id, const char *name, int64_t cpu_count, int64_t memory_bytes)
{
	struct row_host host = fill_host(0, "text");

	host.id = id;
	host.hostname = host.host_key = name;
	host.cpu_count = cpu_count;
	host.memory_bytes = memory_bytes;
	host.first_seen_unix_ns = BEGIN_NS;
	host.last_seen_unix_ns = END_NS;
	put_host(&host);
}

/* Times are seconds since BEGIN_NS; an end of ROW_NULL: still running. */
static struct row_run make_run(int64_t host_id, const char *kind, int64_t begin_s, int64_t end_s)
{
	struct row_run run = fill_run(0, "text");

	run.id = next_id++;
	run.host_id = host_id;
	run.kind = kind;
	run.name = kind;
	run.run_key = NULL;
	run.user_id = 1000;
	run.memory_limit_bytes = ROW_NULL;
	run.process_count = 1;
	run.started_unix_ns = BEGIN_NS + begin_s * SECOND;
	run.begin_boot_ns = begin_s * SECOND;
	run.end_boot_ns = end_s == ROW_NULL ? ROW_NULL : end_s * SECOND;
	return run;
}

static struct row_task make_task(const struct row_run *run, const char *name, int64_t begin_s, int64_t end_s)
{
	struct row_task task = fill_task(0, "text");

	task.id = next_id++;
	task.host_id = run->host_id;
	task.run_id = run->id;
	task.name = name;
	task.merged_into_id = ROW_NULL;
	task.process_count = 1;
	task.started_unix_ns = BEGIN_NS + begin_s * SECOND;
	task.begin_boot_ns = begin_s * SECOND;
	task.end_boot_ns = end_s == ROW_NULL ? ROW_NULL : end_s * SECOND;
	task.memory_limit_bytes = run->memory_limit_bytes;
	return task;
}

static void add_boot(int64_t host_id, int64_t begin_s, int64_t end_s)
{
	struct row_run run = make_run(host_id, "system", begin_s, end_s);
	struct row_task task = make_task(&run, "services", begin_s, end_s);

	task.cpu_ns = 10 * SECOND;
	put_run(&run);
	put_task(&task);
}

static void add_random_tools(const struct row_task *task)
{
	static const char *const names[] = {"bwa", "samtools", "java"};

	for (int64_t i = random_below(TOOLS_MAX + 1); i > 0; i--) {
		struct row_tool tool = fill_tool(0, "text");

		tool.id = next_id++;
		tool.host_id = task->host_id;
		tool.run_id = task->run_id;
		tool.task_id = task->id;
		tool.name = names[i - 1];
		tool.process_count = 1;
		tool.started_unix_ns = task->started_unix_ns;
		tool.begin_boot_ns = task->begin_boot_ns;
		tool.end_boot_ns = task->end_boot_ns;
		tool.cpu_ns = random_below(1000 * SECOND);
		tool.peak_rss_bytes = sometimes(random_below(8 * GIB));
		put_tool(&tool);
	}
}

static void add_random_task(const struct row_run *run, int64_t begin_s, int64_t end_s)
{
	static const char *const names[] = {"align", "sort", "index", "align"};
	int64_t from = begin_s + random_below(end_s - begin_s), to = from + random_below(end_s - from + 1);
	struct row_task task = make_task(run, names[random_below(4)], from, to);

	if (run->end_boot_ns == ROW_NULL && random_below(2))
		task.end_boot_ns = ROW_NULL;
	task.cpu_ns = random_below((to - from + 1) * 20 * SECOND);
	task.concurrent_memory_bytes = sometimes(random_below(40 * GIB));
	task.peak_rss_bytes = sometimes(random_below(40 * GIB));
	if (random_below(3) == 0)
		task.memory_limit_bytes = random_below(40 * GIB);
	put_task(&task);
	add_random_tools(&task);
}

static void add_random_run(int64_t host_id)
{
	static const char *const kinds[] = {"pipeline", "command", "batch", "session"};
	int64_t begin_s = random_below(DAYS_S - HOUR_S), end_s = begin_s + 1 + random_below(DAYS_S - begin_s);
	struct row_run run = make_run(host_id, kinds[random_below(4)], begin_s, end_s);

	run.user_id = 1000 + random_below(3);
	run.run_key = random_below(3) ? NULL : "shared";
	if (random_below(5) == 0)
		run.end_boot_ns = ROW_NULL;
	if (with_run_limits && random_below(2))
		run.memory_limit_bytes = random_below(32 * GIB);
	if (with_run_limits && random_below(2))
		run.core_limit_milli = random_below(70000);
	put_run(&run);
	runs[run_count++] = run;
	for (int64_t i = random_below(TASKS_MAX + 1); i > 0; i--)
		add_random_task(&run, begin_s, end_s);
}

/* One to three boots with gaps between them, in which nothing was watched; or no boots at all. */
static void add_random_boots(int64_t host_id)
{
	int64_t at = random_below(HOUR_S);

	for (int64_t boots = random_below(4); boots > 0; boots--) {
		int64_t end = at + 1 + random_below((DAYS_S - at) / boots);

		add_boot(host_id, at, boots == 1 && random_below(2) ? ROW_NULL : end);
		at = end + 1 + random_below(HOUR_S);
		if (at >= DAYS_S)
			break;
	}
}

static void add_random_prices(void)
{
	char rows[1024];

	snprintf(rows, sizeof(rows),
		 "node,%lld.%03lld,2026-01-02,host1,hostname\n" /* the price changes in the middle */
		 "node,%lld.%03lld,2026-01-03T07:12:59Z,host1,hostname\n"
		 "node,0.%09lld,,host1,hostname\n"
		 "%s,0.%06lld,,host2,hostname\n",
		 (long long)random_below(40), (long long)random_below(1000), (long long)random_below(40),
		 (long long)random_below(1000), (long long)random_below(1000000000), random_below(2) ? "cpu" : "memory",
		 (long long)random_below(1000000));
	load_prices(random_below(5) ? rows : "");
}

static void add_everything(uint64_t seed)
{
	static const char *const names[HOSTS] = {"host1", "host2"};

	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	next_id = 100;
	run_count = 0;
	for (int64_t i = 0; i < HOSTS; i++) {
		add_host(i + 1, names[i], 1 + random_below(64), (1 + random_below(64)) * GIB);
		add_random_boots(i + 1);
		for (size_t j = 0; j < RUNS; j++)
			add_random_run(i + 1);
	}
	add_random_prices();
	commit(1);
}

/* ---- properties ------------------------------------------------------------------- */

static struct sample_names *sample_names; /* NULL: infer */

static struct bill bill_of(struct bill_request request)
{
	struct store *reader = open_reader();
	struct bill bill;
	int error;

	request.since_unix_ns = BEGIN_NS - SECOND;
	request.until_unix_ns = END_NS + SECOND;
	request.prices = request.is_energy ? NULL : prices;
	request.centres = centres;
	request.sample_names = sample_names;
	error = bill_make(reader, &request, &bill);
	ck_assert_msg(error == 0, "%d: %s", error, store_error_text(reader));
	store_close(reader);
	return bill;
}

static struct bill make_bill(enum bill_key by, const struct row_run *run)
{
	return bill_of((struct bill_request){.by = by, .run = run});
}

/* All that is in rows and beside them is the bill, and each row is the sum of its parts. */
static void check_adds_up(const struct bill *bill, enum bill_key by)
{
	int64_t rows = 0, system = 0, idle = 0;

	for (const struct bill_row *row = bill->rows; row; row = row->hh.next) {
		ck_assert_int_eq(row->used_nanos + row->unused_nanos, row->cpu_nanos + row->memory_nanos);
		ck_assert_int_ge(row->used_nanos, 0);
		ck_assert_int_ge(row->unused_nanos, 0);
		ck_assert_int_ge(row->cpu_nanos, 0);
		ck_assert_int_ge(row->memory_nanos, 0);
		rows += row->used_nanos + row->unused_nanos;
		system += row->system_nanos;
		idle += row->idle_nanos;
	}
	ck_assert_int_eq(rows, bill->total_nanos);
	ck_assert_int_eq(rows + bill->others_nanos + bill->system_nanos + bill->idle_nanos, bill->bill_nanos);
	if (by == BILL_BY_HOST || by == BILL_BY_DAY || (bill->rows && bill->rows->place.host)) {
		ck_assert_int_eq(system, bill->system_nanos);
		ck_assert_int_eq(idle, bill->idle_nanos);
	}
	ck_assert_int_ge(bill->others_nanos, 0);
	ck_assert_int_ge(bill->system_nanos, 0);
	ck_assert_int_ge(bill->idle_nanos, 0);
}

static void check_rounds(struct bill *bill, enum bill_key by, int64_t unit_nanos)
{
	int64_t exact = bill->bill_nanos;

	ck_assert_int_eq(bill_round(bill, unit_nanos), 0);
	check_adds_up(bill, by);
	ck_assert_int_le(llabs(bill->bill_nanos * unit_nanos - exact), unit_nanos / 2);
}

TEST_TIMES(parts_add_up, SCHEDULES)
{
	int64_t first = 0;

	with_run_limits = true;
	add_everything((uint64_t)_i);
	for (enum bill_key by = BILL_BY_RUN; by < KEY_COUNT; by++) {
		struct bill bill = make_bill(by, NULL);

		check_adds_up(&bill, by);
		if (by == BILL_BY_RUN)
			first = bill.bill_nanos;
		ck_assert_int_eq(bill.bill_nanos, first);
		check_rounds(&bill, by, _i % 2 ? 10000000 : 1000);
		bill_free(&bill);
	}
}

/* Sum of the work of all rows with this id and name. */
static int64_t work_of(const struct bill *bill, const struct bill_row *like)
{
	int64_t sum = 0;

	for (const struct bill_row *row = bill->rows; row; row = row->hh.next)
		if (row->id == like->id && strcmp(row->name, like->name) == 0)
			sum += row->used_nanos + row->unused_nanos;
	return sum;
}

/* As charges, by host and day, the same is in more rows; a day is one in UTC, whatever the local time. */
TEST_TIMES(charges_add_up, SCHEDULES)
{
	setenv("TZ", "Asia/Kolkata", 1);
	tzset();
	with_run_limits = true;
	add_everything((uint64_t)_i);
	for (enum bill_key by = BILL_BY_RUN; by < BILL_BY_DAY; by++) {
		struct bill whole = make_bill(by, NULL),
			    charges = bill_of((struct bill_request){.by = by, .as_charges = true});

		check_adds_up(&charges, by);
		ck_assert_int_eq(charges.bill_nanos, whole.bill_nanos);
		for (const struct bill_row *row = whole.rows; row; row = row->hh.next)
			ck_assert_int_le(llabs(work_of(&charges, row) - work_of(&whole, row)), SHARE_TOLERANCE_NANOS);
		for (const struct bill_row *row = charges.rows; row; row = row->hh.next) {
			ck_assert_int_le(row->place.end_unix_ns - row->place.begin_unix_ns, DAY_NS);
			ck_assert(row->place.begin_unix_ns % DAY_NS == 0 ||
				  row->place.begin_unix_ns == BEGIN_NS - SECOND);
			ck_assert_int_le(row->observed_ms, DAY_NS / 1000000);
		}
		check_rounds(&charges, by, _i % 2 ? 10000000 : 1000);
		bill_free(&whole);
		bill_free(&charges);
	}
}

/* ---- a run among others ------------------------------------------------------------ */

static int64_t row_cost(const struct bill *bill, int64_t run_id)
{
	for (const struct bill_row *row = bill->rows; row; row = row->hh.next)
		if (row->id == run_id)
			return row->used_nanos + row->unused_nanos;
	return 0;
}

/* A run costs the same alone and among all others: nothing is charged twice. */
TEST_TIMES(a_run_alone_costs_what_it_costs_among_others, SCHEDULES)
{
	struct bill all, alone;
	int64_t sum = 0;

	with_run_limits = false;
	add_everything((uint64_t)_i + 1000);
	all = make_bill(BILL_BY_RUN, NULL);
	for (size_t i = 0; i < run_count; i++) {
		const struct row_run *run = &runs[i];

		if (bill_is_system(run->kind))
			continue;
		alone = make_bill((enum bill_key)(i % KEY_COUNT), run);
		check_adds_up(&alone, (enum bill_key)(i % KEY_COUNT));
		if (!run->run_key) {
			ck_assert_int_le(llabs(alone.total_nanos - row_cost(&all, run->id)), SHARE_TOLERANCE_NANOS);
			sum += alone.total_nanos;
		}
		bill_free(&alone);
	}
	ck_assert_int_le(sum, all.total_nanos + SHARE_TOLERANCE_NANOS * RUNS * HOSTS);
	bill_free(&all);
}

/* ---- exact cases --------------------------------------------------------------------- */

/* 1 core and 1 GiB at 1 and 0 an hour: every hour of a core costs 1. */
#define ONE_CORE_AN_HOUR "cpu,1\nmemory,0\n"
#define UNIT INT64_C(1000000000)

static void add_task(int64_t host_id, const char *name, int64_t begin_s, int64_t end_s, int64_t cpu_s)
{
	struct row_run run = make_run(host_id, "command", begin_s, end_s);
	struct row_task task = make_task(&run, name, begin_s, end_s);

	task.cpu_ns = cpu_s * SECOND;
	put_run(&run);
	put_task(&task);
}

static void check_row(const struct bill *bill, const char *name, int64_t used_nanos, size_t item_count)
{
	for (const struct bill_row *row = bill->rows; row; row = row->hh.next) {
		if (strcmp(row->name, name) != 0)
			continue;
		ck_assert_int_le(llabs(row->used_nanos - used_nanos), 2);
		ck_assert_uint_eq(row->item_count, item_count);
		return;
	}
	ck_abort_msg("no row %s", name);
}

/* Two hosts; one rebooted after a day, was off for six hours, and has two tasks at once for more than it has. */
TEST(gaps_and_reboots_are_not_in_the_bill)
{
	struct bill bill;

	next_id = 100;
	add_host(1, "host1", 1, GIB);
	add_host(2, "host2", 2, GIB);
	add_boot(1, 0, 24 * HOUR_S);
	add_boot(1, 30 * HOUR_S, ROW_NULL);
	add_boot(2, 0, ROW_NULL);
	add_task(1, "a", 1 * HOUR_S, 3 * HOUR_S, 2 * HOUR_S);
	add_task(1, "b", 1 * HOUR_S, 3 * HOUR_S, 2 * HOUR_S);
	add_task(1, "in the gap", 24 * HOUR_S, 30 * HOUR_S, 6 * HOUR_S);
	add_task(2, "a", 1 * HOUR_S, 3 * HOUR_S, 2 * HOUR_S);
	load_prices(ONE_CORE_AN_HOUR);
	commit(1);
	bill = make_bill(BILL_BY_TASK, NULL);
	check_adds_up(&bill, BILL_BY_TASK);
	ck_assert_int_eq(bill.bill_nanos, (66 + 2 * 72) * UNIT);
	ck_assert_int_eq(bill.observed_ms, (66 + 72) * HOUR_S * INT64_C(1000));
	ck_assert_int_eq(bill.unobserved_ms, 6 * HOUR_S * INT64_C(1000));
	/* one core for two hours, shared with b (and the system, which used 10 s in 24 hours) */
	ck_assert_int_le(bill.system_nanos, 4 * UNIT / 100);
	for (const struct bill_row *row = bill.rows; row; row = row->hh.next)
		if (strcmp(row->name, "b") == 0)
			ck_assert_int_le(llabs(row->used_nanos - UNIT), UNIT / 1000);
	check_row(&bill, "in the gap", 0, 1);
	bill_free(&bill);
}

/* A day counts the tasks that ran on it, and what they cost there. */
TEST(a_day_has_what_ran_on_it)
{
	struct bill bill;

	setenv("TZ", "UTC", 1);
	tzset();
	next_id = 100;
	add_host(1, "host1", 4, GIB);
	add_task(1, "a", 20 * HOUR_S, 28 * HOUR_S, 8 * HOUR_S);
	add_task(1, "b", 30 * HOUR_S, 31 * HOUR_S, 2 * HOUR_S);
	load_prices("cpu,1,2026-01-02\ncpu,10\nmemory,0\n"); /* ten times the price from the second day on */
	commit(1);
	bill = make_bill(BILL_BY_DAY, NULL);
	check_adds_up(&bill, BILL_BY_DAY);
	ck_assert_int_eq(bill.bill_nanos, (4 * 4 + 40 * 5) * UNIT); /* as in a store of tracer run, watched meanwhile */
	check_row(&bill, "2026-01-01", 4 * UNIT, 1);
	check_row(&bill, "2026-01-02", (40 + 20) * UNIT, 2);
	check_row(&bill, "2026-01-03", 0, 0);
	bill_free(&bill);
}

/* By user, container and name of the run; what no row names is a row, and the system's own is not divided. */
TEST(centres_and_none_are_the_bill)
{
	struct row_container container = fill_container(0, "text");
	struct row_run run;
	struct row_task task;
	struct bill bill;

	next_id = 100;
	add_host(1, "host1", 16, GIB);
	add_boot(1, 0, ROW_NULL);
	add_task(1, "by name", 0, 2 * HOUR_S, HOUR_S);
	for (int64_t user = 1000; user < 1003; user++) {
		run = make_run(1, user == 1002 ? "container" : "batch", 0, 10 * HOUR_S);
		run.user_id = user;
		run.container_id = user == 1002 ? next_id++ : ROW_NULL;
		put_run(&run);
		task = make_task(&run, "task", 0, HOUR_S);
		task.cpu_ns = (user - 999) * HOUR_S * SECOND;
		put_task(&task);
	}
	container.id = run.container_id;
	container.host_id = 1;
	container.cgroup_path = "/kubepods.slice/pod7";
	put_container(&container);
	load_prices(ONE_CORE_AN_HOUR);
	centres_free(centres);
	load_centres("north,,,command\nsouth,,/kubepods.slice/*\nnorth,1000\n");
	commit(1);
	bill = make_bill(BILL_BY_CENTRE, NULL);
	check_adds_up(&bill, BILL_BY_CENTRE);
	ck_assert_uint_eq(HASH_COUNT(bill.rows), 3);
	check_row(&bill, "north", 2 * UNIT, 2);
	check_row(&bill, "south", 3 * UNIT, 1);
	check_row(&bill, "(no centre)", 2 * UNIT, 1);
	ck_assert_int_gt(bill.system_nanos, 0);
	bill_free(&bill);
}

/* What a run requests as a whole is charged once, whatever its tasks take of it. */
TEST(a_run_requests_once)
{
	struct row_run run;
	struct row_task task;
	struct bill bill;

	next_id = 100;
	add_host(1, "host1", 1, 8 * GIB);
	run = make_run(1, "batch", 0, 10 * HOUR_S);
	run.memory_limit_bytes = 4 * GIB;
	put_run(&run);
	for (int i = 0; i < 2; i++) {
		task = make_task(&run, "half", 0, 10 * HOUR_S);
		task.concurrent_memory_bytes = GIB;
		put_task(&task);
	}
	load_prices("memory,1\n");
	commit(1);
	bill = make_bill(BILL_BY_TASK, NULL);
	check_adds_up(&bill, BILL_BY_TASK);
	ck_assert_int_eq(bill.bill_nanos, 8 * 72 * UNIT);
	ck_assert_int_le(llabs(bill.total_nanos - 40 * UNIT), 2);
	check_row(&bill, "half", 20 * UNIT, 2);
	bill_free(&bill);
}

/* Ten hours of a run with two tasks of one core each, on a host of eight. */
static void add_limited_run(int64_t host_id, const char *kind, int64_t core_limit_milli)
{
	struct row_run run = make_run(host_id, kind, 0, 10 * HOUR_S);

	run.core_limit_milli = core_limit_milli;
	put_run(&run);
	for (int i = 0; i < 2; i++) {
		struct row_task task = make_task(&run, kind, 0, 10 * HOUR_S);

		task.cpu_ns = 10 * HOUR_S * SECOND;
		put_task(&task);
	}
}

/* What a batch system confines a job to is reserved for it. What others are confined to, or a job that may use all
 * that the host may, is not known to be. */
TEST(a_batch_job_requests_its_cores)
{
	static const struct {
		const char *kind;
		int64_t core_limit_milli, unused;
	} cases[] = {{"batch", 4000, 20},    {"batch", 2500, 5},     {"batch", 1000, 0},
		     {"batch", 6000, 0},     {"batch", 8000, 0},     {"batch", 0, 0},
		     {"batch", ROW_NULL, 0}, {"container", 4000, 0}, {"command", 4000, 0}};

	next_id = 100;
	load_prices(ONE_CORE_AN_HOUR);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct row_host host = fill_host(0, "text");
		struct bill bill;

		host.id = (int64_t)i + 1;
		host.cpu_count = 8;
		host.core_limit_milli = i == 3 ? 6000 : ROW_NULL; /* itself a container */
		host.memory_bytes = GIB;
		host.first_seen_unix_ns = BEGIN_NS;
		host.last_seen_unix_ns = END_NS;
		put_host(&host);
		add_limited_run(host.id, cases[i].kind, cases[i].core_limit_milli);
		commit(i + 1);
		bill = make_bill(BILL_BY_HOST, NULL);
		check_adds_up(&bill, BILL_BY_HOST);
		for (const struct bill_row *row = bill.rows; row; row = row->hh.next) {
			if (row->id != host.id)
				continue;
			ck_assert_int_le(llabs(row->used_nanos - 20 * UNIT), 4);
			ck_assert_int_le(llabs(row->unused_nanos - cases[i].unused * UNIT), 4);
		}
		bill_free(&bill);
	}
}

/* ---- energy -------------------------------------------------------------------------- */

static struct bill make_energy(enum bill_key by)
{
	return bill_of((struct bill_request){.by = by, .is_energy = true});
}

static void check_co2_adds_up(struct bill *bill, int64_t co2)
{
	int64_t sum = 0;

	ck_assert_int_eq(bill_add_co2(bill, co2), 0);
	for (const struct bill_row *row = bill->rows; row; row = row->hh.next) {
		ck_assert_int_ge(row->co2, 0);
		sum += row->co2;
	}
	ck_assert_int_eq(sum + bill->others_co2 + bill->system_co2 + bill->idle_co2, co2);
	ck_assert_int_eq(bill->co2, co2);
}

TEST_TIMES(energy_adds_up, SCHEDULES)
{
	int64_t first = 0;

	with_run_limits = true;
	add_everything((uint64_t)_i);
	for (enum bill_key by = BILL_BY_RUN; by < KEY_COUNT; by++) {
		struct bill bill = make_energy(by);

		check_adds_up(&bill, by);
		for (const struct bill_row *row = bill.rows; row; row = row->hh.next)
			ck_assert_int_eq(row->unused_nanos, 0);
		if (by == BILL_BY_RUN)
			first = bill.bill_nanos;
		ck_assert_int_le(llabs(bill.bill_nanos - first), by == BILL_BY_DAY ? SHARE_TOLERANCE_NANOS : 0);
		check_rounds(&bill, by, _i % 2 ? 10000000 : 1000);
		check_co2_adds_up(&bill, 475 * bill.bill_nanos / 1000);
		bill_free(&bill);
	}
}

/* Ten hours of one core and 1 GiB, on a host of an unknown processor with 2 threads and 4 GiB, for three days. Two GiB
 * are in the figure of the processors. */
TEST(energy_is_modelled_from_use)
{
	const int64_t idle = 2 * 740000 * INT64_C(72), memory = 2 * INT64_C(420907), used = 2760000 * INT64_C(10);
	struct row_run run;
	struct row_task task;
	struct bill bill;

	next_id = 100;
	add_host(1, "host1", 2, 4 * GIB);
	run = make_run(1, "batch", 0, 10 * HOUR_S);
	run.memory_limit_bytes = 3 * GIB; /* requested memory takes no more power than other memory */
	run.core_limit_milli = 1500;
	put_run(&run);
	task = make_task(&run, "task", 0, 10 * HOUR_S);
	task.cpu_ns = 10 * HOUR_S * SECOND;
	task.concurrent_memory_bytes = GIB;
	put_task(&task);
	commit(1);
	bill = make_energy(BILL_BY_TASK);
	check_adds_up(&bill, BILL_BY_TASK);
	ck_assert_uint_eq(bill.average_count, 1);
	ck_assert_int_le(llabs(bill.rows->cpu_nanos - used), 2);
	ck_assert_int_le(llabs(bill.rows->memory_nanos - memory * 10 / 4), 2);
	ck_assert_int_le(llabs(bill.bill_nanos - (idle + memory * 72 + used)), 2);
	bill_free(&bill);
}

/* ---- figures that no host has --------------------------------------------------------- */

static const int64_t hostile[] = {
	ROW_NULL,  -1,      /* the first may not be everywhere */ 0, 1, INT64_MIN + 1, INT64_MAX, INT64_MAX / 2,
	-BEGIN_NS, BEGIN_NS};

static int64_t hostile_figure(void)
{
	return hostile[random_below(sizeof(hostile) / sizeof(hostile[0]))];
}

static int64_t hostile_known(void)
{
	return hostile[1 + random_below(sizeof(hostile) / sizeof(hostile[0]) - 1)];
}

/* Puts hostile figures into a row, but not into its ids. */
#define HOSTILE_ROW(row) \
	((row).started_unix_ns = hostile_known(), (row).begin_boot_ns = hostile_known(), \
	 (row).end_boot_ns = hostile_figure(), (row).cpu_ns = hostile_known(), \
	 (row).peak_rss_bytes = hostile_figure(), (row).concurrent_memory_bytes = hostile_figure())

static void add_hostile_run(int64_t host_id)
{
	struct row_run run = make_run(host_id, random_below(8) ? "batch" : "system", 0, 1);

	HOSTILE_ROW(run);
	run.memory_limit_bytes = hostile_figure();
	run.core_limit_milli = hostile_figure();
	run.user_id = hostile_known();
	run.run_key = random_below(2) ? "shared" : NULL;
	run.name = HOSTILE;
	put_run(&run);
	for (int i = 0; i < 4; i++) {
		struct row_task task = make_task(&run, "task", 0, 1);
		struct row_tool tool = fill_tool(hostile_known(), "tool");

		HOSTILE_ROW(task);
		task.memory_limit_bytes = hostile_figure();
		put_task(&task);
		HOSTILE_ROW(tool);
		tool.id = next_id++;
		tool.host_id = host_id;
		tool.run_id = run.id;
		tool.task_id = task.id;
		tool.process_count = 1;
		put_tool(&tool);
	}
}

TEST_TIMES(hostile_figures_add_up, SCHEDULES * 4)
{
	static const int64_t sizes[] = {INT64_MIN + 1, -1, 0, 1, 64, INT64_MAX};

	state = (uint64_t)_i * UINT64_C(0x9e3779b97f4a7c15) + 1;
	next_id = 100;
	for (int64_t i = 1; i <= 3; i++) {
		struct row_host host = fill_host(hostile_known(), "host");

		host.id = i;
		if (i > 1) { /* watched all the time, so that work is charged */
			host.first_seen_unix_ns = BEGIN_NS;
			host.last_seen_unix_ns = END_NS;
		}
		host.cpu_count = sizes[random_below(6)];
		host.memory_bytes = sizes[random_below(6)];
		put_host(&host);
		for (int j = 0; j < 4; j++)
			add_hostile_run(i);
	}
	load_prices(_i % 2 ? "node,100000\n" : "cpu,0.01,1971-01-01\ncpu,0.02\nmemory,0.001\n");
	commit(1);
	for (int i = 0; i < 2 * KEY_COUNT; i++) {
		enum bill_key by = (enum bill_key)(i / 2);
		struct store *reader = open_reader();
		struct bill_request request = {.by = by,
					       .is_energy = i % 2,
					       .since_unix_ns = BEGIN_NS,
					       .until_unix_ns = END_NS,
					       .prices = prices,
					       .centres = centres};
		struct bill bill;
		int error = bill_make(reader, &request, &bill);

		ck_assert_msg(error == 0 || error == -EOVERFLOW, "%d: %s", error, store_error_text(reader));
		if (error == 0) {
			check_adds_up(&bill, by);
			check_rounds(&bill, by, 1000);
		}
		bill_free(&bill);
		store_close(reader);
	}
}

TEST(a_bill_out_of_range_is_refused)
{
	struct store *reader = open_reader();
	struct bill_request request = {.since_unix_ns = BEGIN_NS, .until_unix_ns = END_NS};
	struct bill bill;

	add_host(1, "host1", INT64_MAX, GIB);
	load_prices("cpu,100000\n");
	commit(1);
	request.prices = prices;
	ck_assert_int_eq(bill_make(reader, &request, &bill), -EOVERFLOW);
	bill_free(&bill);
	store_close(reader);
}

static void begin(void)
{
	make_directory();
	open_store();
	prices = NULL;
	centres = NULL;
	load_centres("north,1000\nsouth,1001,,comm*\n");
}

/* ---- samples -------------------------------------------------------------------------- */

/* An hour of a core, by one process; "@" in its command line is the sample. */
static void add_command(const struct row_run *run, const char *step, const char *line, const char *sample)
{
	struct row_task task = make_task(run, step, 0, HOUR_S);
	struct row_process process = fill_process(0, "text");
	struct row_tool tool = fill_tool(0, "text");
	char arguments[128];
	size_t size = 0;

	task.cpu_ns = HOUR_S * SECOND;
	tool.id = next_id++;
	process.id = next_id++;
	process.host_id = tool.host_id = run->host_id;
	process.run_id = tool.run_id = run->id;
	process.task_id = tool.task_id = task.id;
	process.tool_id = tool.id;
	tool.process_count = 1;
	for (; *line; line++) {
		size_t left = sizeof(arguments) - size;

		if (*line == '@')
			size += (size_t)snprintf(arguments + size, left, "%s", sample);
		else
			arguments[size++] = *line == ' ' ? '\0' : *line;
	}
	arguments[size++] = '\0';
	process.arguments = (struct row_blob){arguments, size};
	process.path = arguments;
	put_task(&task);
	put_tool(&tool);
	put_process(&process);
}

/* Three steps of three samples, of which the first host has two; one task on all, two on none. */
static void add_sampled_runs(void)
{
	static const char *const samples[] = {"brain", "heart", "liver"};
	struct row_run parts[HOSTS];

	next_id = 100;
	for (int64_t i = 0; i < HOSTS; i++) {
		add_host(i + 1, i ? "host2" : "host1", 16, GIB);
		parts[i] = make_run(i + 1, "batch", 0, HOUR_S);
		parts[i].run_key = "shared";
		put_run(&parts[i]);
	}
	for (size_t i = 0; i < 3; i++) {
		const struct row_run *run = &parts[i / 2];

		add_command(run, "align", "bwa mem genome.fa reads/@.fq", samples[i]);
		add_command(run, "sort", "samtools sort -o @.sorted.bam @.bam", samples[i]);
		add_command(run, "index", "samtools index @.sorted.bam", samples[i]);
	}
	add_command(&parts[1], "report", "multiqc brain.sorted.bam heart.sorted.bam liver.sorted.bam", "");
	add_command(&parts[0], "prepare", "bwa index genome.fa", "");
	add_task(1, "another run", 0, HOUR_S, HOUR_S);
	load_prices(ONE_CORE_AN_HOUR);
	commit(1);
	runs[0] = parts[0];
}

TEST(samples_shared_and_none_are_the_bill)
{
	struct bill bill;

	add_sampled_runs();
	bill = make_bill(BILL_BY_SAMPLE, NULL);
	check_adds_up(&bill, BILL_BY_SAMPLE);
	ck_assert_int_eq(bill.total_nanos, 12 * UNIT);
	ck_assert_uint_eq(bill.sampled_count, 1);
	ck_assert_uint_eq(bill.unsampled_count, 1);
	check_row(&bill, "brain", 3 * UNIT, 3);
	check_row(&bill, "heart", 3 * UNIT, 3);
	check_row(&bill, "liver", 3 * UNIT, 3);
	check_row(&bill, "(shared)", UNIT, 1);
	check_row(&bill, "(no sample)", 2 * UNIT, 2);
	ck_assert_uint_eq(HASH_COUNT(bill.rows), 5);
	bill_free(&bill);
	bill = make_bill(BILL_BY_SAMPLE, &runs[0]);
	check_adds_up(&bill, BILL_BY_SAMPLE);
	ck_assert_int_eq(bill.total_nanos, 11 * UNIT);
	check_row(&bill, "liver", 3 * UNIT, 3);
	check_row(&bill, "(no sample)", UNIT, 1);
	bill_free(&bill);
}

/* A rule names the samples of two of three; then none is inferred in that run. */
TEST(rule_overrides_what_is_inferred)
{
	static const char text[] = "rules:\n"
				   "  - rule: organs\n"
				   "    continue: true\n"
				   "    match: {executable: [bwa, samtools], argv: '(brain|heart)'}\n"
				   "    sample: 'organ-{1}'\n";
	struct tree_error error;
	struct rules *rules;
	struct bill bill;

	add_sampled_runs();
	ck_assert_int_eq(rules_load_memory("test.yaml", text, strlen(text), &rules, &error), 0);
	ck_assert(rules_name_samples(rules));
	sample_names = sample_names_of_rules(rules);
	bill = make_bill(BILL_BY_SAMPLE, NULL);
	sample_names_free(sample_names);
	sample_names = NULL;
	check_adds_up(&bill, BILL_BY_SAMPLE);
	ck_assert_uint_eq(bill.sampled_count, 1);
	check_row(&bill, "organ-brain", 3 * UNIT, 3);
	check_row(&bill, "organ-heart", 3 * UNIT, 3);
	check_row(&bill, "(no sample)", 6 * UNIT, 6);
	ck_assert_uint_eq(HASH_COUNT(bill.rows), 3);
	bill_free(&bill);
}

static void end(void)
{
	prices_free(prices);
	centres_free(centres);
	remove_directory();
}

int main(void)
{
	return suite_run("bill", begin, end);
}
