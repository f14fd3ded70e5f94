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
static const struct { int64_t concurrent_bytes, unattributed_bytes, peak_rss_bytes, need_bytes; bool is_peak_rss; } needs[] = {
	{U, U, U, U, false}, {5, U, U, 5, false}, {U, U, 5, 5, true}, {5, 0, 5, 5, false}, {5, U, 6, 6, true},
	{7, U, 6, 7, false}, {7, 20, 6, 27, false}, {U, 3, U, U, false}, {U, 3, 5, 8, true},
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

	ck_assert_int_eq(right_size_need(needs[_i].concurrent_bytes, needs[_i].unattributed_bytes,
					 needs[_i].peak_rss_bytes, &is_peak_rss),
			 needs[_i].need_bytes);
	ck_assert_int_eq(is_peak_rss, needs[_i].is_peak_rss);
}

TEST_EACH(cores_are_rounded_up_unless_negligible, roundings_of_cores)
{
	ck_assert_int_eq(right_size_cores(roundings_of_cores[_i].used), roundings_of_cores[_i].cores);
}

/* ---- tasks of one name ----------------------------------------------------------------- */

#define TASKS_MAX 40
#define GROWING_4 "300:input=1 400:input=2 500:input=3 600:input=4"
#define GROWING GROWING_4 " 700:input=5" /* 200 MiB, and 100 MiB for each GiB of input */

