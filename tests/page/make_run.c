/* Writes a store with one run, without a probe: a genomics pipeline of any size, for tests and benchmarks of its page.
 *
 *   make_run FILE SHAPE PROCESSES
 *
 * The pipeline has 40 steps, as many samples as it takes, several tools a task, tasks that are killed for their memory
 * and repeated, and samples of what runs for long. The same arguments give the same rows. SHAPE is one of
 *
 *   succeeded    all is well in the end
 *   failed       so it is, except that one task fails three times, and what waits for it is never begun
 *   killed       the engine is killed with SIGKILL, and what it ran ends with it
 *   running      now; the last tasks have no end
 *   incomplete   records were lost, and the figures of some tasks are lower bounds
 *   empty        a command that did nothing, without an engine or tasks
 *   gpu          some programs use GPUs, alone, two at a time, in a slice or not at all, and a task fails for one
 *   hostile      every name, path and argument is an attack, and has the word EVIL in it
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/identity.h"
#include "correlator/store/writer.h"

#define MS 1000000LL
#define SECOND (1000 * MS)
#define KIB 1024LL
#define MIB (1024 * KIB)
#define CPU_COUNT 64           /* of the host */
#define FORKED_BYTES (3 * MIB) /* memory of what a tool forks */
#define SLOT_COUNT 24          /* tasks that the engine runs at a time */
#define TOOLS_MAX 4            /* of a task */
#define SAMPLE_EVERY (10 * SECOND)
#define SAMPLES_MAX 6 /* of a process */
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof((array)[0])))

/* A step, and what one of its tasks takes on average. */
struct step {
	const char *name;
	const char *tools[TOOLS_MAX];
	int64_t wall_ms, memory_mib;
	int thread_count;
};

static const struct step steps[] = {
	{"INPUT_CHECK", {"python3 check_samplesheet.py"}, 2100, 61, 1},
	{"FASTQC", {"fastqc", "java"}, 48000, 412, 2},
	{"FASTP", {"fastp"}, 61000, 890, 6},
	{"TRIMGALORE", {"trim_galore", "cutadapt", "pigz"}, 74000, 340, 8},
	{"SEQKIT_SPLIT2", {"seqkit split2"}, 19000, 210, 4},
	{"BWAMEM2_INDEX", {"bwa-mem2 index"}, 93000, 14200, 1},
	{"BWAMEM2_MEM", {"bwa-mem2 mem", "samtools sort"}, 183000, 18400, 16},
	{"SAMTOOLS_MERGE", {"samtools merge"}, 27000, 94, 2},
	{"SAMTOOLS_INDEX", {"samtools index"}, 9100, 38, 1},
	{"MARKDUPLICATES", {"gatk MarkDuplicates", "java"}, 121000, 6900, 4},
	{"SAMTOOLS_STATS", {"samtools stats"}, 22000, 51, 2},
	{"MOSDEPTH", {"mosdepth"}, 31000, 130, 3},
	{"BASERECALIBRATOR", {"gatk BaseRecalibrator", "java"}, 68000, 3700, 2},
	{"GATHERBQSRREPORTS", {"gatk GatherBQSRReports", "java"}, 5400, 620, 1},
	{"APPLYBQSR", {"gatk ApplyBQSR", "java"}, 52000, 2900, 2},
	{"CRAM_TO_BAM", {"samtools view"}, 17000, 70, 4},
	{"HAPLOTYPECALLER", {"gatk HaplotypeCaller", "java"}, 142000, 5200, 3},
	{"MERGE_HAPLOTYPECALLER", {"gatk MergeVcfs", "java"}, 8200, 900, 1},
	{"CNNSCOREVARIANTS", {"gatk CNNScoreVariants", "python"}, 54000, 4800, 4},
	{"FILTERVARIANTTRANCHES", {"gatk FilterVariantTranches", "java"}, 9800, 1400, 1},
	{"STRELKA_SINGLE", {"python2 runWorkflow.py", "starling2"}, 77000, 1900, 12},
	{"DEEPVARIANT", {"make_examples", "call_variants", "postprocess_variants"}, 210000, 7700, 14},
	{"FREEBAYES", {"freebayes"}, 99000, 880, 1},
	{"BCFTOOLS_MPILEUP", {"bcftools mpileup", "bcftools call"}, 58000, 240, 2},
	{"BCFTOOLS_STATS", {"bcftools stats"}, 4600, 40, 1},
	{"BCFTOOLS_NORM", {"bcftools norm"}, 3900, 66, 1},
	{"VCFTOOLS_TSTV", {"vcftools"}, 2600, 12, 1},
	{"VCFTOOLS_SUMMARY", {"vcftools"}, 2400, 12, 1},
	{"TABIX_BGZIPTABIX", {"bgzip", "tabix"}, 1900, 9, 1},
	{"MANTA_GERMLINE", {"python2 runWorkflow.py", "GenerateSVCandidates"}, 88000, 2100, 12},
	{"TIDDIT_SV", {"tiddit", "bwa index"}, 44000, 3300, 4},
	{"CNVKIT_BATCH", {"cnvkit.py batch", "Rscript"}, 66000, 2500, 6},
	{"CONTROLFREEC", {"freec", "Rscript"}, 49000, 1700, 6},
	{"MSISENSORPRO", {"msisensor-pro"}, 12000, 310, 3},
	{"NGSCHECKMATE", {"ncm.py"}, 7300, 140, 1},
	{"SNPEFF", {"snpEff", "java"}, 39000, 7900, 2},
	{"ENSEMBLVEP", {"vep", "perl"}, 83000, 3100, 5},
	{"SENTIEON_DNASCOPE", {"sentieon driver"}, 57000, 8800, 16},
	{"CUSTOM_DUMPSOFTWAREVERSIONS", {"python3 dump_versions.py"}, 1400, 44, 1},
	{"MULTIQC", {"multiqc"}, 36000, 1900, 1},
};

