/* Gathers the answers of other commands. See report_facts.h. */
#include "cli/report_facts.h"

#include <errno.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/cost_json.h"
#include "cli/share.h"
#include "cli/units.h"
#include "query/ask.h"
#include "query/failure.h"

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
	for (size_t i = 0; i < report->parts.count; i++)
		json_array_append_new(parts, row_to_json(&row_type_run, &ROWS_ITEM(&report->parts, part, i)->run));
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
		json_array_append_new(previous, result_to_json(result));
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

static int cost_gather(struct gathering *gathering, const char *name, enum bill_key by)
{
	struct bill_request request = {.by = by, .run = report_run(gathering->report), .prices = gathering->prices};
	struct bill bill;
	json_t *root = NULL;
	int error = bill_make(gathering->report->store, &request, &bill);

	if (error == -EOVERFLOW) { /* the prices are absurd: no cost is shown */
		json_object_set_new(gathering->facts, name, json_null());
		error = 0;
	} else if (error == 0) {
		error = cost_to_json(&bill, &request, -1, &root);
		json_object_set_new(gathering->facts, name, root);
	}
	bill_free(&bill);
	return error;
}

static int gather(struct gathering *gathering)
{
	int error = failures_gather(gathering);

	run_gather(gathering);
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
	struct gathering gathering = {.report = report, .facts = json_object(), .tune = tune};
	int error = request->is_shared ? share_begin(request->verb) : 0;

	*ret_facts =
		(struct report_facts){.tune = {.report = report, .thresholds = &defaults}, .answers = gathering.facts};
	if (error == 0)
		error = thresholds_catalogue(&tune->catalogue);
	if (error == 0) {
		gathering.prices = tune->prices = price_list_load(request->prices_path);
		error = tune->prices ? 0 : VERB_FAILED;
	}
	if (error == 0)
		error = tuning_make(tune, request->is_shared ? share_format : answer_format);
	if (error == 0)
		error = gather(&gathering);
	if (error == 0 && request->is_shared)
		facts_scrub(gathering.facts);
	return error;
}

void report_facts_free(struct report_facts *facts)
{
	json_decref(facts->answers);
	tuning_free(&facts->tune);
	prices_free(facts->tune.prices);
	catalogue_free(facts->tune.catalogue);
}
