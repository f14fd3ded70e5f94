/* Writes a store, without a probe, with everything that the verbs of `tracer` must be able to
 * show: a pipeline of three samples, a run with hostile names, one with lost records, one
 * that is still running, and the system run.
 *
 *   make_store FILE [fixed|series|gpu]
 *
 * The running one is current, so that `tracer top` finds it at work; the boot ID is not a real host's.
 * With "fixed", the time is always the same, and a run of 2,000 tasks and one with long command
 * lines are added, for tests that compare whole screens with files. With "series", the time is the same, and the store
 * has two series of runs only, of which the second differs from the first. With "gpu", the time is the same, and the store
 * has a training that ended and one that runs, and what else holds GPUs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/identity.h"
#include "correlator/store/writer.h"

#define MS 1000000LL
#define SECOND (1000 * MS)
#define MIB (1024LL * 1024)
#define CPU_COUNT 4 /* of the host */

#define HOSTILE "evil\033[2J\nname\x80\xff\xe2\x80\xae"

static struct store *store;
static int64_t host_id, boot_ns, unix_ns;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

static void check(int error)
{
	if (error == 0)
		return;
	fprintf(stderr, "make_store: %s\n", store_error_text(store));
	exit(1);
}

static int64_t id_of(const char *kind, const char *name, int64_t number)
{
	struct identity identity;

	identity_begin(&identity, kind);
	identity_add_bytes(&identity, name, strlen(name));
	identity_add_u64(&identity, (uint64_t)number);
	return identity_end(&identity);
}

static bool in_container; /* the following processes have limits and use the network */

#define NULL_I(column) .column = ROW_NULL,
#define NULL_T(column)
#define NULL_B(column)
/* Of `n` processes; a task has the sums of its tools, and a run those of its tasks. */
#define SET_TOTALS(row, n, cpu, memory, io) \
	do { \
		(row).cpu_ns = (cpu); \
		(row).user_ns = (cpu)*9 / 10; \
		(row).system_ns = (cpu) / 10; \
		(row).run_delay_ns = (n)*MS; \
		(row).voluntary_switches = (n)*120; \
		(row).involuntary_switches = (n)*12; \
		(row).minor_faults = (n)*4000; \
		(row).major_faults = (n)*3; \
		(row).read_bytes = (io); \
		(row).write_bytes = (io) / 3; \
		(row).cancelled_write_bytes = 0; \
		(row).rchar_bytes = (io)*2; \
		(row).wchar_bytes = (io); \
		(row).syscr_count = (n)*900; \
		(row).syscw_count = (n)*300; \
		(row).peak_rss_bytes = (memory); \
	} while (0)

/* What GPUs did for the first process of a step. */
struct gpu_use {
	const char *devices;
	int64_t busy_percent, throttled_percent;     /* -1: unknown */
	int64_t memory_mib, capacity_mib, energy_wh; /* 0 unknown */
};

/* A step's processes; times are in milliseconds from the start of the run. */
struct step {
	const char *task;
	const char *tools[4];
	int64_t begin_ms, wall_ms, cpu_ms, memory_mib;
	int exit_code;
	bool ended;            /* although its run continues */
	const char *arguments; /* NULL: hostile arguments */
	size_t arguments_size;
	const struct gpu_use *gpu; /* NULL: it held none */
};

static struct row_run run;

static int64_t add_known(int64_t sum, int64_t part)
{
	return sum == ROW_NULL ? part : part == ROW_NULL ? sum : sum + part;
}

static int64_t gpu_busy_ns(const struct gpu_use *use, int64_t wall_ns)
{
	return use && use->busy_percent >= 0 ? wall_ns / 100 * use->busy_percent : ROW_NULL;
}

#define ADD_GPU(row, use, wall_ns) \
	do { \
		int64_t busy = gpu_busy_ns(use, wall_ns), peak = (use) ? (use)->memory_mib * MIB : ROW_NULL; \
\
		(row).gpu_busy_ns = add_known((row).gpu_busy_ns, busy); \
		(row).gpu_throttled_ns = add_known( \
			(row).gpu_throttled_ns, busy == ROW_NULL ? ROW_NULL : busy / 100 * (use)->throttled_percent); \
		(row).gpu_energy_uj = add_known( \
			(row).gpu_energy_uj, (use) && (use)->energy_wh ? (use)->energy_wh * 3600000000LL : ROW_NULL); \
		(row).gpu_peak_bytes = peak > (row).gpu_peak_bytes ? peak : (row).gpu_peak_bytes; \
	} while (0)