/* Texts of traced programs at their worst. The last is filled in main(). */
static char endless[4200];
static const char *const attacks[] = {
	"<script>document.title='EVIL'</script>",
	"<img src=x onerror=\"document.title='EVIL'\">EVIL",
	"EVIL\xe2\x80\xaegnp.exe",
	"EVIL\nof two\tlines\r\n",
	"\xff\xfe EVIL \x80 invalid",
	"</script><!-- EVIL -->",
	"EVIL\033[2J\033]0;title\007\xc2\x9b"
	"31m",
	"EVIL\xe2\x80\x8b\xe2\x81\xa6\xcc\x81\xcc\x82\xcc\x83",
	"=HYPERLINK(\"http://EVIL.example\")",
	endless,
};

static struct store *store;
static struct row_host host;
static struct row_run run;
static uint64_t seed = 1;
static int64_t now_boot_ns; /* of a running one; after the end of others */
static bool hostile;
static const char *shape;

static bool is(const char *name)
{
	return strcmp(shape, name) == 0;
}

static void check(int error)
{
	if (error == 0)
		return;
	fprintf(stderr, "make_run: %s\n", store_error_text(store));
	exit(1);
}

static int64_t id_of(const char *kind, int64_t number)
{
	struct identity identity;

	identity_begin(&identity, kind);
	identity_add_u64(&identity, (uint64_t)number);
	return identity_end(&identity);
}

/* 0 to below `bound` */
static int64_t chance(int64_t bound)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int64_t)((seed >> 33) % (uint64_t)bound);
}

/* Half to three times `mean`, rarely more than twice. */
static int64_t around(int64_t mean)
{
	int64_t many = chance(20) == 0 ? 200 : 50;

	return mean * (50 + chance(50) + chance(50) + chance(many)) / 100;
}

static int64_t add_known(int64_t sum, int64_t part)
{
	return sum == ROW_NULL ? part : part == ROW_NULL ? sum : sum + part;
}

/* As the kernel counts. */
static int64_t pages(int64_t bytes)
{
	return bytes / 4096 * 4096;
}

