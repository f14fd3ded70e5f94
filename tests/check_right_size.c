/* What to request for tasks: the rule, CPU use over time, and the tasks that are taken from a store. */
#include "analysis/tune/right_size.h"

#include <math.h>
#include <string.h>

#include "analysis/tune/right_sizes.h"
#include "cli/advise/right_size.h"
#include "tests/stores.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define SECOND INT64_C(1000000000)
#define U ROW_NULL

/* ---- the rule -------------------------------------------------------------------------- */

/* clang-format off */
static const struct { double bytes; int64_t rounded; } roundings[] = {
	{1, 4 * MIB}, {4 * MIB, 4 * MIB}, {4 * MIB + 0.5, 8 * MIB}, {511 * MIB, 512 * MIB}, {513 * MIB, 520 * MIB},
	{GIB, GIB}, {GIB + 1, GIB + 16 * MIB}, {63.9 * GIB, 64 * GIB}, {64 * GIB + 1.0, 65 * GIB},
	{200.5 * GIB, 201 * GIB}, {1e30, INT64_C(1) << 60}, /* hostile figures do not overflow */
};
static const struct { int64_t used_mib[4]; int64_t oom_bytes, memory_mib; } rules[] = {
	{{0}, U, 16},
	{{100}, U, 160},                      /* 101 + 40 + 16 = 157 */
	{{1000}, U, 1440},                    /* 1010 + 400 + 16 = 1426 */
	{{1000, 1000, 1000, 1000}, U, 1136},  /* 1010 + 100 + 16 = 1126 */
	{{1000, 500}, U, 1776},               /* 1010 + 4 x sqrt(125000 + 10000) / 2 + 16 = 1760.8 */
	{{1000}, 1000 * MIB, 1440},
	{{1000}, 1600 * MIB, 2000},           /* 2000 */
	{{U}, 4 * GIB, 5 * 1024},
	{{U}, U, U},
};
static const struct { int64_t concurrent_bytes, peak_rss_bytes, need_bytes; bool is_peak_rss; } needs[] = {
	{U, U, U, false}, {5, U, 5, false}, {U, 5, 5, true}, {5, 5, 5, false}, {5, 6, 6, true}, {7, 6, 7, false},
};
static const struct { double used; int64_t cores; } roundings_of_cores[] = {
	{0, 1}, {0.3, 1}, {1, 1}, {1.04, 1}, {1.06, 2}, {2, 2}, {7.9, 8}, {8.04, 8},
};
/* clang-format on */

TEST_EACH(memory_is_rounded_up, roundings)
{
	ck_assert_int_eq(right_size_round(roundings[_i].bytes), roundings[_i].rounded);
}

TEST_EACH(need_is_the_larger_of_what_is_known, needs)
{
	bool is_peak_rss;

	ck_assert_int_eq(right_size_need(needs[_i].concurrent_bytes, needs[_i].peak_rss_bytes, &is_peak_rss),
			 needs[_i].need_bytes);
	ck_assert_int_eq(is_peak_rss, needs[_i].is_peak_rss);
}

TEST_EACH(cores_are_rounded_up_unless_negligible, roundings_of_cores)
{
	ck_assert_int_eq(right_size_cores(roundings_of_cores[_i].used), roundings_of_cores[_i].cores);
}

/* ---- tasks of one name ----------------------------------------------------------------- */

static struct right_size_task task_of(int64_t memory_mib)
{
	return (struct right_size_task){
		.run_id = 1,
		.wall_ns = 10 * SECOND,
		.memory_bytes = memory_mib == U ? U : memory_mib * MIB,
		.oom_bytes = U,
		.limit_bytes = U,
		.input_bytes = U,
		.cores = 1,
		.has_samples = true,
		.has_succeeded = true,
	};
}

static struct right_size found(const struct right_size_task *tasks, size_t count, int64_t input_bytes)
{
	struct right_size size;

	ck_assert_int_eq(right_size_find(tasks, count, input_bytes, &size), 0);
	return size;
}

