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

static void add_host(int64_t id, int64_t cpu_count, int64_t memory_bytes, int64_t core_limit_milli)
{
	char name[16];

	snprintf(name, sizeof(name), "host%d", (int)id);
	PUT(HOST, host, .id = id, .hostname = name, .host_key = name, .cpu_count = cpu_count,
	    .memory_bytes = memory_bytes, .core_limit_milli = core_limit_milli, .first_seen_unix_ns = BEGIN_NS,
	    .last_seen_unix_ns = END_NS);
}

static int64_t boot_ns(int64_t seconds)
{
	return seconds == ROW_NULL ? ROW_NULL : seconds * SECOND;
}

/* Times are seconds since BEGIN_NS; an end of ROW_NULL: still running. */
static struct row_run make_run(int64_t host_id, const char *kind, int64_t begin_s, int64_t end_s)
{
	return ROW(RUN, run, .id = next_id++, .host_id = host_id, .kind = kind, .name = kind, .run_key = NULL,
		   .user_id = 1000, .memory_limit_bytes = ROW_NULL, .process_count = 1,
		   .started_unix_ns = BEGIN_NS + begin_s * SECOND, .begin_boot_ns = begin_s * SECOND,
		   .end_boot_ns = boot_ns(end_s));
}

static struct row_task make_task(const struct row_run *run, const char *name, int64_t begin_s, int64_t end_s)
{
	return ROW(TASK, task, .id = next_id++, .host_id = run->host_id, .run_id = run->id, .name = name,
		   .merged_into_id = ROW_NULL, .process_count = 1, .started_unix_ns = BEGIN_NS + begin_s * SECOND,
		   .begin_boot_ns = begin_s * SECOND, .end_boot_ns = boot_ns(end_s),
		   .memory_limit_bytes = run->memory_limit_bytes);
}

