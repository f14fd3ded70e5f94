/* tracer host: what this host is, and its recent load. */
#include <stddef.h>

#include "analysis/query/ask.h"
#include "analysis/query/host_load.h"
#include "analysis/query/units.h"
#include "cli/source.h"
#include "common/clock.h"

#define LABEL_COLUMNS 11 /* columns before the text of a line */
#define WINDOW_NS (3600 * INT64_C(1000000000))
#define TEXT_WINDOW_NS (600 * INT64_C(1000000000)) /* of the hosts of a lake */

static int64_t limit;

static const struct option_spec option_specs[] = {
	OPTION_SPEC_SINCE("samples in JSON from this time on, such as 3d (ago) or 2026-11-22 (1h)"),
	OPTION_SPEC_UNTIL("load at this time, and samples before it (now)"),
	OPTION_SPEC_HOST("show only this host of a lake"),
	{"limit", 'n', "N", NULL, "show at most N hosts (0: all, the default)", .number = &limit, .most = INT32_MAX},
	OPTION_SPECS_OF_VIEW,
};

/* ---- text -------------------------------------------------------------------- */

static void print_label(const struct output *output, const char *label)
{
	output_print(output, STYLE_DIM, "  %-9s", label);
}

static void print_text(const struct output *output, const char *before, const char *text, const char *after)
{
	if (!text || !*text)
		return;
	output_print(output, STYLE_PLAIN, "%s%s%s", before, text, after);
}

static void print_machine(const struct row_host *host, const struct output *output)
{
	if (!host->vendor && !host->product && !host->cpu_model)
		return;
	print_label(output, "machine");
	print_text(output, "", host->vendor, host->product ? " " : "");
	print_text(output, "", host->product, "");
	print_text(output, " (", host->asset_tag, ")");
	print_text(output, host->vendor || host->product ? ", " : "", host->cpu_model, "");
	fputc('\n', output->file);
}

/* Prints nothing if the cloud is unknown, as in every host's own store. */
static void print_cloud(const struct row_cloud_host *host, const struct output *output)
{
	if (!host->cloud_provider)
		return;
	print_label(output, "cloud");
	print_text(output, "", host->cloud_provider, "");
	print_text(output, " ", host->cloud_instance_type, "");
	print_text(output, " ", host->cloud_instance_id, "");
	print_text(output, ", region ", host->cloud_region, "");
	print_text(output, ", zone ", host->cloud_zone, "");
	print_text(output, ", ", host->cloud_lifecycle, "");
	fputc('\n', output->file);
}

static void print_size(const struct row_host *host, const struct output *output, bool raw)
{
	print_label(output, "size");
	fprintf(output->file, "%s processors", units_count(host->cpu_count, raw));
	if (host->core_count != ROW_NULL)
		fprintf(output->file, " on %s cores", units_count(host->core_count, raw));
	fprintf(output->file, ", %s memory", units_bytes(host->memory_bytes, raw));
	if (host->swap_bytes != ROW_NULL)
		fprintf(output->file, ", %s swap", units_bytes(host->swap_bytes, raw));
	fputc('\n', output->file);
	if (host->memory_limit_bytes == ROW_NULL && host->core_limit_milli == ROW_NULL)
		return;
	print_label(output, "limits");
	if (host->core_limit_milli != ROW_NULL)
		fprintf(output->file, "%.2f cores%s", (double)host->core_limit_milli / 1e3,
			host->memory_limit_bytes != ROW_NULL ? ", " : "");
	if (host->memory_limit_bytes != ROW_NULL)
		fprintf(output->file, "%s memory", units_bytes(host->memory_limit_bytes, raw));
	fputs(", set for the container that this host is\n", output->file);
}

