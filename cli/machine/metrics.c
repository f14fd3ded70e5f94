/* tracer metrics: hosts, runs in progress, failures and the daemons' health, for Prometheus and what reads its formats.
 *
 * Every metric is one line of the table below: a number in a row, which a query or a function here returns as an
 * object. Queries have no totals of what retention deletes, which would fall: they count what is recent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "analysis/query/ask.h"
#include "analysis/query/units.h"
#include "cli/process/daemons.h"
#include "cli/process/program.h"
#include "cli/screen/output_file.h"
#include "cli/source.h"
#include "common/clock.h"
#include "common/shipper_status.h"
#include "common/text.h"

#define SECOND_NS INT64_C(1000000000)
#define SEEN_NS (600 * SECOND_NS)    /* a host that was not seen for longer is lost */
#define RECENT_NS (3600 * SECOND_NS) /* what ended or was lost since then is recent */
#define KNOWN_NS (86400 * SECOND_NS) /* a host that was not seen for longer is gone */

enum { OPENMETRICS, PROMETHEUS };

static const char *output_path, *shipper = SHIPPER_STATE_DEFAULT;
static int64_t limit = 20;
static int format;

static const struct option_spec option_specs[] = {
	{"output", 'o', "FILE", "file", "write to FILE, at once, instead of standard output", .text = &output_path},
	{"format", 'f', "FORMAT", "openmetrics prometheus",
	 "openmetrics, or prometheus: the text that node_exporter reads", .choice = &format},
	{"limit", 'n', "N", NULL, "at most N names of running runs a host (20), others summed", .number = &limit,
	 .most = INT32_MAX},
	OPTION_SPEC_HOST("only this host of a lake"),
	OPTION_SPEC_USER("runs of USER only (name or number)"),
	OPTION_SPEC_SHIPPER(shipper),
	OPTION_SPEC_STORE,
	OPTION_SPEC_LAKE,
	OPTION_SPEC_HELP,
	OPTION_SPEC_END,
};

/* ---- what is measured -------------------------------------------------------------- */

enum metric_type { GAUGE, COUNTER };

/* A counter may restart from 0, as Prometheus expects, but never falls otherwise. */
struct metric {
	const char *name, *unit; /* of a counter without _total; unit "" if it counts */
	enum metric_type type;
	const char *column; /* of the row */
	const char *label;  /* which of the metrics of this name, or NULL */
	int decimals;       /* the column is in units of 10 to the power of minus this */
	const char *help;   /* NULL: as above, of the same name */
};

/* clang-format off */
static const struct metric hosts[] = {
	{"tracer_host_last_seen_timestamp_seconds", "seconds", GAUGE, "last_seen_unix_ns", NULL, 9,
	 "When a host was last seen, by a process scan; for a day"},
	{"tracer_host_processors", "", GAUGE, "core_milli", NULL, 3, "Processors that the host may use"},
	{"tracer_host_memory_bytes", "bytes", GAUGE, "memory_bytes", NULL, 0, "Memory that the host may use"},
	{"tracer_host_memory_available_bytes", "bytes", GAUGE, "memory_available_bytes", NULL, 0,
	 "Memory available without swapping"},
	{"tracer_host_cpu_seconds", "seconds", COUNTER, "cpu_user_ns", "mode=\"user\"", 9,
	 "Time of all processors since boot, by mode"},
	{"tracer_host_cpu_seconds", "seconds", COUNTER, "cpu_system_ns", "mode=\"system\"", 9, NULL},
	{"tracer_host_cpu_seconds", "seconds", COUNTER, "cpu_idle_ns", "mode=\"idle\"", 9, NULL},
	{"tracer_host_cpu_seconds", "seconds", COUNTER, "cpu_iowait_ns", "mode=\"iowait\"", 9, NULL},
	{"tracer_host_cpu_seconds", "seconds", COUNTER, "cpu_steal_ns", "mode=\"steal\"", 9, NULL},
	{"tracer_host_pressure_seconds", "seconds", COUNTER, "cpu_some_ns", "resource=\"cpu\"", 9,
	 "Time since boot in which something waited for a resource"},
	{"tracer_host_pressure_seconds", "seconds", COUNTER, "memory_some_ns", "resource=\"memory\"", 9, NULL},
	{"tracer_host_pressure_seconds", "seconds", COUNTER, "io_some_ns", "resource=\"io\"", 9, NULL},
	{"tracer_host_disk_read_bytes", "bytes", COUNTER, "disk_read_bytes", NULL, 0, "Read from disks since boot"},
	{"tracer_host_disk_written_bytes", "bytes", COUNTER, "disk_write_bytes", NULL, 0, "Written to disks since boot"},
	{"tracer_host_network_received_bytes", "bytes", COUNTER, "network_received_bytes", NULL, 0,
	 "Received from the network since boot"},
	{"tracer_host_network_sent_bytes", "bytes", COUNTER, "network_sent_bytes", NULL, 0,
	 "Sent to the network since boot"},
	{0}};

