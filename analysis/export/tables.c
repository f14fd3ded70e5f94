/* One line for each task: Nextflow's trace file, Snakemake's benchmark file, and CSV with all figures.
 *
 * Nextflow's columns: https://docs.seqera.io/nextflow/reports#trace-file, as with `trace.raw`: times in
 * milliseconds, sizes in bytes. Snakemake's: BenchmarkRecord in its benchmark.py, and the columns that
 * --benchmark-extended adds and that say which job it was. A figure that Tracer does not collect is "-" in both.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analysis/export/formats.h"
#include "common/identity.h"
#include "common/text.h"

#define UNKNOWN "-"
#define NS_PER_MS 1000000
#define NS_PER_S 1e9
#define MIB (1024.0 * 1024.0)
#define SECONDS_PER_DAY 86400
#define SIGNAL_BASE 128 /* exit status of a shell whose command a signal ended */

struct table {
	const struct report *report;
	FILE *file;
	const char *separator; /* before the next cell */
	int64_t line_count;
	int error;
};

/* ---- cells ------------------------------------------------------------------------- */

/* Begins a cell. Returns whether its value is known: else the cell is complete. */
static bool cell(struct table *table, bool is_known)
{
	fputs(table->separator, table->file);
	table->separator = "\t";
	if (!is_known)
		fputs(UNKNOWN, table->file);
	return is_known;
}

static void put_text(struct table *table, const char *text)
{
	char *safe = text_escaped(text);

	if (!safe)
		table->error = -ENOMEM;
	else if (cell(table, *safe))
		fputs(safe, table->file);
	free(safe);
}

static void put_id(struct table *table, int64_t id)
{
	char digits[IDENTITY_TEXT_SIZE];

	identity_format(id, digits);
	put_text(table, digits);
}

static void put_integer(struct table *table, int64_t value)
{
	if (cell(table, value != ROW_NULL))
		fprintf(table->file, "%" PRId64, value);
}

/* value / unit */
static void put_real(struct table *table, int64_t value, double unit, int digits)
{
	if (cell(table, value != ROW_NULL))
		fprintf(table->file, "%.*f", digits, (double)value / unit);
}

static void put_percent(struct table *table, int64_t part, int64_t whole)
{
	if (cell(table, part != ROW_NULL && whole != ROW_NULL && whole > 0))
		fprintf(table->file, "%.2f", 100 * (double)part / (double)whole);
}

static void put_unknowns(struct table *table, int count)
{
	for (int i = 0; i < count; i++)
		cell(table, false);
}

static int line_end(struct table *table)
{
	fputc('\n', table->file);
	table->separator = "";
	return table->error;
}

/* ---- a task ------------------------------------------------------------------------ */

/* The peak of the processes that ran at the same time is sampled; that of the largest one is exact. */
static int64_t peak_memory_bytes(const struct row_task *task)
{
	return task->concurrent_memory_bytes > task->peak_rss_bytes ? task->concurrent_memory_bytes
								    : task->peak_rss_bytes;
}

static int64_t exit_status(const struct row_task *task)
{
	return task->signal > 0 ? row_add(SIGNAL_BASE, task->signal) : task->exit_code;
}

static const char *nextflow_status(const struct row_task *task)
{
	if (report_has_failed(task->status))
		return "FAILED";
	if (strcmp(task->status, "succeeded") == 0)
		return "COMPLETED";
	return strcmp(task->status, "running") == 0 ? "RUNNING" : NULL;
}

static int64_t milliseconds(int64_t ns)
{
	return ns == ROW_NULL ? ns : ns / NS_PER_MS;
}

static const char trace_header[] =
	"task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tstart\tcomplete\tduration\trealtime\t%cpu\t%mem\trss\tvmem\tpeak_rss\tpeak_vmem\trchar\twchar\tread_bytes\twrite_bytes\tvol_ctxt\tinv_ctxt\n";

