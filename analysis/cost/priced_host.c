/* See priced_host.h. */
#include "analysis/cost/priced_host.h"

#include <errno.h>

#define HOUR_NS INT64_C(3600000000000)
#define MICRO_NANOS 1000

int priced_host_make(const struct prices *prices, const struct row_cloud_host *row, int64_t unix_ns,
		     struct priced_host *ret_priced)
{
	struct priced_host priced = {.row = row, .host = bill_priced_host(row), .hour_micros = ROW_NULL};
	struct price_times times;
	const struct price_size size = bill_size(row);
	int64_t nanos[CHARGE_RESOURCE_COUNT];

	if (price_times_make(prices, &priced.host, &times) < 0)
		return -ENOMEM;
	priced.price = *price_at(&times, unix_ns);
	price_times_free(&times);
	*ret_priced = priced;
	if (priced.price.basis == PRICES_NONE ||
	    (priced.price.basis != PRICES_NODE &&
	     (row->host.cpu_count == ROW_NULL || row->host.memory_bytes == ROW_NULL)))
		return 0;
	price_bill(&priced.price, &size, HOUR_NS, nanos);
	ret_priced->hour_micros = price_sum(nanos) / MICRO_NANOS;
	return 0;
}

json_t *priced_host_to_json(const struct priced_host *priced)
{
	json_t *object = json_object();
	const struct price *price = &priced->price;

	json_set_integer(object, "host_id", priced->row->host.id);
	json_set_string(object, "host", priced->row->host.hostname);
	json_set_string(object, "instance_id", priced->host.instance_id);
	json_set_string(object, "instance_type", priced->host.instance_type);
	json_set_string(object, "region", priced->host.region);
	json_set_string(object, "lifecycle", priced->host.lifecycle);
	json_set_string(object, "basis", price_basis_name(price->basis));
	json_set_integer(object, "hour_micros", priced->hour_micros);
	json_set_integer(object, "until_unix_ns", price->until_unix_ns == INT64_MAX ? ROW_NULL : price->until_unix_ns);
	json_set_integer(object, "line", price->line ? price->line : ROW_NULL);
	return object;
}
