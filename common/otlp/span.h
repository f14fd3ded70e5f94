/* Runs, tasks and tools as OpenTelemetry spans, in OTLP/JSON: the only place that says which attribute a column is.
 * https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 *
 * A request (ExportTraceServiceRequest) is OTLP_REQUEST_BEGIN, resources with their spans, separated by commas, and
 * OTLP_REQUEST_END. The run is the trace and its root span; tasks are its children, tools theirs. Attributes follow the
 * semantic conventions for CI/CD pipelines, processes and hosts where these have one
 * (https://opentelemetry.io/docs/specs/semconv/cicd/cicd-spans/); the others begin with "tracer.". What is NULL is left
 * out. Ids come from those of the store, so what is written twice is the same span.
 */
#pragma once

#include "common/json_text.h"
#include "common/store/rows.h"

#define OTLP_REQUEST_BEGIN "{\"resourceSpans\":["
#define OTLP_REQUEST_END "]}"
/* Receivers may refuse larger requests: gRPC's limit of a message, which proxies copy. A collector's own is 20 MiB. */
#define OTLP_REQUEST_BYTES_MAX (4 << 20)

struct otlp_times {
	int64_t begin_unix_ns, end_unix_ns;
};

/* Where the spans that follow come from: a run, on a host (NULL: unknown). */
void otlp_resource_begin(struct json_text *text, const struct row_run *run, const struct row_host *host);
void otlp_resource_end(struct json_text *text);

/* Of a run that several hosts share, `run` is the whole in all three. */
void otlp_run(struct json_text *text, const struct row_run *run, struct otlp_times times);
void otlp_task(struct json_text *text, const struct row_run *run, const struct row_task *task, const char *name,
	       struct otlp_times times);
/* `parent_id`: its task's id, or the run's. */
void otlp_tool(struct json_text *text, const struct row_run *run, const struct row_tool *tool, int64_t parent_id,
	       struct otlp_times times);
