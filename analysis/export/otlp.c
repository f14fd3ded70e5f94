/* OpenTelemetry traces (common/otlp/span.h) as in a file of a collector: each line is a request of its own, small enough
 * for any receiver (https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/).
 */
#include <errno.h>
#include <string.h>

#include "analysis/export/formats.h"
#include "common/otlp/span.h"

struct writing {
	const struct report *report;
	FILE *file;
	int64_t now_unix_ns;
	size_t part;           /* whose tasks are written */
	struct json_text line; /* the request: its resource and spans, without their ends */
	size_t head_bytes;     /* of it, without spans */
	struct json_text span;
	struct otlp_times task_times;
	int64_t parent_id;
};

#define TIMES(row, now_unix_ns) times_of(EXPORT_SPAN(row, now_unix_ns))

static struct otlp_times times_of(struct export_span span)
{
	return (struct otlp_times){span.begin_unix_ns, span.end_unix_ns};
}

/* ---- requests ------------------------------------------------------------------------ */

static void request_begin(struct writing *writing)
{
	const struct report *report = writing->report;
	const struct row_run *part = &ROWS_ITEM(&report->parts, part, writing->part)->run;

	json_text_clear(&writing->line);
	json_text_raw(&writing->line, OTLP_REQUEST_BEGIN);
	otlp_resource_begin(&writing->line, report_run(report), report_host_of(report, part));
	writing->head_bytes = writing->line.size;
}

static int request_end(struct writing *writing)
{
	bool has_spans = writing->line.size > writing->head_bytes;

	otlp_resource_end(&writing->line);
	json_text_raw(&writing->line, OTLP_REQUEST_END "\n");
	if (writing->line.failed)
		return -ENOMEM;
	if (has_spans)
		fwrite(writing->line.data, 1, writing->line.size, writing->file);
	return 0;
}

/* Moves the span to the request, or to a new one. */
static int span_put(struct writing *writing)
{
	const size_t end_bytes = 64; /* more than the ends need */
	int error = writing->span.failed ? -ENOMEM : 0;

	if (error == 0 && writing->line.size + writing->span.size + end_bytes >= OTLP_REQUEST_BYTES_MAX) {
		error = request_end(writing);
		request_begin(writing);
	}
	if (error == 0 && writing->line.size > writing->head_bytes)
		json_text_raw(&writing->line, ",");
	if (error == 0)
		json_text_raw_bytes(&writing->line, writing->span.data, writing->span.size);
	json_text_clear(&writing->span);
	return error;
}

/* ---- spans --------------------------------------------------------------------------- */

static int task_write(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		      size_t count)
{
	struct writing *writing = context;
	const struct row_run *run = report_run(writing->report);

	writing->task_times = TIMES(task, writing->now_unix_ns);
	writing->parent_id = writing->report->tasks[index].is_main ? run->id : task->id;
	if (writing->report->tasks[index].is_main)
		return 0;
	otlp_task(&writing->span, run, task, report_task_name(writing->report, index, task), writing->task_times);
	return span_put(writing);
}

static int tool_write(void *context, const struct row_tool *tool, size_t index)
{
	struct writing *writing = context;

	otlp_tool(&writing->span, report_run(writing->report), tool, writing->parent_id,
		  TIMES(tool, writing->task_times.end_unix_ns));
	return span_put(writing);
}

static int run_write(struct writing *writing)
{
	const struct row_run *run = report_run(writing->report);

	otlp_run(&writing->span, run, TIMES(run, writing->now_unix_ns));
	return span_put(writing);
}

/* The tasks of one host's part of the run. */
static int part_write(struct writing *writing, size_t *indexes)
{
	const struct report *report = writing->report;
	const struct report_writer writer = {.task = task_write, .tool = tool_write};
	size_t count = 0;
	int error = 0;

	for (size_t i = 0; i < report->task_count; i++)
		if (report->tasks[i].part == writing->part)
			indexes[count++] = i;
	request_begin(writing);
	if (writing->part == 0)
		error = run_write(writing);
	if (error == 0 && count > 0)
		error = report_walk(report, indexes, count, &writer, writing);
	return error == 0 ? request_end(writing) : error;
}

int export_otlp(const struct report *report, FILE *file)
{
	struct writing writing = {.report = report, .file = file, .now_unix_ns = export_now_unix_ns(report)};
	size_t *indexes = calloc(report->task_count + 1, sizeof(*indexes));
	int error = indexes ? 0 : -ENOMEM;

	for (; writing.part < report->parts.count && error == 0; writing.part++)
		error = part_write(&writing, indexes);
	json_text_deinit(&writing.line);
	json_text_deinit(&writing.span);
	free(indexes);
	return error;
}
