/* A bill as JSON. See bill.h. */
#include "analysis/cost/bill.h"

#define MICRO_NANOS 1000

void price_doubts_to_json(const struct price_doubts *doubts, json_t *root)
{
	json_set_integer(root, "default_price_count", (int64_t)doubts->default_count);
	json_set_integer(root, "no_price_count", (int64_t)doubts->none_count);
	json_set_integer(root, "may_be_spot_count", (int64_t)doubts->spot_count);
}

int64_t bill_co2(int64_t nanos, int64_t carbon_intensity)
{
	double grams = (double)(carbon_intensity >= 0 ? carbon_intensity : CARBON_INTENSITY_WORLD);
	double exact = (double)nanos * grams / 1000;

	return exact < (double)INT64_MAX / 2 ? (int64_t)exact : INT64_MAX / 2;
}

/* Millionths of the currency or of a kWh. */
static void amount_set(json_t *object, bool is_energy, const char *what, int64_t micros)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", what, is_energy ? "milliwatt_hours" : "micros");
	json_set_integer(object, name, micros);
}

static json_t *row_to_object(const struct bill_request *request, const struct bill_row *row)
{
	json_t *object = json_object();
	enum bill_key key = request->by;
	bool co2 = request->is_energy;

	if (key == BILL_BY_USER)
		json_object_set_new(object, "user_id", json_integer(row->id));
	else
		json_set_string(object, bill_key_name(key), row->name);
	if (key == BILL_BY_RUN)
		json_set_integer(object, "run_id", row->id);
	if (key == BILL_BY_HOST)
		json_set_integer(object, "host_id", row->id);
	json_set_integer(object, "task_count", (int64_t)row->item_count);
	amount_set(object, co2, co2 ? "total" : "cost", bill_row_total(row));
	amount_set(object, co2, "cpu", row->cpu_nanos);
	amount_set(object, co2, "memory", row->memory_nanos);
	if (co2) {
		json_set_integer(object, "co2_milligrams", row->co2);
	} else {
		amount_set(object, co2, "gpu", row->gpu_nanos);
		amount_set(object, co2, "used", row->used_nanos);
		amount_set(object, co2, "unused", row->unused_nanos);
		amount_set(object, co2, "gpu_unused", row->gpu_unused_nanos);
		json_set_integer(object, "gpu_used_ms", row->gpu_ms[GPU_USED]);
		json_set_integer(object, "gpu_unused_ms", row->gpu_ms[GPU_UNUSED]);
		json_set_integer(object, "gpu_unknown_ms", row->gpu_ms[GPU_UNKNOWN]);
	}
	if (bill_rows_are_whole(key)) {
		amount_set(object, co2, "system", row->system_nanos);
		amount_set(object, co2, "idle", row->idle_nanos);
	}
	return object;
}

json_t *cost_columns(const struct bill_request *request)
{
	return row_to_object(request, &(const struct bill_row){0});
}

static void money_to_json(const struct bill *bill, const struct bill_request *request, json_t *root)
{
	json_set_string(root, "currency", prices_currency(request->prices));
	price_doubts_to_json(&bill->doubts, root);
}

static void energy_to_json(const struct bill *bill, int64_t carbon_intensity, json_t *root)
{
	json_set_string(root, "basis", "modelled");
	json_set_integer(root, "average_power_count", (int64_t)bill->average_count);
	json_set_integer(root, "carbon_intensity_grams",
			 carbon_intensity >= 0 ? carbon_intensity : CARBON_INTENSITY_WORLD);
	json_set_integer(root, "carbon_intensity_is_default", carbon_intensity < 0);
	json_set_integer(root, "other_runs_co2_milligrams", bill->others_co2);
	json_set_integer(root, "system_co2_milligrams", bill->system_co2);
	json_set_integer(root, "idle_co2_milligrams", bill->idle_co2);
	json_set_integer(root, "co2_milligrams", bill->co2);
}

int bill_to_json(struct bill *bill, const struct bill_request *request, int64_t carbon_intensity, json_t **ret_root)
{
	json_t *root = json_object(), *rows = json_array();
	bool co2 = request->is_energy;
	int64_t co2_nanos = co2 ? bill_co2(bill->bill_nanos, carbon_intensity) : 0;
	int error = bill_round(bill, MICRO_NANOS);

	*ret_root = root;
	if (error == 0)
		error = bill_add_co2(bill, (co2_nanos + MICRO_NANOS / 2) / MICRO_NANOS);
	if (error < 0)
		return error;
	json_set_string(root, "by", bill_key_name(request->by));
	if (co2)
		energy_to_json(bill, carbon_intensity, root);
	else
		money_to_json(bill, request, root);
	if (request->run) {
		json_set_integer(root, "run_id", request->run->id);
	} else {
		json_set_integer(root, "since_unix_ns", request->since_unix_ns);
		json_set_integer(root, "until_unix_ns", request->until_unix_ns);
	}
	json_set_integer(root, "host_count", (int64_t)bill->host_count);
	json_set_integer(root, "observed_ms", bill->observed_ms);
	json_set_integer(root, "unobserved_ms", bill->unobserved_ms);
	if (request->by == BILL_BY_SAMPLE) {
		json_set_integer(root, "sampled_run_count", (int64_t)bill->sampled_count);
		json_set_integer(root, "unsampled_run_count", (int64_t)bill->unsampled_count);
	}
	amount_set(root, co2, "work", bill->total_nanos);
	amount_set(root, co2, "other_runs", bill->others_nanos);
	amount_set(root, co2, "system", bill->system_nanos);
	amount_set(root, co2, "idle", bill->idle_nanos);
	amount_set(root, co2, co2 ? "total" : "bill", bill->bill_nanos);
	for (const struct bill_row *row = bill->rows; row; row = row->hh.next)
		json_array_append_new(rows, row_to_object(request, row));
	json_object_set_new(root, "rows", rows);
	return 0;
}
