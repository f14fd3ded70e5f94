/* What a store knows of the work of hosts. See host_work.h.
 *
 * A lake is asked about many hosts at once, those with successive ids whose tasks fit into one answer, and about the next
 * ones while an answer is read.
 */
#include "analysis/cost/host_work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/ask.h"

#define GROUPS_AHEAD 2     /* two questions each, three if there are GPUs; a lake takes eight */
#define GROUP_TASKS 100000 /* a lake answers with a million rows at most */

/* Some of the hosts, next to each other. */
struct host_group {
	size_t first, count;
};

struct each {
	const struct host_works *works;
	struct rows watched; /* of all of them */
	int (*take)(void *context, struct host_work *work);
	void *context;
};

static void group_parameters(const struct host_works *works, struct host_group group, struct store_parameter ret[5])
{
	const struct host_work *first = &works->items[group.first], *last = first + group.count - 1;
	int64_t since_unix_ns = INT64_MAX, until_unix_ns = INT64_MIN;

	for (const struct host_work *work = first; work <= last; work++) {
		since_unix_ns = row_least(since_unix_ns, work->since_unix_ns);
		until_unix_ns = row_most(until_unix_ns, work->until_unix_ns);
	}
	const struct store_parameter parameters[] = {
		STORE_INT("since_unix_ns", since_unix_ns),
		STORE_INT("until_unix_ns", until_unix_ns),
		STORE_INT("first_host_id", first->host->host.id),
		STORE_INT("last_host_id", last->host->host.id),
		{0},
	};
	memcpy(ret, parameters, sizeof(parameters));
}

static bool group_has_gpus(const struct host_works *works, struct host_group group)
{
	bool has = false;

	for (size_t i = group.first; i < group.first + group.count; i++)
		has |= works->items[i].host->gpu_count > 0;
	return has && works->with_gpus;
}

static void group_ask_ahead(const struct host_works *works, struct host_group group)
{
	struct store_parameter parameters[5];

	group_parameters(works, group, parameters);
	query_ask_ahead(works->store, "cost_tasks", parameters);
	if (works->with_tools)
		query_ask_ahead(works->store, "cost_tools", parameters);
	if (group_has_gpus(works, group))
		query_ask_ahead(works->store, "cost_gpus", parameters);
}

/* Those rows of several hosts, sorted by host, that are this one's: borrowed. */
static struct rows rows_of_host(const struct rows *all, size_t id_offset, int64_t host_id)
{
	struct rows own = *all;
	size_t first = rows_find(all, id_offset, host_id, &own.count);

	if (own.count)
		own.items = (char *)all->items + first * all->type->size;
	return own;
}

static int group_take(const struct each *each, struct host_group group)
{
	const struct host_works *works = each->works;
	struct store_parameter parameters[5];
	struct rows tasks = {0}, tools = {0}, gpus = {.type = &row_type_cost_gpu};
	int error;

	group_parameters(works, group, parameters);
	error = rows_load(&tasks, &row_type_cost_task, works->store, "cost_tasks", parameters);
	if (error == 0 && works->with_tools)
		error = rows_load(&tools, &row_type_cost_tool, works->store, "cost_tools", parameters);
	if (error == 0 && group_has_gpus(works, group))
		error = rows_load(&gpus, &row_type_cost_gpu, works->store, "cost_gpus", parameters);
	for (size_t i = group.first; i < group.first + group.count && error == 0; i++) {
		struct host_work *work = &works->items[i];
		int64_t id = work->host->host.id;

		work->watched = rows_of_host(&each->watched, offsetof(struct row_cost_watched, host_id), id);
		work->tasks = rows_of_host(&tasks, offsetof(struct row_cost_task, host_id), id);
		work->tools = rows_of_host(&tools, offsetof(struct row_cost_tool, host_id), id);
		work->gpus = rows_of_host(&gpus, offsetof(struct row_cost_gpu, host_id), id);
		error = each->take(each->context, work);
	}
	rows_free(&gpus);
	rows_free(&tools);
	rows_free(&tasks);
	return error;
}

/* Returns the hosts from `first` on with few enough tasks, at least one; none after the last. */
static struct host_group group_from(const struct host_works *works, const struct rows *counts, size_t first)
{
	struct host_group group = {first, 0};
	int64_t tasks = 0;
	size_t found;

	while (first + group.count < works->count) {
		int64_t id = works->items[first + group.count].host->host.id;
		size_t at = rows_find(counts, offsetof(struct row_cost_count, host_id), id, &found);

		tasks += found ? ROWS_ITEM(counts, cost_count, at)->task_count : 0;
		if (group.count > 0 && (tasks > GROUP_TASKS || works->are_chosen))
			break;
		group.count++;
	}
	return group;
}

static int groups_take(const struct each *each, const struct rows *counts)
{
	struct host_group *groups = calloc(each->works->count + 1, sizeof(*groups));
	size_t count = 0, asked = 0;
	int error = groups ? 0 : -ENOMEM;

	for (size_t first = 0; error == 0 && first < each->works->count; first += groups[count++].count)
		groups[count] = group_from(each->works, counts, first);
	for (size_t i = 0; i < count && error == 0; i++) {
		while (asked < count && asked <= i + GROUPS_AHEAD)
			group_ask_ahead(each->works, groups[asked++]);
		error = group_take(each, groups[i]);
	}
	free(groups);
	return error;
}

int host_works_each(const struct host_works *works, int (*take)(void *context, struct host_work *work), void *context)
{
	struct each each = {.works = works, .take = take, .context = context};
	struct rows counts = {.type = &row_type_cost_count};
	struct store_parameter parameters[5];
	int error = 0;

	if (works->count == 0)
		return 0;
	const struct store_parameter watched[] = {
		{"host_id", works->count == 1 ? STORE_INTEGER : STORE_NULL, works->items[0].host->host.id, NULL},
		{"kind", STORE_TEXT, 0, "system"},
		{0},
	};

	query_ask_ahead(works->store, "cost_watched", watched);
	group_parameters(works, (struct host_group){0, works->count}, parameters);
	if (works->count > 1 && !works->are_chosen)
		error = rows_load(&counts, &row_type_cost_count, works->store, "cost_counts", parameters);
	if (error == 0)
		error = rows_load(&each.watched, &row_type_cost_watched, works->store, "cost_watched", watched);
	if (error == 0)
		error = groups_take(&each, &counts);
	rows_free(&each.watched);
	rows_free(&counts);
	return error;
}