static void put_process(const struct row_task *task, const struct row_tool *tool, int pid, const char *program,
			const void *arguments, size_t arguments_size, const struct gpu_use *gpu)
{
	int64_t wall_ns = (tool->end_boot_ns == ROW_NULL ? boot_ns : tool->end_boot_ns) - tool->begin_boot_ns;
	struct row_process process = {ROW_PROCESS_COLUMNS(NULL_I, NULL_T, NULL_B)};

	process.id = id_of("process", tool->name, task->id ^ pid);
	process.host_id = host_id;
	process.run_id = run.id;
	process.task_id = task->id;
	process.tool_id = tool->id;
	process.parent_id = run.root_process_id == process.id ? ROW_NULL : run.root_process_id;
	process.pid = pid;
	process.exec_id = 3;
	process.user_id = run.user_id;
	process.began = "exec";
	process.ended = tool->end_boot_ns == ROW_NULL ? NULL : "exit";
	process.totals = process.ended ? "final" : "sample";
	process.begin_boot_ns = tool->begin_boot_ns;
	process.end_boot_ns = tool->end_boot_ns;
	process.started_unix_ns = tool->started_unix_ns;
	process.exit_code = process.ended ? tool->failed_count : ROW_NULL;
	process.role = tool->role;
	process.rule = strcmp(tool->role, "helper") == 0 ? "coreutils" : NULL;
	process.reason = "its parent is the task's";
	process.program = program;
	process.path = "/usr/bin/program";
	process.arguments = (struct row_blob){arguments, arguments_size};
	process.redacted_count = 0;
	process.arguments_truncated = 0;
	process.working_directory = "/data";
	SET_TOTALS(process, 1, tool->cpu_ns, tool->peak_rss_bytes, tool->read_bytes);
	ADD_GPU(process, gpu, wall_ns);
	if (gpu) {
		process.gpu = gpu->devices;
		process.gpu_capacity_bytes = gpu->capacity_mib ? gpu->capacity_mib * MIB : ROW_NULL;
	}
	check(store_put_process(store, &process));
	if (gpu && !process.ended) { /* an hour ago it did as much as since then */
		struct row_sample sample = {ROW_SAMPLE_COLUMNS(NULL_I, NULL_T, NULL_B)};

		sample.process_id = process.id;
		sample.boot_ns = boot_ns - 3600 * SECOND;
		sample.cpu_ns = process.cpu_ns / 2;
		sample.gpu_busy_ns = gpu_busy_ns(gpu, wall_ns / 2);
		sample.gpu_memory_bytes = process.gpu_peak_bytes;
		check(store_put_sample(store, &sample));
	}
	for (int i = 3; i >= 0 && !process.ended && gpu_busy_ns(gpu, 100) != 0; i--) { /* none of who sleeps */
		struct row_sample sample = {ROW_SAMPLE_COLUMNS(NULL_I, NULL_T, NULL_B)};

		sample.process_id = process.id;
		sample.boot_ns = boot_ns - i * SECOND;
		sample.cpu_ns = process.cpu_ns - i * SECOND / 2;
		sample.read_bytes = process.read_bytes - i * MIB;
		sample.write_bytes = process.write_bytes;
		sample.rss_anon_bytes = 40 * MIB;
		sample.rss_file_bytes = 3 * MIB;
		sample.rss_shmem_bytes = 0;
		sample.thread_count = 2;
		sample.gpu_busy_ns = gpu_busy_ns(gpu, wall_ns - i * SECOND);
		sample.gpu_memory_bytes = process.gpu_peak_bytes;
		check(store_put_sample(store, &sample));
	}
}

static bool is_helper(const char *name)
{
	return strcmp(name, "mkdir") == 0 || strcmp(name, "bash") == 0;
}

