/* What the store costs: processor time and bytes for a finished process.
 *
 *   bench_store [PROCESSES [FILE [PROCESSES_A_TASK PROCESSES_A_TOOL]]]
 *
 * Puts processes as a replay of a busy pipeline does: tasks of 20 processes in 10 tools, most of them short (one put when they have ended), every tenth long enough to be
 * put at its exec and at its end, a commit for every 5,000 processes. Text as samtools and
 * bwa in a snakemake work directory have it. FILE is kept where it is given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/identity.h"
#include "common/store/store.h"

#define PROCESSES_A_COMMIT 5000
#define EVENTS_A_PROCESS 4 /* fork, exec, exit, final */
#define BEGIN_UNIX_NS 1763600000000000000LL

static int64_t id_make(const char *kind, uint64_t number)
{
	struct identity identity;

	identity_begin(&identity, kind);
	identity_add_u64(&identity, number);
	return identity_end(&identity);
}

static void check(struct store *store, int error)
{
	if (error == 0)
		return;
	fprintf(stderr, "bench_store: %s\n", store_error_text(store));
	exit(EXIT_FAILURE);
}

/* A figure that looks measured: `around`, give or take a half. */
static int64_t figure(uint64_t number, int64_t around)
{
	return around / 2 + (int64_t)(number * 2654435761u % (uint64_t)around);
}

#define TOTALS_FILL(row, number, factor) \
	do { \
		const int64_t scale_ = (int64_t)(factor); \
		(row)->cpu_ns = figure(number, 40000000LL * scale_); \
		(row)->user_ns = (row)->cpu_ns / 4 * 3; \
		(row)->system_ns = (row)->cpu_ns - (row)->user_ns; \
		(row)->run_delay_ns = figure(number, 900000LL * scale_); \
		(row)->block_io_delay_ns = ROW_NULL; \
		(row)->memory_delay_ns = ROW_NULL; \
		(row)->voluntary_switches = figure(number, 60 * scale_); \
		(row)->involuntary_switches = figure(number, 12 * scale_); \
		(row)->minor_faults = figure(number, 900 * scale_); \
		(row)->major_faults = 0; \
		(row)->read_bytes = figure(number, 90000LL * scale_); \
		(row)->write_bytes = figure(number, 200000LL * scale_) / 4096 * 4096; \
		(row)->cancelled_write_bytes = 0; \
		(row)->rchar_bytes = figure(number, 3000000LL * scale_); \
		(row)->wchar_bytes = figure(number, 1000000LL * scale_); \
		(row)->syscr_count = figure(number, 300 * scale_); \
		(row)->syscw_count = figure(number, 90 * scale_); \
		(row)->sent_bytes = 0; \
		(row)->received_bytes = 0; \
		(row)->uninterruptible_ns = ROW_NULL; \
		(row)->peak_rss_bytes = figure(number, 30000000) / 4096 * 4096; \
	} while (0)

static int64_t host_id, run_id;
static uint64_t processes_a_task = 20, processes_a_tool = 2;

static int64_t begin_boot_ns(uint64_t number)
{
	return 90000000000000LL + (int64_t)number * 30000000;
}