/* `name`, or an attack in its place. */
static const char *text(const char *name)
{
	return hostile ? attacks[chance(COUNT(attacks))] : name;
}

#define NULL_I(column) .column = ROW_NULL,
#define NULL_T(column)
#define NULL_B(column)
#define SET_TOTALS(row, cpu, io) \
	do { \
		(row).cpu_ns = (cpu); \
		(row).user_ns = (cpu)*9 / 10; \
		(row).system_ns = (cpu) / 10; \
		(row).run_delay_ns = (cpu) / 40; \
		(row).block_io_delay_ns = (cpu) / 60; \
		(row).memory_delay_ns = 0; \
		(row).voluntary_switches = (cpu) / MS; \
		(row).involuntary_switches = (cpu) / MS / 9; \
		(row).minor_faults = 4000; \
		(row).major_faults = 3; \
		(row).read_bytes = pages(io); \
		(row).write_bytes = pages((io) / 3); \
		(row).cancelled_write_bytes = 0; \
		(row).rchar_bytes = (io)*2; \
		(row).wchar_bytes = (io); \
		(row).syscr_count = (io) / (64 * KIB); \
		(row).syscw_count = (io) / (192 * KIB); \
		(row).sent_bytes = 0; \
		(row).received_bytes = 0; \
		(row).uninterruptible_ns = (cpu) / 50; \
	} while (0)
#define ADD_TOTAL(column) to->column = add_known(to->column, of->column);
#define ADD_TOTALS(sum, row) \
	do { \
		__typeof__(sum) *to = &(sum); \
		const __typeof__(row) *of = &(row); \
\
		ROW_TOTALS(ADD_TOTAL) \
		to->peak_rss_bytes = \
			of->peak_rss_bytes > to->peak_rss_bytes ? of->peak_rss_bytes : to->peak_rss_bytes; \
		to->gpu_peak_bytes = \
			of->gpu_peak_bytes > to->gpu_peak_bytes ? of->gpu_peak_bytes : to->gpu_peak_bytes; \
	} while (0)

/* What a program does on the devices that it holds. */
static const struct gpu_use {
	const char *program, *devices;
	int64_t busy_percent;                                         /* -1: unknown, as in a slice of a device */
	int64_t throttled_percent, memory_mib, capacity_mib, power_w; /* power 0: not alone */
} gpu_uses[] = {
	{"bwa-mem2 mem", "nvidia0,nvidiactl", 85, 30, 14000, 16384, 250},
	{"gatk MarkDuplicates", "nvidia1,nvidiactl", 25, 0, 5000, 16384, 0},
	{"mosdepth", "nvidia2,nvidiactl", 0, 0, 6000, 16384, 60},
	{"gatk HaplotypeCaller", "nvidia3,nvidiactl", -1, 0, 4200, 5120, 0},
};

static void add_gpu(struct row_process *process, int64_t wall_ns)
{
	const struct gpu_use *use = gpu_uses;

	while (use < gpu_uses + COUNT(gpu_uses) && strcmp(process->program, use->program) != 0)
		use++;
	if (!is("gpu") || use == gpu_uses + COUNT(gpu_uses))
		return;
	process->gpu = use->devices;
	process->gpu_peak_bytes = use->memory_mib * MIB;
	process->gpu_capacity_bytes = use->capacity_mib * MIB;
	if (use->busy_percent < 0)
		return;
	process->gpu_busy_ns = wall_ns / 100 * use->busy_percent;
	process->gpu_throttled_ns = process->gpu_busy_ns / 100 * use->throttled_percent;
	if (use->power_w > 0)
		process->gpu_energy_uj = wall_ns / 1000 * use->power_w;
}