/* Tools share what the helpers leave of the CPU time, 1 ms each, and the I/O. */
static void put_tools(const struct row_task *task, const struct step *step)
{
	int64_t helper_count = 0, tool_count;

	for (int i = 0; i < task->process_count; i++)
		helper_count += is_helper(step->tools[i]);
	tool_count = task->process_count - helper_count;
	for (int i = 0; step->tools[i]; i++) {
		struct row_tool tool = {ROW_TOOL_COLUMNS(NULL_I, NULL_T, NULL_B)};
		static const char arguments[] = "tool\0-t\0 2 it's\0-n\0" HOSTILE;
		bool helper = is_helper(step->tools[i]);

		tool.id = id_of("tool", step->tools[i], task->id);
		tool.host_id = host_id;
		tool.run_id = run.id;
		tool.task_id = task->id;
		tool.name = step->tools[i];
		tool.role = helper ? "helper" : "tool";
		tool.begin_boot_ns = task->begin_boot_ns;
		tool.end_boot_ns = task->end_boot_ns;
		tool.started_unix_ns = task->started_unix_ns;
		tool.process_count = 1;
		tool.living_count = task->living_count;
		tool.failed_count = step->exit_code && !helper;
		SET_TOTALS(tool, 1, helper ? MS : (task->cpu_ns - helper_count * MS) / tool_count,
			   helper ? MIB : task->peak_rss_bytes, helper ? 0 : task->read_bytes / tool_count);
		if (i == 0)
			ADD_GPU(tool, step->gpu, step->wall_ms * MS);
		check(store_put_tool(store, &tool));
		put_process(task, &tool, 1000 + i, step->tools[i], step->arguments ? step->arguments : arguments,
			    step->arguments ? step->arguments_size : sizeof(arguments), i == 0 ? step->gpu : NULL);
	}
}

static int64_t put_task(const struct step *step, const char *kind, int64_t number, bool running)
{
	struct row_task task = {ROW_TASK_COLUMNS(NULL_I, NULL_T, NULL_B)};

	task.id = id_of("task", step->task, run.id + number);
	task.host_id = host_id;
	task.run_id = run.id;
	task.kind = kind;
	task.name = step->task;
	task.working_directory = "/data";
	task.status = running ? "running" : step->exit_code ? "failed" : "succeeded";
	task.exit_code = running ? ROW_NULL : step->exit_code;
	task.signal = ROW_NULL;
	task.reason = "a direct subtree of the orchestrator";
	task.begin_boot_ns = run.begin_boot_ns + step->begin_ms * MS;
	task.end_boot_ns = running ? ROW_NULL : task.begin_boot_ns + step->wall_ms * MS;
	task.started_unix_ns = run.started_unix_ns + step->begin_ms * MS;
	for (task.process_count = 0; step->tools[task.process_count];)
		task.process_count++;
	task.living_count = running;
	task.failed_count = step->exit_code != 0;
	task.lost_count = run.lost_count;
	SET_TOTALS(task, task.process_count, step->cpu_ms * MS, step->memory_mib * MIB, step->memory_mib * MIB);
	task.concurrent_memory_bytes = step->memory_mib * MIB;
	task.core_limit_milli = in_container ? 1500 : 1000 * CPU_COUNT;
	if (in_container) {
		task.sent_bytes = 3 * MIB;
		task.received_bytes = 0;
		task.memory_limit_bytes = 1024 * MIB;
		task.cgroup_peak_bytes = 768 * MIB;
	}
	ADD_GPU(task, step->gpu, step->wall_ms * MS);
	check(store_put_task(store, &task));
	put_tools(&task, step);
	return task.id;
}