/* Tasks: the MiB that each needed, or "?", and flags; the GiB of an input to request for; what is found, see show(). */
static const struct {
	const char *tasks;
	int64_t input_gib;
	const char *size;
} found[] = {
	/* the rule: the largest x 1.01 + 4 x the standard error + 16 */
	{"0", U, "1/1: used=0 memory=16 cores=1 fail=0.5 left-out=?"},
	{"100", U, "1/1: used=100 memory=160 cores=1 fail=0.5 left-out=?"},    /* 101 + 40 + 16 = 157 */
	{"1000", U, "1/1: used=1000 memory=1440 cores=1 fail=0.5 left-out=?"}, /* 1010 + 400 + 16 = 1426 */
	/* 1010 + 100 + 16 = 1126; 1010 + 4 x sqrt(125000 + 10000) / 2 + 16 = 1760.8 */
	{"1000 1000 1000 1000", U, "4/1: used=1000 memory=1136 cores=1 fail=0.2 left-out=0"},
	{"1000 500", U, "2/1: used=1000 memory=1776 cores=1 fail=0.33 left-out=1"},
	{"1000:oom=1000", U, "1/1: used=1000 memory=1440 cores=1 fail=0.5 left-out=? oom=1"},
	{"1000:oom=1600", U, "1/1: used=1000 memory=2000 cores=1 fail=0.5 left-out=? oom=1"}, /* 1.25 x 1600 */
	{"?:oom=4096", U, "0/1: used=? memory=5120 cores=1 fail=1 left-out=? oom=1"},
	{"?", U, "0/1: used=? memory=? cores=? fail=1 left-out=?"},
	{"", U, "0/0: used=? memory=? cores=? fail=1 left-out=?"},
	/* a task is left out to test the rule: 1111 + 262 + 16 = 1389, rounded up 1392, suffices for 1300 */
	{"1000 1100 1300", U, "3/1: used=1300 memory=1680 cores=1 fail=0.25 left-out=0"},
	{"1000 1100 1393", U, "3/1: used=1393 memory=1856 cores=1 fail=0.25 left-out=1"},
	{"1000 1393 1393", U, "3/1: used=1393 memory=1904 cores=1 fail=0.25 left-out=0"},
	/* those that failed are no evidence that less suffices; what they used, they needed: 3030 + 1200 + 16 */
	{"100:failed 3000:failed", U, "0/1: used=3000 memory=? cores=? fail=1 left-out=? failed=2"},
	{"100 3000:failed", U, "1/1: used=3000 memory=4288 cores=1 fail=0.5 left-out=0 failed=1"},
	/* those that run are all that is known until one has ended */
	{"1000:runs:cores=3 600:runs:cores=3", U,
	 "0/1: used=1000 memory=1440 cores=3+ fail=1 left-out=? running=2 (so far)"},
	{"1000:runs:cores=3 600:runs:cores=3 100", U,
	 "1/1: used=1000 memory=1440 cores=1 fail=0.5 left-out=0 running=2"},
	/* the last limit that was exceeded is a floor, even if none succeeded */
	{"?:failed:oom=8192 ?:failed:oom=1024 100", U,
	 "1/1: used=100 memory=1280 cores=1 fail=0.5 left-out=0 failed=2 oom=2"},
	{"?:failed:oom=8192 ?:failed:oom=1024", U, "0/1: used=? memory=1280 cores=1 fail=1 left-out=? failed=2 oom=2"},
	/* what is saved: a run, against what tasks requested for themselves; negative if more must be requested */
	{"100 100 100 100", U, "4/1: used=100 memory=128 cores=1 fail=0.2 left-out=0"},
	{"100:limit=4096 100:limit=2048 100:limit=256:run=2 100:run=2", U,
	 "4/2: used=100 memory=128 cores=1 fail=0.2 left-out=0 limit=256 saved=30080"}, /* (6144 - 128) x 10 / 2 */
	{"100 100 100:limit=64:run=2 100:run=2", U,
	 "4/2: used=100 memory=128 cores=1 fail=0.2 left-out=0 limit=64 saved=-640"},
	/* for an input, where inputs reach */
	{GROWING, 3, "5/1: used=700 memory=984 cores=1 fail=0.17 left-out=0 input=584 (seen)"},
	{GROWING, 5, "5/1: used=700 memory=984 cores=1 fail=0.17 left-out=0 input=832 (seen)"},
	{GROWING, 6, "5/1: used=700 memory=984 cores=1 fail=0.17 left-out=0 input=984 (larger)"},
	{GROWING, 50, "5/1: used=700 memory=984 cores=1 fail=0.17 left-out=0 input=9472 (larger)"},
	{GROWING, 51, "5/1: used=700 memory=984 cores=1 fail=0.17 left-out=0 input=? (too far)"},
	{GROWING, U, "5/1: used=700 memory=984 cores=1 fail=0.17 left-out=0"},
	{GROWING_4, 3, "4/1: used=600 memory=856 cores=1 fail=0.2 left-out=0 input=? (few)"},
	{"600:input=4 700:input=5 800:input=6 900:input=7 1000:input=8", 9,
	 "5/1: used=1000 memory=1296 cores=1 fail=0.17 left-out=0 input=1344 (larger)"},
	{"700:input=5 800:input=6 900:input=7 1000:input=8 1100:input=9", 9,
	 "5/1: used=1100 memory=1408 cores=1 fail=0.17 left-out=0 input=1296 (seen)"},
	{"700:input=5 800:input=6 900:input=7 1000:input=8 1100:input=9", 10,
	 "5/1: used=1100 memory=1408 cores=1 fail=0.17 left-out=0 input=? (alike)"},
	{"", 1, "0/0: used=? memory=? cores=? fail=1 left-out=? input=? (few)"},
	{GROWING " 800:input=6:failed:oom=16384", 3,
	 "5/1: used=800 memory=20480 cores=1 fail=0.17 left-out=0 failed=1 oom=1 input=20480 (seen)"},
	/* tiny needs keep their margin */
	{"2:input=1 2:input=2 2:input=3 2:input=4 2:input=5", 3,
	 "5/1: used=2 memory=20 cores=1 fail=0.17 left-out=0 input=20 (seen)"},
	/* cores of the task that used most, which are a lower bound without samples, or if it waited */
	{"1:cores=nan", U, "1/1: used=1 memory=20 cores=? fail=0.5 left-out=?"},
	{"1:cores=nan 1:cores=3.2 1:cores=2.1:unsampled", U, "3/1: used=1 memory=20 cores=4 fail=0.25 left-out=0"},
	{"1:cores=nan 1:cores=3.2:waited 1:cores=2.1:unsampled", U,
	 "3/1: used=1 memory=20 cores=4+ fail=0.25 left-out=0"},
	{"1:cores=nan 1:cores=3.2 1:cores=5:unsampled", U, "3/1: used=1 memory=20 cores=5+ fail=0.25 left-out=0"},
};

static int64_t find_flag(const char *word, const char *name, int64_t unit)
{
	const char *flag = strstr(word, name);

	return flag ? atoll(flag + strlen(name)) * unit : U;
}

