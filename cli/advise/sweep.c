/* tracer sweep: where spend is wasted now. */
#include "analysis/sweep/users.h"

#include <errno.h>
#include <string.h>

#include "analysis/cost/bill.h"
#include "analysis/query/units.h"
#include "cli/advise/price_list.h"
#include "cli/advise/threshold_options.h"
#include "cli/screen/table.h"
#include "cli/site_rules.h"
#include "cli/source.h"
#include "common/clock.h"

#define KIND "sweep"
#define NANOS INT64_C(1000000000)
#define MICRO_NANOS 1000
#define WINDOW_NS (INT64_C(7) * 86400 * NANOS)

/* What is shown beside findings, or instead of them. */
enum sweep_key { BY_HOST, BY_USER };

static int by = -1; /* enum sweep_key; -1: hosts, and findings */
static const char *prices_path;
static bool list;
static int64_t limit = 10;

static const struct option_spec option_specs[] = {
	{"by", 'b', "KEY", "host user", "only this, without findings: host; user: a text to mail to each",
	 .choice = &by},
	OPTION_SPEC_SINCE("from this time on, such as 3d (ago) or 2026-11-22 (7d)"),
	{"limit", 'n', "N", NULL, "show at most N hosts, findings or users (10); 0: all", .number = &limit,
	 .most = INT64_MAX},
	{"list", 'l', NULL, NULL, "list the findings and their thresholds", .flag = &list},
	OPTION_SPEC_SET("host_idle.least=1h"),
	OPTION_SPEC_HOST("only this host of a lake"),
	OPTION_SPEC_USER("only findings that are of USER (name or number)"),
	OPTION_SPEC_PRICES(&prices_path),
	OPTION_SPECS_OF_VIEW,
};

struct sweeping {
	struct view *view;
	struct catalogue *catalogue;
	struct prices *prices;
	struct sweep_request request;
	struct sweep sweep;
	const struct sweep_item **shown; /* findings */
	size_t shown_count;
	struct store_parameter given[3];
};

static const struct store_parameter *bind(const struct question *question, void *data)
{
	const struct sweeping *sweeping = data;

	return thresholds_bind(&thresholds_given, question, sweeping->given);
}

/* ---- text -------------------------------------------------------------------------- */

static void money_add(struct table *table, enum style style, int64_t nanos)
{
	const struct store_value value = {.type = STORE_VALUE_INTEGER, .integer = nanos / MICRO_NANOS};

	table_add(table, style, nanos == ROW_NULL ? "-" : units_value(QUESTION_MONEY, &value, false));
}

static void item_add(struct table *table, size_t number, const struct sweep_item *item)
{
	table_add(table, STYLE_DIM, units_count((int64_t)number, false));
	table_add_name(table, STYLE_TITLE, "", item->question->name);
	table_add_name(table, STYLE_PLAIN, "", item->hostname);
	table_add(table, STYLE_PLAIN, units_time_short(item->since_unix_ns));
	table_add(table, STYLE_PLAIN, item->is_now ? "yes" : "no");
	money_add(table, STYLE_PLAIN, item->hour_nanos);
	money_add(table, STYLE_TITLE, item->cost_nanos);
	table_add_name(table, STYLE_PLAIN, "", item->run ? item->run : "-");
	table_add(table, item->is_certain ? STYLE_PLAIN : STYLE_DIM, item->is_certain ? "certain" : "likely");
}

static size_t least_of(size_t count)
{
	return limit > 0 && (uint64_t)limit < count ? (size_t)limit : count;
}

static void print_sentences(const struct sweeping *sweeping, const struct output *output)
{
	for (size_t i = 0; i < sweeping->shown_count; i++) {
		const struct sweep_item *item = sweeping->shown[i];
		struct output_flow flow;

		output_flow_begin(&flow, output);
		output_print(&flow.inner, STYLE_DIM, "%2zu  ", i + 1);
		output_print_text(&flow.inner, STYLE_PLAIN, item->sentence);
		output_print(&flow.inner, STYLE_PLAIN, ". ");
		output_print_text(&flow.inner, STYLE_GOOD, item->advice);
		output_print(&flow.inner, STYLE_PLAIN, "\n");
		output_flow_end(&flow, 4);
	}
}