static int trace_write(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		       size_t count)
{
	struct table *table = context;
	int64_t wall_ns = row_subtract(task->end_boot_ns, task->begin_boot_ns);

	if (!export_has_task(table->report, index))
		return 0;
	put_integer(table, ++table->line_count);
	put_text(table, task->label);
	put_id(table, task->id);
	put_text(table, report_task_name(table->report, index, task));
	put_text(table, nextflow_status(task));
	put_integer(table, exit_status(task));
	put_integer(table, milliseconds(task->started_unix_ns)); /* submit: at the latest */
	put_integer(table, milliseconds(task->started_unix_ns));
	put_integer(table, milliseconds(row_add(task->started_unix_ns, wall_ns)));
	put_integer(table, milliseconds(wall_ns)); /* duration: since the submission, at the least */
	put_integer(table, milliseconds(wall_ns));
	put_percent(table, task->cpu_ns, wall_ns);
	put_unknowns(table, 3); /* %mem, rss, vmem: at the end of the task */
	put_integer(table, peak_memory_bytes(task));
	put_unknowns(table, 1); /* peak_vmem */
	put_integer(table, task->rchar_bytes);
	put_integer(table, task->wchar_bytes);
	put_integer(table, task->read_bytes);
	put_integer(table, task->write_bytes);
	put_integer(table, task->voluntary_switches);
	put_integer(table, task->involuntary_switches);
	return line_end(table);
}

static const char benchmark_header[] =
	"s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\tjobid\trule_name\twildcards\n";

/* As Snakemake does: "1 day, 2:03:04". */
static void put_clock(struct table *table, int64_t ns)
{
	int64_t seconds = ns == ROW_NULL ? ns : ns / (int64_t)NS_PER_S, days = seconds / SECONDS_PER_DAY;

	if (!cell(table, ns != ROW_NULL))
		return;
	if (days > 0)
		fprintf(table->file, "%" PRId64 " day%s, ", days, days == 1 ? "" : "s");
	fprintf(table->file, "%" PRId64 ":%02" PRId64 ":%02" PRId64, seconds % SECONDS_PER_DAY / 3600,
		seconds / 60 % 60, seconds % 60);
}

static int benchmark_write(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
			   size_t count)
{
	struct table *table = context;
	int64_t wall_ns = row_subtract(task->end_boot_ns, task->begin_boot_ns);

	if (!export_has_task(table->report, index))
		return 0;
	put_real(table, wall_ns, NS_PER_S, 4);
	put_clock(table, wall_ns);
	put_real(table, peak_memory_bytes(task), MIB, 2);
	put_unknowns(table, 3);
	put_real(table, task->read_bytes, MIB, 2);
	put_real(table, task->write_bytes, MIB, 2);
	put_percent(table, task->cpu_ns, wall_ns);
	put_real(table, task->cpu_ns, NS_PER_S, 2);
	put_integer(table, ++table->line_count);
	put_text(table, report_task_name(table->report, index, task));
	put_text(table, report_task_label(table->report, index, task));
	return line_end(table);
}

/* ---- the formats -------------------------------------------------------------------- */

static int table_walk(const struct report *report, FILE *file,
		      int (*write)(void *context, size_t index, const struct row_task *task,
				   const struct row_tool *tools, size_t count))
{
	struct table table = {.report = report, .file = file, .separator = ""};
	const struct report_writer writer = {.task = write};

	return report_walk(report, NULL, 0, &writer, &table);
}

int export_trace(const struct report *report, FILE *file)
{
	fputs(trace_header, file);
	return table_walk(report, file, trace_write);
}

int export_benchmark(const struct report *report, FILE *file)
{
	fputs(benchmark_header, file);
	return table_walk(report, file, benchmark_write);
}

struct csv {
	const struct report *report;
	struct json_writer writer;
};

static void csv_line(struct json_writer *writer, const struct row_task *task)
{
	json_write_line(writer);
	json_write_row(writer, &row_type_task, task);
	json_write_line_end(writer);
}

static int csv_write_task(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
			  size_t count)
{
	struct csv *csv = context;

	if (export_has_task(csv->report, index))
		csv_line(&csv->writer, task);
	return csv->writer.error;
}

int export_csv(const struct report *report, FILE *file)
{
	struct csv csv = {report, {.file = file, .form = ROW_AS_CSV_NAMES}};
	const struct report_writer writer = {.task = csv_write_task};
	int error;

	csv_line(&csv.writer, &(const struct row_task){0});
	csv.writer.form = ROW_AS_CSV;
	error = report_walk(report, NULL, 0, &writer, &csv);
	return json_write_end(&csv.writer) < 0 ? csv.writer.error : error;
}