static struct right_size_task task_of(const char *word)
{
	return (struct right_size_task){
		.run_id = strstr(word, "run=") ? find_flag(word, "run=", 1) : 1,
		.wall_ns = 10 * SECOND,
		.memory_bytes = *word == '?' ? U : atoll(word) * MIB,
		.oom_bytes = find_flag(word, "oom=", MIB),
		.limit_bytes = find_flag(word, "limit=", MIB),
		.input_bytes = find_flag(word, "input=", GIB),
		.cores = strstr(word, "cores=") ? strtod(strstr(word, "cores=") + strlen("cores="), NULL) : 1,
		.has_samples = !strstr(word, "unsampled"),
		.has_waited = strstr(word, "waited"),
		.has_succeeded = !strstr(word, "failed") && !strstr(word, "runs"),
		.is_running = strstr(word, "runs"),
	};
}

static struct right_size find(const char *tasks, int64_t input_bytes)
{
	struct right_size_task items[TASKS_MAX];
	struct right_size size;
	size_t count = 0;
	char copy[1024];

	snprintf(copy, sizeof(copy), "%s", tasks);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		items[count++] = task_of(word);
	ck_assert_int_eq(right_size_find(items, count, input_bytes, &size), 0);
	return size;
}

static void show_figure(FILE *file, const char *name, int64_t value, int64_t unit)
{
	if (value == U)
		fprintf(file, " %s=?", name);
	else
		fprintf(file, " %s=%g", name, (double)value / (double)unit);
}

static void show_count(FILE *file, const char *name, size_t count)
{
	if (count > 0)
		fprintf(file, " %s=%zu", name, count);
}

/* Known figures, in MiB; saved MiB x seconds; what is not usual. Returns a text to be freed. */
static char *show(const struct right_size *size)
{
	static const char *const bases[] = {"none", "seen", "larger", "few", "alike", "too far"};
	char *text;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	fprintf(file, "%zu/%zu:", size->task_count, size->run_count);
	show_figure(file, "used", size->used_bytes, MIB);
	show_figure(file, "memory", size->memory_bytes, MIB);
	show_figure(file, "cores", size->cores, 1);
	fprintf(file, "%s fail=%.2g", size->cores_are_least ? "+" : "", size->fail_share);
	show_figure(file, "left-out", size->left_out_failed_count, 1);
	show_count(file, "failed", size->failed_count);
	show_count(file, "oom", size->oom_count);
	show_count(file, "running", size->running_count);
	fprintf(file, "%s", right_size_is_so_far(size) ? " (so far)" : "");
	if (size->limit_bytes != U) {
		show_figure(file, "limit", size->limit_bytes, MIB);
		show_figure(file, "saved", size->saved_byte_seconds, MIB);
	}
	if (size->input.basis != RIGHT_SIZE_INPUT_NONE) {
		show_figure(file, "input", size->input_memory_bytes, MIB);
		fprintf(file, " (%s)", bases[size->input.basis]);
	}
	fclose(file);
	return text;
}

TEST_EACH(size_of_tasks_is, found)
{
	struct right_size size = find(found[_i].tasks, found[_i].input_gib == U ? U : found[_i].input_gib * GIB);
	char *text = show(&size);

	ck_assert_msg(strcmp(text, found[_i].size) == 0, "%s: %s, not %s", found[_i].tasks, text, found[_i].size);
	free(text);
}

TEST(memory_for_an_input_follows_the_line)
{
	char tasks[1024] = "";

	for (int i = 1; i <= TASKS_MAX; i++)
		snprintf(tasks + strlen(tasks), sizeof(tasks) - strlen(tasks), "%d:input=%d ", 200 + 100 * i, i);
	for (int64_t input = 1; input <= 2 * TASKS_MAX; input++) {
		int64_t need = (200 + 100 * input) * MIB;
		struct right_size size = find(tasks, input * GIB);

		ck_assert_int_ge(size.input_memory_bytes, need);
		if (input <= TASKS_MAX) /* at the ends of the line, 11 % of 500 MiB are the most */
			ck_assert_int_le(size.input_memory_bytes, need + need / 6 + 100 * MIB);
		ck_assert_uint_eq(size.input.left_out_failed_count, 0);
	}
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
	PUT(RUN, run, .id = id, .host_id = 1, .kind = "command", .name = name, .process_count = 1,
	    .task_count = task_count, .started_unix_ns = id * SECOND, .begin_boot_ns = id * SECOND,
	    .memory_limit_bytes = limit_bytes, .container_id = U);
}