static void put_run(const char *name, const char *kind, const char *engine, const struct step *steps, size_t count,
		    int64_t ago_s, bool running)
{
	int64_t wall_ms = 0, cpu_ms = 0, read_mib = 0;
	bool failed = false;

	for (size_t i = 0; i < count; i++) {
		wall_ms =
			steps[i].begin_ms + steps[i].wall_ms > wall_ms ? steps[i].begin_ms + steps[i].wall_ms : wall_ms;
		cpu_ms += steps[i].cpu_ms;
		read_mib += steps[i].memory_mib;
		failed |= steps[i].exit_code != 0;
	}
	run.id = id_of("run", name, ago_s);
	run.name = name;
	run.kind = kind;
	run.engine = engine;
	run.status = running ? "running" : failed ? "failed" : "succeeded";
	run.exit_code = running ? ROW_NULL : failed;
	run.begin_boot_ns = boot_ns - ago_s * SECOND;
	run.end_boot_ns = running ? ROW_NULL : run.begin_boot_ns + wall_ms * MS;
	run.root_end_boot_ns = run.end_boot_ns;
	run.started_unix_ns = unix_ns - ago_s * SECOND;
	run.task_count = (int64_t)count - 1;
	run.process_count = 0;
	for (size_t i = 0; i < count; i++)
		for (int tool = 0; steps[i].tools[tool]; tool++)
			run.process_count++;
	run.living_count = running;
	run.failed_count = failed;
	SET_TOTALS(run, run.process_count, cpu_ms * MS, 413 * MIB, read_mib * MIB);
	run.concurrent_memory_bytes = 620 * MIB;
	run.sent_bytes = in_container ? 6 * MIB : ROW_NULL;
	run.received_bytes = in_container ? 0 : ROW_NULL;
	run.memory_limit_bytes = in_container ? 1024 * MIB : ROW_NULL;
	run.cgroup_peak_bytes = in_container ? 768 * MIB : ROW_NULL;
	run.core_limit_milli = in_container ? 1500 : 1000 * CPU_COUNT;
	run.throttled_ns = in_container ? 1200 * MS : ROW_NULL;
	run.gpu_busy_ns = run.gpu_throttled_ns = run.gpu_energy_uj = run.gpu_peak_bytes = ROW_NULL;
	for (size_t i = 0; i < count; i++)
		ADD_GPU(run, steps[i].gpu, steps[i].wall_ms * MS);
	for (size_t i = 0; i < count; i++)
		put_task(&steps[i], i == 0 ? "main" : "engine", (int64_t)i, running && !steps[i].ended);
	check(store_put_run(store, &run));
}

static void put_container(void)
{
	struct row_container container = {ROW_CONTAINER_COLUMNS(NULL_I, NULL_T, NULL_B)};

	container.id = id_of("container", run.name, 1);
	container.host_id = host_id;
	container.runtime = "docker";
	container.runtime_id = "0123456789ab";
	container.cgroup_path = "/docker/0123456789ab";
	container.name = HOSTILE;
	container.image = "debian:12";
	container.pid_namespace = 4026532201;
	container.mount_namespace = 4026532199;
	container.run_id = run.id;
	container.begin_boot_ns = run.begin_boot_ns;
	container.started_unix_ns = run.started_unix_ns;
	check(store_put_container(store, &container));
}

/* Of a task, or of the run as a whole if that is ROW_NULL. */
static void put_incident(int64_t task_id, const char *kind, const char *sentence, const char *cause)
{
	struct row_incident incident = {ROW_INCIDENT_COLUMNS(NULL_I, NULL_T, NULL_B)};

	incident.id = id_of("incident", run.name, task_id != ROW_NULL ? 1 : 2);
	incident.host_id = host_id;
	incident.run_id = run.id;
	incident.kind = kind;
	incident.boot_ns = run.begin_boot_ns;
	incident.unix_ns = run.started_unix_ns;
	incident.sentence = sentence;
	incident.task_id = task_id;
	incident.cause = cause;
	if (strcmp(kind, "exit-code") == 0) {
		incident.sender_program = HOSTILE;
		incident.sender_user_id = 0;
	}
	check(store_put_incident(store, &incident));
}

static void put_host(int64_t seen_s)
{
	struct row_host host = {ROW_HOST_COLUMNS(NULL_I, NULL_T, NULL_B)};

	host.id = host_id;
	host.host_key = "host";
	host.hostname = "example";
	host.boot_id = "00000000-0000-0000-0000-000000000000";
	host.boot_unix_ns = unix_ns - boot_ns;
	host.kernel = "6.18.0";
	host.machine = "x86_64";
	host.cpu_count = CPU_COUNT;
	host.memory_bytes = 16384 * MIB;
	host.probe_version = "0.1.0";
	host.first_seen_unix_ns = unix_ns - seen_s * SECOND;
	host.last_seen_unix_ns = unix_ns;
	host.os = "Debian " HOSTILE;
	host.vendor = "Amazon EC2 \xc2\x9b"
		      "2J\xe2\x80\xae"; /* valid UTF-8, but just as hostile */
	host.product = "m7i.xlarge";
	host.asset_tag = HOSTILE;
	host.core_count = 2;
	check(store_put_host(store, &host));
}