TEST_EACH(memory_follows_the_rule, rules)
{
	struct right_size_task tasks[4];
	size_t count = 0;

	while (count == 0 || (count < 4 && rules[_i].used_mib[count] > 0)) {
		tasks[count] = task_of(rules[_i].used_mib[count]);
		count++;
	}
	tasks[0].oom_bytes = rules[_i].oom_bytes;
	ck_assert_int_eq(found(tasks, count, U).memory_bytes,
			 rules[_i].memory_mib == U ? U : rules[_i].memory_mib * MIB);
}

TEST(a_task_is_left_out_to_test_the_rule)
{
	struct right_size_task tasks[] = {task_of(1000), task_of(1100), task_of(1300)};
	struct right_size size = found(tasks, 3, U);

	ck_assert_uint_eq(size.task_count, 3);
	ck_assert_double_eq_tol(size.fail_share, 0.25, 1e-12);
	ck_assert_int_eq(size.left_out_failed_count, 0); /* 1111 + 262 + 16 = 1389 suffices for 1300 */
	tasks[2].memory_bytes = 1393 * MIB;              /* more than 1392, the same rounded up */
	ck_assert_int_eq(found(tasks, 3, U).left_out_failed_count, 1);
	tasks[1].memory_bytes = 1393 * MIB;
	ck_assert_int_eq(found(tasks, 3, U).left_out_failed_count, 0);
	ck_assert_int_eq(found(tasks, 1, U).left_out_failed_count, U);
	ck_assert_int_eq(found(tasks, 0, U).memory_bytes, U);
}

TEST(tasks_that_failed_are_no_evidence_that_less_suffices)
{
	struct right_size_task tasks[] = {task_of(100), task_of(3000)};
	struct right_size size;

	tasks[0].has_succeeded = tasks[1].has_succeeded = false;
	size = found(tasks, 2, U);
	ck_assert_uint_eq(size.task_count, 0);
	ck_assert_uint_eq(size.failed_count, 2);
	ck_assert_int_eq(size.memory_bytes, U);
	ck_assert_int_eq(size.cores, U);
	tasks[0].has_succeeded = true;
	size = found(tasks, 2, U);
	ck_assert_uint_eq(size.task_count, 1);
	ck_assert_int_eq(size.memory_bytes, 4288 * MIB); /* what a failed task used, it needed: 3030 + 1200 + 16 */
	ck_assert_int_eq(size.left_out_failed_count, 0); /* but it is not left out */
}

TEST(tasks_that_run_are_all_that_is_known_until_one_has_ended)
{
	struct right_size_task tasks[] = {task_of(1000), task_of(600), task_of(100)};
	struct right_size size;

	for (size_t i = 0; i < 2; i++) {
		tasks[i].has_succeeded = false;
		tasks[i].is_running = true;
		tasks[i].cores = 3;
	}
	size = found(tasks, 2, U);
	ck_assert(right_size_is_so_far(&size));
	ck_assert_uint_eq(size.running_count, 2);
	ck_assert_uint_eq(size.task_count + size.failed_count, 0);
	ck_assert_int_eq(size.memory_bytes, 1440 * MIB); /* as of one that has ended */
	ck_assert_int_eq(size.left_out_failed_count, U);
	ck_assert_int_eq(size.cores, 3);
	ck_assert(size.cores_are_least);
	size = found(tasks, 3, U); /* what they used so far, they needed; their cores may become fewer */
	ck_assert(!right_size_is_so_far(&size));
	ck_assert_int_eq(size.memory_bytes, 1440 * MIB);
	ck_assert_int_eq(size.cores, 1);
	ck_assert_uint_eq(size.failed_count, 0);
}

TEST(the_last_limit_that_was_exceeded_is_a_floor)
{
	struct right_size_task tasks[] = {task_of(2000), task_of(900), task_of(100)};
	struct right_size size;

	tasks[0].has_succeeded = tasks[1].has_succeeded = false;
	tasks[0].memory_bytes = tasks[1].memory_bytes = U;
	tasks[0].oom_bytes = 8 * GIB;
	tasks[1].oom_bytes = GIB;
	size = found(tasks, 3, U);
	ck_assert_int_eq(size.memory_bytes, GIB + 256 * MIB);
	ck_assert_uint_eq(size.oom_count, 2);
	ck_assert_uint_eq(size.task_count, 1);
	ck_assert_int_eq(found(tasks, 2, U).memory_bytes, GIB + 256 * MIB); /* even if none succeeded */
}

