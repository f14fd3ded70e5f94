/* Gathers the answers of other commands. See facts.h. */
#include "analysis/report/facts.h"

#include <errno.h>
#include <string.h>

#include "analysis/cost/bill.h"
#include "analysis/query/ask.h"
#include "analysis/query/live.h"
#include "analysis/query/failure.h"
#include "analysis/query/units.h"
#include "analysis/report/share.h"

struct gathering {
	const struct report *report;
	json_t *facts;
	struct prices *prices;
	struct tuning *tune;
	const struct row_type *type; /* of the rows that are being added */
	json_t *array;
};

static int row_add_to_array(void *context, const void *row)
{
	struct gathering *gathering = context;

	return json_array_append_new(gathering->array, row_to_json(gathering->type, row)) < 0 ? -ENOMEM : 0;
}

static int rows_gather(struct gathering *gathering, const char *name, const struct row_type *type,
		       enum report_rows rows)
{
	gathering->type = type;
	gathering->array = json_array();
	json_object_set_new(gathering->facts, name, gathering->array);
	return report_each(gathering->report, rows, row_add_to_array, gathering);
}

static void run_gather(struct gathering *gathering)
{
	const struct report *report = gathering->report;
	const struct row_run *row = report_run(report);
	json_t *run = row_to_json(&row_type_run, row), *parts = json_array(), *hosts = json_array();

	json_set_integer(run, "wall_ns", report_wall_ns(report, row->begin_boot_ns, row->end_boot_ns));
	json_set_integer(run, "core_limit_milli", report_cores_milli(report));
	json_set_integer(run, "host_core_milli", report_host_cores_milli(report));
	json_set_string(run, "user", row->user_id == ROW_NULL ? NULL : units_user(row->user_id));
	for (size_t i = 0; i < report->parts.count && report->parts.count > 1; i++)
		json_array_append_new(parts, row_to_json(&row_type_part, ROWS_ITEM(&report->parts, part, i)));
	for (size_t i = 0; i < report->hosts.count; i++)
		json_array_append_new(hosts, row_to_json(&row_type_host, ROWS_ITEM(&report->hosts, host, i)));
	json_object_set_new(gathering->facts, "run", run);
	json_object_set_new(gathering->facts, "parts", parts);
	json_object_set_new(gathering->facts, "hosts", hosts);
	json_object_set_new(gathering->facts, "lower_bounds",
			    json_pack("{s:I, s:I, s:I}", "unfinished_count",
				      (json_int_t)report->doubts.unfinished_count, "found_count",
				      (json_int_t)report->doubts.found_count, "partial_count",
				      (json_int_t)report->doubts.partial_count));
	if (report->doubts.is_partial)
		json_object_set_new(json_object_get(gathering->facts, "lower_bounds"), "is_partial", json_true());
}

static json_t *previous_to_json(struct store_result *result)
{
	static const char *const columns[] = {"id", "started_unix_ns", "wall_ns", "task_count", "failed_count"};
	json_t *run = json_object();

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		json_set_integer(run, columns[i], result_integer(result, columns[i]));
	json_set_string(run, "status", result_text(result, "status"));
	return run;
}

static int previous_gather(struct gathering *gathering)
{
	const struct row_run *run = report_run(gathering->report);
	const struct store_parameter parameters[] = QUERY_PARAMETERS_OF("run_id", run->id, run->host_id);
	json_t *previous = json_array();
	struct store_result *result;
	int more = query_ask(gathering->report->store, "run_previous", parameters, &result);

	json_object_set_new(gathering->facts, "previous", previous);
	if (more < 0)
		return more;
	while ((more = store_result_next(result)) > 0)
		json_array_append_new(previous, previous_to_json(result));
	store_result_free(result);
	return more;
}

static int failures_gather(struct gathering *gathering)
{
	json_t *failures;
	int error = failures_to_json(gathering->report, &failures);

	if (error == 0)
		json_object_set_new(gathering->facts, "failures", failures);
	return error;
}

/* Where the attempts are on the run's clock. */
static void attempts_gather(struct gathering *gathering)
{
	const struct report *report = gathering->report;
	json_t *attempts = json_array();

	for (size_t i = 0; report->of_attempts && i < report->parts.count; i++) {
		const struct row_run *run = &ROWS_ITEM(&report->parts, part, i)->run;
		int64_t begin_ns = row_add(run->begin_boot_ns, report_part_shift_ns(report, i));
		json_t *attempt = json_object();

		json_set_integer(attempt, "id", run->id);
		json_set_string(attempt, "status", run->status);
		json_set_integer(attempt, "started_unix_ns", run->started_unix_ns);
		json_set_integer(attempt, "begin_us", row_subtract(begin_ns, report_run(report)->begin_boot_ns) / 1000);
		json_array_append_new(attempts, attempt);
	}
	json_object_set_new(gathering->facts, "attempts", attempts);
}

/* ---- cost ---------------------------------------------------------------------- */

/* Adds the amounts of another bill in the same currency. */
static void amounts_add(json_t *sum, const json_t *other)
{
	const char *member;
	json_t *value;

	json_object_foreach ((json_t *)other, member, value) {
		json_t *own = json_object_get(sum, member);

		if (json_is_integer(own) &&
		    (strstr(member, "_micros") || strstr(member, "_ms") || strcmp(member, "task_count") == 0))
			json_integer_set(own, json_integer_value(own) + json_integer_value(value));
	}
}