/* One minute on 4 processors, which is 240 core-seconds. The sample of an earlier boot must be ignored. */
static void put_host_samples(void)
{
	struct row_host_sample sample = {ROW_HOST_SAMPLE_COLUMNS(NULL_I, NULL_T, NULL_B)};

	sample.host_id = host_id;
	sample.unix_ns = unix_ns - 1800 * SECOND;
	sample.boot_ns = boot_ns + 9000 * SECOND;
	sample.load_milli = 9000;
	check(store_put_host_sample(store, &sample));
	for (int i = 0; i < 2; i++) {
		sample.unix_ns = unix_ns - (61 - 60 * i) * SECOND;
		sample.boot_ns = boot_ns - (61 - 60 * i) * SECOND;
		sample.load_milli = i ? 1250 : 500;
		sample.cpu_user_ns = (100 + 30 * i) * SECOND;
		sample.cpu_system_ns = (50 + 6 * i) * SECOND;
		sample.cpu_idle_ns = (900 + 192 * i) * SECOND;
		sample.cpu_iowait_ns = (7 + 12 * i) * SECOND;
		sample.cpu_steal_ns = 3 * SECOND;
		sample.cpu_some_ns = 30 * i * SECOND;
		sample.io_some_ns = 6 * i * SECOND;
		sample.disk_read_bytes = 60 * i * MIB;
		sample.disk_write_bytes = 120 * i * MIB;
		sample.memory_available_bytes = 9000 * MIB;
		check(store_put_host_sample(store, &sample));
	}
}

static void put_loss(void)
{
	struct row_loss loss = {
		.id = 1,
		.host_id = host_id,
		.kind = "exec",
		.cgroup_path = HOSTILE,
		.lost_count = 12,
		.first_boot_ns = boot_ns - 1700 * SECOND,
		.last_boot_ns = boot_ns - 1699 * SECOND,
		.unix_ns = unix_ns - 1700 * SECOND,
	};

	check(store_put_loss(store, &loss));
}

