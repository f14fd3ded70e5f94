/* What a sweep shows, and as JSON. See sweep.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/cost/bill.h"
#include "analysis/sweep/sweep.h"

#define MICRO_NANOS 1000
#define OF_HOST_MAX 2 /* findings */

static size_t count_of_host(const struct sweep_item *const *items, size_t count, int64_t host_id)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += items[i]->host_id == host_id;
	return found;
}

int sweep_choose(const struct sweep *sweep, size_t most, const struct sweep_item ***ret_items, size_t *ret_count)
{
	const struct sweep_item **items = calloc(sweep->count + 1, sizeof(*items));
	bool *is_left_out = calloc(sweep->count + 1, sizeof(*is_left_out));
	size_t others, count = 0;

	*ret_items = items;
	if (!items || !is_left_out) {
		free(is_left_out);
		return -ENOMEM;
	}
	for (size_t i = 0; most < sweep->count && i < sweep->count; i++) {
		is_left_out[i] = count == most || count_of_host(items, count, sweep->items[i].host_id) == OF_HOST_MAX;
		if (!is_left_out[i])
			items[count++] = &sweep->items[i];
	}
	others = most - count;
	count = 0;
	for (size_t i = 0; i < sweep->count; i++)
		if (!is_left_out[i] || others > 0) {
			others -= is_left_out[i];
			items[count++] = &sweep->items[i];
		}
	*ret_count = count;
	free(is_left_out);
	return 0;
}

static int64_t micros(int64_t nanos)
{
	return nanos == ROW_NULL ? ROW_NULL : nanos / MICRO_NANOS;
}

static json_t *item_to_object(const struct sweep_item *item)
{
	json_t *object = json_object();

	json_set_string(object, "finding", item->question->name);
	json_set_integer(object, "host_id", item->host_id);
	json_set_string(object, "hostname", item->hostname);
	json_set_integer(object, "since_unix_ns", item->since_unix_ns);
	json_set_integer(object, "until_unix_ns", item->until_unix_ns);
	json_object_set_new(object, "is_now", json_boolean(item->is_now));
	json_set_string(object, "certainty", item->is_certain ? "certain" : "likely");
	json_set_integer(object, "run_id", item->run_id);
	json_set_string(object, "run", item->run);
	json_set_integer(object, "cpu_ns", item->held.cpu_ns);
	json_set_integer(object, "memory_byte_seconds", item->held.memory_byte_seconds);
	json_set_integer(object, "gpu_ns", item->held.gpu_ns);
	json_set_integer(object, "cost_micros", micros(item->cost_nanos));
	json_set_integer(object, "cost_per_hour_micros", micros(item->hour_nanos));
	json_set_string(object, "price_basis", price_basis_name(item->basis));
	json_set_string(object, "sentence", item->sentence);
	json_set_string(object, "advice", item->advice);
	return object;
}

json_t *sweep_items_to_json(const struct sweep_item *const *items, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, item_to_object(items[i]));
	return array;
}

static json_t *host_to_object(const struct owned_host *host)
{
	json_t *object = json_object();
	char key[32];

	if (host->host) {
		json_set_integer(object, "host_id", host->host->host.id);
		json_set_string(object, "hostname", host->host->host.hostname);
	}
	json_set_integer(object, "all_ms", owners_ms(host, OWNER_WORK));
	json_set_integer(object, "bill_micros", host->has_price ? owners_nanos(host, OWNER_WORK) : ROW_NULL);
	json_set_integer(object, "wasted_micros", host->has_price ? owners_nanos(host, OWNER_WASTED) : ROW_NULL);
	for (size_t i = 0; i < OWNER_COUNT; i++) {
		snprintf(key, sizeof(key), "%s_ms", owner_names[i]);
		json_set_integer(object, key, host->ms[i]);
		snprintf(key, sizeof(key), "%s_micros", owner_names[i]);
		json_set_integer(object, key, host->has_price ? host->nanos[i] : ROW_NULL);
	}
	return object;
}

json_t *sweep_columns(bool are_hosts)
{
	const struct question none = {0};
	const struct row_cloud_host host = {0};

	return are_hosts ? host_to_object(&(const struct owned_host){.host = &host})
			 : item_to_object(&(const struct sweep_item){.question = &none});
}

int sweep_to_json(const struct sweep_request *request, struct sweep *sweep, size_t host_count, json_t **ret_root)
{
	int error = owners_round(sweep->owned, sweep->owned_count, 1, MICRO_NANOS);
	struct owned_host sum = owners_sum(sweep->owned, sweep->owned_count);
	json_t *root = json_object(), *hosts = json_array();

	for (size_t i = 0; i < host_count; i++)
		json_array_append_new(hosts, host_to_object(&sweep->owned[i]));
	json_object_set_new(root, "hosts", hosts);
	json_object_set_new(root, "total", host_to_object(&sum));
	json_set_integer(root, "since_unix_ns", request->since_unix_ns);
	json_set_integer(root, "until_unix_ns", request->now_unix_ns);
	json_set_string(root, "currency", prices_currency(request->prices));
	json_set_integer(root, "host_count", (int64_t)sweep->owned_count);
	price_doubts_to_json(&sweep->doubts, root);
	*ret_root = root;
	return error;
}