static const struct metric losses[] = {
	{"tracer_host_lost_records", "", GAUGE, "lost_count", NULL, 0, "Records lost in the last hour, by kind"},
	{0}};

static const struct metric running[] = {
	{"tracer_running_runs", "", GAUGE, "run_count", NULL, 0, "Runs in progress"},
	{"tracer_running_processes", "", GAUGE, "process_count", NULL, 0, "Running processes of runs in progress"},
	{"tracer_running_cpu_seconds", "seconds", GAUGE, "cpu_ns", NULL, 9, "CPU time so far of runs in progress"},
	{"tracer_running_processors", "", GAUGE, "core_limit_milli", NULL, 3,
	 "Processors that runs in progress may use"},
	{"tracer_running_memory_bytes", "bytes", GAUGE, "memory_bytes", NULL, 0,
	 "Most memory at one time so far of runs in progress, added up"},
	{"tracer_running_memory_limit_ratio", "ratio", GAUGE, "memory_limit_share", NULL, 0,
	 "Most memory at one time so far, as a share of the memory limit; of the run with the largest"},
	{"tracer_running_read_bytes", "bytes", GAUGE, "read_bytes", NULL, 0,
	 "Read from storage so far by runs in progress"},
	{"tracer_running_written_bytes", "bytes", GAUGE, "write_bytes", NULL, 0,
	 "Written to storage so far by runs in progress"},
	{"tracer_running_gpu_seconds", "seconds", GAUGE, "gpu_busy_ns", NULL, 9,
	 "GPU time so far of runs in progress"},
	{"tracer_running_stalled_processes", "", GAUGE, "stalled_count", NULL, 0,
	 "Processes of runs in progress that make no progress"},
	{0}};

static const struct metric ended[] = {
	{"tracer_ended_runs", "", GAUGE, "run_count", NULL, 0, "Runs that ended in the last hour, by status"},
	{"tracer_ended_tasks", "", GAUGE, "task_count", NULL, 0, "Tasks that ended in the last hour, by status"},
	{0}};

static const struct metric incidents[] = {
	{"tracer_incidents", "", GAUGE, "incident_count", NULL, 0, "Incidents of the last hour, by kind"},
	{0}};

static const struct metric of_daemons[] = {
	{"tracer_daemon_processes", "", GAUGE, "process_count", NULL, 0, "Processes of a daemon; 0: it is down"},
	{"tracer_daemon_memory_bytes", "bytes", GAUGE, "rss_bytes", NULL, 0, "Resident memory of a daemon"},
	{"tracer_daemon_age_seconds", "seconds", GAUGE, "age_ns", NULL, 9, "Time since a daemon started"},
	{0}};

static const struct metric of_store[] = {
	{"tracer_stream_lag_seconds", "seconds", GAUGE, "lag_ns", NULL, 9,
	 "Time since the latest event in the store; none if it is of an earlier boot"},
	{"tracer_stream_received_bytes", "bytes", COUNTER, "ring_offset", NULL, 0,
	 "Records read from this ring and stored"},
	{"tracer_store_changes", "", COUNTER, "rev", NULL, 0, "Rows written to the store"},
	{"tracer_store_commit_timestamp_seconds", "seconds", GAUGE, "committed_unix_ns", NULL, 9,
	 "When the store was last written"},
	{"tracer_store_size_bytes", "bytes", GAUGE, "size_bytes", NULL, 0, "Size of the store and its log"},
	{"tracer_store_free_bytes", "bytes", GAUGE, "free_bytes", NULL, 0, "Free space of the store's file system"},
	{0}};