/* What runs for long is looked at now and then. */
static void put_samples(const struct row_process *process)
{
	int64_t end = process->end_boot_ns == ROW_NULL ? now_boot_ns : process->end_boot_ns;
	int64_t wall = end - process->begin_boot_ns;
	int64_t count = wall / SAMPLE_EVERY < SAMPLES_MAX ? wall / SAMPLE_EVERY : SAMPLES_MAX;

	for (int64_t i = 1; i <= count; i++) {
		struct row_sample sample = {ROW_SAMPLE_COLUMNS(NULL_I, NULL_T, NULL_B)};

		sample.process_id = process->id;
		sample.boot_ns = process->begin_boot_ns + wall * i / (count + 1);
		sample.cpu_ns = process->cpu_ns * i / (count + 1);
		sample.run_delay_ns = process->run_delay_ns * i / (count + 1);
		sample.read_bytes = process->read_bytes * i / (count + 1);
		sample.write_bytes = process->write_bytes * i / (count + 1);
		sample.rss_anon_bytes = process->peak_rss_bytes * 9 / 10;
		sample.rss_file_bytes = process->peak_rss_bytes / 20;
		sample.rss_shmem_bytes = 0;
		sample.thread_count = 4;
		sample.uninterruptible_count = i % 5 == 0;
		sample.gpu_memory_bytes = process->gpu_peak_bytes;
		if (process->gpu_busy_ns != ROW_NULL)
			sample.gpu_busy_ns = process->gpu_busy_ns / (count + 1) * i;
		check(store_put_sample(store, &sample));
	}
}

/* Returns its id. */
static int64_t put_process(const struct row_task *task, struct row_tool *tool, int64_t parent_id, int64_t begin_ns,
			   int64_t end_ns, int64_t cpu_ns, int64_t memory, const char *file)
{
	static int64_t number;
	struct row_process process = {ROW_PROCESS_COLUMNS(NULL_I, NULL_T, NULL_B)};
	/* What short programs read is in the page cache, as a rule. */
	int64_t io =
		parent_id == ROW_NULL || end_ns - begin_ns > SECOND || chance(4) == 0 ? memory / 2 + cpu_ns / 40 : 0;
	char arguments[9000];
	int size =
		snprintf(arguments, sizeof(arguments), "%s%c--threads%c4%c-o%cwork/%06x/%s.%d.bam%c%s", tool->name, 0,
			 0, 0, 0, (unsigned int)(task->id & 0xffffff), file, (int)number, 0, text("/data/ref.fa"));
	bool ends = end_ns < now_boot_ns;

	if (!ends) { /* so far */
		cpu_ns = (int64_t)((double)cpu_ns * (double)(now_boot_ns - begin_ns) / (double)(end_ns - begin_ns));
		io = io / 2;
	}
	process.id = id_of("process", ++number);
	process.host_id = host.id;
	process.run_id = run.id;
	process.task_id = task->id;
	process.tool_id = tool->id;
	process.parent_id = parent_id;
	process.pid = 2000 + number % 4000000;
	process.exec_id = number;
	process.user_id = run.user_id;
	process.began = "exec";
	process.ended = ends ? "exit" : NULL;
	process.totals = ends ? "final" : "sample";
	process.begin_boot_ns = begin_ns;
	process.end_boot_ns = ends ? end_ns : ROW_NULL;
	process.started_unix_ns = host.boot_unix_ns + begin_ns;
	process.exit_code = ends ? 0 : ROW_NULL;
	process.failed = 0;
	process.oom_killed = 0;
	process.partial = 0;
	process.role = tool->role;
	process.reason = "its parent is the task's";
	process.program = tool->name;
	process.path = text("/usr/local/bin/program");
	process.arguments = (struct row_blob){arguments, (size_t)size + 1};
	process.redacted_count = 0;
	process.arguments_truncated = 0;
	process.working_directory = task->working_directory;
	SET_TOTALS(process, cpu_ns, io);
	process.peak_rss_bytes = pages(memory);
	if (memory > FORKED_BYTES)
		add_gpu(&process, (ends ? end_ns : now_boot_ns) - begin_ns);
	check(store_put_process(store, &process));
	put_samples(&process);
	tool->process_count++;
	tool->living_count += !ends;
	ADD_TOTALS(*tool, process);
	run.process_count++;
	return process.id;
}