TEST(saving_is_per_run_against_what_tasks_requested_for_themselves)
{
	struct right_size_task tasks[] = {task_of(100), task_of(100), task_of(100), task_of(100)};
	struct right_size size = found(tasks, 4, U);

	ck_assert_int_eq(size.saved_byte_seconds, U);
	ck_assert_int_eq(size.limit_bytes, U);
	tasks[0].limit_bytes = 4 * GIB;
	tasks[1].limit_bytes = 2 * GIB;
	tasks[2].limit_bytes = 256 * MIB;
	tasks[2].run_id = tasks[3].run_id = 2;
	size = found(tasks, 4, U); /* 128 MiB */
	ck_assert_int_eq(size.limit_bytes, 256 * MIB);
	ck_assert_uint_eq(size.run_count, 2);
	ck_assert_int_eq(size.saved_byte_seconds, (6 * GIB - 128 * MIB) * 10 / 2);
	tasks[0].limit_bytes = tasks[1].limit_bytes = U;
	tasks[2].limit_bytes = 64 * MIB;
	ck_assert_int_eq(found(tasks, 4, U).saved_byte_seconds, -64 * MIB * 10); /* more must be requested */
}

/* ---- for an input ---------------------------------------------------------------------- */

/* Tasks that need 200 MiB, and 100 MiB for each GiB of input, of `first` GiB and so on. */
static void growing_tasks(struct right_size_task *tasks, size_t count, int64_t first)
{
	for (size_t i = 0; i < count; i++) {
		tasks[i] = task_of(200 + 100 * (first + (int64_t)i));
		tasks[i].input_bytes = (first + (int64_t)i) * GIB;
	}
}

static const struct {
	size_t count;
	int64_t first, input_gib;
	enum right_size_input basis;
} bases[] = {
	{5, 1, 3, RIGHT_SIZE_INPUT_SEEN},    {5, 1, 5, RIGHT_SIZE_INPUT_SEEN},     {5, 1, 6, RIGHT_SIZE_INPUT_LARGER},
	{5, 1, 50, RIGHT_SIZE_INPUT_LARGER}, {5, 1, 51, RIGHT_SIZE_INPUT_TOO_FAR}, {4, 1, 3, RIGHT_SIZE_INPUT_FEW},
	{5, 4, 9, RIGHT_SIZE_INPUT_LARGER},  {5, 5, 9, RIGHT_SIZE_INPUT_SEEN},     {5, 5, 10, RIGHT_SIZE_INPUT_ALIKE},
	{0, 1, 1, RIGHT_SIZE_INPUT_FEW},     {5, 1, U, RIGHT_SIZE_INPUT_NONE},
};

TEST_EACH(memory_for_an_input_is_known_where_inputs_reach, bases)
{
	struct right_size_task tasks[5];
	int64_t input_bytes = bases[_i].input_gib == U ? U : bases[_i].input_gib * GIB;
	struct right_size size;

	growing_tasks(tasks, bases[_i].count, bases[_i].first);
	size = found(tasks, bases[_i].count, input_bytes);
	ck_assert_int_eq(size.input.basis, bases[_i].basis);
	ck_assert_int_eq(size.input_memory_bytes == U,
			 bases[_i].basis != RIGHT_SIZE_INPUT_SEEN && bases[_i].basis != RIGHT_SIZE_INPUT_LARGER);
	if (bases[_i].count > 0)
		ck_assert_int_eq(size.memory_bytes, found(tasks, bases[_i].count, U).memory_bytes);
}

