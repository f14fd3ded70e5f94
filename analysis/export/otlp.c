/* OpenTelemetry traces as OTLP/JSON: an ExportTraceServiceRequest
 * (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). The run is the trace and its root span, tasks are
 * its children, tools theirs. Attributes follow the semantic conventions for CI/CD pipelines, processes and hosts where these
 * have one (https://opentelemetry.io/docs/specs/semconv/cicd/cicd-spans/); the others begin with "tracer.".
 * Ids come from those of the store: exporting twice gives the same spans.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analysis/export/formats.h"
#include "common/identity.h"

enum { KIND_INTERNAL = 1, KIND_SERVER = 2 };    /* opentelemetry.proto.trace.v1.Span.SpanKind */
enum { STATUS_UNSET, STATUS_OK, STATUS_ERROR }; /* opentelemetry.proto.trace.v1.Status.StatusCode */

struct writing {
	const struct report *report;
	struct json_writer json;
	int64_t now_unix_ns;
	size_t part; /* whose tasks are written */
	const char *separator;
	const char *attribute_separator;
	struct export_span task_span;
	int64_t parent_id;
	int error;
};

/* ---- attributes ---------------------------------------------------------------------- */

static void attribute_begin(struct writing *writing, const char *key)
{
	json_write_text(&writing->json, writing->attribute_separator);
	json_write_object(&writing->json);
	json_write_string(&writing->json, "key", key);
	json_write_text(&writing->json, ",\"value\":");
	json_write_object(&writing->json);
	writing->attribute_separator = ",";
}

/* What is unknown is left out. */
static void attribute_text(struct writing *writing, const char *key, const char *text)
{
	if (!text)
		return;
	attribute_begin(writing, key);
	export_json_text(&writing->json, "stringValue", text);
	json_write_text(&writing->json, "}}");
}

/* 64-bit integers are texts in protobuf's JSON. */
static void attribute_integer(struct writing *writing, const char *key, int64_t value)
{
	char text[24];

	if (value == ROW_NULL)
		return;
	snprintf(text, sizeof(text), "%" PRId64, value);
	attribute_begin(writing, key);
	json_write_string(&writing->json, "intValue", text);
	json_write_text(&writing->json, "}}");
}

static void attributes_begin(struct writing *writing)
{
	json_write_text(&writing->json, ",\"attributes\":[");
	writing->attribute_separator = "";
}

#define FIGURES_WRITE(writing, row) \
	do { \
		attribute_integer(writing, "tracer.cpu_ns", (row)->cpu_ns); \
		attribute_integer(writing, "tracer.run_delay_ns", (row)->run_delay_ns); \
		attribute_integer(writing, "tracer.peak_rss_bytes", (row)->peak_rss_bytes); \
		attribute_integer(writing, "tracer.gpu_busy_ns", (row)->gpu_busy_ns); \
		attribute_integer(writing, "tracer.gpu_peak_bytes", (row)->gpu_peak_bytes); \
		attribute_integer(writing, "tracer.read_bytes", (row)->read_bytes); \
		attribute_integer(writing, "tracer.write_bytes", (row)->write_bytes); \
		attribute_integer(writing, "tracer.process_count", (row)->process_count); \
		attribute_integer(writing, "tracer.failed_process_count", (row)->failed_count); \
	} while (0)

/* ---- spans --------------------------------------------------------------------------- */

static void time_write(struct writing *writing, const char *name, int64_t unix_ns)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, unix_ns);
	json_write_string(&writing->json, name, text);
}

/* Writes a span up to its attributes; span_end() completes it. `parent_id` 0: none. */
static void span_begin(struct writing *writing, int64_t id, int64_t parent_id, const char *name, int kind,
		       struct export_span span)
{
	const struct row_run *run = report_run(writing->report);
	char trace_id[2 * IDENTITY_TEXT_SIZE], span_id[IDENTITY_TEXT_SIZE];

	identity_format(run->host_id, trace_id);
	identity_format(run->id, trace_id + IDENTITY_TEXT_SIZE - 1);
	identity_format(id, span_id);
	json_write_text(&writing->json, writing->separator);
	json_write_text(&writing->json, "\n");
	writing->separator = ",";
	json_write_object(&writing->json);
	json_write_string(&writing->json, "traceId", trace_id);
	json_write_string(&writing->json, "spanId", span_id);
	identity_format(parent_id, span_id);
	if (parent_id)
		json_write_string(&writing->json, "parentSpanId", span_id);
	export_json_text(&writing->json, "name", name);
	json_write_integer(&writing->json, "kind", kind);
	time_write(writing, "startTimeUnixNano", span.begin_unix_ns);
	time_write(writing, "endTimeUnixNano", span.end_unix_ns);
	attributes_begin(writing);
}

static void span_end(struct writing *writing, const char *status, const char *reason)
{
	int code = report_has_failed(status)          ? STATUS_ERROR
		   : strcmp(status, "succeeded") == 0 ? STATUS_OK
						      : STATUS_UNSET;

	json_write_text(&writing->json, "],\"status\":");
	json_write_object(&writing->json);
	json_write_integer(&writing->json, "code", code);
	if (code == STATUS_ERROR && reason)
		export_json_text(&writing->json, "message", reason);
	json_write_text(&writing->json, "}}");
}