static const struct metric of_shipper[] = {
	{"tracer_shipper_last_success_timestamp_seconds", "seconds", GAUGE, "last_success_unix_ns", NULL, 9,
	 "When the lake last accepted a batch; 0: never"},
	{"tracer_shipper_failed_attempts", "", GAUGE, "attempt_count", NULL, 0,
	 "Attempts that failed since the last success"},
	{"tracer_shipper_lag_seconds", "seconds", GAUGE, "lag_ns", NULL, 9,
	 "How long the oldest row that is not in the lake has waited"},
	{"tracer_shipper_waiting_changes", "", GAUGE, "lag_revs", NULL, 0, "Rows written that are not in the lake yet"},
	{"tracer_shipper_sent_batches", "", COUNTER, "sent_batch_count", NULL, 0, "Batches that the lake accepted"},
	{"tracer_shipper_sent_rows", "", COUNTER, "sent_row_count", NULL, 0, "Rows that the lake accepted"},
	{"tracer_shipper_sent_bytes", "bytes", COUNTER, "sent_bytes", NULL, 0, "Bytes that the lake accepted"},
	{"tracer_shipper_quarantined_rows", "", COUNTER, "quarantined_row_count", NULL, 0,
	 "Rows that the lake refused"},
	{"tracer_shipper_dropped_rows", "", COUNTER, "quarantine_dropped_row_count", NULL, 0,
	 "Refused rows that were deleted, because the quarantine was full"},
	{0}};
/* clang-format on */

/* ---- the text ---------------------------------------------------------------------- */

/* Two names never give the same label: what text_escape() writes begins with one backslash, one in a name becomes two.
 * Otherwise a user who chooses names could make the whole scrape invalid. */
static void print_escaped(FILE *file, const char *text)
{
	char escaped[sizeof("\\u{10FFFF}")];
	size_t left = strlen(text), size;

	for (; left > 0; text += size, left -= size) {
		size = text_utf8_size(text, left);
		size = size ? size : 1; /* a byte that is not UTF-8 */
		text_escape(text, size, escaped, sizeof(escaped));
		if (*text == '\\')
			fputs("\\\\", file);
		for (const char *at = escaped; *at; at++)
			fprintf(file, "%s%c", *at == '\\' || *at == '"' ? "\\" : "", *at);
	}
}

static void print_label(FILE *file, const char *name, const char *value, char *separator)
{
	if (!value)
		return;
	fprintf(file, "%c%s=\"", *separator, name);
	print_escaped(file, value);
	fputc('"', file);
	*separator = ',';
}

/* Texts of a row are its labels. A row of runs without a name is the sum of all others. */
static void print_labels(FILE *file, const struct metric *metric, const json_t *row)
{
	static const char *const labels[] = {"cluster", "host", "status", "kind", "daemon", "user", "run"};
	char separator = '{';

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		print_label(file, labels[i], json_string_value(json_object_get(row, labels[i])), &separator);
	if (metric->label)
		fprintf(file, "%c%s", separator, metric->label);
	if (metric->label || separator != '{')
		fputc('}', file);
}

static void print_value(FILE *file, const json_t *json, int decimals)
{
	json_int_t value = json_integer_value(json), one = 1;

	for (int i = 0; i < decimals; i++)
		one *= 10;
	if (json_is_real(json))
		fprintf(file, " %.6f", json_real_value(json));
	else
		fprintf(file, " %s%lld", value < 0 ? "-" : "", llabs(value / one));
	if (value % one)
		fprintf(file, ".%0*lld", decimals, llabs(value % one));
	fputc('\n', file);
}

/* In Prometheus's own format the metadata of a counter are of its samples, and OpenMetrics' further lines comments. */
static void print_head(FILE *file, const struct metric *metric)
{
	const char *suffix = format == PROMETHEUS && metric->type == COUNTER ? "_total" : "";

	fprintf(file, "# TYPE %s%s %s\n", metric->name, suffix, metric->type == COUNTER ? "counter" : "gauge");
	if (format == OPENMETRICS && *metric->unit)
		fprintf(file, "# UNIT %s %s\n", metric->name, metric->unit);
	fprintf(file, "# HELP %s%s %s.\n", metric->name, suffix, metric->help);
}

