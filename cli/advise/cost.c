/* tracer cost [RUN]: what work cost, or the energy it took, by run, task, tool, sample, user, cost centre, host or day. */
#include <errno.h>
#include <string.h>

#include "analysis/cost/bill.h"
#include "analysis/query/units.h"
#include "cli/advise/price_list.h"
#include "cli/report/sample_options.h"
#include "cli/screen/table.h"
#include "cli/site_rules.h"
#include "cli/source.h"
#include "common/clock.h"

#define NANOS INT64_C(1000000000)
#define MS 1000000
#define WINDOW_NS (INT64_C(7) * 86400 * NANOS)
#define CENTRES_DEFAULT TRACER_CONFIG_DIR "/centres.csv"
#define CARBON_INTENSITY_MOST 10000

enum { FORMAT_FOCUS = FORMAT_COUNT };

static int by = -1; /* enum bill_key; -1: by task for one run, else by run */
static const char *prices_path, *centres_path;
static int64_t limit = 20, carbon_intensity = -1;
static bool co2;

static const struct option_spec option_specs[] = {
	{"by", 'b', "KEY", "run task tool sample user centre host day",
	 "add up by run, task, tool, sample, user, centre, host or day (task for one run, else run)", .choice = &by},
	OPTION_SPECS_OF_SAMPLES,
	OPTION_SPEC_SINCE("without RUN: from this time on, such as 3d (ago) or 2026-11-22 (7d)"),
	OPTION_SPEC_UNTIL("without RUN: until this time (now)"),
	{"limit", 'n', "N", NULL, "show at most N rows, and the sum of the others (20); 0: all", .number = &limit,
	 .most = INT64_MAX},
	OPTION_SPEC_HOST("only this host of a lake"),
	OPTION_SPEC_USER("only runs of USER (name or number)"),
	OPTION_SPEC_PRICES(&prices_path),
	{"centres", 0, "FILE", "file", "list of cost centres (" CENTRES_DEFAULT ")", .text = &centres_path},
	{"co2", 0, NULL, NULL, "print energy in kWh and CO2 in kg, modelled", .flag = &co2},
	{"carbon-intensity", 0, "GRAMS", NULL, "CO2 of a kWh (475, the world's in 2018)", .number = &carbon_intensity,
	 .most = CARBON_INTENSITY_MOST},
	OPTION_SPEC_RAW,
	OPTION_SPECS_OF_FORMATS(FORMAT_WORDS " focus",
				"table, json, ndjson (a row a line), csv, or focus: FOCUS 1.2, charges by host and "
				"day, as CSV"),
	OPTION_SPEC_SOURCE,
	OPTION_SPECS_LAST,
};

struct cost {
	struct bill_request request;
	struct bill bill;
	struct prices *prices;
	struct centres *centres;
	struct sample_names *sample_names;
	struct rows run;
	unsigned decimals, co2_decimals;
};

/* ---- text -------------------------------------------------------------------------- */

static void decimal_add(struct table *table, enum style style, int64_t units, unsigned decimals)
{
	table_add(table, style, units == 0 ? "" : units_amount(units, decimals));
}

/* A fleet's time can be more than units_duration() takes. */
static const char *duration_text(int64_t ms)
{
	return units_duration(ms < INT64_MAX / MS ? ms * MS : INT64_MAX, false);
}

static int64_t gpu_ms(const struct bill_row *row)
{
	return row->gpu_ms[GPU_USED] + row->gpu_ms[GPU_UNUSED] + row->gpu_ms[GPU_UNKNOWN];
}

static const char *row_name(const struct cost *cost, const struct bill_row *row)
{
	return cost->request.by == BILL_BY_USER ? units_user(row->id) : row->name;
}

static void line_add(const struct cost *cost, struct table *table, enum style style, const char *name,
		     const struct bill_row *row, int64_t total, int64_t co2_units)
{
	int64_t run_id = cost->request.by == BILL_BY_RUN && row ? row->id : 0;

	table_add_name(table, style, "", name);
	table_add(table, STYLE_DIM, run_id ? units_id(run_id, true) : ""); /* of one name there may be many */
	table_add(table, STYLE_PLAIN, row && row->item_count ? units_count((int64_t)row->item_count, false) : "");
	decimal_add(table, STYLE_PLAIN, row ? row->cpu_nanos : 0, cost->decimals);
	decimal_add(table, STYLE_PLAIN, row ? row->memory_nanos : 0, cost->decimals);
	decimal_add(table, STYLE_PLAIN, row ? row->gpu_nanos : 0, cost->decimals);
	table_add(table, STYLE_PLAIN, row && gpu_ms(row) ? duration_text(gpu_ms(row)) : "");
	decimal_add(table, STYLE_PLAIN, row ? row->unused_nanos : 0, cost->decimals);
	decimal_add(table, STYLE_DIM, row ? row->system_nanos : 0, cost->decimals);
	decimal_add(table, STYLE_DIM, row ? row->idle_nanos : 0, cost->decimals);
	decimal_add(table, style, total, cost->decimals);
	decimal_add(table, style, co2_units, cost->co2_decimals);
}