static void print_what(const struct row_cloud_host *cloud_host, const struct output *output, bool raw)
{
	const struct row_host *host = &cloud_host->host;

	output_print_text(output, STYLE_TITLE, host->hostname);
	print_text(output, "  ", host->os, "");
	print_text(output, ", cluster ", host->cluster, "");
	fputc('\n', output->file);
	print_label(output, "kernel");
	print_text(output, "", host->kernel, " ");
	print_text(output, "", host->machine, "");
	print_text(output, ", ", host->kernel_build, "");
	fprintf(output->file, "; up since %s\n", units_time(host->boot_unix_ns));
	print_machine(host, output);
	print_cloud(cloud_host, output);
	print_size(host, output, raw);
	if (host->delay_accounting == 0) {
		print_label(output, "delays");
		fputs("not measured for block I/O and memory: sysctl kernel.task_delayacct=1\n", output->file);
	}
}

static void print_cpu(const struct host_load *load, const struct output *output)
{
	print_label(output, "CPU");
	fprintf(output->file, "%s user, %s system, %s waiting for I/O, %s stolen",
		units_share(load->cpu_user_ns, load->cpu_ns), units_share(load->cpu_system_ns, load->cpu_ns),
		units_share(load->cpu_iowait_ns, load->cpu_ns), units_share(load->cpu_steal_ns, load->cpu_ns));
	if (load->last->load_milli != ROW_NULL)
		fprintf(output->file, "; load %.2f", (double)load->last->load_milli / 1e3);
	fputc('\n', output->file);
}

static void print_pressure(const struct host_load *load, const struct output *output)
{
	print_label(output, "pressure");
	fprintf(output->file, "%s CPU, %s memory, %s I/O: share of time in which something waited\n",
		units_share(load->cpu_some_ns, load->wall_ns), units_share(load->memory_some_ns, load->wall_ns),
		units_share(load->io_some_ns, load->wall_ns));
}

static void print_flows(const struct host_load *load, const struct output *output, bool raw)
{
	print_label(output, "disks");
	fprintf(output->file, "%s read, %s written\n", units_rate(load->disk_read_rate, raw),
		units_rate(load->disk_write_rate, raw));
	print_label(output, "network");
	fprintf(output->file, "%s received, %s sent\n", units_rate(load->network_received_rate, raw),
		units_rate(load->network_sent_rate, raw));
}

static void print_how(const struct host_load *load, const struct output *output, bool raw)
{
	const struct row_host_sample *now = load->last;

	fputc('\n', output->file);
	output_print(output, STYLE_DIM, "  %s, over %s\n", units_time(now->unix_ns),
		     units_duration(load->wall_ns, false));
	print_cpu(load, output);
	print_label(output, "memory");
	fprintf(output->file, "%s available, %s page cache, %s of it not written yet",
		units_bytes(now->memory_available_bytes, raw), units_bytes(now->memory_cache_bytes, raw),
		units_bytes(now->memory_dirty_bytes, raw));
	if (now->swap_used_bytes != ROW_NULL && now->swap_used_bytes > 0)
		fprintf(output->file, "; %s swapped out", units_bytes(now->swap_used_bytes, raw));
	fputc('\n', output->file);
	print_pressure(load, output);
	print_flows(load, output, raw);
}

/* ---- the verb ---------------------------------------------------------------- */

static json_t *host_to_json(const struct row_cloud_host *host, const struct rows *samples)
{
	json_t *object = json_object(), *array = json_array();

	for (size_t i = 0; i < samples->count; i++)
		json_array_append_new(array, row_to_json(samples->type, ROWS_ITEM(samples, host_sample, i)));
	json_object_set_new(object, "host", row_to_json(&row_type_cloud_host, host));
	json_object_set_new(object, "samples", array);
	return object;
}

/* A table is no place for the samples of a host. */
static json_t *columns(void)
{
	return json_pack("{s:o}", "host", row_to_json(&row_type_cloud_host, &(const struct row_cloud_host){0}));
}