/* Prints all metrics of these rows. What is unknown has no sample. Releases `rows`. */
static void print_metrics(FILE *file, const struct metric *metrics, json_t *rows)
{
	const json_t *row, *value;
	size_t i;

	for (const struct metric *metric = metrics; metric->name; metric++) {
		if (metric->help)
			print_head(file, metric);
		json_array_foreach (rows, i, row) {
			value = json_object_get(row, metric->column);
			if (!json_is_number(value))
				continue;
			fprintf(file, "%s%s", metric->name, metric->type == COUNTER ? "_total" : "");
			print_labels(file, metric, row);
			print_value(file, value, metric->decimals);
		}
	}
	json_decref(rows);
}

/* ---- from the store ---------------------------------------------------------------- */

/* Texts as they are stored. */
static json_t *row_read(struct store_result *result)
{
	json_t *row = json_object();
	json_int_t user_id;

	for (size_t i = 0; i < store_result_width(result); i++) {
		struct store_value value = store_result_value(result, i);

		json_object_set_new(row, store_result_name(result, i),
				    value.type == STORE_VALUE_INTEGER ? json_integer(value.integer)
				    : value.type == STORE_VALUE_REAL  ? json_real(value.real)
				    : value.type == STORE_VALUE_TEXT  ? json_stringn_nocheck(value.data, value.size)
								      : json_null());
	}
	if (json_unpack(row, "{s:I}", "user_id", &user_id) == 0)
		json_set_string(row, "user", units_user(user_id));
	if (json_is_null(json_object_get(row, "run"))) {
		json_set_string(row, "user", "(other)");
		json_set_string(row, "run", "(other)");
	}
	return row;
}

static int print_query(FILE *file, struct store *store, const struct metric *metrics, const char *query,
		       const struct store_parameter *parameters)
{
	struct store_result *result;
	json_t *rows = json_array();
	int more = query_ask(store, query, parameters, &result);

	if (more == 0) {
		while ((more = store_result_next(result)) > 0)
			json_array_append_new(rows, row_read(result));
		store_result_free(result);
	}
	print_metrics(file, metrics, rows);
	return more;
}

/* The parameters of the queries, of which each takes some. */
#define PARAMETER_SEEN(now_ns) STORE_INT("seen_unix_ns", (now_ns)-SEEN_NS)
#define PARAMETER_RECENT(now_ns) STORE_INT("since_unix_ns", (now_ns)-RECENT_NS)

static int print_hosts(FILE *file, struct store *store, const struct options *options)
{
	int64_t now_ns = (int64_t)clock_unix_ns();
	const struct store_parameter filter[] = {SOURCE_FILTER(options)}, host = filter[0], user = filter[1];
	int error =
		print_query(file, store, hosts, "metrics_hosts",
			    (const struct store_parameter[]){
				    STORE_INT("known_unix_ns", now_ns - KNOWN_NS), PARAMETER_SEEN(now_ns), host, {0}});

	if (error == 0)
		error = print_query(file, store, losses, "metrics_losses",
				    (const struct store_parameter[]){PARAMETER_RECENT(now_ns), host, {0}});
	if (error == 0)
		error = print_query(file, store, running, "metrics_running",
				    (const struct store_parameter[]){
					    PARAMETER_SEEN(now_ns), STORE_INT("limit", limit), host, user, {0}});
	if (error == 0)
		error = print_query(file, store, ended, "metrics_ended",
				    (const struct store_parameter[]){PARAMETER_RECENT(now_ns), host, user, {0}});
	if (error == 0)
		error = print_query(file, store, incidents, "metrics_incidents",
				    (const struct store_parameter[]){PARAMETER_RECENT(now_ns), host, user, {0}});
	return error;
}

/* ---- of this host's daemons -------------------------------------------------------- */

/* `tracer run` starts a probe and a correlator of its own, so there may be several of a name. */
static json_t *daemon_row(const char *name, const struct daemon_info *daemons, int count)
{
	int64_t rss_bytes = 0, since_boot_ns = INT64_MAX;
	json_t *row = json_object();
	int found = 0;

	for (int i = 0; i < count; i++) {
		if (strcmp(daemons[i].name, name) != 0)
			continue;
		found++;
		rss_bytes += daemons[i].rss_bytes;
		since_boot_ns = row_least(since_boot_ns, daemons[i].since_boot_ns);
	}
	json_set_string(row, "daemon", name);
	json_set_integer(row, "process_count", found);
	json_set_integer(row, "rss_bytes", found ? rss_bytes : ROW_NULL);
	json_set_integer(row, "age_ns", found ? (int64_t)clock_boot_ns() - since_boot_ns : ROW_NULL);
	return row;
}

