/* OpenTelemetry spans. See span.h. */
#include "common/otlp/span.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"
#include "common/text.h"

#define ACTION "RUN"    /* cicd.pipeline.action.name */
#define SIGNAL_BASE 128 /* exit status of a shell whose command a signal ended */

enum { KIND_INTERNAL = 1, KIND_SERVER = 2 };    /* opentelemetry.proto.trace.v1.Span.SpanKind */
enum { STATUS_UNSET, STATUS_OK, STATUS_ERROR }; /* opentelemetry.proto.trace.v1.Status.StatusCode */

struct span {
	int64_t id, parent_id; /* parent 0: none */
	const char *prefix;    /* of its name */
	const char *name;      /* NULL: unknown */
	int kind;
	struct otlp_times times;
};

/* How a run or task ended. */
struct outcome {
	const char *status; /* as in the store */
	int64_t exit_code, signal;
};

/* ---- attributes ---------------------------------------------------------------------- */

/* Begins a member of an object or an array. */
static void separate(struct json_text *text)
{
	char last = text->failed || text->size == 0 ? '[' : text->data[text->size - 1];

	if (last != '{' && last != '[')
		json_text_raw(text, ",");
}

/* Texts come from traced processes. */
static void safe_string(struct json_text *text, const char *before, const char *string)
{
	size_t prefix = strlen(before), size = strlen(string), capacity = 4 * size + 1;
	char *safe = malloc(prefix + capacity);

	text->failed |= !safe;
	if (!safe)
		return;
	memcpy(safe, before, prefix);
	json_text_string(text, safe, prefix + text_escape(string, size, safe + prefix, capacity));
	free(safe);
}

static void attribute_begin(struct json_text *text, const char *key)
{
	separate(text);
	json_text_raw(text, "{\"key\":\"");
	json_text_raw(text, key);
	json_text_raw(text, "\",\"value\":{");
}

static void attribute_text(struct json_text *text, const char *key, const char *value)
{
	if (!value)
		return;
	attribute_begin(text, key);
	json_text_raw(text, "\"stringValue\":");
	safe_string(text, "", value);
	json_text_raw(text, "}}");
}

static void attribute_id(struct json_text *text, const char *key, int64_t id)
{
	char digits[IDENTITY_TEXT_SIZE];

	identity_format(id, digits);
	attribute_text(text, key, digits);
}

/* 64-bit integers are texts in protobuf's JSON. */
static void attribute_integer(struct json_text *text, const char *key, int64_t value)
{
	if (value == ROW_NULL)
		return;
	attribute_begin(text, key);
	json_text_raw(text, "\"intValue\":\"");
	json_text_integer(text, value);
	json_text_raw(text, "\"}}");
}

#define FIGURES_WRITE(text, row) \
	do { \
		attribute_integer(text, "tracer.cpu_ns", (row)->cpu_ns); \
		attribute_integer(text, "tracer.run_delay_ns", (row)->run_delay_ns); \
		attribute_integer(text, "tracer.peak_rss_bytes", (row)->peak_rss_bytes); \
		attribute_integer(text, "tracer.gpu_busy_ns", (row)->gpu_busy_ns); \
		attribute_integer(text, "tracer.gpu_peak_bytes", (row)->gpu_peak_bytes); \
		attribute_integer(text, "tracer.read_bytes", (row)->read_bytes); \
		attribute_integer(text, "tracer.write_bytes", (row)->write_bytes); \
		attribute_integer(text, "tracer.process_count", (row)->process_count); \
		attribute_integer(text, "tracer.failed_process_count", (row)->failed_count); \
	} while (0)

/* ---- outcomes ------------------------------------------------------------------------ */

/* The signal that ended it; of a shell or an engine, that which ended its command. 0: none is known. */
static int signal_of(const struct outcome *outcome)
{
	if (outcome->signal > 0 && outcome->signal < NSIG)
		return (int)outcome->signal;
	return outcome->exit_code > SIGNAL_BASE && outcome->exit_code < SIGNAL_BASE + NSIG
		       ? (int)outcome->exit_code - SIGNAL_BASE
		       : 0;
}

static bool is_status(const struct outcome *outcome, const char *status)
{
	return outcome->status && strcmp(outcome->status, status) == 0;
}

static bool has_failed(const struct outcome *outcome)
{
	return is_status(outcome, "failed") || is_status(outcome, "killed");
}

/* A well-known value of cicd.pipeline.result, or NULL: it runs, or its end is unknown. */
static const char *result_of(const struct outcome *outcome)
{
	if (is_status(outcome, "succeeded"))
		return "success";
	if (!has_failed(outcome))
		return NULL;
	switch (signal_of(outcome)) {
	case SIGINT:
	case SIGTERM:
	case SIGHUP: return "cancellation"; /* as people, schedulers and service managers end what should end */
	case SIGXCPU: return "timeout";
	default: return "failure";
	}
}

/* A class of errors: SIGKILL, or the exit status. */
static void error_type_write(struct json_text *text, const struct outcome *outcome)
{
	int number = signal_of(outcome);
	const char *name = number ? sigabbrev_np(number) : NULL;
	char type[32] = "_OTHER"; /* the convention's */

	if (!has_failed(outcome))
		return;
	if (name)
		snprintf(type, sizeof(type), "SIG%s", name);
	else if (outcome->exit_code != ROW_NULL)
		snprintf(type, sizeof(type), "%lld", (long long)outcome->exit_code);
	attribute_text(text, "error.type", type);
}