/* The tool's own process and `forked` short ones below it. Returns the id of the first. */
static int64_t put_tool(struct row_task *task, const char *name, const char *role, int64_t parent_id, int64_t begin_ns,
			int64_t end_ns, int64_t cores_milli, int64_t memory, int forked, const char *file)
{
	struct row_tool tool = {ROW_TOOL_COLUMNS(NULL_I, NULL_T, NULL_B)};
	int64_t wall = end_ns - begin_ns, first;

	tool.id = id_of("tool", task->id ^ (run.process_count << 20));
	tool.host_id = host.id;
	tool.run_id = run.id;
	tool.task_id = task->id;
	tool.name = text(name);
	tool.role = role;
	tool.begin_boot_ns = begin_ns;
	tool.end_boot_ns = end_ns < now_boot_ns ? end_ns : ROW_NULL;
	tool.started_unix_ns = host.boot_unix_ns + begin_ns;
	tool.process_count = tool.living_count = tool.failed_count = tool.partial_count = 0;
	SET_TOTALS(tool, 0, 0);
	tool.minor_faults = tool.major_faults = tool.peak_rss_bytes = 0;
	tool.concurrent_memory_bytes = memory;
	first = put_process(task, &tool, parent_id, begin_ns, end_ns, wall / 1000 * cores_milli, memory, file);
	for (int i = 0; i < forked; i++) {
		int64_t from = begin_ns + wall / (forked + 1) * i;

		if (from >= now_boot_ns)
			break;
		put_process(task, &tool, first, from, from + wall / 20, wall / 30, FORKED_BYTES, file);
	}
	check(store_put_tool(store, &tool));
	task->process_count += tool.process_count;
	task->living_count += tool.living_count;
	ADD_TOTALS(*task, tool);
	return first;
}

static void put_incident(const struct row_task *task, const char *kind, const char *sentence, const char *cause)
{
	struct row_incident incident = {ROW_INCIDENT_COLUMNS(NULL_I, NULL_T, NULL_B)};

	incident.id = id_of("incident", task->id);
	incident.host_id = host.id;
	incident.run_id = run.id;
	incident.task_id = task->id;
	incident.process_id = task->root_process_id;
	incident.kind = kind;
	incident.boot_ns = task->end_boot_ns;
	incident.unix_ns = host.boot_unix_ns + task->end_boot_ns;
	incident.sentence = text(sentence);
	incident.cause = cause ? text(cause) : NULL;
	incident.fatal = task->retried_by_id == ROW_NULL;
	check(store_put_incident(store, &incident));
}

static void begin_task(struct row_task *task, int64_t number, const char *kind, const char *name, const char *label,
		       int64_t begin_ns)
{
	*task = (struct row_task){ROW_TASK_COLUMNS(NULL_I, NULL_T, NULL_B)};
	task->id = id_of("task", number);
	task->host_id = host.id;
	task->run_id = run.id;
	task->kind = kind;
	task->name = text(name);
	task->label = text(label);
	task->working_directory = text("/data/projects/cohort7/work");
	task->reason = "a direct subtree of the orchestrator";
	task->status = "succeeded";
	task->exit_code = 0;
	task->begin_boot_ns = begin_ns;
	task->started_unix_ns = host.boot_unix_ns + begin_ns;
	task->process_count = task->living_count = task->failed_count = task->lost_count = task->partial_count = 0;
	SET_TOTALS(*task, 0, 0);
	task->minor_faults = task->major_faults = task->peak_rss_bytes = 0;
	task->core_limit_milli = 1000 * CPU_COUNT;
}

static void end_task(struct row_task *task, int64_t end_ns)
{
	task->end_boot_ns = end_ns < now_boot_ns ? end_ns : ROW_NULL;
	if (task->end_boot_ns == ROW_NULL) {
		task->status = "running";
		task->exit_code = ROW_NULL;
	}
	if (is("incomplete") && chance(50) == 0) {
		task->lost_count = 3;
		task->partial_count = 1;
	}
	check(store_put_task(store, task));
	run.living_count += task->living_count;
	run.failed_count += task->failed_count > 0;
	run.partial_count += task->partial_count;
	run.task_count += strcmp(task->kind, "main") != 0;
	if (end_ns > run.end_boot_ns)
		run.end_boot_ns = end_ns;
	ADD_TOTALS(run, *task);
}

