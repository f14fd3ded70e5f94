/* Tasks and tools by their names. See report_groups.h.
 *
 * Of each member its wall time alone is kept, for the median.
 */
#include "query/report_groups.h"

#include <errno.h>

#include <uthash.h>

struct group_entry {
	UT_hash_handle hh;
	struct report_group group;
	int64_t *walls_ns;
	size_t capacity;
	int64_t last_task_id;
	char name[];
};

struct grouping {
	const struct report *report;
	struct report_groups *groups;
};

static struct group_entry *entry_of(struct report_groups *groups, const char *name)
{
	size_t size = strlen(name);
	struct group_entry *entry;

	HASH_FIND_STR(groups->entries, name, entry);
	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry) + size + 1);
	if (!entry)
		return NULL;
	memcpy(entry->name, name, size);
	entry->group = (struct report_group){
		.name = entry->name, .is_glue = true,
		.figures = {.wall_ns = ROW_NULL, .peak_rss_bytes = ROW_NULL},
	};
	HASH_ADD_STR(groups->entries, name, entry);
	groups->count++;
	return entry;
}

/* A member that the caller goes on counting; NULL: out of memory. */
static struct report_group *member_add(struct report_groups *groups, const char *name, int64_t task_id,
				       const struct figures *figures)
{
	struct group_entry *entry = entry_of(groups, name);
	struct report_group *group;

	if (!entry)
		return NULL;
	group = &entry->group;
	if (group->member_count == entry->capacity) {
		size_t capacity = entry->capacity ? 2 * entry->capacity : 4;
		int64_t *walls_ns = reallocarray(entry->walls_ns, capacity, sizeof(*walls_ns));

		if (!walls_ns)
			return NULL;
		entry->walls_ns = walls_ns;
		entry->capacity = capacity;
	}
	group->task_count += group->member_count == 0 || task_id != entry->last_task_id;
	entry->last_task_id = task_id;
	entry->walls_ns[group->member_count++] = figures->wall_ns;
	figures_add(&group->figures, figures);
	return group;
}

static int task_count(void *context, size_t index, const struct row_task *task,
		      const struct row_tool *tools, size_t count)
{
	const struct grouping *grouping = context;
	const struct figures figures = FIGURES_OF(grouping->report, task);
	struct report_group *group = member_add(grouping->groups, report_task_name(grouping->report, index, task),
						task->id, &figures);

	if (!group)
		return -ENOMEM;
	group->failed_count += report_has_failed(task->status);
	return 0;
}

static int tools_count(void *context, size_t index, const struct row_task *task,
		       const struct row_tool *tools, size_t count)
{
	const struct grouping *grouping = context;

	for (size_t i = 0; i < count; i++) {
		const struct figures figures = FIGURES_OF(grouping->report, &tools[i]);
		struct report_group *group = member_add(grouping->groups, tools[i].name, task->id, &figures);

		if (!group)
			return -ENOMEM;
		group->process_count = row_add(group->process_count, tools[i].process_count);
		group->failed_count = row_add(group->failed_count, tools[i].failed_count);
		group->is_glue &= figures_role_is_glue(tools[i].role) && strcmp(tools[i].role, "helper") != 0;
	}
	return 0;
}

static int compare_walls(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return a < b ? -1 : a > b;
}

/* Unknown ones are the least. */
static void walls_sum(struct group_entry *entry)
{
	struct report_group *group = &entry->group;
	const int64_t *walls = entry->walls_ns;
	size_t count = group->member_count;

	qsort(entry->walls_ns, count, sizeof(*walls), compare_walls);
	group->longest_wall_ns = walls[count - 1];
	group->median_wall_ns = walls[(count - 1) / 2];
	if (count % 2 == 0 && group->median_wall_ns != ROW_NULL)
		group->median_wall_ns += (walls[count / 2] - group->median_wall_ns) / 2;
}

static int compare_groups(const void *left, const void *right)
{
	const struct report_group *a = left, *b = right;

	if (a->figures.cpu_ns != b->figures.cpu_ns)
		return a->figures.cpu_ns > b->figures.cpu_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int groups_make(const struct report *report, const struct report_writer *writer,
		       struct report_groups *ret_groups)
{
	struct grouping grouping = {report, ret_groups};
	int error = report_walk(report, NULL, 0, writer, &grouping);
	size_t i = 0;

	if (error < 0)
		return error;
	ret_groups->items = calloc(ret_groups->count + 1, sizeof(*ret_groups->items));
	if (!ret_groups->items)
		return -ENOMEM;
	for (struct group_entry *entry = ret_groups->entries; entry; entry = entry->hh.next) {
		walls_sum(entry);
		ret_groups->items[i++] = entry->group;
	}
	qsort(ret_groups->items, ret_groups->count, sizeof(*ret_groups->items), compare_groups);
	return 0;
}

int report_group_tasks(const struct report *report, struct report_groups *ret_groups)
{
	static const struct report_writer writer = {.task = task_count};

	return groups_make(report, &writer, ret_groups);
}

int report_group_tools(const struct report *report, struct report_groups *ret_groups)
{
	static const struct report_writer writer = {.task = tools_count, .with_tools = true};

	return groups_make(report, &writer, ret_groups);
}

void report_groups_free(struct report_groups *groups)
{
	struct group_entry *entry, *next;

	HASH_ITER (hh, groups->entries, entry, next) {
		HASH_DEL(groups->entries, entry);
		free(entry->walls_ns);
		free(entry);
	}
	free(groups->items);
	*groups = (struct report_groups){0};
}