/* Adds the host to `json`, or prints it if that is NULL. */
static void show_host(struct view *view, const struct row_cloud_host *host, const struct rows *samples, bool is_first,
		      json_t *json)
{
	struct output_flow flow;
	struct host_load load;

	if (json) {
		json_array_append_new(json, host_to_json(host, samples));
		return;
	}
	output_flow_begin(&flow, &view->output);
	if (!is_first)
		fputc('\n', flow.inner.file);
	print_what(host, &flow.inner, view->options->raw);
	if (host_load_find(samples, &load))
		print_how(&load, &flow.inner, view->options->raw);
	output_flow_end(&flow, LABEL_COLUMNS);
}

/* Loads the samples of all hosts at once: a lake has many. Text needs only the latest ones. */
static int samples_load(struct view *view, struct rows *ret_samples)
{
	const struct options *options = view->options;
	bool has_since = options->since_unix_ns != ROW_NULL, has_until = options->until_unix_ns != ROW_NULL;
	bool are_many = store_is_remote(view->store) && options->format == FORMAT_TABLE;
	int64_t until_unix_ns = has_until ? options->until_unix_ns : (int64_t)clock_unix_ns();
	int64_t since_unix_ns = until_unix_ns - (are_many ? TEXT_WINDOW_NS : WINDOW_NS);
	struct store_parameter filter[] = {
		{"since_unix_ns", STORE_INTEGER, has_since ? options->since_unix_ns : since_unix_ns, NULL},
		{"until_unix_ns", has_until ? STORE_INTEGER : STORE_NULL, until_unix_ns, NULL},
		{"host", options->host ? STORE_TEXT : STORE_NULL, 0, options->host},
		{0},
	};

	return rows_load(ret_samples, &row_type_host_sample, view->store, "hosts_samples", filter);
}

static void show_hosts(struct view *view, const struct rows *hosts, const struct rows *samples, json_t *json)
{
	for (size_t i = 0; i < hosts->count; i++) {
		const struct row_cloud_host *host = ROWS_ITEM(hosts, cloud_host, i);
		struct rows own = {.type = samples->type};
		size_t first = rows_find(samples, offsetof(struct row_host_sample, host_id), host->host.id, &own.count);

		own.items = ROWS_ITEM(samples, host_sample, first);
		show_host(view, host, &own, i == 0, json);
	}
}

static int host_show(struct view *view)
{
	json_t *object = json_pack("{s:[]}", "hosts");
	json_t *json = view->options->format ? json_object_get(object, "hosts") : NULL;
	struct rows hosts = {0}, samples = {.type = &row_type_host_sample};
	int error = rows_load(&hosts, &row_type_cloud_host, view->store, "hosts", NULL);
	size_t count;

	rows_keep_host(&hosts, view->options->host);
	count = hosts.count;
	if (limit && (size_t)limit < count)
		hosts.count = (size_t)limit;
	if (error == 0 && count == 0)
		say("tracer host: this store has no host yet: see tracer status");
	if (error == 0)
		error = samples_load(view, &samples);
	if (error == 0) {
		show_hosts(view, &hosts, &samples, json);
		say_cut(hosts.count, count, "hosts");
	}
	if (error == 0 && json)
		error = document_print(json_incref(object), "hosts", columns(), view->options->format);
	json_decref(object);
	rows_free(&samples);
	rows_free(&hosts);
	return error;
}

const struct verb verb_host = {
	.name = "host",
	.summary = "show this host's hardware, limits and recent load",
	.description = "Shows the machine, its system and its limits, and its load in the last minute:\n"
		       "CPU, memory, pressure (the share of time in which something waited), disks and\n"
		       "network. tracer-correlator takes a sample every ten seconds, from files that\n"
		       "everyone can read.\n"
		       "\n"
		       "cloud     provider, instance, location; only from a lake, if the shipper may ask\n"
		       "disks     whole disks, without partitions and devices built on disks\n"
		       "network   external interfaces, not those of containers\n"
		       "-         unknown; never counted as zero",
	.options = option_specs,
	.examples = "  tracer host\n"
		    "  tracer host --lake https://lake.example:8443 --host node-7\n"
		    "  tracer host --json --since 10m | jq '.hosts[0].samples[0]'",
	.show = host_show,
};