TEST(memory_for_an_input_follows_the_line)
{
	struct right_size_task tasks[40];

	growing_tasks(tasks, 40, 1);
	for (int64_t input = 1; input <= 80; input++) {
		int64_t need = (200 + 100 * input) * MIB;
		struct right_size size = found(tasks, 40, input * GIB);

		ck_assert_int_ge(size.input_memory_bytes, need);
		if (input <= 40) /* at the ends of the line, 11 % of 500 MiB are the most */
			ck_assert_int_le(size.input_memory_bytes, need + need / 6 + 100 * MIB);
		ck_assert_uint_eq(size.input.left_out_failed_count, 0);
	}
}

TEST(tiny_needs_keep_their_margin_for_an_input)
{
	struct right_size_task tasks[5];

	for (int64_t i = 0; i < 5; i++) {
		tasks[i] = task_of(2);
		tasks[i].input_bytes = (i + 1) * MIB;
	}
	ck_assert_int_eq(found(tasks, 5, 3 * MIB).input_memory_bytes, 20 * MIB);
}

TEST(the_limit_that_was_exceeded_is_a_floor_for_an_input_too)
{
	struct right_size_task tasks[6];

	growing_tasks(tasks, 6, 1);
	tasks[5].oom_bytes = 16 * GIB;
	tasks[5].has_succeeded = false;
	ck_assert_int_eq(found(tasks, 6, 3 * GIB).input_memory_bytes, 20 * GIB);
}

/* ---- cores ----------------------------------------------------------------------------- */

TEST(cores_are_those_of_the_task_that_used_most)
{
	struct right_size_task tasks[] = {task_of(1), task_of(1), task_of(1)};
	struct right_size size;

	tasks[0].cores = NAN;
	tasks[1].cores = 3.2;
	tasks[2].cores = 2.1;
	tasks[2].has_samples = false;
	size = found(tasks, 3, U);
	ck_assert_int_eq(size.cores, 4);
	ck_assert(!size.cores_are_least);
	tasks[1].has_waited = true;
	ck_assert(found(tasks, 3, U).cores_are_least);
	tasks[2].cores = 5;
	size = found(tasks, 3, U);
	ck_assert_int_eq(size.cores, 5);
	ck_assert(size.cores_are_least);
	ck_assert_int_eq(found(tasks, 1, U).cores, U);
}

TEST(waiting_for_a_tenth_of_the_time_counts)
{
	ck_assert(!right_size_has_waited(90, 10));
	ck_assert(right_size_has_waited(90, 11));
	ck_assert(!right_size_has_waited(90, U));
	ck_assert(!right_size_has_waited(U, 11));
}

/* ---- CPU use over time ----------------------------------------------------------------- */

static double cores_of(int64_t life_ns, const int64_t (*used)[3], size_t count)
{
	struct right_size_windows windows;
	double cores;

	ck_assert_int_eq(right_size_windows_init(&windows, 100 * SECOND, 100 * SECOND + life_ns), 0);
	for (size_t i = 0; i < count; i++)
		right_size_windows_add(&windows, 100 * SECOND + used[i][0], 100 * SECOND + used[i][1], used[i][2]);
	cores = right_size_windows_cores(&windows);
	right_size_windows_deinit(&windows);
	return cores;
}

TEST(cores_are_not_the_mean)
{
	/* Two processes for half of the time. */
	static const int64_t burst[][3] = {{0, 50 * SECOND, 50 * SECOND}, {0, 50 * SECOND, 50 * SECOND}};
	/* One core, and eight in 4 or in 6 of 100 s. */
	static const int64_t rare[][3] = {{0, 100 * SECOND, 100 * SECOND}, {10 * SECOND, 14 * SECOND, 28 * SECOND}};
	static const int64_t often[][3] = {{0, 100 * SECOND, 100 * SECOND}, {10 * SECOND, 16 * SECOND, 42 * SECOND}};

	ck_assert_double_eq_tol(cores_of(100 * SECOND, burst, 2), 2, 1e-9);
	ck_assert_double_eq_tol(cores_of(100 * SECOND, rare, 2), 1, 1e-9);
	ck_assert_double_eq_tol(cores_of(100 * SECOND, often, 2), 8, 1e-9);
}

