/* See gpus.h. */
#include "analysis/query/gpus.h"

#include <stdio.h>
#include <string.h>

#include "analysis/query/ask.h"

uint64_t gpus_of(const char *list)
{
	uint64_t devices = 0;

	for (const char *item = list; item; item = strchr(item, ',')) {
		unsigned number;
		int length = 0;

		item += *item == ',';
		if (sscanf(item, "nvidia%2u%n", &number, &length) == 1 && number < GPUS_MAX &&
		    (item[length] == ',' || !item[length]))
			devices |= UINT64_C(1) << number;
	}
	return devices;
}

/* The number of devices up to the highest one. */
static int64_t count_of(uint64_t devices)
{
	return devices ? GPUS_MAX - __builtin_clzll(devices) : 0;
}

int gpu_hosts_load(struct store *store, struct rows *ret_hosts)
{
	struct rows held = {0};
	int error;

	query_ask_ahead(store, "host_gpus", NULL);
	error = rows_load(ret_hosts, &row_type_cloud_host, store, "hosts", NULL);
	if (error == 0)
		error = rows_load(&held, &row_type_host_gpu, store, "host_gpus", NULL);
	for (size_t i = 0; i < ret_hosts->count && error == 0; i++) {
		struct row_cloud_host *host = ROWS_ITEM(ret_hosts, cloud_host, i);
		size_t count, first = rows_find(&held, offsetof(struct row_host_gpu, host_id), host->host.id, &count);
		uint64_t devices = 0;

		for (size_t j = 0; j < count; j++)
			devices |= gpus_of(ROWS_ITEM(&held, host_gpu, first + j)->gpu);
		host->gpu_count = count_of(devices);
	}
	rows_free(&held);
	return error;
}
