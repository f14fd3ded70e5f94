/* The figures in a line of a report. See figures.h. */
#include "analysis/query/figures.h"

#include <errno.h>

#include "common/grow.h"

void figures_add(struct figures *figures, const struct figures *other)
{
	figures->cpu_ns = row_add(figures->cpu_ns, other->cpu_ns);
	figures->run_delay_ns = row_add(figures->run_delay_ns, other->run_delay_ns);
	figures->read_bytes = row_add(figures->read_bytes, other->read_bytes);
	figures->write_bytes = row_add(figures->write_bytes, other->write_bytes);
	figures->sent_bytes = row_add(figures->sent_bytes, other->sent_bytes);
	figures->received_bytes = row_add(figures->received_bytes, other->received_bytes);
	figures->gpu_busy_ns = row_add_known(figures->gpu_busy_ns, other->gpu_busy_ns);
	figures->gpu_peak_bytes = row_most(figures->gpu_peak_bytes, other->gpu_peak_bytes);
	figures->peak_rss_bytes = row_most(figures->peak_rss_bytes, other->peak_rss_bytes);
}

#define SMALL_SHARE 20 /* a twentieth */
#define SMALL_CPU_NS INT64_C(100000000)
#define SMALL_BYTES (INT64_C(1) << 20)

static bool is_small(int64_t part, int64_t whole, int64_t least)
{
	return part < least || part < whole / SMALL_SHARE;
}

bool figures_are_small(const struct figures *part, const struct figures *whole)
{
	return is_small(part->cpu_ns, whole->cpu_ns, SMALL_CPU_NS) &&
	       is_small(part->gpu_busy_ns, whole->gpu_busy_ns, SMALL_CPU_NS) &&
	       is_small(part->read_bytes, whole->read_bytes, SMALL_BYTES) &&
	       is_small(part->write_bytes, whole->write_bytes, SMALL_BYTES);
}

bool figures_role_is_glue(const char *role)
{
	static const char *const roles[] = {"shell", "wrapper", "component", "helper", "origin"};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(role, roles[i]) == 0)
			return true;
	return false;
}

/* ---- by name --------------------------------------------------------------------- */

struct grouping {
	const struct report *report;
	report_key *key; /* of tasks */
	struct report_group *groups;
};

static struct report_group *group_of(struct grouping *grouping, const char *name)
{
	struct report_group *group;

	HASH_FIND_STR(grouping->groups, name, group);
	if (group)
		return group;
	group = calloc(1, sizeof(*group) + strlen(name) + 1);
	if (!group)
		return NULL;
	strcpy(group->name, name);
	group->is_glue = true;
	group->figures = FIGURES_NONE;
	group->begin_boot_ns = INT64_MAX;
	group->end_boot_ns = ROW_NULL;
	HASH_ADD_STR(grouping->groups, name, group);
	return group;
}

/* Adds a member to its group. Returns the group, for further counts, or NULL if out of memory. */
static struct report_group *member_add(struct grouping *grouping, const char *name, int64_t task_id,
				       const struct figures *figures)
{
	struct report_group *group = group_of(grouping, name);
	int64_t *walls_ns;

	if (!group)
		return NULL;
	walls_ns = grow(group->walls_ns, &group->wall_capacity, group->member_count + 1, sizeof(*walls_ns));
	if (!walls_ns)
		return NULL;
	group->walls_ns = walls_ns;
	group->task_count += group->member_count == 0 || task_id != group->last_task_id;
	group->last_task_id = task_id;
	group->walls_ns[group->member_count++] = figures->wall_ns;
	figures_add(&group->figures, figures);
	return group;
}

static int task_count(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		      size_t count)
{
	struct grouping *grouping = context;
	const struct report *report = grouping->report;
	const struct figures figures = FIGURES_OF(report, task);
	int64_t end = task->end_boot_ns == ROW_NULL ? report->now_boot_ns : task->end_boot_ns;
	struct report_group *group = member_add(grouping, grouping->key(report, index, task), task->id, &figures);

	if (!group)
		return -ENOMEM;
	group->failed_count += report_has_failed(task->status);
	group->begin_boot_ns = row_least(group->begin_boot_ns, task->begin_boot_ns);
	group->end_boot_ns = row_most(group->end_boot_ns, end);
	return 0;
}

static int tools_count(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		       size_t count)
{
	struct grouping *grouping = context;

	for (size_t i = 0; i < count; i++) {
		const struct figures figures = FIGURES_OF(grouping->report, &tools[i]);
		struct report_group *group = member_add(grouping, tools[i].name, task->id, &figures);

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

/* Unknown times (ROW_NULL) sort first. */
static void walls_sum(struct report_group *group)
{
	const int64_t *walls = group->walls_ns;
	size_t count = group->member_count;

	qsort(group->walls_ns, count, sizeof(*walls), compare_walls);
	group->figures.wall_ns = report_span_ns(group->begin_boot_ns, group->end_boot_ns, ROW_NULL);
	group->longest_wall_ns = walls[count - 1];
	group->median_wall_ns = walls[(count - 1) / 2];
	if (count % 2 == 0 && group->median_wall_ns != ROW_NULL)
		group->median_wall_ns += (walls[count / 2] - group->median_wall_ns) / 2;
}

static int compare_groups(const struct report_group *a, const struct report_group *b)
{
	if (a->figures.cpu_ns != b->figures.cpu_ns)
		return a->figures.cpu_ns > b->figures.cpu_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int groups_make(const struct report *report, const struct report_writer *writer, report_key *key,
		       struct report_group **ret_groups)
{
	struct grouping grouping = {.report = report, .key = key};
	int error = report_walk(report, NULL, 0, writer, &grouping);

	for (struct report_group *group = grouping.groups; group && error == 0; group = group->hh.next)
		walls_sum(group);
	HASH_SORT(grouping.groups, compare_groups);
	*ret_groups = grouping.groups;
	return error;
}

static int compare_samples(const struct report_group *a, const struct report_group *b)
{
	bool a_is_name = run_samples_is_name(a->name), b_is_name = run_samples_is_name(b->name);

	if (a_is_name != b_is_name)
		return a_is_name ? -1 : 1;
	return a_is_name ? compare_groups(a, b) : strcmp(b->name, a->name);
}

static const struct report_writer task_counter = {.task = task_count};

int report_group_tasks(const struct report *report, struct report_group **ret_groups)
{
	return groups_make(report, &task_counter, report_task_name, ret_groups);
}

int report_group_samples(const struct report *report, struct report_group **ret_groups)
{
	int error = groups_make(report, &task_counter, report_task_sample, ret_groups);

	HASH_SORT(*ret_groups, compare_samples);
	return error;
}

int report_group_tools(const struct report *report, struct report_group **ret_groups)
{
	static const struct report_writer writer = {.task = tools_count, .with_tools = true};

	return groups_make(report, &writer, NULL, ret_groups);
}

void report_groups_free(struct report_group *groups)
{
	struct report_group *group, *next;

	HASH_ITER (hh, groups, group, next) {
		HASH_DEL(groups, group);
		free(group->walls_ns);
		free(group);
	}
}