TEST(windows_are_seconds_or_the_life_of_the_task)
{
	static const int64_t first_half[][3] = {{0, SECOND / 4, SECOND / 4}};
	static const int64_t across[][3] = {{SECOND / 2, 3 * SECOND / 2, SECOND}};
	static const int64_t outside[][3] = {{-5 * SECOND, 15 * SECOND, 20 * SECOND}, {5, 5, SECOND}, {9, 3, SECOND}};

	ck_assert_double_eq_tol(cores_of(SECOND / 2, first_half, 1), 0.5, 1e-9);
	ck_assert_double_eq_tol(cores_of(2 * SECOND, across, 1), 0.5, 1e-9);
	ck_assert_double_eq_tol(cores_of(10 * SECOND, outside, 3), 4, 1e-9);
	ck_assert_double_eq_tol(cores_of(0, outside, 0), 0, 1e-9);
}

/* ---- from a store ---------------------------------------------------------------------- */

static void put_run_of(int64_t id, const char *name, int64_t limit_bytes, int64_t task_count)
{
	struct row_run run = fill_run(0, "-");

	run.id = id;
	run.host_id = 1;
	run.kind = "command";
	run.name = name;
	run.process_count = run.living_count = run.failed_count = 1;
	run.task_count = task_count;
	run.lost_count = run.partial_count = 0;
	run.started_unix_ns = run.begin_boot_ns = id * SECOND;
	run.root_process_id = run.rules_version = 1;
	run.memory_limit_bytes = limit_bytes;
	run.container_id = U;
	put_run(&run);
}

static void put_task_of(int64_t id, int64_t run_id, const char *name, int64_t memory_mib, int64_t limit_bytes)
{
	int64_t end_boot_ns = (strcmp(name, "bursts") == 0 ? 200 : 110) * SECOND;
	struct row_task task = fill_task(0, "-");
	struct row_tool tool = fill_tool(0, "-");

	task.id = tool.task_id = tool.id = id;
	task.host_id = tool.host_id = 1;
	task.run_id = tool.run_id = run_id;
	task.kind = "engine";
	task.name = name;
	task.status = "succeeded";
	task.process_count = tool.process_count = 1;
	task.living_count = task.failed_count = task.lost_count = task.partial_count = 0;
	tool.living_count = tool.failed_count = tool.partial_count = 0;
	task.root_process_id = 1;
	task.started_unix_ns = tool.started_unix_ns = id * SECOND;
	task.begin_boot_ns = tool.begin_boot_ns = 100 * SECOND;
	task.end_boot_ns = tool.end_boot_ns = end_boot_ns;
	task.cpu_ns = 15 * SECOND;
	task.run_delay_ns = strcmp(name, "waits") == 0 ? 2 * SECOND : 0;
	task.concurrent_memory_bytes = memory_mib * MIB;
	task.memory_limit_bytes = limit_bytes;
	task.container_id = task.merged_into_id = task.peak_rss_bytes = U;
	put_task(&task);
	put_tool(&tool);
}

static void put_process_of(int64_t id, int64_t life_s, int64_t cpu_s)
{
	struct row_process process = fill_process(0, "-");

	process.id = id;
	process.host_id = 1;
	process.run_id = process.task_id = process.tool_id = id;
	process.pid = process.exec_id = process.user_id = 1;
	process.began = "fork";
	process.ended = "exit";
	process.totals = "final";
	process.begin_boot_ns = process.started_unix_ns = 100 * SECOND;
	process.end_boot_ns = (100 + life_s) * SECOND;
	process.cpu_ns = cpu_s * SECOND;
	put_process(&process);
}

static void put_samples_of(int64_t id, int64_t period_s, int64_t cpu_s, int64_t thread_count)
{
	struct row_sample sample = fill_sample(U, "-");

	sample.process_id = id;
	sample.thread_count = thread_count;
	for (int64_t i = 1; i < 10; i++) {
		sample.boot_ns = (100 + period_s * i) * SECOND;
		sample.cpu_ns = cpu_s * i * SECOND;
		put_sample(&sample);
	}
}