/* "success", "failure", or NULL: running, or not known */
static const char *result_of(const char *status)
{
	return report_has_failed(status) ? "failure" : strcmp(status, "succeeded") == 0 ? "success" : NULL;
}

static int task_write(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		      size_t count)
{
	struct writing *writing = context;
	const char *name = report_task_name(writing->report, index, task);
	char id[IDENTITY_TEXT_SIZE];

	writing->task_span = EXPORT_SPAN(task, writing->now_unix_ns);
	writing->parent_id = writing->report->tasks[index].is_main ? report_run(writing->report)->id : task->id;
	if (writing->report->tasks[index].is_main)
		return 0;
	identity_format(task->id, id);
	span_begin(writing, task->id, report_run(writing->report)->id, name, KIND_INTERNAL, writing->task_span);
	attribute_text(writing, "cicd.pipeline.task.name", name);
	attribute_text(writing, "cicd.pipeline.task.run.id", id);
	attribute_text(writing, "cicd.pipeline.task.run.result", result_of(task->status));
	attribute_text(writing, "tracer.task.label", task->label);
	attribute_integer(writing, "process.exit.code", task->exit_code);
	FIGURES_WRITE(writing, task);
	span_end(writing, task->status, task->reason);
	return writing->json.error;
}

static int tool_write(void *context, const struct row_tool *tool, size_t index)
{
	struct writing *writing = context;

	span_begin(writing, tool->id, writing->parent_id, tool->name, KIND_INTERNAL,
		   EXPORT_SPAN(tool, writing->task_span.end_unix_ns));
	attribute_text(writing, "process.executable.name", tool->name);
	attribute_text(writing, "tracer.tool.role", tool->role);
	FIGURES_WRITE(writing, tool);
	span_end(writing, "", NULL);
	return writing->json.error;
}

static void run_write(struct writing *writing)
{
	const struct row_run *run = report_run(writing->report);
	char id[IDENTITY_TEXT_SIZE];

	identity_format(run->id, id);
	span_begin(writing, run->id, 0, run->name, KIND_SERVER, EXPORT_SPAN(run, writing->now_unix_ns));
	attribute_text(writing, "cicd.pipeline.name", run->name);
	attribute_text(writing, "cicd.pipeline.run.id", id);
	attribute_text(writing, "cicd.pipeline.result", result_of(run->status));
	attribute_text(writing, "tracer.run.engine", run->engine);
	FIGURES_WRITE(writing, run);
	span_end(writing, run->status, run->reason);
}

/* ---- resources ----------------------------------------------------------------------- */

static void resource_write(struct writing *writing, const struct row_host *host)
{
	json_write_text(&writing->json, "{\"resource\":{\"attributes\":[");
	writing->attribute_separator = "";
	attribute_text(writing, "service.name", "tracer");
	attribute_text(writing, "service.version", TRACER_VERSION);
	attribute_text(writing, "os.type", "linux");
	if (host) {
		attribute_text(writing, "host.name", host->hostname);
		attribute_text(writing, "host.id", host->host_key);
		attribute_text(writing, "host.cpu.model.name", host->cpu_model);
		attribute_text(writing, "os.version", host->kernel);
	}
	json_write_text(&writing->json,
			"]},\"scopeSpans\":[{\"scope\":{\"name\":\"tracer\",\"version\":\"" TRACER_VERSION
			"\"},\"spans\":[");
	writing->separator = "";
}

/* The tasks of one host's part of the run. */
static int part_write(struct writing *writing, size_t *indexes)
{
	const struct report *report = writing->report;
	const struct report_writer writer = {.task = task_write, .tool = tool_write};
	size_t count = 0;
	int error;

	for (size_t i = 0; i < report->task_count; i++)
		if (report->tasks[i].part == writing->part)
			indexes[count++] = i;
	json_write_text(&writing->json, writing->part > 0 ? "," : "");
	resource_write(writing, report_host_of(report, &ROWS_ITEM(&report->parts, part, writing->part)->run));
	if (writing->part == 0)
		run_write(writing);
	error = count > 0 ? report_walk(report, indexes, count, &writer, writing) : 0;
	json_write_text(&writing->json, "]}]}");
	return error;
}

int export_otlp(const struct report *report, FILE *file)
{
	struct writing writing = {.report = report, .json.file = file, .now_unix_ns = export_now_unix_ns(report)};
	size_t *indexes = calloc(report->task_count + 1, sizeof(*indexes));
	int error = indexes ? 0 : -ENOMEM;

	json_write_text(&writing.json, "{\"resourceSpans\":[");
	for (; writing.part < report->parts.count && error == 0; writing.part++)
		error = part_write(&writing, indexes);
	json_write_text(&writing.json, "]}\n");
	free(indexes);
	return json_write_end(&writing.json) < 0 ? writing.json.error : error;
}