static void put_task_of(int64_t id, int64_t run_id, const char *name, int64_t memory_mib, int64_t limit_bytes)
{
	int64_t end_boot_ns = (strcmp(name, "bursts") == 0 ? 200 : 110) * SECOND;

	PUT(TASK, task, .id = id, .host_id = 1, .run_id = run_id, .kind = "engine", .name = name, .status = "succeeded",
	    .process_count = 1, .started_unix_ns = id * SECOND, .begin_boot_ns = 100 * SECOND,
	    .end_boot_ns = end_boot_ns, .cpu_ns = 15 * SECOND,
	    .run_delay_ns = strcmp(name, "waits") == 0 ? 2 * SECOND : 0, .concurrent_memory_bytes = memory_mib * MIB,
	    .memory_limit_bytes = limit_bytes, .container_id = U, .merged_into_id = U, .peak_rss_bytes = U);
	PUT(TOOL, tool, .id = id, .host_id = 1, .run_id = run_id, .task_id = id, .process_count = 1,
	    .started_unix_ns = id * SECOND, .begin_boot_ns = 100 * SECOND, .end_boot_ns = end_boot_ns);
}

static void put_process_of(int64_t id, int64_t life_s, int64_t cpu_s)
{
	PUT(PROCESS, process, .id = id, .host_id = 1, .run_id = id, .task_id = id, .tool_id = id, .began = "fork",
	    .ended = "exit", .totals = "final", .begin_boot_ns = 100 * SECOND, .started_unix_ns = 100 * SECOND,
	    .end_boot_ns = (100 + life_s) * SECOND, .cpu_ns = cpu_s * SECOND);
}

static void put_samples_of(int64_t id, int64_t period_s, int64_t cpu_s, int64_t thread_count)
{
	for (int64_t i = 1; i < 10; i++)
		PUT(SAMPLE, sample, .process_id = id, .thread_count = thread_count,
		    .boot_ns = (100 + period_s * i) * SECOND, .cpu_ns = cpu_s * i * SECOND);
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

static void check_sizes(const char *expected)
{
	char *text, *size;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	ck_assert_int_eq(right_sizes_find(&sizes, U), 0);
	for (size_t i = 0; i < sizes.count; i++) {
		size = show(&sizes.items[i].size);
		fprintf(file, "%s %s, %g cores used\n", sizes.items[i].name, size, sizes.items[i].size.cores_used);
		free(size);
	}
	fclose(file);
	ck_assert_str_eq(text, expected);
	free(text);
	right_sizes_free(&sizes);
}

/* A process that uses a core for ten seconds and three more in the last, of which ten windows show the largest. */
TEST(tasks_are_read_from_a_store)
{
	memset(&sizes, 0, sizeof(sizes));
	put_run_of(1, "alpha", 8 * GIB, 4);
	put_run_of(2, "beta", 8 * GIB, 1);
	put_task_of(11, 1, "align", 500, 4 * GIB);
	put_task_of(12, 1, "align", 600, 8 * GIB); /* the run's limit */
	put_task_of(13, 1, "sort", 10, 2 * GIB);
	put_task_of(21, 2, "align", 700, 3 * GIB);
	put_task_of(14, 1, "waits", 10, 8 * GIB);
	for (int64_t id = 11; id <= 14; id += id == 11 ? 2 : 1) {
		put_process_of(id, 10, id == 13 ? 10 : 13);
		if (id != 13)
			put_samples_of(id, 1, 1, 4);
	}
	PUT(INCIDENT, incident, .id = 1, .host_id = 1, .run_id = 1, .task_id = 13, .kind = "oom-kill");
	commit(1);

	ck_assert_int_eq(select_tasks(NULL, 1), 4);
	ck_assert_int_eq(select_tasks("align", U), 3); /* two of them again */
	ck_assert_int_eq(select_tasks("beta", U), 1);
	ck_assert_int_eq(select_tasks("gamma", U), 0);
	check_sizes("align 3/2: used=700 memory=936 cores=4 fail=0.25 left-out=0 limit=3072 saved=26480, 4 cores used\n"
		    "sort 1/1: used=10 memory=2560 cores=1+ fail=0.5 left-out=? oom=1 limit=2048 saved=-5120, "
		    "1 cores used\n"
		    "waits 1/1: used=10 memory=32 cores=4+ fail=0.5 left-out=?, 4 cores used\n");
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
	check_sizes("bursts 1/1: used=500 memory=728 cores=4 fail=0.5 left-out=?, 4 cores used\n");
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