static void put_process(struct store *store, uint64_t number, bool ended)
{
	static const char *const programs[] = {"samtools", "bwa", "bash", "sort", "python3.11"};
	const char *program = programs[number % 5];
	char path[64], arguments[160], directory[128];
	struct row_process row = {0};
	uint64_t task = number / processes_a_task;
	int size;

	snprintf(path, sizeof(path), "/usr/bin/%s", program);
	size = snprintf(arguments, sizeof(arguments),
			"%s%csort%c-@%c2%c-o%cresults/mapped/sample_%06llu.sorted.bam%c-T%c/tmp/s%llu%c"
			"results/mapped/sample_%06llu.sam", program, 0, 0, 0, 0, 0,
			(unsigned long long)task, 0, 0, (unsigned long long)number, 0,
			(unsigned long long)task);
	snprintf(directory, sizeof(directory), "/data/projects/cohort7/work/%02llx/%012llx",
		 (unsigned long long)task % 256, (unsigned long long)task * 2654435761u);

	TOTALS_FILL(&row, number, 1);
	row.id = id_make("process", number);
	row.host_id = host_id;
	row.container_id = ROW_NULL;
	row.run_id = run_id;
	row.task_id = id_make("task", task);
	row.tool_id = id_make("tool", number / processes_a_tool);
	row.parent_id = id_make("process", task * processes_a_task);
	row.pid = 1000 + (int64_t)number % 4000000;
	row.exec_id = 7;
	row.user_id = 1000;
	row.began = "exec";
	row.ended = ended ? "exit" : NULL;
	row.totals = ended ? "final" : "exec";
	row.begin_boot_ns = begin_boot_ns(number);
	row.end_boot_ns = ended ? row.begin_boot_ns + figure(number, 60000000) : ROW_NULL;
	row.started_unix_ns = BEGIN_UNIX_NS + row.begin_boot_ns;
	row.exit_code = ended ? 0 : ROW_NULL;
	row.signal = ROW_NULL;
	row.core_dumped = ended ? 0 : ROW_NULL;
	row.oom_killed = ended ? 0 : ROW_NULL;
	row.role = "tool";
	row.rule = "genomics/samtools";
	row.reason = "beneath the task's root";
	row.program = program;
	row.path = path;
	row.arguments = (struct row_blob){arguments, (size_t)size + 1};
	/* Its parent's in most: a task's processes stay where they began. */
	row.working_directory = number % processes_a_task == 0 ? directory : NULL;
	row.spawn_cpu_ns = figure(number, 400000);
	check(store, store_put_process(store, &row));
}

static void put_tool(struct store *store, uint64_t number)
{
	struct row_tool row = {0};

	TOTALS_FILL(&row, number, (int64_t)processes_a_tool);
	row.id = id_make("tool", number / processes_a_tool);
	row.host_id = host_id;
	row.run_id = run_id;
	row.task_id = id_make("task", number / processes_a_task);
	row.name = "samtools sort";
	row.role = "tool";
	row.begin_boot_ns = begin_boot_ns(number);
	row.end_boot_ns = row.begin_boot_ns + 100000000;
	row.started_unix_ns = BEGIN_UNIX_NS + row.begin_boot_ns;
	row.process_count = (int64_t)processes_a_tool;
	row.concurrent_memory_bytes = 50000000;
	check(store, store_put_tool(store, &row));
}

static void put_task(struct store *store, uint64_t number)
{
	struct row_task row = {0};

	TOTALS_FILL(&row, number, (int64_t)processes_a_task);
	row.id = id_make("task", number / processes_a_task);
	row.host_id = host_id;
	row.run_id = run_id;
	row.parent_task_id = row.container_id = row.merged_into_id = row.signal = ROW_NULL;
	row.kind = "engine";
	row.name = "bwa mem, samtools sort, samtools index";
	row.root_process_id = id_make("process", number);
	row.orchestrator_process_id = id_make("process", 0);
	row.working_directory = "/data/projects/cohort7/work/ab/0123456789ab";
	row.status = "succeeded";
	row.reason = "direct subtree of snakemake";
	row.begin_boot_ns = begin_boot_ns(number);
	row.end_boot_ns = row.begin_boot_ns + 600000000;
	row.started_unix_ns = BEGIN_UNIX_NS + row.begin_boot_ns;
	row.process_count = (int64_t)processes_a_task;
	row.concurrent_memory_bytes = 90000000;
	check(store, store_put_task(store, &row));
}