static struct row_tool make_tool(const struct row_task *task, const char *name)
{
	return ROW(TOOL, tool, .id = next_id++, .host_id = task->host_id, .run_id = task->run_id, .task_id = task->id,
		   .name = name, .process_count = 1, .started_unix_ns = task->started_unix_ns,
		   .begin_boot_ns = task->begin_boot_ns, .end_boot_ns = task->end_boot_ns);
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
		struct row_tool tool = make_tool(task, names[i - 1]);

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

static void add_random_run(int64_t host_id, bool with_limits)
{
	static const char *const kinds[] = {"pipeline", "command", "batch", "session"};
	int64_t begin_s = random_below(DAYS_S - HOUR_S), end_s = begin_s + 1 + random_below(DAYS_S - begin_s);
	struct row_run run = make_run(host_id, kinds[random_below(4)], begin_s, end_s);

	run.user_id = 1000 + random_below(3);
	run.run_key = random_below(3) ? NULL : "shared";
	if (random_below(5) == 0)
		run.end_boot_ns = ROW_NULL;
	if (with_limits && random_below(2))
		run.memory_limit_bytes = random_below(32 * GIB);
	if (with_limits && random_below(2))
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

static void add_everything(int seed, bool with_limits)
{
	state = (uint64_t)seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (int64_t i = 0; i < HOSTS; i++) {
		add_host(i + 1, 1 + random_below(64), (1 + random_below(64)) * GIB, ROW_NULL);
		add_random_boots(i + 1);
		for (size_t j = 0; j < RUNS; j++)
			add_random_run(i + 1, with_limits);
	}
	add_random_prices();
	commit(1);
}

/* ---- properties ------------------------------------------------------------------- */

static int ask(struct bill_request request, struct bill *ret_bill)
{
	struct store *reader = open_reader();
	int error;

	request.since_unix_ns = BEGIN_NS - SECOND;
	request.until_unix_ns = END_NS + SECOND;
	request.prices = request.is_energy ? NULL : prices;
	request.centres = centres;
	error = bill_make(reader, &request, ret_bill);
	ck_assert_msg(error == 0 || error == -EOVERFLOW, "%d: %s", error, store_error_text(reader));
	store_close(reader);
	return error;
}

static struct bill bill_of(struct bill_request request)
{
	struct bill bill;

	ck_assert_int_eq(ask(request, &bill), 0);
	return bill;
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

static void check_co2_adds_up(struct bill *bill, int64_t co2)
{
	int64_t sum = 0;

	ck_assert_int_eq(bill_add_co2(bill, co2), 0);
	for (const struct bill_row *row = bill->rows; row; row = row->hh.next) {
		ck_assert_int_ge(row->co2, 0);
		ck_assert_int_eq(row->unused_nanos, 0); /* what is only requested takes no energy */
		sum += row->co2;
	}
	ck_assert_int_eq(sum + bill->others_co2 + bill->system_co2 + bill->idle_co2, co2);
	ck_assert_int_eq(bill->co2, co2);
}

/* Money and energy. */
TEST_TIMES(parts_add_up, 2 * SCHEDULES)
{
	struct bill_request request = {.is_energy = _i % 2};
	int64_t first = 0;

	add_everything(_i / 2, true);
	for (; request.by < KEY_COUNT; request.by++) {
		struct bill bill = bill_of(request);

		check_adds_up(&bill, request.by);
		if (request.by == BILL_BY_RUN)
			first = bill.bill_nanos;
		ck_assert_int_le(llabs(bill.bill_nanos - first),
				 request.is_energy && request.by == BILL_BY_DAY ? SHARE_TOLERANCE_NANOS : 0);
		check_rounds(&bill, request.by, _i % 4 > 1 ? 10000000 : 1000);
		if (request.is_energy)
			check_co2_adds_up(&bill, 475 * bill.bill_nanos / 1000);
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
	add_everything(_i, true);
	for (enum bill_key by = BILL_BY_RUN; by < BILL_BY_DAY; by++) {
		struct bill whole = bill_of((struct bill_request){.by = by}),
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

	add_everything(_i + 1000, false);
	all = bill_of((struct bill_request){.by = BILL_BY_RUN});
	for (size_t i = 0; i < run_count; i++) {
		const struct row_run *run = &runs[i];

		if (bill_is_system(run->kind))
			continue;
		alone = bill_of((struct bill_request){.by = i % KEY_COUNT, .run = run});
		check_adds_up(&alone, i % KEY_COUNT);
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

#define ONE_CORE_AN_HOUR "cpu,1\nmemory,0\n" /* every hour of a core costs 1 */

/* Three steps of three samples, of which the first host has two; one task on all, two on none. */
#define SAMPLED_RUNS \
	"host 16 1; run batch 0 1 shared; task prepare 1 words=bwa~index~genome.fa; " \
	"task align 1 words=bwa~mem~genome.fa~reads/brain.fq; task align 1 words=bwa~mem~genome.fa~reads/heart.fq; " \
	"task sort 1 words=samtools~sort~-o~brain.sorted.bam~brain.bam; " \
	"task sort 1 words=samtools~sort~-o~heart.sorted.bam~heart.bam; " \
	"task index 1 words=samtools~index~brain.sorted.bam; task index 1 words=samtools~index~heart.sorted.bam; " \
	"run command 0 1; task another-run 1; " \
	"host 16 1; run batch 0 1 shared; task align 1 words=bwa~mem~genome.fa~reads/liver.fq; " \
	"task sort 1 words=samtools~sort~-o~liver.sorted.bam~liver.bam; " \
	"task index 1 words=samtools~index~liver.sorted.bam; " \
	"task report 1 words=multiqc~brain.sorted.bam~heart.sorted.bam~liver.sorted.bam"

/* A store, as steps separated by "; ":
 *   host 4 1            a host with 4 processors and 1 GiB
 *   boot 0 24           its services run from hour 0 to hour 24; without it: they still do
 *   run batch 0 10      a run of that kind
 *   task align 2        a task of that run for all of its time, which uses a core for 2 hours
 * and words: memory= (GiB requested by a host's run, or used by a task), cores= (milli), user=, container= (its
 * cgroup), shared (a part of a run of several hosts) and words= (the task's command line, ~ is a space). */
static const struct {
	const char *prices, *centres, *rule, *store;
	struct bill_request request;
	bool of_first_run;
	const char *bill; /* as printed by show() */
} exact[] = {
	/* One host rebooted after a day, was off for six hours, and has two tasks at once for more than it has. */
	{.prices = ONE_CORE_AN_HOUR,
	 .store = "host 1 1; boot 0 24; boot 30; run command 1 3; task a 2; run command 1 3; task b 2; "
		  "run command 24 30; task in-the-gap 6; host 2 1; boot 0; run command 1 3; task a 2",
	 .request = {.by = BILL_BY_TASK},
	 .bill = "210 = 3.99988427 + 0 others + 0.008217527 system + 205.991898 idle; 138 h, not 6 h\n"
		 "a: 2.99994213 used, 0 not; 2.99994213 cpu, 0 memory; 2\n"
		 "b: 0.999942133 used, 0 not; 0.999942133 cpu, 0 memory; 1\n"
		 "in-the-gap: 0 used, 0 not; 0 cpu, 0 memory; 1\n"},
	/* A day counts the tasks that ran on it, and what they cost there; from the second day on ten times as much. */
	{.prices = "cpu,1,2026-01-02\ncpu,10\nmemory,0\n",
	 .store = "host 4 1; run command 20 28; task a 8; run command 30 31; task b 2",
	 .request = {.by = BILL_BY_DAY},
	 .bill = "216 = 64 + 0 others + 0 system + 152 idle; 9 h, not 63 h\n"
		 "2026-01-01: 4 used, 0 not; 4 cpu, 0 memory; 1\n"
		 "2026-01-02: 60 used, 0 not; 60 cpu, 0 memory; 2\n"
		 "2026-01-03: 0 used, 0 not; 0 cpu, 0 memory; 0\n"},
	/* By user, container and name of the run; what no row names is a row, and the system's own is not divided. */
	{.prices = ONE_CORE_AN_HOUR,
	 .centres = "north,,,command\nsouth,,/kubepods.slice/*\nnorth,1000\n",
	 .store = "host 16 1; boot 0; run command 0 2 user=1003; task by-name 1; run batch 0 10; task x 1; "
		  "run batch 0 10 user=1001; task x 2; "
		  "run container 0 10 user=1002 container=/kubepods.slice/pod7; task x 3",
	 .request = {.by = BILL_BY_CENTRE},
	 .bill = "1152 = 7 + 0 others + 0.00277776 system + 1144.99722 idle; 72 h, not 0 h\n"
		 "south: 3 used, 0 not; 3 cpu, 0 memory; 1\n"
		 "(no centre): 2 used, 0 not; 2 cpu, 0 memory; 1\n"
		 "north: 2 used, 0 not; 2 cpu, 0 memory; 2\n"},
	/* What a run requests as a whole is charged once, whatever its tasks take of it. */
	{.prices = "memory,1\n",
	 .store = "host 1 8; run batch 0 10 memory=4; task half 0 memory=1; task half 0 memory=1",
	 .request = {.by = BILL_BY_TASK},
	 .bill = "576 = 40 + 0 others + 0 system + 536 idle; 72 h, not 0 h\n"
		 "(requested, not used): 0 used, 20 not; 0 cpu, 20 memory; 0\n"
		 "half: 20 used, 0 not; 0 cpu, 20 memory; 2\n"},
	/* What a batch system confines a job to is reserved for it. What others are confined to, or a job that may use
	 * all that the host may (the last one is itself a container), is not known to be. */
	{.prices = ONE_CORE_AN_HOUR,
	 .store = "host 8 1; run batch 0 10 cores=4000; task x 10; task x 10; "
		  "host 8 1; run batch 0 10 cores=2500; task x 10; task x 10; "
		  "host 8 1; run batch 0 10 cores=1000; task x 10; task x 10; "
		  "host 8 1; run batch 0 10 cores=8000; task x 10; task x 10; "
		  "host 8 1; run batch 0 10 cores=0; task x 10; task x 10; "
		  "host 8 1; run batch 0 10; task x 10; task x 10; "
		  "host 8 1; run container 0 10 cores=4000; task x 10; task x 10; "
		  "host 8 1; run command 0 10 cores=4000; task x 10; task x 10; "
		  "host 8 1 cores=6000; run batch 0 10 cores=6000; task x 10; task x 10",
	 .request = {.by = BILL_BY_HOST},
	 .bill = "4688 = 205 + 0 others + 0 system + 4483 idle; 586 h, not 62 h\n"
		 "host1: 20 used, 20 not; 40 cpu, 0 memory; 2\n"
		 "host2: 20 used, 5 not; 25 cpu, 0 memory; 2\n"
		 "host3: 20 used, 0 not; 20 cpu, 0 memory; 2\n"
		 "host4: 20 used, 0 not; 20 cpu, 0 memory; 2\n"
		 "host5: 20 used, 0 not; 20 cpu, 0 memory; 2\n"
		 "host6: 20 used, 0 not; 20 cpu, 0 memory; 2\n"
		 "host7: 20 used, 0 not; 20 cpu, 0 memory; 2\n"
		 "host8: 20 used, 0 not; 20 cpu, 0 memory; 2\n"
		 "host9: 20 used, 0 not; 20 cpu, 0 memory; 2\n"},
	/* Energy on a host of an unknown processor with 2 threads and 4 GiB, of which 2 GiB are in the figure of the
	 * processors: (2 x 0.74 W + 2 x 0.420907 W) x 72 h + 2.76 W x 10 h. Requested memory takes no more power. */
	{.store = "host 2 4; run batch 0 10 memory=3 cores=1500; task x 10 memory=1",
	 .request = {.by = BILL_BY_TASK, .is_energy = true},
	 .bill = "0.194770608 = 0.029704535 + 0 others + 0 system + 0.165066073 idle; 72 h, not 0 h; 1 averaged\n"
		 "x: 0.029704535 used, 0 not; 0.0276 cpu, 0.002104535 memory; 1\n"},
	{.prices = ONE_CORE_AN_HOUR,
	 .store = SAMPLED_RUNS,
	 .request = {.by = BILL_BY_SAMPLE},
	 .bill = "1168 = 12 + 0 others + 0 system + 1156 idle; 73 h, not 71 h; 1 with samples, 1 without\n"
		 "brain: 3 used, 0 not; 3 cpu, 0 memory; 3\n"
		 "heart: 3 used, 0 not; 3 cpu, 0 memory; 3\n"
		 "liver: 3 used, 0 not; 3 cpu, 0 memory; 3\n"
		 "(no sample): 2 used, 0 not; 2 cpu, 0 memory; 2\n"
		 "(shared): 1 used, 0 not; 1 cpu, 0 memory; 1\n"},
	{.prices = ONE_CORE_AN_HOUR,
	 .store = SAMPLED_RUNS,
	 .request = {.by = BILL_BY_SAMPLE},
	 .of_first_run = true,
	 .bill = "32 = 11 + 1 others + 0 system + 20 idle; 2 h, not 0 h; 1 with samples, 0 without\n"
		 "brain: 3 used, 0 not; 3 cpu, 0 memory; 3\n"
		 "heart: 3 used, 0 not; 3 cpu, 0 memory; 3\n"
		 "liver: 3 used, 0 not; 3 cpu, 0 memory; 3\n"
		 "(no sample): 1 used, 0 not; 1 cpu, 0 memory; 1\n"
		 "(shared): 1 used, 0 not; 1 cpu, 0 memory; 1\n"},
	/* A rule names the samples of two of three; then none is inferred in that run. */
	{.prices = ONE_CORE_AN_HOUR,
	 .rule = "rules:\n- {rule: organs, continue: true, sample: 'organ-{1}',\n"
		 "   match: {executable: [bwa, samtools], argv: '(brain|heart)'}}\n",
	 .store = SAMPLED_RUNS,
	 .request = {.by = BILL_BY_SAMPLE},
	 .bill = "1168 = 12 + 0 others + 0 system + 1156 idle; 73 h, not 71 h; 1 with samples, 1 without\n"
		 "(no sample): 6 used, 0 not; 6 cpu, 0 memory; 6\n"
		 "organ-brain: 3 used, 0 not; 3 cpu, 0 memory; 3\n"
		 "organ-heart: 3 used, 0 not; 3 cpu, 0 memory; 3\n"},
};

/* Returns the text behind `name` in a step, or NULL. */
static char *find_word(const char *step, const char *name)
{
	static char value[128];
	const char *found = strstr(step, name);

	return found && sscanf(found + strlen(name), "%127s", value) == 1 ? value : NULL;
}

static int64_t find_number(const char *step, const char *name, int64_t unit)
{
	const char *value = find_word(step, name);

	return value ? atoll(value) * unit : ROW_NULL;
}

static void tell_run(struct row_run run, const char *step)
{
	const char *cgroup;

	run.memory_limit_bytes = find_number(step, "memory=", GIB);
	run.core_limit_milli = find_number(step, "cores=", 1);
	run.user_id = find_word(step, "user=") ? find_number(step, "user=", 1) : 1000;
	run.run_key = strstr(step, " shared") ? "shared" : NULL;
	run.container_id = find_word(step, "container=") ? next_id++ : ROW_NULL;
	if ((cgroup = find_word(step, "container=")))
		PUT(CONTAINER, container, .id = run.container_id, .host_id = run.host_id, .cgroup_path = cgroup);
	put_run(&run);
	run.kind = run.name = "batch"; /* texts that outlive this */
	runs[run_count++] = run;
}

static void tell_task(struct row_task task, const char *step)
{
	char *words = find_word(step, "words=");
	size_t size = words ? strlen(words) + 1 : 0;
	struct row_tool tool = make_tool(&task, "text");

	put_task(&task);
	if (!words)
		return;
	put_tool(&tool);
	for (char *c = words; *c; c++)
		*c = *c == '~' ? '\0' : *c;
	PUT(PROCESS, process, .id = next_id++, .host_id = task.host_id, .run_id = task.run_id, .task_id = task.id,
	    .tool_id = tool.id, .path = words, .arguments = {words, size});
}

static void tell(const char *story)
{
	const struct row_run *run;
	struct row_task task;
	char word[64];
	int64_t host_id = 0, begin, end;

	for (; *story; story += strcspn(story, ";"), story += strspn(story, "; ")) {
		char step[256];

		snprintf(step, sizeof(step), "%.*s", (int)strcspn(story, ";"), story);
		end = ROW_NULL;
		if (sscanf(step, "host %ld %ld", &begin, &end) == 2) {
			add_host(++host_id, begin, end * GIB, find_number(step, "cores=", 1));
		} else if (sscanf(step, "boot %ld %ld", &begin, &end) > 0) {
			add_boot(host_id, begin * HOUR_S, end == ROW_NULL ? end : end * HOUR_S);
		} else if (sscanf(step, "run %63s %ld %ld", word, &begin, &end) == 3) {
			tell_run(make_run(host_id, word, begin * HOUR_S, end * HOUR_S), step);
		} else {
			ck_assert_int_eq(sscanf(step, "task %63s %ld", word, &begin), 2);
			run = &runs[run_count - 1];
			task = make_task(run, word, run->begin_boot_ns / SECOND, run->end_boot_ns / SECOND);
			task.cpu_ns = begin * HOUR_S * SECOND;
			task.concurrent_memory_bytes = find_number(step, "memory=", GIB);
			tell_task(task, step);
		}
	}
	commit(1);
}

static void show(FILE *file, const struct bill *bill)
{
	fprintf(file, "%.9g = %.9g + %.9g others + %.9g system + %.9g idle; %lld h, not %lld h",
		(double)bill->bill_nanos / 1e9, (double)bill->total_nanos / 1e9, (double)bill->others_nanos / 1e9,
		(double)bill->system_nanos / 1e9, (double)bill->idle_nanos / 1e9,
		(long long)bill->observed_ms / 3600000, (long long)bill->unobserved_ms / 3600000);
	if (bill->sampled_count + bill->unsampled_count > 0)
		fprintf(file, "; %zu with samples, %zu without", bill->sampled_count, bill->unsampled_count);
	fprintf(file, bill->average_count > 0 ? "; %zu averaged\n" : "\n", bill->average_count);
	for (const struct bill_row *row = bill->rows; row; row = row->hh.next)
		fprintf(file, "%s: %.9g used, %.9g not; %.9g cpu, %.9g memory; %zu\n", row->name,
			(double)row->used_nanos / 1e9, (double)row->unused_nanos / 1e9, (double)row->cpu_nanos / 1e9,
			(double)row->memory_nanos / 1e9, row->item_count);
}

TEST_EACH(bill_of_a_store_is, exact)
{
	struct bill_request request = exact[_i].request;
	struct rules *rules = NULL;
	struct sample_names *names = NULL;
	struct tree_error error;
	struct bill bill;
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	setenv("TZ", "UTC", 1);
	tzset();
	if (exact[_i].prices)
		load_prices(exact[_i].prices);
	if (exact[_i].centres) {
		centres_free(centres);
		load_centres(exact[_i].centres);
	}
	if (exact[_i].rule) {
		ck_assert_int_eq(rules_load_memory("x.yaml", exact[_i].rule, strlen(exact[_i].rule), &rules, &error),
				 0);
		ck_assert(rules_name_samples(rules));
		names = sample_names_of_rules(rules);
	}
	tell(exact[_i].store);
	request.sample_names = names;
	request.run = exact[_i].of_first_run ? &runs[0] : NULL;
	bill = bill_of(request);
	check_adds_up(&bill, request.by);
	show(file, &bill);
	fclose(file);
	ck_assert_str_eq(text, exact[_i].bill);
	bill_free(&bill);
	sample_names_free(names);
	free(text);
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
		struct row_tool tool = make_tool(&task, "tool");

		HOSTILE_ROW(task);
		task.memory_limit_bytes = hostile_figure();
		put_task(&task);
		HOSTILE_ROW(tool);
		put_tool(&tool);
	}
}

TEST_TIMES(hostile_figures_add_up, SCHEDULES * 4)
{
	static const int64_t sizes[] = {INT64_MIN + 1, -1, 0, 1, 64, INT64_MAX};

	state = (uint64_t)_i * UINT64_C(0x9e3779b97f4a7c15) + 1;
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
		struct bill bill;

		if (ask((struct bill_request){.by = i / 2, .is_energy = i % 2}, &bill) == 0) {
			check_adds_up(&bill, i / 2);
			check_rounds(&bill, i / 2, 1000);
		}
		bill_free(&bill);
	}
}

TEST(a_bill_out_of_range_is_refused)
{
	struct bill bill;

	add_host(1, INT64_MAX, GIB, ROW_NULL);
	load_prices("cpu,100000\n");
	commit(1);
	ck_assert_int_eq(ask((struct bill_request){0}, &bill), -EOVERFLOW);
	bill_free(&bill);
}

static void begin(void)
{
	make_directory();
	open_store();
	prices = NULL;
	centres = NULL;
	next_id = 100;
	run_count = 0;
	load_centres("north,1000\nsouth,1001,,comm*\n");
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
