/* tracer prices: checks a list of prices, shows which price each host has now, imports lists of cloud providers. */
#include <errno.h>
#include <string.h>

#include "analysis/cost/import.h"
#include "analysis/cost/priced_host.h"
#include "analysis/query/gpus.h"
#include "analysis/query/units.h"
#include "cli/advise/price_list.h"
#include "cli/screen/table.h"
#include "cli/site_rules.h"
#include "cli/source.h"
#include "common/clock.h"

#define MICROS 1000000

static const char *list_path, *output_path;
static int64_t limit;

static const struct option_spec option_specs[] = {
	{"prices", 0, "FILE", "file", "show: list of prices (" PRICE_LIST_DEFAULT ")", .text = &list_path},
	{"output", 'o', "FILE", "file", "import: write to FILE, not to standard output", .text = &output_path},
	OPTION_SPEC_HOST("show: only this host of a lake"),
	{"limit", 'n', "N", NULL, "show: at most N hosts (0: all, the default)", .number = &limit, .most = INT32_MAX},
	OPTION_SPECS_OF_FORMAT,
	OPTION_SPEC_SOURCE,
	OPTION_SPECS_LAST,
};

/* ---- check ------------------------------------------------------------------------- */

static int check(const struct options *options)
{
	const char *path = options->operands[1];
	struct prices *prices = price_list_load(path);
	struct output output;
	int64_t count;

	if (!prices)
		return VERB_FAILED;
	count = (int64_t)prices_count(prices);
	output_init(&output, stdout, options->color);
	if (options->format) {
		json_t *root = json_object();

		json_set_integer(root, "price_count", count);
		json_set_string(root, "currency", prices_currency(prices));
		document_print(root, NULL, json_incref(root), options->format);
	} else {
		output_print(&output, STYLE_PLAIN, "%s: %s in %s, no errors\n", path,
			     units_counted(count, false, "price", "prices"), prices_currency(prices));
	}
	prices_free(prices);
	return VERB_OK;
}

/* ---- show -------------------------------------------------------------------------- */

static int print_document(const struct prices *prices, const struct rows *hosts, enum format format)
{
	const struct row_cloud_host none = {0};
	json_t *root = json_object(), *array = json_array();
	struct priced_host priced = {.row = &none};
	json_t *columns = priced_host_to_json(&priced);
	int64_t now_unix_ns = (int64_t)clock_unix_ns();
	int error = 0;

	json_set_string(root, "currency", prices_currency(prices));
	for (size_t i = 0; i < hosts->count && error == 0; i++) {
		error = priced_host_make(prices, ROWS_ITEM(hosts, cloud_host, i), now_unix_ns, &priced);
		if (error == 0)
			json_array_append_new(array, priced_host_to_json(&priced));
	}
	json_object_set_new(root, "hosts", array);
	if (error == 0)
		return document_print(root, "hosts", columns, format);
	json_decref(columns);
	json_decref(root);
	return error;
}

static void line_add(struct table *table, const struct priced_host *priced)
{
	bool has_price = priced->price.line > 0;
	char text[UNITS_SIZE] = "-";

	table_add_name(table, STYLE_TITLE, "", priced->row->host.hostname);
	table_add_name(table, STYLE_PLAIN, "", priced->host.instance_type ? priced->host.instance_type : "-");
	table_add_name(table, STYLE_PLAIN, "", priced->host.region ? priced->host.region : "-");
	table_add_name(table, STYLE_PLAIN, "", priced->host.lifecycle ? priced->host.lifecycle : "-");
	table_add(table, has_price ? STYLE_PLAIN : STYLE_WARNING, price_basis_name(priced->price.basis));
	if (priced->hour_micros != ROW_NULL)
		snprintf(text, sizeof(text), "%lld.%06lld", (long long)(priced->hour_micros / MICROS),
			 (long long)(priced->hour_micros % MICROS));
	table_add(table, STYLE_PLAIN, text);
	snprintf(text, sizeof(text), "%u", priced->price.line);
	table_add(table, STYLE_DIM, priced->price.line ? text : "-");
}

