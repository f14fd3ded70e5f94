/* See host_load.h. */
#include "analysis/query/host_load.h"

/* Two samples of one boot, and the time between them. */
struct span {
	const struct row_host_sample *first, *last;
	int64_t wall_ns;
};

static int64_t grown(int64_t before, int64_t now)
{
	return now < before ? ROW_NULL : row_subtract(now, before);
}
#define GROWN(span, column) grown((span)->first->column, (span)->last->column)

static int64_t a_second(int64_t amount, const struct span *span)
{
	double each = (double)amount * 1e9 / (double)span->wall_ns;

	return amount == ROW_NULL || each >= (double)INT64_MAX ? ROW_NULL : (int64_t)each;
}

static bool span_find(const struct rows *samples, struct span *ret)
{
	*ret = (struct span){0};
	for (size_t i = 0; i < samples->count; i++) {
		const struct row_host_sample *sample = ROWS_ITEM(samples, host_sample, i);

		if (i == 0)
			ret->last = sample;
		else if (sample->boot_ns >= ret->last->boot_ns)
			break; /* of an earlier boot */
		ret->first = sample;
		ret->wall_ns = row_subtract(ret->last->boot_ns, sample->boot_ns);
		if (ret->wall_ns >= HOST_LOAD_NS)
			break;
	}
	return ret->wall_ns > 0;
}

bool host_load_find(const struct rows *samples, struct host_load *ret_load)
{
	struct span span;

	if (!span_find(samples, &span))
		return false;
	*ret_load = (struct host_load){
		.last = span.last,
		.wall_ns = span.wall_ns,
		.cpu_user_ns = GROWN(&span, cpu_user_ns),
		.cpu_system_ns = GROWN(&span, cpu_system_ns),
		.cpu_iowait_ns = GROWN(&span, cpu_iowait_ns),
		.cpu_steal_ns = GROWN(&span, cpu_steal_ns),
		.cpu_some_ns = GROWN(&span, cpu_some_ns),
		.memory_some_ns = GROWN(&span, memory_some_ns),
		.io_some_ns = GROWN(&span, io_some_ns),
		.disk_read_rate = a_second(GROWN(&span, disk_read_bytes), &span),
		.disk_write_rate = a_second(GROWN(&span, disk_write_bytes), &span),
		.network_received_rate = a_second(GROWN(&span, network_received_bytes), &span),
		.network_sent_rate = a_second(GROWN(&span, network_sent_bytes), &span),
	};
	ret_load->cpu_ns = row_add(row_add(row_add(ret_load->cpu_user_ns, ret_load->cpu_system_ns),
					   row_add(GROWN(&span, cpu_idle_ns), ret_load->cpu_iowait_ns)),
				   ret_load->cpu_steal_ns);
	return true;
}