static void rows_fill(const struct cost *cost, struct table *table)
{
	struct bill_row others = {0};
	int64_t count = 0;
	char name[64];

	for (const struct bill_row *row = cost->bill.rows; row; row = row->hh.next) {
		if (limit == 0 || count++ < limit) {
			line_add(cost, table, STYLE_TITLE, row_name(cost, row), row, bill_row_total(row), row->co2);
			continue;
		}
		others.item_count += row->item_count;
		others.cpu_nanos += row->cpu_nanos;
		others.memory_nanos += row->memory_nanos;
		others.gpu_nanos += row->gpu_nanos;
		for (size_t i = 0; i < GPU_TIME_COUNT; i++)
			others.gpu_ms[i] += row->gpu_ms[i];
		others.used_nanos += row->used_nanos;
		others.unused_nanos += row->unused_nanos;
		others.system_nanos += row->system_nanos;
		others.idle_nanos += row->idle_nanos;
		others.co2 += row->co2;
	}
	if (limit > 0 && count > limit) {
		snprintf(name, sizeof(name), "%s more", units_count(count - limit, false));
		line_add(cost, table, STYLE_DIM, name, &others, bill_row_total(&others), others.co2);
	}
}

/* What is in no row, and the sum. */
static void sums_fill(const struct cost *cost, struct table *table)
{
	const struct bill *bill = &cost->bill;

	if (bill->others_nanos)
		line_add(cost, table, STYLE_DIM, "(other runs)", NULL, bill->others_nanos, bill->others_co2);
	if (bill->system_nanos && !bill_rows_are_whole(cost->request.by))
		line_add(cost, table, STYLE_DIM, "(the system's own)", NULL, bill->system_nanos, bill->system_co2);
	if (bill->idle_nanos && !bill_rows_are_whole(cost->request.by))
		line_add(cost, table, STYLE_DIM, "(idle)", NULL, bill->idle_nanos, bill->idle_co2);
	line_add(cost, table, STYLE_TITLE, co2 ? "total" : "bill", NULL, bill->bill_nanos, bill->co2);
}

static void print_head(const struct cost *cost, const struct output *output)
{
	const struct bill *bill = &cost->bill;

	if (cost->request.run)
		output_print(output, STYLE_TITLE, "run %s", cost->request.run->name);
	else
		output_print(output, STYLE_TITLE, "%s to %s", units_time(cost->request.since_unix_ns),
			     units_time(cost->request.until_unix_ns));
	output_print(output, STYLE_PLAIN, "  %s, %s of host time, in %s\n",
		     units_counted((int64_t)bill->host_count, false, "host", "hosts"), duration_text(bill->observed_ms),
		     co2 ? "kWh" : prices_currency(cost->prices));
}

/* What is not known of the energy, or of its CO2. */
static void print_energy_notes(const struct cost *cost, const struct output *whole)
{
	size_t count = cost->bill.average_count;
	struct output_flow flow;
	const struct output *output = &flow.inner;

	output_flow_begin(&flow, whole);
	output_print(output, STYLE_WARNING,
		     "Modelled from CPU time and memory, not measured; without GPUs and cooling\n");
	if (count > 0)
		output_print(output, STYLE_WARNING,
			     "The power of the processors of %s is not known: that of an average one was used\n",
			     units_counted((int64_t)count, false, "host", "hosts"));
	if (carbon_intensity < 0)
		output_print(output, STYLE_WARNING,
			     "CO2 at %d g/kWh, the world's average in 2018: --carbon-intensity sets another\n",
			     CARBON_INTENSITY_WORLD);
	output_flow_end(&flow, 0);
}

/* How well the work used the GPUs that it held. */
static void print_gpus(const struct cost *cost, const struct output *output)
{
	int64_t ms[GPU_TIME_COUNT] = {0}, unused = 0;
	char held_text[UNITS_SIZE], used_text[UNITS_SIZE];

	for (const struct bill_row *row = cost->bill.rows; row; row = row->hh.next) {
		unused += row->gpu_unused_nanos;
		for (size_t i = 0; i < GPU_TIME_COUNT; i++)
			ms[i] += row->gpu_ms[i];
	}
	if (ms[GPU_USED] + ms[GPU_UNUSED] > 0) {
		snprintf(held_text, sizeof(held_text), "%s", duration_text(ms[GPU_USED] + ms[GPU_UNUSED]));
		snprintf(used_text, sizeof(used_text), "%s", duration_text(ms[GPU_USED]));
		output_print(output, STYLE_PLAIN, "GPUs: held for %s, in use for %s of it; held and not used: %s %s\n",
			     held_text, used_text, units_amount(unused, cost->decimals), prices_currency(cost->prices));
	}
	if (ms[GPU_UNKNOWN] > 0)
		output_print(output, STYLE_WARNING,
			     "GPUs: held for another %s; whether they were in use is unknown (docs/gpu.md)\n",
			     duration_text(ms[GPU_UNKNOWN]));
}