static void outcome_write(struct json_text *text, const char *key, const struct outcome *outcome)
{
	attribute_text(text, key, result_of(outcome));
	error_type_write(text, outcome);
	attribute_integer(text, "process.exit.code", outcome->exit_code);
	attribute_integer(text, "tracer.signal", outcome->signal);
}

/* ---- spans --------------------------------------------------------------------------- */

static void id_write(struct json_text *text, const char *name, int64_t first, int64_t second)
{
	char digits[IDENTITY_TEXT_SIZE];

	separate(text);
	json_text_raw(text, "\"");
	json_text_raw(text, name);
	json_text_raw(text, "\":\"");
	identity_format(first, digits);
	json_text_raw(text, digits);
	if (second) {
		identity_format(second, digits);
		json_text_raw(text, digits);
	}
	json_text_raw(text, "\"");
}

static void time_write(struct json_text *text, const char *name, int64_t unix_ns)
{
	json_text_raw(text, name);
	json_text_integer(text, unix_ns);
	json_text_raw(text, "\"");
}

/* Writes a span up to its attributes; span_end() completes it. */
static void span_begin(struct json_text *text, const struct row_run *run, const struct span *span)
{
	char kind[] = {(char)('0' + span->kind), '\0'};

	separate(text);
	json_text_raw(text, "{");
	id_write(text, "traceId", run->host_id, run->id);
	id_write(text, "spanId", span->id, 0);
	if (span->parent_id)
		id_write(text, "parentSpanId", span->parent_id, 0);
	json_text_raw(text, ",\"name\":");
	safe_string(text, span->prefix, span->name ? span->name : "");
	json_text_raw(text, ",\"kind\":");
	json_text_raw(text, kind);
	time_write(text, ",\"startTimeUnixNano\":\"", span->times.begin_unix_ns);
	time_write(text, ",\"endTimeUnixNano\":\"", span->times.end_unix_ns);
	json_text_raw(text, ",\"attributes\":[");
}

static void span_end(struct json_text *text, const struct outcome *outcome)
{
	const char *result = outcome ? result_of(outcome) : NULL;
	int code = STATUS_ERROR;

	if (!result || strcmp(result, "cancellation") == 0)
		code = STATUS_UNSET;
	else if (strcmp(result, "success") == 0)
		code = STATUS_OK;

	json_text_raw(text, "],\"status\":{\"code\":");
	json_text_integer(text, code);
	json_text_raw(text, "}}");
}

void otlp_run(struct json_text *text, const struct row_run *run, struct otlp_times times)
{
	const struct outcome outcome = {run->status, run->exit_code, run->signal};

	span_begin(text, run,
		   &(const struct span){run->id, 0, run->name ? ACTION " " : ACTION, run->name, KIND_SERVER, times});
	attribute_text(text, "cicd.pipeline.action.name", ACTION);
	outcome_write(text, "cicd.pipeline.result", &outcome);
	attribute_text(text, "tracer.run.kind", run->kind);
	attribute_text(text, "tracer.run.engine", run->engine);
	FIGURES_WRITE(text, run);
	span_end(text, &outcome);
}

void otlp_task(struct json_text *text, const struct row_run *run, const struct row_task *task, const char *name,
	       struct otlp_times times)
{
	const struct outcome outcome = {task->status, task->exit_code, task->signal};

	span_begin(text, run, &(const struct span){task->id, run->id, "", name, KIND_INTERNAL, times});
	attribute_text(text, "cicd.pipeline.task.name", name);
	attribute_id(text, "cicd.pipeline.task.run.id", task->id);
	outcome_write(text, "cicd.pipeline.task.run.result", &outcome);
	attribute_text(text, "tracer.task.label", task->label);
	FIGURES_WRITE(text, task);
	span_end(text, &outcome);
}

void otlp_tool(struct json_text *text, const struct row_run *run, const struct row_tool *tool, int64_t parent_id,
	       struct otlp_times times)
{
	span_begin(text, run, &(const struct span){tool->id, parent_id, "", tool->name, KIND_INTERNAL, times});
	attribute_text(text, "process.executable.name", tool->name);
	attribute_text(text, "tracer.tool.role", tool->role);
	FIGURES_WRITE(text, tool);
	span_end(text, NULL);
}

/* ---- resources ----------------------------------------------------------------------- */

void otlp_resource_begin(struct json_text *text, const struct row_run *run, const struct row_host *host)
{
	json_text_raw(text, "{\"resource\":{\"attributes\":[");
	attribute_text(text, "service.name", "tracer");
	attribute_text(text, "service.version", TRACER_VERSION);
	attribute_text(text, "cicd.pipeline.name", run->name);
	attribute_id(text, "cicd.pipeline.run.id", run->id);
	attribute_text(text, "os.type", "linux");
	if (host) {
		attribute_text(text, "host.name", host->hostname);
		attribute_text(text, "host.id", host->host_key);
		attribute_text(text, "host.cpu.model.name", host->cpu_model);
		attribute_text(text, "os.version", host->kernel);
	}
	json_text_raw(text, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"tracer\",\"version\":\"" TRACER_VERSION
			    "\"},\"spans\":[");
}

void otlp_resource_end(struct json_text *text)
{
	json_text_raw(text, "]}]}");
}