static json_t *row_find(const json_t *rows, const char *key, const char *name)
{
	size_t index;
	json_t *row;

	json_array_foreach (rows, index, row) {
		const char *own = json_string_value(json_object_get(row, key));

		if (own && name && strcmp(own, name) == 0)
			return row;
	}
	return NULL;
}

static void bill_add(json_t *sum, const json_t *other)
{
	const char *key = json_string_value(json_object_get(sum, "by"));
	json_t *rows = json_object_get(sum, "rows"), *row, *own;
	size_t index;

	amounts_add(sum, other);
	json_array_foreach (json_object_get(other, "rows"), index, row) {
		own = row_find(rows, key, json_string_value(json_object_get(row, key)));
		if (own)
			amounts_add(own, row);
		else
			json_array_append(rows, row);
	}
}

/* What one attempt, or a run with all its parts on other hosts, cost; null if the prices are absurd, or if what others ran at the
 * same time, who share the cost of the host, is not seen. */
static int bill_gather(struct gathering *gathering, const struct row_run *run, enum bill_key by, json_t **ret_root)
{
	struct bill_request request = {.by = by, .run = run, .prices = gathering->prices};
	struct bill bill;
	int error = bill_make(gathering->report->store, &request, &bill);

	if (error == 0)
		error = bill_to_json(&bill, &request, -1, ret_root);
	else if (error == -EOVERFLOW || error == -EPERM) {
		*ret_root = json_null();
		error = 0;
	}
	bill_free(&bill);
	return error;
}

static int cost_gather(struct gathering *gathering, const char *name, enum bill_key by)
{
	const struct report *report = gathering->report;
	size_t count = report->of_attempts ? report->parts.count : 1;
	json_t *sum = NULL;
	int error = 0;

	for (size_t i = 0; i < count && error == 0; i++) {
		json_t *bill = NULL;

		error = bill_gather(gathering, &ROWS_ITEM(&report->parts, part, i)->run, by, &bill);
		if (!sum)
			sum = json_incref(bill);
		else
			bill_add(sum, bill);
		json_decref(bill);
	}
	json_object_set_new(gathering->facts, name, sum);
	return error;
}

/* ---- while it runs --------------------------------------------------------------- */

static bool is_of_report(int64_t host_id, int64_t run_id, int64_t user_id, const void *data)
{
	const struct report *report = data;

	(void)host_id;
	(void)user_id;
	for (size_t i = 0; i < report->parts.count; i++)
		if (ROWS_ITEM(&report->parts, part, i)->run.id == run_id)
			return true;
	return false;
}

/* Warnings quote names, so that a page for others has none. */
static int live_gather(struct gathering *gathering, bool is_shared)
{
	const struct report *report = gathering->report;
	struct live live = {0};
	int error = 0;

	if (!is_shared && strcmp(report_run(report)->status, "running") == 0)
		error = live_load(&live, report->store);
	live_keep(&live, is_of_report, report);
	json_object_set_new(gathering->facts, "warnings", live_warnings_to_json(&live));
	json_object_set_new(gathering->facts, "expected_end",
			    live_end_to_json(live_end_of(&live, report_run(report)->id)));
	live_free(&live);
	return error;
}

/* ---- all ----------------------------------------------------------------------- */

static int gather(struct gathering *gathering)
{
	int error = failures_gather(gathering);

	run_gather(gathering);
	attempts_gather(gathering);
	if (error == 0)
		error = rows_gather(gathering, "losses", &row_type_loss, REPORT_LOSSES);
	if (error == 0)
		error = rows_gather(gathering, "containers", &row_type_container, REPORT_CONTAINERS);
	if (error == 0)
		error = previous_gather(gathering);
	if (error == 0)
		error = cost_gather(gathering, "cost", BILL_BY_TASK);
	if (error == 0)
		error = cost_gather(gathering, "cost_by_tool", BILL_BY_TOOL);
	if (error == 0)
		json_object_set_new(gathering->facts, "tune", tuning_to_json(gathering->tune));
	return error;
}

static void facts_scrub(json_t *facts)
{
	const char *name;
	json_t *fact;

	json_object_foreach (facts, name, fact)
		share_scrub(fact, strcmp(name, "tune") == 0 ? " sentence advice subject " : "");
}

int report_facts_load(const struct report *report, const struct report_facts_request *request,
		      struct report_facts *ret_facts)
{
	static struct thresholds defaults;
	struct tuning *tune = &ret_facts->tune;
	struct gathering gathering = {
		.report = report, .facts = json_object(), .prices = request->prices, .tune = tune};
	int error;

	*ret_facts = (struct report_facts){
		.tune = {.report = report,
			 .thresholds = &defaults,
			 .catalogue = request->catalogue,
			 .prices = request->prices},
		.answers = gathering.facts,
	};
	error = tuning_make(tune, request->is_shared ? share_format : finding_value);
	if (error == 0)
		error = gather(&gathering);
	if (error == 0)
		error = live_gather(&gathering, request->is_shared);
	if (error == 0 && request->is_shared)
		facts_scrub(gathering.facts);
	return error;
}

void report_facts_free(struct report_facts *facts)
{
	json_decref(facts->answers);
	tuning_free(&facts->tune);
}