static void fail_for_gpu(struct row_task *task)
{
	task->status = "failed";
	task->exit_code = 1;
	task->failed_count = 1;
}

/* Exit status 137 of a shell whose child the kernel chose to kill. */
static void fail_for_memory(struct row_task *task)
{
	task->status = "failed";
	task->exit_code = 137;
	task->failed_count = 1;
	task->cgroup_peak_bytes = task->memory_limit_bytes;
}

/* Returns when it ends. `again`: 0 if all is well; else it fails, and is the number of the next attempt, -1 if there is
 * none. */
static int64_t put_task(int64_t number, const struct step *step, const char *label, int64_t begin_ns, int64_t again)
{
	struct row_task task;
	int64_t wall = around(step->wall_ms) * MS, end = begin_ns + wall, memory = around(step->memory_mib) * MIB;
	int64_t from = begin_ns + 40 * MS, shell;
	bool cut = is("killed") && end >= now_boot_ns - SECOND; /* with the engine */
	size_t tool_count = 0;
	char sentence[128];

	if (cut)
		end = now_boot_ns - SECOND;

	begin_task(&task, number, "engine", step->name, label, begin_ns);
	task.requested_thread_count = step->thread_count;
	task.memory_limit_bytes = step->memory_mib * 3 * MIB;
	task.cgroup_peak_bytes = memory + memory / 8;
	task.concurrent_memory_bytes = memory;
	while (tool_count < TOOLS_MAX && step->tools[tool_count])
		tool_count++;
	shell = put_tool(&task, "bash", "helper", ROW_NULL, begin_ns, end, 1, 3 * MIB, 1 + (int)chance(3), label);
	task.root_process_id = shell;
	for (size_t i = 0; i < tool_count; i++) {
		/* In a pipe they run together, else one after the other. */
		bool pipe = tool_count == 2;
		int64_t part = (end - from) / (pipe ? 1 : (int64_t)tool_count);

		if (!pipe && from + part * (int64_t)i >= now_boot_ns)
			break;
		put_tool(&task, step->tools[i], "tool", shell, from + part * (pipe ? 0 : (int64_t)i),
			 from + part * (pipe ? 1 : (int64_t)i + 1),
			 (80 + chance(400)) * step->thread_count / (pipe ? 2 : 1), i == 0 ? memory : memory / 5,
			 (int)chance(3), label);
	}
	if (again != 0 && !cut && end < now_boot_ns) {
		if (is("gpu"))
			fail_for_gpu(&task);
		else
			fail_for_memory(&task);
		task.retried_by_id = again > 0 ? id_of("task", again) : ROW_NULL;
	}
	if (cut) {
		task.status = "killed";
		task.exit_code = ROW_NULL;
		task.signal = 9;
		task.failed_count = 1;
	}
	end_task(&task, end);
	snprintf(sentence, sizeof(sentence), "%s (pid 4711) %s", step->tools[0],
		 is("gpu") ? "exited with code 1" : "was killed by the kernel's OOM killer");
	if (strcmp(task.status, "failed") == 0 && is("gpu"))
		put_incident(&task, "gpu-error", sentence,
			     "nvidia3 reported Xid 94 (contained memory error) 0.2 s before");
	else if (strcmp(task.status, "failed") == 0)
		put_incident(&task, "oom-kill", sentence, "its memory cgroup reached its limit");
	return end;
}