static const struct step pipeline[] = {
	{"snakemake", {"snakemake", "bash"}, 0, 12400, 900, 90, 0},
	{"simulate", {"wgsim", "mkdir", "bash"}, 400, 1800, 1700, 20, 0},
	{"simulate", {"wgsim", "mkdir", "bash"}, 420, 2100, 1900, 20, 0},
	{"simulate", {"wgsim", "mkdir", "bash"}, 2300, 1500, 1400, 20, 0},
	{"index", {"bwa index"}, 4000, 900, 880, 413, 0},
	{"index", {"index"}, 4000, 900, 880, 413, 0},
	{"map", {"bwa mem", "samtools sort", "bash"}, 5000, 4100, 7800, 380, 0},
	{"map", {"bwa mem", "samtools sort", "bash"}, 5100, 3900, 7600, 379, 0},
	{"stats", {"samtools flagstat"}, 9200, 600, 590, 12, 0},
};
static const struct step hostile[] = {
	{HOSTILE, {HOSTILE}, 0, 3000, 100, 9, 0},
	{HOSTILE " step", {HOSTILE, "bash", "mkdir"}, 100, 2800, 2700, 300, 1},
};
static const struct step plain[] = {{"gzip", {"gzip", "bash"}, 0, 700, 650, 2, 0}};
static const struct step running[] = {
	{"make", {"make"}, 0, 60000, 200, 30, 0},       {"cc " HOSTILE, {"cc1plus"}, 1000, 60000, 57000, 700, 0},
	{"copy", {"dd"}, 58000, 500, 140, 30, 0, true}, {"copy", {"dd"}, 58200, 500, 140, 30, 0, true},
	{"copy", {"dd"}, 58400, 500, 140, 30, 0, true},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A command line typical of pipelines: directories of a package manager, and many files. */
static void put_long(void)
{
	static char arguments[2600];
	static struct step steps[] = {
		{"align.sh", {"align.sh", "bash"}, 0, 9000, 40, 4, 0},
		{"bwa mem", {"bwa mem"}, 200, 8600, 16100, 5200, 0},
	};
	size_t used = 0;
	const char *const begin[] = {"/opt/conda/envs/align-0.7.17/bin/bwa", "mem", "-t", "2"};

	for (size_t i = 0; i < COUNT(begin); i++)
		used += (size_t)snprintf(arguments + used, sizeof(arguments) - used, "%s", begin[i]) + 1;
	for (int i = 0; i < 40; i++)
		used += (size_t)snprintf(arguments + used, sizeof(arguments) - used,
					 "/data/project/reads/sample_%02d_L001_R1_001.fastq.gz", i) +
			1;
	for (size_t i = 0; i < COUNT(steps); i++) {
		steps[i].arguments = arguments;
		steps[i].arguments_size = used;
	}
	put_run("align.sh", "command", NULL, steps, COUNT(steps), 500, false);
}

/* 2,000 tasks, of which three in the middle fail. */
static void put_many(void)
{
	static struct step steps[2001] = {{"parallel", {"parallel"}, 0, 52000, 900, 30, 1}};

	for (int i = 1; i <= 2000; i++)
		steps[i] = (struct step){"sort", {"sort"}, 25 * i, 20 + (i * 37) % 1000, 4, 2, i % 600 == 0};
	put_run("parallel sort", "command", "parallel", steps, COUNT(steps), 400, false);
}

/* A run of three steps on two samples of its own, named after `number`. The first two steps take so many per cent of
 * their usual time. */
static void put_of_series(const char *name, int number, int64_t ago_s, int64_t align_percent, int64_t sort_percent)
{
	static const char *const tools[] = {"bwa mem", "samtools sort", "samtools index"};
	const int64_t per_mille[] = {10 * align_percent, 10 * sort_percent / 3, 50};
	char lines[6][64];
	struct step steps[7] = {{name, {"bash"}, 0, 0, 40, 4, 0}};
	int64_t begin_ms = 100 + 40 * (ago_s % 7);

	for (int i = 0; i < 6; i++) {
		bool is_second = i % 2;
		const char *tool = tools[i / 2];
		int64_t wall_ms = (1 + number % 5) * (is_second ? 3100 : 2300) * per_mille[i / 2] / 1000;
		int size = snprintf(lines[i], sizeof(lines[i]), "%s%cP%d_%s.bam", tool, 0, number,
				    is_second ? "tumour" : "normal");

		steps[i + 1] = (struct step){.task = tool,
					     .tools = {tool},
					     .begin_ms = begin_ms,
					     .wall_ms = wall_ms,
					     .cpu_ms = wall_ms * 9 / 10,
					     .memory_mib = 200 * (3 - i / 2),
					     .arguments = lines[i],
					     .arguments_size = (size_t)size + 1};
		begin_ms += is_second ? wall_ms + 50 : 10;
	}
	steps[0].wall_ms = begin_ms;
	put_run(name, "command", NULL, steps, COUNT(steps), ago_s, false);
}

/* Eight runs of `nightly.sh`, and eight of `nightly-new.sh` on the same samples, whose aligner is slower. */
static void put_series(void)
{
	static const struct step day[] = {{"init", {"init"}, 0, 86400000, 900000, 60, 0}};

	put_run("init", "system", NULL, day, COUNT(day), 86400, false);
	for (int i = 0; i < 8; i++) {
		put_of_series("nightly.sh", i, 80000 - 2000 * i, 100 + i % 3, 100 + i % 2);
		put_of_series("nightly-new.sh", i, 60000 - 2000 * i, 122 + i % 4, 101 - i % 2);
	}
}

#define GPU_MEMORY 81920, 0 /* MiB of the device; energy unknown */

/* One training kept its device busy until an error of that, one lets it wait for input; now one computes, two share a device, one
 * in a slice is not told apart, and one holds memory and sleeps. */
static void put_gpus(void)
{
	static const struct gpu_use busy = {"nvidia0,nvidiactl", 97, 38, 62000, 81920, 610};
	static const struct gpu_use starved = {"nvidia1,nvidiactl", 23, 0, 9000, 81920, 170};
	static const struct gpu_use training = {"nvidia0,nvidiactl", 93, 25, 41000, GPU_MEMORY};
	static const struct gpu_use large = {"nvidia1,nvidiactl", 31, 0, 18000, GPU_MEMORY};
	static const struct gpu_use small = {"nvidia1,nvidiactl", 12, 0, 6000, GPU_MEMORY};
	static const struct gpu_use slice = {"nvidia2,nvidiactl", -1, -1, 4200, 10240, 0};
	static const struct gpu_use sleeping = {"nvidia3,nvidiactl", 0, 0, 23000, GPU_MEMORY};
	static const struct step ended[] = {
		{"pipeline.sh", {"bash"}, 0, 7260000, 900, 90, 1},
		{"prepare.py", {"prepare.py"}, 1000, 59000, 210000, 3000, 0},
		{"train.py", {"train.py"}, 60000, 3600000, 3500000, 9000, 0, .gpu = &starved},
		{"train.py", {"train.py"}, 3660000, 3600000, 3700000, 9000, 1, .gpu = &busy},
	};
	static const struct step now[] = {
		{"queue.sh", {"bash"}, 0, 7200000, 200, 30, 0},
		{"train.py", {"train.py"}, 0, 7200000, 7000000, 9000, 0, .gpu = &training},
		{"serve.py", {"serve.py"}, 0, 7200000, 600000, 4000, 0, .gpu = &large},
		{"embed.py", {"embed.py"}, 0, 7200000, 400000, 2000, 0, .gpu = &small},
		{"score.py", {"score.py"}, 0, 7200000, 300000, 2000, 0, .gpu = &slice},
		{"notebook", {"ipykernel"}, 0, 7200000, 20000, 700, 0, .gpu = &sleeping},
	};

	put_run("pipeline.sh", "command", NULL, ended, COUNT(ended), 14400, false);
	put_incident(id_of("task", "train.py", run.id + 3), "gpu-error", "train.py (pid 1000) exited with code 1",
		     "nvidia0 reported Xid 94 (contained memory error) 0.2 s before");
	put_run("queue.sh", "command", NULL, now, COUNT(now), 7200, true);
}

static void put_examples(bool fixed)
{
	put_host_samples();
	put_loss();
	put_run("init", "system", NULL, plain, COUNT(plain), 4000, false);
	put_run("bash", "session", NULL, plain, COUNT(plain), 3900, false);
	put_run("gzip", "command", NULL, plain, COUNT(plain), 3000, false);
	run.lost_count = 12;
	run.partial_count = 3;
	put_run(HOSTILE, "command", NULL, hostile, COUNT(hostile), 1700, false);
	put_incident(id_of("task", hostile[0].task, run.id), "exit-code",
		     "samtools sort of task " HOSTILE " ended with exit code 1", "its parent " HOSTILE " ended it");
	run.lost_count = run.partial_count = 0;
	in_container = true;
	put_run("make", "command", "make", running, COUNT(running), 60, true);
	put_container();
	put_incident(ROW_NULL, "stuck", "cc1plus (pid 7) is in uninterruptible sleep", NULL);
	in_container = false;
	if (fixed) {
		put_long();
		put_many();
	}
	put_run("snakemake: Snakefile", "job", "snakemake", pipeline, COUNT(pipeline), 30, false);
}

int main(int argc, char **argv)
{
	struct store_stream stream = {
		.boot_id = "00000000-0000-0000-0000-000000000000", .ring_epoch = 7, .ring_offset = 4096};
	struct store_error error;

	bool series = argc == 3 && strcmp(argv[2], "series") == 0;
	bool gpu = argc == 3 && strcmp(argv[2], "gpu") == 0;
	bool fixed = series || gpu || (argc == 3 && strcmp(argv[2], "fixed") == 0);

	if ((argc != 2 && !fixed) || store_open_writer(argv[1], &store, &error) < 0) {
		fprintf(stderr, "make_store: %s\n",
			argc == 2 || fixed ? error.text : "make_store FILE [fixed|series|gpu]");
		return 1;
	}
	boot_ns = fixed ? 100000 * SECOND : clock_ns(CLOCK_BOOTTIME);
	unix_ns = fixed ? 1763639523 * SECOND : clock_ns(CLOCK_REALTIME);
	host_id = id_of("host", "example", 0);
	run = (struct row_run){ROW_RUN_COLUMNS(NULL_I, NULL_T, NULL_B)};
	run.host_id = host_id;
	run.user_id = 1;
	run.lost_count = 0;
	run.rules_version = 5;
	run.reason = "a child of an interactive shell";
	run.working_directory = "/data/" HOSTILE;
	put_host(series || gpu ? 86400 : 4000);
	if (series)
		put_series();
	else if (gpu)
		put_gpus();
	else
		put_examples(fixed);
	stream.committed_boot_ns = (uint64_t)boot_ns;
	stream.committed_unix_ns = (uint64_t)unix_ns;
	check(store_commit(store, &stream));
	store_close(store);
	return 0;
}