static void print_notes(const struct cost *cost, const struct output *output)
{
	const struct bill *bill = &cost->bill;

	if (co2)
		print_energy_notes(cost, output);
	if (!co2)
		print_gpus(cost, output);
	price_doubts_print(&bill->doubts, cost->prices, output);
	if (bill->unsampled_count == 1 && bill->sampled_count == 0)
		samples_print_misfit(bill->misfit, output);
	else if (bill->unsampled_count > 0)
		output_print(output, STYLE_DIM, "No sample structure found in %s of %s runs\n",
			     units_count((int64_t)bill->unsampled_count, false),
			     units_count((int64_t)(bill->unsampled_count + bill->sampled_count), false));
	if (bill->unobserved_ms)
		output_print(output, STYLE_DIM, "Not in the %s: %s in which hosts were off or not watched\n",
			     co2 ? "total" : "bill", duration_text(bill->unobserved_ms));
}

static int print_text(struct cost *cost, const struct output *output)
{
	const struct table_column columns[] = {
		{"", TABLE_LEFT, 30, 0},
		{"run", TABLE_LEFT, 0, 4, true},
		{"tasks", TABLE_RIGHT, 0, 4},
		{"CPU", TABLE_RIGHT, 0, 3},
		{"memory", TABLE_RIGHT, 0, 2},
		{"GPU", TABLE_RIGHT, 0, 2, true},
		{"GPU time", TABLE_RIGHT, 0, 3, true},
		{"not used", TABLE_RIGHT, 0, 1, true},
		{"system", TABLE_RIGHT, 0, 5, true},
		{"idle", TABLE_RIGHT, 0, 1, true},
		{co2 ? "kWh" : "cost", TABLE_RIGHT, 0, 0},
		{"kg CO2", TABLE_RIGHT, 0, 0, true},
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int64_t unit_nanos, co2_nanos = co2 ? bill_co2(cost->bill.bill_nanos, carbon_intensity) : 0, co2_unit_nanos;
	int error;

	cost->decimals = units_decimals(cost->bill.bill_nanos, &unit_nanos);
	cost->co2_decimals = units_decimals(co2_nanos, &co2_unit_nanos);
	error = bill_round(&cost->bill, unit_nanos);
	if (error == 0)
		error = bill_add_co2(&cost->bill, (co2_nanos + co2_unit_nanos / 2) / co2_unit_nanos);
	if (error == 0) {
		print_head(cost, output);
		rows_fill(cost, table);
		sums_fill(cost, table);
		error = table_print(table, output, NULL);
		print_notes(cost, output);
		if (limit > 0)
			say_cut((size_t)limit, HASH_COUNT(cost->bill.rows), "rows");
	}
	table_free(table);
	return error;
}

static int print_document(struct cost *cost, enum format format)
{
	json_t *root;
	int error = bill_to_json(&cost->bill, &cost->request, carbon_intensity, &root);

	if (error == 0)
		return document_print(root, "rows", cost_columns(&cost->request), format);
	json_decref(root);
	return error;
}

/* ---- the verb ---------------------------------------------------------------------- */

static int prices_read(struct cost *cost)
{
	cost->prices = price_list_load(prices_path);
	cost->request.prices = cost->prices;
	return cost->prices ? 0 : VERB_FAILED;
}

static int centres_read(struct cost *cost)
{
	struct tree_error reason;
	int error = centres_load(centres_path ? centres_path : CENTRES_DEFAULT, &cost->centres, &reason);

	cost->request.centres = cost->centres;
	if (error == -ENOENT && !centres_path)
		return say("tracer cost: no list of cost centres: write " CENTRES_DEFAULT
			   ", or name one by --centres (see tracer-cost(1))");
	return error == 0 ? 0 : site_file_say(error, &reason);
}

static int request_make(struct view *view, struct cost *cost)
{
	const struct options *options = view->options;
	struct bill_request *request = &cost->request;
	bool has_run = options->operand_count > 0, focus = options->format == FORMAT_FOCUS;
	int error = 0;

	bool has_since = options->since_unix_ns != ROW_NULL, has_until = options->until_unix_ns != ROW_NULL;

	request->until_unix_ns = has_until ? options->until_unix_ns : (int64_t)clock_unix_ns();
	request->since_unix_ns = has_since ? options->since_unix_ns : request->until_unix_ns - WINDOW_NS;
	request->host = options->host;
	request->user_id = options->user_id == ROW_NULL ? NULL : &options->user_id;
	request->by = by >= 0 ? (enum bill_key)by : has_run ? BILL_BY_TASK : BILL_BY_RUN;
	if (co2 && (focus || prices_path))
		return options_misuse(options, "--co2 prints energy: leave out --%s",
				      focus ? "format focus" : "prices");
	if (carbon_intensity >= 0 && !co2)
		return options_misuse(options, "--carbon-intensity is used with --co2");
	request->is_energy = co2;
	if (focus && options->user_id != ROW_NULL)
		return options_misuse(options, "--format focus has all charges: leave out --user");
	if (focus && has_run)
		return options_misuse(options, "--format focus is of a time: leave out RUN");
	if (focus && (by < 0 || request->by == BILL_BY_DAY))
		request->by = BILL_BY_HOST;
	request->as_charges = focus;
	if (centres_path && request->by != BILL_BY_CENTRE && !(focus && request->by == BILL_BY_RUN))
		return options_misuse(options, "--centres is used with --by centre, or --by run --format focus");
	if (has_run && (has_since || has_until))
		return options_misuse(options, "a run has its own time: leave out --%s", has_since ? "since" : "until");
	if (!co2)
		error = prices_read(cost);
	if (error == 0 && (centres_path || request->by == BILL_BY_CENTRE))
		error = centres_read(cost);
	if (error == 0 && has_run)
		error = source_find_run(view->store, options, options->operands[0], &cost->run);
	if (error == 0 && has_run)
		request->run = ROWS_ITEM(&cost->run, run, 0);
	return error;
}

/* The notes are not part of the file. */
static int focus_print(const struct view *view, struct cost *cost)
{
	struct output notes;

	output_init(&notes, stderr, view->options->color);
	price_doubts_print(&cost->bill.doubts, cost->prices, &notes);
	return focus_write(stdout, &cost->bill, &cost->request);
}

static int cost_show(struct view *view)
{
	struct cost cost = {0};
	int error = request_make(view, &cost);

	if (error == 0)
		error = sample_options_read(view->options, cost.request.by == BILL_BY_SAMPLE, &cost.sample_names);
	cost.request.sample_names = cost.sample_names;
	if (error == 0)
		error = bill_make(view->store, &cost.request, &cost.bill);
	if (error == -EOVERFLOW)
		error = say("tracer cost: the bill is too large: more than %lld", (long long)(INT64_MAX / NANOS));
	if (error == 0 && view->options->format == FORMAT_FOCUS)
		error = focus_print(view, &cost);
	else if (error == 0)
		error = view->options->format ? print_document(&cost, view->options->format)
					      : print_text(&cost, &view->output);
	if (error == 0)
		error = source_say_clocks(view->store, view->options->host, cost.request.since_unix_ns);
	if (error == 0 && cost.bill.host_count == 0)
		source_say_unwatched(&cost.bill.hosts);
	bill_free(&cost.bill);
	rows_free(&cost.run);
	centres_free(cost.centres);
	sample_names_free(cost.sample_names);
	prices_free(cost.prices);
	return error;
}

const struct verb verb_cost = {
	.name = "cost",
	.operands = "[RUN]",
	.operands_most = 1,
	.summary = "show what runs, tasks, tools, samples, users, cost centres or hosts cost",
	.description = "Divides what hosts cost among the work on them: each task is charged for the\n"
		       "larger of what it requested and what it used, concurrent tasks never for the\n"
		       "same core or byte twice. What was neither used nor requested is idle. The\n"
		       "parts always add up to the bill.\n"
		       "\n"
		       "RUN       only while this run was running (an id, a name, latest)\n"
		       "CPU       processors, by CPU time\n"
		       "memory    memory, by the largest sum of anonymous and shared memory\n"
		       "GPU       devices held, NVIDIA's; GPU time: for how long\n"
		       "not used  requested, or held, but not used\n"
		       "\n"
		       "--co2     energy instead: of processors by CPU time, of memory by its size, and\n"
		       "          what hosts take without work as idle. A model, no measurement\n"
		       "\n"
		       "Prices come from " PRICE_LIST_DEFAULT " (docs/cost.md). A host without a price\n"
		       "has OpenCost's defaults, in US dollars; it is left out if the list is in another\n"
		       "currency. A line says so.",
	.options = option_specs,
	.examples = "  tracer cost --since 1d --by user\n"
		    "  tracer cost latest --co2 --carbon-intensity 56\n"
		    "  tracer cost latest --by tool\n"
		    "  tracer cost --lake https://lake.example:8443 --by host --json",
	.completion = "run",
	.show = cost_show,
};