/* The driver: alive as long as the run. */
static void put_engine(void)
{
	const char *name = is("empty") ? "true" : "nextflow";
	struct row_task task;

	begin_task(&task, 0, "main", name, NULL, run.begin_boot_ns);
	task.label = NULL;
	task.concurrent_memory_bytes = 900 * MIB;
	task.root_process_id = run.root_process_id = put_tool(&task, name, "orchestrator", ROW_NULL, run.begin_boot_ns,
							      run.end_boot_ns, 60, 900 * MIB, 0, "main");
	if (is("failed") || is("gpu") || hostile) {
		task.status = "failed";
		task.exit_code = 1;
	} else if (is("killed")) {
		task.status = "killed";
		task.exit_code = ROW_NULL;
		task.signal = 9;
		task.failed_count = 1;
	}
	end_task(&task, run.end_boot_ns);
	if (is("killed"))
		put_incident(&task, "signal",
			     "nextflow (pid 2001) was killed by SIGKILL from bash (pid 811, user root)",
			     "bash (pid 811) sent it the signal");
}

/* What it takes to use `process_count` processes, on SLOT_COUNT slots. */
static void put_tasks(int64_t process_count)
{
	int64_t free_ns[SLOT_COUNT], number = 0;
	char label[64];

	for (int i = 0; i < SLOT_COUNT; i++)
		free_ns[i] = run.begin_boot_ns + 800 * MS + i * 15 * MS;
	for (int64_t i = 0; run.process_count < process_count; i++) {
		/* Steps of a sample follow each other, samples run beside each other. */
		const struct step *step = &steps[i / 12 % COUNT(steps)];
		int attempts = chance(300) == 0 ? 2 : 1, first = 0;

		snprintf(label, sizeof(label), "patient%04d_T%d", (int)(i / 12 / COUNT(steps) * 12 + i % 12),
			 (int)(i % 3 + 1));
		for (int slot = 1; slot < SLOT_COUNT; slot++)
			if (free_ns[slot] < free_ns[first])
				first = slot;
		if (free_ns[first] >= now_boot_ns - 2 * SECOND)
			return;
		for (; attempts > 0; attempts--) {
			number++;
			free_ns[first] =
				put_task(number, step, label, free_ns[first] + 20 * MS, attempts > 1 ? number + 1 : 0);
		}
	}
	if (is("failed") || is("gpu") || hostile) {
		int64_t begin = run.end_boot_ns;

		for (int attempt = 0; attempt < 3; attempt++) {
			number++;
			begin = put_task(number, &steps[16], "patient0007_T2", begin, attempt < 2 ? number + 1 : -1);
		}
	}
}

static void put_losses(void)
{
	struct row_loss loss = {
		.id = 1,
		.host_id = host.id,
		.kind = "exec",
		.cgroup_path = "/system.slice",
		.lost_count = 1234,
		.first_boot_ns = run.begin_boot_ns + SECOND,
		.last_boot_ns = run.begin_boot_ns + 3 * SECOND,
		.unix_ns = run.started_unix_ns + 3 * SECOND,
	};

	check(store_put_loss(store, &loss));
	run.lost_count = loss.lost_count;
}

static void put_container(void)
{
	struct row_container container = {ROW_CONTAINER_COLUMNS(NULL_I, NULL_T, NULL_B)};

	container.id = id_of("container", 1);
	container.host_id = host.id;
	container.runtime = "docker";
	container.runtime_id = "0123456789ab";
	container.cgroup_path = text("/docker/0123456789ab");
	container.name = text("pipeline");
	container.image = text("quay.io/biocontainers/gatk4:4.5");
	container.run_id = run.id;
	container.begin_boot_ns = run.begin_boot_ns;
	container.started_unix_ns = run.started_unix_ns;
	check(store_put_container(store, &container));
}