static void put_run(struct store *store, uint64_t number)
{
	struct row_run row = {0};

	TOTALS_FILL(&row, number, (int64_t)number + 1);
	row.id = run_id;
	row.host_id = host_id;
	row.container_id = row.exit_code = row.signal = row.end_boot_ns = row.root_end_boot_ns = ROW_NULL;
	row.kind = "command";
	row.name = "snakemake";
	row.reason = "beneath a shell";
	row.status = "running";
	row.begin_boot_ns = begin_boot_ns(0);
	row.started_unix_ns = BEGIN_UNIX_NS;
	row.process_count = (int64_t)number;
	check(store, store_put_run(store, &row));
}

static void commit(struct store *store, uint64_t number)
{
	struct store_stream stream = {.boot_id = "bench", .ring_epoch = 1, .ring_offset = number,
				      .committed_boot_ns = number, .committed_unix_ns = number};

	put_run(store, number);
	check(store, store_commit(store, &stream));
}

/* One turn of the replay at process `number`: what began, what ended, what is due. */
static uint64_t turn(struct store *store, uint64_t number)
{
	const uint64_t life = PROCESSES_A_COMMIT; /* a long one ends in the next commit */
	uint64_t puts = 1;

	put_process(store, number, number % 10 != 0);
	if (number >= life && (number - life) % 10 == 0) {
		put_process(store, number - life, true);
		puts++;
	}
	if (number % processes_a_tool == 0) {
		put_tool(store, number);
		puts++;
	}
	if (number % processes_a_task == 0) {
		put_task(store, number);
		puts++;
	}
	if (number % PROCESSES_A_COMMIT == PROCESSES_A_COMMIT - 1)
		commit(store, number);
	return puts;
}

static double seconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void report(const char *path, uint64_t processes, uint64_t puts, double cpu, double wall)
{
	double events = (double)processes * EVENTS_A_PROCESS;
	struct rusage usage;
	struct stat status;

	getrusage(RUSAGE_SELF, &usage);
	if (stat(path, &status) < 0)
		status.st_size = 0;
	printf("processes        %llu (%llu puts)\n", (unsigned long long)processes,
	       (unsigned long long)puts);
	printf("puts/s           %.0f of processor time, %.0f of wall time\n", (double)puts / cpu,
	       (double)puts / wall);
	printf("core for 100,000 events/s: %.1f %%\n", cpu / events * 100000 * 100);
	printf("bytes a process  %.0f (tasks, tools and indexes included)\n",
	       (double)status.st_size / (double)processes);
	printf("written          %.0f bytes a process\n",
	       (double)usage.ru_oublock * 512 / (double)processes);
	printf("peak memory      %ld KiB\n", usage.ru_maxrss);
}

int main(int argc, char **argv)
{
	uint64_t processes = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000;
	char directory[] = "/tmp/bench-store-XXXXXX", path[256], name[300];
	static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
	struct store_error error;
	struct store *store = NULL;
	double cpu, wall;
	uint64_t puts = 0;

	if (argc == 5) {
		processes_a_task = strtoull(argv[3], NULL, 10);
		processes_a_tool = strtoull(argv[4], NULL, 10);
	}
	if (argc < 3 && !mkdtemp(directory))
		return EXIT_FAILURE;
	snprintf(path, sizeof(path), "%s%s", argc < 3 ? directory : argv[2],
		 argc < 3 ? "/tracer.db" : "");
	if (store_open_writer(path, &store, &error) < 0) {
		fprintf(stderr, "bench_store: %s\n", error.text);
		return EXIT_FAILURE;
	}
	host_id = id_make("host", 1);
	run_id = id_make("run", 1);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	wall = seconds(CLOCK_MONOTONIC);
	for (uint64_t number = 0; number < processes; number++)
		puts += turn(store, number);
	commit(store, processes);
	store_close(store);
	report(path, processes, puts, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
	       seconds(CLOCK_MONOTONIC) - wall);
	for (size_t i = 0; argc < 3 && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
		unlink(name);
	}
	if (argc < 3)
		rmdir(directory);
	return EXIT_SUCCESS;
}