static int print_text(const struct prices *prices, const struct rows *hosts, const struct output *output)
{
	static const struct table_column columns[] = {
		{"host", TABLE_LEFT, 30, 0},     {"instance type", TABLE_LEFT, 0, 1}, {"region", TABLE_LEFT, 0, 2},
		{"lifecycle", TABLE_LEFT, 0, 3}, {"basis", TABLE_LEFT, 0, 0},         {"an hour", TABLE_RIGHT, 0, 0},
		{"line", TABLE_RIGHT, 0, 0},
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	struct price_doubts doubts = {0};
	struct priced_host priced;
	int64_t now_unix_ns = (int64_t)clock_unix_ns();
	int error = 0;

	for (size_t i = 0; i < hosts->count && error == 0; i++) {
		error = priced_host_make(prices, ROWS_ITEM(hosts, cloud_host, i), now_unix_ns, &priced);
		if (error < 0)
			break;
		price_doubts_add(&doubts, &priced.price);
		line_add(table, &priced);
	}
	if (error == 0)
		error = table_print(table, output, NULL);
	output_print(output, STYLE_DIM, "Amounts in %s; lines of %s\n", prices_currency(prices),
		     list_path ? list_path : PRICE_LIST_DEFAULT);
	price_doubts_print(&doubts, prices, output);
	table_free(table);
	return error;
}

static int hosts_show(struct view *view)
{
	struct prices *prices = price_list_load(list_path);
	struct rows hosts = {0};
	int error;

	if (!prices)
		return VERB_FAILED;
	error = gpu_hosts_load(view->store, &hosts);
	rows_keep_host(&hosts, view->options->host);
	if (limit && hosts.count > (size_t)limit) {
		say_cut((size_t)limit, hosts.count, "hosts");
		hosts.count = (size_t)limit;
	}
	if (error == 0)
		error = view->options->format ? print_document(prices, &hosts, view->options->format)
					      : print_text(prices, &hosts, &view->output);
	rows_free(&hosts);
	prices_free(prices);
	return error;
}

/* ---- import ------------------------------------------------------------------------ */

static const char *const format_names[] = {
#define I(NAME, name) name,
	IMPORT_FORMATS(I)
#undef I
};

static int say_import_error(int error, const struct tree_error *reason)
{
	if (error == -EIO && output_path)
		return say("tracer: cannot write %s", output_path);
	if (error == -EIO)
		return say("tracer: cannot write to standard output");
	return site_file_say(error, reason);
}

static int import(const struct options *options, enum import_format format)
{
	FILE *out = output_path ? fopen(output_path, "we") : stdout;
	struct tree_error reason = {0};
	struct import_counts counts;
	int error;

	if (!out)
		return say("tracer: cannot write %s: %s", output_path, strerror(errno));
	error = import_prices(format, options->operands[2], out, &counts, &reason);
	if (output_path && fclose(out) != 0 && error == 0)
		error = -EIO;
	if (error < 0)
		return say_import_error(error, &reason);
	say("%s; %zu repeated, %zu of another kind left out",
	    units_counted((int64_t)counts.taken, true, "price", "prices"), counts.repeated, counts.left_out);
	return counts.taken > 0 ? VERB_OK : VERB_FAILED;
}

static int import_main(const struct options *options)
{
	if (options->operand_count != 3)
		return options_misuse(options, "import takes a FORMAT and a FILE");
	for (size_t i = 0; i < sizeof(format_names) / sizeof(format_names[0]); i++)
		if (strcmp(options->operands[1], format_names[i]) == 0)
			return import(options, (enum import_format)i);
	return options_misuse(options, "unknown format '%s': use aws-csv, aws-json, azure, focus or gcp",
			      options->operands[1]);
}

/* ---- the verb ---------------------------------------------------------------------- */

static int prices_main(const struct options *options)
{
	const char *action = options->operands[0];

	if (strcmp(action, "check") == 0)
		return options->operand_count == 2 ? check(options) : options_misuse(options, "check takes a FILE");
	if (strcmp(action, "show") == 0)
		return options_check_most(options, 1) ? VERB_USAGE : source_show(options, hosts_show);
	if (strcmp(action, "import") == 0)
		return import_main(options);
	return options_misuse(options, "unknown action '%s': use check, show or import", action);
}

const struct verb verb_prices = {
	.name = "prices",
	.operands = "check FILE | show | import FORMAT FILE",
	.operands_least = 1,
	.operands_most = 3,
	.summary = "check, show or import prices of hosts",
	.description = "check FILE   checks a list of prices; shows file, line, reason\n"
		       "show         shows what each host costs an hour now, and the line of the list\n"
		       "             that says so\n"
		       "import FORMAT FILE\n"
		       "             converts a list of a cloud provider: aws-csv, aws-json (AmazonEC2,\n"
		       "             Price List Bulk API), azure (Retail Prices API), focus (a bill in\n"
		       "             FOCUS 1.2 CSV), gcp (a detailed usage cost export in JSON). Takes\n"
		       "             Linux machines by the hour, on demand or spot\n"
		       "\n"
		       "basis   node: price of the whole machine; rates: prices of cores and memory;\n"
		       "        default: the list has no price for this host, OpenCost's defaults apply\n"
		       "        none: nor do these, which are in US dollars; the list is not\n"
		       "\n"
		       "The list is " PRICE_LIST_DEFAULT ". docs/cost.md describes its format.",
	.options = option_specs,
	.examples = "  tracer prices check prices.csv\n"
		    "  tracer prices import aws-csv index.csv --output prices.csv\n"
		    "  tracer prices show --lake https://lake.example:8443",
	.completion = "check show import",
	.main = prices_main,
};