static int print_findings(const struct sweeping *sweeping, const struct output *output)
{
	static const struct table_column columns[] = {
		{"#", TABLE_RIGHT, 0, 0},       {"what", TABLE_LEFT, 0, 0},
		{"where", TABLE_LEFT, 20, 0},   {"since", TABLE_LEFT, 0, 2},
		{"now", TABLE_LEFT, 0, 3},      {"an hour", TABLE_RIGHT, 0, 0},
		{"so far", TABLE_RIGHT, 0, 0},  {"run", TABLE_LEFT, 0, 4, .most = 24},
		{"how sure", TABLE_LEFT, 0, 1},
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int error = 0;

	for (size_t i = 0; i < sweeping->shown_count; i++)
		item_add(table, i + 1, sweeping->shown[i]);
	if (sweeping->shown_count > 0)
		error = table_print(table, output, NULL);
	table_free(table);
	if (error == 0 && sweeping->shown_count > 0)
		output_print(output, STYLE_PLAIN, "\n");
	print_sentences(sweeping, output);
	if (sweeping->sweep.count > 1)
		output_print(output, STYLE_DIM,
			     "Findings about one host overlap: their costs do not add up, those of hosts do\n");
	return error;
}

/* ---- hosts ------------------------------------------------------------------------- */

#define HOUR_MS 3600000
#define HOURS_MANY 100

/* Decimals of hours and of money. */
struct precision {
	unsigned hours, money;
};

static void hours_add(struct table *table, int64_t units, unsigned decimals)
{
	table_add(table, STYLE_PLAIN, units == 0 ? "" : units_amount(units, decimals));
}

static void costs_add(struct table *table, enum style style, const struct owned_host *host, int64_t units,
		      unsigned decimals)
{
	table_add(table, style, !host->has_price ? "-" : units == 0 ? "" : units_amount(units, decimals));
}

static void host_add(struct table *table, enum style style, const char *name, const struct owned_host *host,
		     struct precision decimals)
{
	table_add_name(table, style, "", name);
	for (size_t i = 0; i < OWNER_COUNT; i++)
		hours_add(table, host->ms[i], decimals.hours);
	hours_add(table, owners_ms(host, OWNER_WORK), decimals.hours);
	for (size_t i = 0; i < OWNER_COUNT; i++)
		costs_add(table, STYLE_PLAIN, host, host->nanos[i], decimals.money);
	costs_add(table, style, host, owners_nanos(host, OWNER_WASTED), decimals.money);
	costs_add(table, STYLE_PLAIN, host, owners_nanos(host, OWNER_WORK), decimals.money);
}

static void hosts_fill(const struct sweep *sweep, struct table *table, struct precision decimals)
{
	size_t count = sweep->owned_count, shown = least_of(count);
	struct owned_host sum = owners_sum(sweep->owned + shown, count - shown);
	char name[64];

	for (size_t i = 0; i < shown; i++)
		host_add(table, STYLE_TITLE, sweep->owned[i].host->host.hostname, &sweep->owned[i], decimals);
	snprintf(name, sizeof(name), "%s more", units_count((int64_t)(count - shown), false));
	if (count > shown)
		host_add(table, STYLE_DIM, name, &sum, decimals);
	sum = owners_sum(sweep->owned, count);
	if (count > 1)
		host_add(table, STYLE_TITLE, "total", &sum, decimals);
}

static int print_hosts(struct sweeping *sweeping, const struct output *output)
{
	static const struct table_column columns[] = {
		{"hours", TABLE_LEFT, 16, 0},  {"work", TABLE_RIGHT, 0, 0},       {"system", TABLE_RIGHT, 0, 0},
		{"gap", TABLE_RIGHT, 0, 0},    {"idle", TABLE_RIGHT, 0, 0},       {"too large", TABLE_RIGHT, 0, 0},
		{"all", TABLE_RIGHT, 0, 1},    {"cost: work", TABLE_RIGHT, 0, 2}, {"system", TABLE_RIGHT, 0, 2},
		{"gap", TABLE_RIGHT, 0, 2},    {"idle", TABLE_RIGHT, 0, 2},       {"too large", TABLE_RIGHT, 0, 2},
		{"wasted", TABLE_RIGHT, 0, 0}, {"cost", TABLE_RIGHT, 0, 0},
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	struct sweep *sweep = &sweeping->sweep;
	struct owned_host sum = owners_sum(sweep->owned, sweep->owned_count);
	bool are_many = owners_ms(&sum, OWNER_WORK) >= HOURS_MANY * (int64_t)HOUR_MS;
	int64_t unit_nanos;
	struct precision decimals = {are_many ? 1 : 2, units_decimals(owners_nanos(&sum, OWNER_WORK), &unit_nanos)};
	int error = owners_round(sweep->owned, sweep->owned_count, are_many ? HOUR_MS / 10 : HOUR_MS / 100, unit_nanos);

	if (error == 0 && sweep->owned_count > 0) {
		hosts_fill(sweep, table, decimals);
		error = table_print(table, output, NULL);
	}
	table_free(table);
	return error;
}

/* ---- users ------------------------------------------------------------------------- */

static int users_load(struct sweeping *sweeping, json_t **ret_users, size_t *ret_count)
{
	const struct question *jobs = catalogue_find(sweeping->catalogue, SWEEP_USER_JOBS);
	const struct sweep_users_request request = {
		.store = sweeping->view->store,
		.sweep = &sweeping->sweep,
		.jobs = jobs,
		.parameters = bind(jobs, sweeping),
		.since_unix_ns = sweeping->request.since_unix_ns,
		.user_id = sweeping->view->options->user_id,
		.most = least_of(SIZE_MAX),
	};

	return sweep_users_load(&request, ret_users, ret_count);
}

/* The texts are safe already. */
static void users_print(const json_t *users, size_t count, const struct output *output)
{
	size_t i;
	json_t *user;

	json_array_foreach (users, i, user) {
		fputs(i > 0 ? "\n==== " : "==== ", output->file);
		output_print(output, STYLE_PLAIN, "%s\n", json_string_value(json_object_get(user, "user")));
		fputs(json_string_value(json_object_get(user, "text")), output->file);
	}
	if (count == 0)
		output_print(output, STYLE_PLAIN, "No user wastes more than the thresholds (docs/sweep.md)\n");
}

static int print_users(struct sweeping *sweeping)
{
	json_t *users, *root = json_object();
	size_t count;
	int error = users_load(sweeping, &users, &count);

	json_set_integer(root, "since_unix_ns", sweeping->request.since_unix_ns);
	json_set_integer(root, "until_unix_ns", sweeping->request.now_unix_ns);
	json_set_integer(root, "user_count", (int64_t)count);
	json_object_set_new(root, "users", users);
	if (error == 0 && sweeping->view->options->format)
		error = document_print(json_incref(root), "users", sweep_users_columns(),
				       sweeping->view->options->format);
	else if (error == 0)
		users_print(users, count, &sweeping->view->output);
	if (error == 0)
		say_cut(json_array_size(users), count, "users");
	json_decref(root);
	return error;
}

/* ---- all --------------------------------------------------------------------------- */

static int print_text(struct sweeping *sweeping, const struct output *output)
{
	const struct sweep *sweep = &sweeping->sweep;
	int64_t host_count = (int64_t)sweep->owned_count, count = (int64_t)sweep->count;
	int error = 0;

	output_print(output, STYLE_TITLE, "Since %s", units_time(sweeping->request.since_unix_ns));
	output_print(output, STYLE_PLAIN, "  %s, %s, in %s\n", units_counted(host_count, false, "host", "hosts"),
		     units_counted(count, false, "finding", "findings"), prices_currency(sweeping->prices));
	if (sweeping->view->options->user_id == ROW_NULL || by == BY_HOST)
		error = print_hosts(sweeping, output);
	if (error == 0 && by < 0 && sweep->count > 0) {
		output_print(output, STYLE_PLAIN, "\n");
		error = print_findings(sweeping, output);
	}
	price_doubts_print(&sweep->doubts, sweeping->prices, output);
	return error;
}

static int print_document(struct sweeping *sweeping)
{
	struct sweep *sweep = &sweeping->sweep;
	json_t *root;
	int error = sweep_to_json(&sweeping->request, sweep, least_of(sweep->owned_count), &root);

	if (by < 0) {
		json_set_integer(root, "finding_count", (int64_t)sweep->count);
		json_object_set_new(root, "findings", sweep_items_to_json(sweeping->shown, sweeping->shown_count));
	}
	if (error == 0)
		return document_print(root, by == BY_HOST ? "hosts" : "findings", sweep_columns(by == BY_HOST),
				      sweeping->view->options->format);
	json_decref(root);
	return error;
}

/* ---- the verb ---------------------------------------------------------------------- */

static int sweep_ask(struct sweeping *sweeping)
{
	const struct options *options = sweeping->view->options;
	int64_t now_unix_ns = (int64_t)clock_unix_ns();
	struct sweep_request *request = &sweeping->request;
	int error;

	*request = (struct sweep_request){
		.store = sweeping->view->store,
		.catalogue = sweeping->catalogue,
		.prices = sweeping->prices,
		.since_unix_ns = options->since_unix_ns != ROW_NULL ? options->since_unix_ns : now_unix_ns - WINDOW_NS,
		.now_unix_ns = now_unix_ns,
		.host = options->host,
		.user_id = options->user_id,
		.bind = bind,
		.data = sweeping,
	};
	sweeping->given[0] = (struct store_parameter)STORE_INT("since_unix_ns", request->since_unix_ns);
	sweeping->given[1] = (struct store_parameter)STORE_INT("now_unix_ns", now_unix_ns);
	error = sweep_make(request, &sweeping->sweep);
	return error < 0 ? error
			 : sweep_choose(&sweeping->sweep, least_of(sweeping->sweep.count), &sweeping->shown,
					&sweeping->shown_count);
}

static int sweep_show(struct view *view)
{
	struct sweeping sweeping = {.view = view};
	int error;

	sweeping.catalogue = site_queries_load(NULL);
	sweeping.prices = sweeping.catalogue ? price_list_load(prices_path) : NULL;
	error = sweeping.prices ? 0 : VERB_FAILED;
	if (error == 0)
		error = threshold_options_check(view->options, sweeping.catalogue, KIND);
	if (error == 0)
		error = sweep_ask(&sweeping);
	if (error == 0)
		error = by == BY_USER           ? print_users(&sweeping)
			: view->options->format ? print_document(&sweeping)
						: print_text(&sweeping, &view->output);
	if (error == 0 && by != BY_USER)
		say_cut(least_of(sweeping.sweep.owned_count), sweeping.sweep.owned_count, "hosts");
	if (error == 0 && by < 0)
		say_cut(sweeping.shown_count, sweeping.sweep.count, "findings");
	if (error == 0)
		error = source_say_clocks(view->store, view->options->host, sweeping.request.since_unix_ns);
	if (error == 0 && sweeping.sweep.owned_count == 0)
		source_say_unwatched(&sweeping.sweep.hosts);
	if (error == -EOVERFLOW)
		error = say("tracer sweep: the bill is too large: more than %lld", (long long)(INT64_MAX / NANOS));
	free(sweeping.shown);
	sweep_free(&sweeping.sweep);
	catalogue_free(sweeping.catalogue);
	prices_free(sweeping.prices);
	return error;
}

static int sweep_main(const struct options *options)
{
	return list ? threshold_options_list(options, KIND) : source_show(options, sweep_show);
}

const struct verb verb_sweep = {
	.name = "sweep",
	.summary = "show where spend is wasted now",
	.description = "Looks for hosts, sessions, runs and tasks that cost money for nothing, the most\n"
		       "expensive first: only what was seen, nothing is predicted. A host on which work\n"
		       "was active is never called idle.\n"
		       "\n"
		       "Every hour of a host has one owner: hours and costs add up to those of tracer\n"
		       "cost.\n"
		       "\n"
		       "work      a run was running, or had ended less than ten minutes before\n"
		       "system    none was, but the host was busy: services, agents, what is unknown\n"
		       "gap       the rest: between runs, before the first and after the last\n"
		       "idle      the time since which the host is idle (host_idle)\n"
		       "too large processors and memory that work never used\n"
		       "wasted    gap, idle and too large\n"
		       "\n"
		       "Findings:\n"
		       "\n"
		       "since     when it began, or when the time searched began\n"
		       "now       whether it still went on when the host was last heard of, within the\n"
		       "          last 15 minutes\n"
		       "an hour   what it costs each hour, as long as it goes on\n"
		       "so far    what it has cost since then\n"
		       "run       the run it is tied to\n"
		       "how sure  certain, or likely if something in that time was not seen\n"
		       "\n"
		       "Prices come from " PRICE_LIST_DEFAULT " (docs/cost.md). Findings about the\n"
		       "same host overlap: their costs do not add up. See docs/sweep.md.",
	.options = option_specs,
	.examples = "  tracer sweep --since 30d\n"
		    "  tracer sweep --by user --lake https://lake.example:8443\n"
		    "  tracer sweep --set host_idle.least=1h\n"
		    "  tracer sweep --lake https://lake.example:8443 --json",
	.main = sweep_main,
};