/* Uses a core for ten seconds and, if it has samples, three more in the last second. */
static void put_steady_process_of(int64_t id, bool has_samples)
{
	put_process_of(id, 10, has_samples ? 13 : 10);
	if (has_samples)
		put_samples_of(id, 1, 1, 4);
}

static struct right_sizes sizes;

static int64_t select_tasks(const char *name, int64_t run_id)
{
	struct right_sizes_selection selection = {name, run_id, run_id == U ? U : 1, NULL};
	struct store *reader = open_reader();
	int64_t count = right_sizes_add(&sizes, reader, &selection);

	store_close(reader);
	return count;
}

TEST(tasks_are_read_from_a_store)
{
	struct row_incident incident = fill_incident(U, "-");

	memset(&sizes, 0, sizeof(sizes));
	put_run_of(1, "alpha", 8 * GIB, 4);
	put_run_of(2, "beta", 8 * GIB, 1);
	put_task_of(11, 1, "align", 500, 4 * GIB);
	put_task_of(12, 1, "align", 600, 8 * GIB); /* the run's limit */
	put_task_of(13, 1, "sort", 10, 2 * GIB);
	put_task_of(21, 2, "align", 700, 3 * GIB);
	put_task_of(14, 1, "waits", 10, 8 * GIB);
	put_steady_process_of(11, true);
	put_steady_process_of(14, true);
	put_steady_process_of(13, false);
	incident.id = incident.host_id = incident.run_id = 1;
	incident.task_id = 13;
	incident.kind = "oom-kill";
	incident.boot_ns = incident.unix_ns = 1;
	put_incident(&incident);
	commit(1);

	ck_assert_int_eq(select_tasks(NULL, 1), 4);
	ck_assert_int_eq(select_tasks("align", U), 3); /* two of them again */
	ck_assert_int_eq(select_tasks("beta", U), 1);
	ck_assert_int_eq(select_tasks("gamma", U), 0);
	ck_assert_int_eq(right_sizes_find(&sizes, U), 0);
	ck_assert_uint_eq(sizes.count, 3);
	ck_assert_str_eq(sizes.items[0].name, "align");
	ck_assert_uint_eq(sizes.items[0].size.task_count, 3);
	ck_assert_int_eq(sizes.items[0].size.used_bytes, 700 * MIB);
	ck_assert_int_eq(sizes.items[0].size.limit_bytes, 3 * GIB);
	ck_assert_int_eq(sizes.items[0].size.saved_byte_seconds, (7 * GIB - 2 * 936 * MIB) * 10 / 2);
	ck_assert_double_eq_tol(sizes.items[0].size.cores_used, 4, 1e-9); /* of ten windows the largest */
	ck_assert(!sizes.items[0].size.cores_are_least);
	ck_assert_str_eq(sizes.items[1].name, "sort");
	ck_assert_int_eq(sizes.items[1].size.memory_bytes, 2560 * MIB); /* killed at 2 GiB */
	ck_assert_int_eq(sizes.items[1].size.cores, 1);
	ck_assert(sizes.items[1].size.cores_are_least);
	ck_assert_double_eq_tol(sizes.items[2].size.cores_used, 4, 1e-9);
	ck_assert(sizes.items[2].size.cores_are_least);
	right_sizes_free(&sizes);
}

/* Four threads work for the last second of every ten; scans that find them quiet write no sample. */
TEST(bursts_between_quiet_scans_are_not_the_mean)
{
	memset(&sizes, 0, sizeof(sizes));
	put_run_of(1, "alpha", U, 1);
	put_task_of(11, 1, "bursts", 500, U);
	put_process_of(11, 100, 40);
	put_samples_of(11, 10, 4, 4);
	commit(1);
	ck_assert_int_eq(select_tasks(NULL, 1), 1);
	ck_assert_int_eq(right_sizes_find(&sizes, U), 0);
	ck_assert_double_eq_tol(sizes.items[0].size.cores_used, 4, 1e-9);
	ck_assert_int_eq(sizes.items[0].size.cores, 4);
	right_sizes_free(&sizes);
}