static void put_run(int64_t process_count)
{
	run = (struct row_run){ROW_RUN_COLUMNS(NULL_I, NULL_T, NULL_B)};
	run.id = id_of("run", 1);
	run.host_id = host.id;
	run.kind = "command";
	run.name = is("empty") ? "true" : text("nf-core/sarek");
	run.engine = is("empty") ? NULL : "nextflow";
	run.user_id = hostile ? 4242424242 : 1000;
	run.rules_version = 5;
	run.reason = "a child of an interactive shell";
	run.working_directory = text("/data/projects/cohort7");
	run.status = "succeeded";
	run.exit_code = 0;
	run.begin_boot_ns = 3600 * SECOND;
	run.end_boot_ns = run.begin_boot_ns + SECOND;
	run.started_unix_ns = host.boot_unix_ns + run.begin_boot_ns;
	run.process_count = run.living_count = run.failed_count = run.task_count = run.lost_count = run.partial_count =
		0;
	SET_TOTALS(run, 0, 0);
	run.minor_faults = run.major_faults = run.peak_rss_bytes = 0;
	run.concurrent_memory_bytes = 190000 * MIB;
	run.core_limit_milli = 1000 * CPU_COUNT;
	if (is("incomplete"))
		put_losses();
	if (!is("empty")) {
		put_container();
		put_tasks(process_count);
	}
	put_engine();
	if (is("running")) {
		run.status = "running";
		run.exit_code = ROW_NULL;
	} else if (is("killed")) {
		run.status = "killed";
		run.exit_code = ROW_NULL;
		run.signal = 9;
	} else if (is("failed") || is("gpu") || hostile) {
		run.status = "failed";
		run.exit_code = 1;
	}
	if (is("running"))
		run.end_boot_ns = ROW_NULL;
	run.root_end_boot_ns = run.end_boot_ns;
	check(store_put_run(store, &run));
}

static void put_host(void)
{
	host = (struct row_host){ROW_HOST_COLUMNS(NULL_I, NULL_T, NULL_B)};
	host.id = id_of("host", 1);
	host.host_key = text("host");
	host.hostname = text("node17.cluster.example");
	host.boot_id = "00000000-0000-0000-0000-000000000000";
	host.boot_unix_ns = 1763600000 * SECOND;
	host.kernel = "6.12.0";
	host.machine = "x86_64";
	host.os = "Debian GNU/Linux 12 (bookworm)";
	host.cpu_count = CPU_COUNT;
	host.core_count = CPU_COUNT / 2;
	host.memory_bytes = 256 * KIB * MIB;
	host.probe_version = "0.1.0";
	host.first_seen_unix_ns = host.boot_unix_ns;
	host.last_seen_unix_ns = host.boot_unix_ns + now_boot_ns;
	check(store_put_host(store, &host));
}

int main(int argc, char **argv)
{
	static const char *const shapes[] = {"succeeded",  "failed", "killed", "running",
					     "incomplete", "empty",  "gpu",    "hostile"};
	struct store_stream stream = {
		.boot_id = "00000000-0000-0000-0000-000000000000", .ring_epoch = 7, .ring_offset = 4096};
	struct store_error error;
	int64_t process_count = argc == 4 ? atoll(argv[3]) : 0;

	for (int64_t i = 0; i < COUNT(shapes); i++)
		if (process_count > 0 && strcmp(argv[2], shapes[i]) == 0)
			shape = shapes[i];
	if (!shape) {
		fprintf(stderr, "usage: make_run FILE SHAPE PROCESSES\n");
		return 2;
	}
	if (store_open_writer(argv[1], &store, &error) < 0) {
		fprintf(stderr, "make_run: %s\n", error.text);
		return 1;
	}
	memset(endless, 'x', sizeof(endless) - 1);
	memcpy(endless, "EVIL ", strlen("EVIL "));
	hostile = is("hostile");
	/* Half a second a process, on average, until the moment at which all slots are still busy. */
	now_boot_ns = is("running") || is("killed") ? (3600 + process_count / 5) * SECOND : 36000000 * SECOND;
	put_host();
	put_run(process_count);
	host.last_seen_unix_ns = host.boot_unix_ns + (is("running") ? now_boot_ns : run.end_boot_ns + SECOND);
	check(store_put_host(store, &host));
	stream.committed_boot_ns = (uint64_t)(host.last_seen_unix_ns - host.boot_unix_ns);
	stream.committed_unix_ns = (uint64_t)host.last_seen_unix_ns;
	check(store_commit(store, &stream));
	store_close(store);
	return 0;
}
