/* Runs that several hosts share. See joined.h. */
#include "analysis/query/joined.h"

#include <string.h>

int joined_load(struct store *store, const struct row_run *run, int64_t since_unix_ns, struct rows *ret_parts)
{
	struct store_parameter parameters[] = {
		{"run_id", run ? STORE_INTEGER : STORE_NULL, run ? run->id : 0, NULL},
		{"since_unix_ns", STORE_INTEGER, since_unix_ns, NULL},
		{0},
	};

	return rows_load(ret_parts, &row_type_part, store, "run_parts", parameters);
}

const struct row_part *joined_find(const struct rows *parts, int64_t run_id, size_t *ret_count)
{
	const struct row_part *items = parts->items;

	return items + rows_find(parts, offsetof(struct row_part, joined_id), run_id, ret_count);
}

/* The whole runs while any part does; otherwise the worst result of any part counts. */
static size_t status_rank(const char *status)
{
	static const char *const ranks[] = {"succeeded", "ended", "killed", "failed", "running"};
	size_t rank = sizeof(ranks) / sizeof(ranks[0]);

	while (rank > 0 && strcmp(ranks[rank - 1], status) != 0)
		rank--;
	return rank;
}

/* The end of a part on the clock of the whole, converted via the wall clocks. */
static int64_t end_of(const struct row_run *whole, const struct row_run *part)
{
	int64_t wall_ns = row_subtract(part->end_boot_ns, part->begin_boot_ns);
	int64_t later_ns = row_subtract(part->started_unix_ns, whole->started_unix_ns);

	return row_add(row_add(whole->begin_boot_ns, later_ns), wall_ns);
}

static void part_add(struct row_run *whole, const struct row_run *part)
{
	int64_t end_boot_ns = end_of(whole, part);

#define I(name) whole->name = row_add(whole->name, part->name);
	ROW_COUNTED_TOTALS(I)
	I(uninterruptible_ns)
	I(task_count)
	I(process_count)
	I(living_count)
	I(failed_count)
	I(lost_count)
	I(partial_count)
	I(throttled_ns)
#undef I
#define I(name) whole->name = row_add_known(whole->name, part->name);
	ROW_GPU_TOTALS(I)
#undef I
	whole->gpu_peak_bytes = row_most(whole->gpu_peak_bytes, part->gpu_peak_bytes);
	whole->peak_rss_bytes = row_most(whole->peak_rss_bytes, part->peak_rss_bytes);
	whole->concurrent_memory_bytes = row_most(whole->concurrent_memory_bytes, part->concurrent_memory_bytes);
	whole->unattributed_memory_bytes = row_most(whole->unattributed_memory_bytes, part->unattributed_memory_bytes);
	whole->memory_limit_bytes = whole->cgroup_peak_bytes = whole->core_limit_milli = ROW_NULL; /* per host */
	if (status_rank(part->status) > status_rank(whole->status)) {
		whole->status = part->status;
		whole->exit_code = part->exit_code;
		whole->signal = part->signal;
	}
	whole->end_boot_ns = whole->end_boot_ns == ROW_NULL || end_boot_ns == ROW_NULL
				     ? ROW_NULL
				     : row_most(whole->end_boot_ns, end_boot_ns);
}

struct row_run joined_sum(const struct row_part *parts, size_t count)
{
	struct row_run whole = parts[0].run;

	for (size_t i = 1; i < count; i++)
		part_add(&whole, &parts[i].run);
	return whole;
}

bool joined_is_new_host(const struct row_part *parts, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (parts[i].run.host_id == parts[index].run.host_id)
			return false;
	return true;
}

const struct row_host *joined_host(const struct rows *hosts, const struct row_run *run)
{
	for (size_t i = 0; i < hosts->count; i++)
		if (ROWS_ITEM(hosts, host, i)->id == run->host_id)
			return ROWS_ITEM(hosts, host, i);
	return NULL;
}