/* ---- configuration --------------------------------------------------------------------- */

#define STRANGE "it's a+b.{c}"
#define BASIS "N=1, 1/(N+1)=50 %"

static const struct {
	int format;
	const char *text;
} formats[] = {
	{RIGHT_SIZE_NEXTFLOW, "// Names are Tracer's: those of processes come with --names trace.txt.\n"
			      "// task.attempt: more memory for a retry, if errorStrategy is 'retry' and maxRetries at "
			      "least 1.\n"
			      "process {\n"
			      "    // " BASIS "\n"
			      "    // nf-core labels: process_single for memory, process_low for cpus\n"
			      "    withName: 'it\\'s a\\\\+b\\\\.\\\\{c\\\\}' {\n"
			      "        memory = { 728.MB * task.attempt }\n"
			      "        cpus = 2\n"
			      "    }\n"
			      "    // " BASIS "\n"
			      "    // nf-core labels: process_single for memory, process_low for cpus\n"
			      "    withName: 'rule_1' {\n"
			      "        memory = { 728.MB * task.attempt }\n"
			      "        cpus = 2\n"
			      "    }\n"
			      "}\n"
			      "// left out: 3 names that cannot be written here, or whose use is unknown\n"},
	{RIGHT_SIZE_SNAKEMAKE, "set-resources:\n"
			       "  # " BASIS "\n"
			       "  - rule_1:mem_mb=764\n"
			       "set-threads:\n"
			       "  - rule_1=2\n"
			       "# left out: 4 names that are not the name of a rule, or whose use is unknown\n"},
	{RIGHT_SIZE_SLURM, "# it's a+b.{c} (" BASIS ")\n"
			   "#SBATCH --mem=728M\n"
			   "#SBATCH --cpus-per-task=2\n"
			   "# rule_1 (" BASIS ")\n"
			   "#SBATCH --mem=728M\n"
			   "#SBATCH --cpus-per-task=2\n"
			   "# left out: 3 names that cannot be written here, or whose use is unknown\n"},
};

/* Returns what `tracer tune --right-size` prints; to be freed. */
static char *shown(int format)
{
	struct options options = {.format = format, .user_id = ROW_NULL};
	struct view view = {.options = &options, .store = open_reader()};
	char *text = NULL;
	size_t size;

	view.output.file = open_memstream(&text, &size);
	ck_assert_int_eq(right_size_show(&view, &(struct right_size_request){U, NULL}, NULL, 0), 0);
	fclose(view.output.file);
	store_close(view.store);
	return text;
}

TEST_EACH(configuration_is_quoted, formats)
{
	static const char *const names[] = {STRANGE, "rule_1", HOSTILE, "two\n#SBATCH --wrap=id", "back\\u000aslash"};
	char *text;

	put_run_of(1, "alpha", U, 5);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put_task_of(10 + (int64_t)i, 1, names[i], 500, U);
	commit(1);
	text = shown(formats[_i].format);
	ck_assert_str_eq(text, formats[_i].text);
	free(text);
}

static const struct {
	int64_t memory_mib;
	const char *label;
} labels[] = {
	{4200, "process_single"}, /* requests 5.8 GiB */
	{4400, "process_low"},    /* 6.1 */
	{12 * 1024, "process_medium"},
	{50 * 1024, "process_high"}, /* 70.6 */
	{52 * 1024, "process_high_memory"},
	{150 * 1024, "none"},
};

TEST_EACH(labels_suffice, labels)
{
	char expected[64], *text;

	put_run_of(1, "alpha", U, 1);
	put_task_of(11, 1, "step", labels[_i].memory_mib, U);
	commit(1);
	text = shown(RIGHT_SIZE_NEXTFLOW);
	snprintf(expected, sizeof(expected), "labels: %s for memory, process_low for cpus\n", labels[_i].label);
	ck_assert_ptr_nonnull(strstr(text, expected));
	free(text);
}

int main(void)
{
	return stores_run("right_size");
}