static json_t *store_row(struct store *store, const char *path)
{
	struct store_stream stream;
	struct stat file, log;
	struct statvfs system;
	json_t *row = json_object();
	char log_path[4096];

	snprintf(log_path, sizeof(log_path), "%s-wal", path);
	if (store_read_stream(store, &stream) == 0) {
		int64_t lag_ns = freshness_lag_ns(&stream);

		json_set_integer(row, "lag_ns", lag_ns == INT64_MAX ? ROW_NULL : lag_ns);
		json_set_integer(row, "ring_offset", (int64_t)stream.ring_offset);
		json_set_integer(row, "rev", (int64_t)stream.rev);
		json_set_integer(row, "committed_unix_ns", (int64_t)stream.committed_unix_ns);
	}
	if (stat(path, &file) == 0)
		json_set_integer(row, "size_bytes", file.st_size + (stat(log_path, &log) == 0 ? log.st_size : 0));
	if (statvfs(path, &system) == 0)
		json_set_integer(row, "free_bytes", (int64_t)(system.f_bavail * system.f_frsize));
	return row;
}

/* Returns no row if no shipper has ever run. */
static json_t *shipper_rows(const json_t *store)
{
	struct checks checks = {0};
	json_t *json = json_pack("{s:O}", "stream", store), *rows = json_array();

	daemons_check_shipper(shipper, true, &checks, json);
	if (json_is_object(json_object_get(json, "shipper")))
		json_array_append(rows, json_object_get(json, "shipper"));
	json_decref(json);
	return rows;
}

static void print_daemons(FILE *file, struct store *store, const char *path)
{
	struct daemon_info daemons[DAEMONS_MAX];
	int count = daemons_find(daemons);
	json_t *stored = store_row(store, path), *shipped = shipper_rows(stored);
	json_t *rows = json_pack("[o, o]", daemon_row(PROGRAM_PROBE, daemons, count),
				 daemon_row(PROGRAM_CORRELATOR, daemons, count));

	if (json_array_size(shipped)) /* not every host has one */
		json_array_append_new(rows, daemon_row(PROGRAM_SHIPPER, daemons, count));
	print_metrics(file, of_daemons, rows);
	print_metrics(file, of_store, json_pack("[o]", stored));
	print_metrics(file, of_shipper, shipped);
}

/* ---- the verb ---------------------------------------------------------------------- */

static int metrics_print(FILE *file, struct store *store, const struct options *options)
{
	int error = source_say(store, print_hosts(file, store, options));

	if (error < 0)
		return VERB_FAILED;
	if (!store_is_remote(store))
		print_daemons(file, store, options->store_path);
	if (format == OPENMETRICS)
		fputs("# EOF\n", file);
	return VERB_OK;
}

static int metrics_main(const struct options *options)
{
	struct options source = *options;
	struct output_file target;
	struct store *store;
	int error;

	source.store_path = options_services_store_path(options);
	store = source_open(&source);
	if (!store)
		return VERB_FAILED;
	error = output_file_open(&target, "metrics", output_path);
	if (error == 0)
		error = output_file_close(&target, "metrics", metrics_print(target.file, store, &source));
	source_close(store);
	return error < 0 ? VERB_FAILED : error;
}

const struct verb verb_metrics = {
	.name = "metrics",
	.summary = "print metrics for Prometheus: hosts, runs in progress, daemons",
	.description = "Prints metrics as OpenMetrics text: hosts and their load, runs in progress by\n"
		       "user and name, what ended, failed or was lost in the last hour, and the health\n"
		       "of the daemons. docs/metrics.md has the list.\n"
		       "\n"
		       "Of each host the names with the most CPU time are listed; the others are\n"
		       "summed under (other), so that the sum is exact. A host that was not seen for\n"
		       "ten minutes has only the time when it was seen, for a day. A counter never\n"
		       "falls, except to 0: what retention deletes is no counter, but of the last hour.",
	.options = option_specs,
	.examples = "  tracer metrics\n"
		    "  tracer metrics --format prometheus -o /var/lib/node_exporter/tracer.prom\n"
		    "  tracer metrics --lake https://lake.example:8443 --limit 5",
	.main = metrics_main,
};
