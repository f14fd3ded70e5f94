/* Where the time of a run went. See account.h. */
#include "tune/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

#define COMPUTE_SHARE 0.8   /* our proposal */
#define STORAGE_SHARE 0.3   /* our proposal */
#define MEMORY_SHARE 0.05   /* our proposal */
#define PROCESSOR_SHARE 0.3 /* our proposal */

/* ---- what bounds a task ------------------------------------------------------------ */

static double known(int64_t ns)
{
	return ns == ROW_NULL || ns < 0 ? 0 : (double)ns;
}

enum account_bound account_bound_of(const struct account_times *times)
{
	double cpu = known(times->cpu_ns), queue = known(times->run_delay_ns), memory = known(times->memory_ns);
	double storage = times->block_io_ns != ROW_NULL ? known(times->block_io_ns) : known(times->uninterruptible_ns);
	bool can_tell = times->block_io_ns != ROW_NULL && times->memory_ns != ROW_NULL;
	double network = can_tell ? known(times->uninterruptible_ns) - storage - memory : 0;
	double active = cpu + queue + storage + memory + (network > 0 ? network : 0);

	if (active < COMPUTE_SHARE / 2 * known(times->wall_ns) || active <= 0)
		return ACCOUNT_BOUND_UNKNOWN;
	if (memory >= MEMORY_SHARE * active)
		return ACCOUNT_BOUND_MEMORY;
	if (storage >= STORAGE_SHARE * active && storage >= queue && storage >= network)
		return ACCOUNT_BOUND_STORAGE;
	if (network >= STORAGE_SHARE * active && network >= queue)
		return ACCOUNT_BOUND_NETWORK_FILESYSTEM;
	if (queue >= PROCESSOR_SHARE * active)
		return ACCOUNT_BOUND_PROCESSORS;
	return cpu >= COMPUTE_SHARE * active ? ACCOUNT_BOUND_COMPUTE : ACCOUNT_BOUND_UNKNOWN;
}

/* ---- by name ----------------------------------------------------------------------- */

struct maker {
	const struct report *report;
	report_key *key;
	struct account *account;
	int64_t *path_ns; /* by index in the report */
};

static struct account_name *name_get(struct account *account, const char *name)
{
	struct account_name *grown;

	for (size_t i = 0; i < account->name_count; i++)
		if (strcmp(account->names[i].name, name) == 0)
			return &account->names[i];
	grown = grow(account->names, &account->name_capacity, account->name_count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	account->names = grown;
	grown += account->name_count;
	*grown = (struct account_name){.name = strdup(name)};
	if (!grown->name)
		return NULL;
	account->name_count++;
	return grown;
}

static void sum(int64_t *to, int64_t figure)
{
	*to = *to == ROW_NULL || figure == ROW_NULL ? ROW_NULL : row_add(*to, figure);
}

static int task_take(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		     size_t count)
{
	struct maker *maker = context;
	struct account_name *name;

	if (maker->path_ns[index] < 0)
		return 0;
	name = name_get(maker->account, maker->key(maker->report, index, task));
	if (!name)
		return -ENOMEM;
	name->task_count++;
	name->path_ns += maker->path_ns[index];
	sum(&name->times.wall_ns, report_wall_ns(maker->report, task->begin_boot_ns, task->end_boot_ns));
	sum(&name->times.cpu_ns, task->cpu_ns);
	sum(&name->times.run_delay_ns, task->run_delay_ns);
	sum(&name->times.block_io_ns, task->block_io_delay_ns);
	sum(&name->times.memory_ns, task->memory_delay_ns);
	sum(&name->times.uninterruptible_ns, task->uninterruptible_ns);
	return 0;
}

static int compare_names(const void *left, const void *right)
{
	const struct account_name *a = left, *b = right;

	if (a->path_ns != b->path_ns)
		return a->path_ns > b->path_ns ? -1 : 1;
	if (a->times.wall_ns != b->times.wall_ns)
		return a->times.wall_ns > b->times.wall_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int names_make(struct account *account, const struct report *report, report_key *key)
{
	const struct report_writer writer = {.task = task_take};
	struct maker maker = {report, key, account, calloc(report->task_count + 1, sizeof(int64_t))};
	int error;

	if (!maker.path_ns)
		return -ENOMEM;
	for (size_t i = 0; i < report->task_count; i++)
		maker.path_ns[i] = -1;
	for (size_t i = 0; i < account->schedule.count; i++)
		maker.path_ns[account->tasks[i]] = 0;
	for (size_t i = 0; i < account->schedule.span_count; i++) {
		const struct schedule_span *span = &account->schedule.spans[i];

		if (span->owner == SCHEDULE_TASK)
			maker.path_ns[account->tasks[span->task]] += span->end_ns - span->begin_ns;
	}
	error = report_walk(report, NULL, report->task_count, &writer, &maker);
	for (size_t i = 0; i < account->name_count; i++)
		account->names[i].bound = account_bound_of(&account->names[i].times);
	if (account->name_count > 0)
		qsort(account->names, account->name_count, sizeof(*account->names), compare_names);
	free(maker.path_ns);
	return error;
}

/* ---- imbalance --------------------------------------------------------------------- */

static int compare_walls(const void *left, const void *right)
{
	const struct account_name *const *a = left, *const *b = right;

	return ((*a)->times.wall_ns > (*b)->times.wall_ns) - ((*a)->times.wall_ns < (*b)->times.wall_ns);
}

const struct account_name *account_longest(const struct account *account, int64_t *ret_median_ns)
{
	const struct account_name **samples = calloc(account->name_count + 1, sizeof(*samples)), *longest = NULL;
	size_t count = 0;

	for (size_t i = 0; samples && i < account->name_count; i++)
		if (run_samples_is_name(account->names[i].name) && account->names[i].times.wall_ns != ROW_NULL)
			samples[count++] = &account->names[i];
	if (count > 1) {
		qsort(samples, count, sizeof(*samples), compare_walls);
		*ret_median_ns = samples[(count - 1) / 2]->times.wall_ns;
		longest = samples[count - 1];
	}
	free(samples);
	return longest;
}

/* ---- the schedule ------------------------------------------------------------------ */

static bool has_other_tasks(const struct report *report)
{
	for (size_t i = 0; i < report->task_count; i++)
		if (!report->tasks[i].is_main)
			return true;
	return false;
}

static int schedule_make(struct account *account, const struct report *report)
{
	const struct row_run *run = report_run(report);
	int64_t end = run->end_boot_ns != ROW_NULL ? run->end_boot_ns : report->now_boot_ns;
	bool with_main = !has_other_tasks(report);
	struct schedule_task *spans;
	size_t count = 0;
	int error = -ENOMEM;

	spans = calloc(report->task_count + 1, sizeof(*spans));
	account->tasks = calloc(report->task_count + 1, sizeof(*account->tasks));
	for (size_t i = 0; spans && account->tasks && i < report->task_count; i++) {
		const struct report_task *task = &report->tasks[i];

		if (task->is_main && !with_main)
			continue;
		spans[count] = (struct schedule_task){
			task->begin_boot_ns,
			task->end_boot_ns != ROW_NULL ? task->end_boot_ns : end,
		};
		account->tasks[count++] = i;
	}
	if (spans && account->tasks)
		error = schedule_init(&account->schedule, spans, count, run->begin_boot_ns, end);
	free(spans);
	return error;
}

/* ---- processors -------------------------------------------------------------------- */

static int64_t take(int64_t *left, int64_t ns)
{
	int64_t taken = ns == ROW_NULL || ns < 0 ? 0 : ns;

	if (taken > *left)
		taken = *left;
	*left -= taken;
	return taken;
}

static void processors_share(struct account *account, const struct report *report)
{
	const struct row_run *run = report_run(report);
	int64_t cores_milli = report_cores_milli(report),
		wall_ns = report_wall_ns(report, run->begin_boot_ns, run->end_boot_ns), left;

	account->held_ns = ROW_NULL;
	if (cores_milli == ROW_NULL || wall_ns == ROW_NULL || __builtin_mul_overflow(cores_milli, wall_ns, &left))
		return;
	left /= 1000;
	account->held_ns = left;
	account->used_ns = take(&left, run->cpu_ns);
	account->waiting_storage_ns =
		take(&left, run->block_io_delay_ns != ROW_NULL ? run->block_io_delay_ns : run->uninterruptible_ns);
	account->waiting_memory_ns = take(&left, run->memory_delay_ns);
	account->waiting_processor_ns = take(&left, run->run_delay_ns);
	account->idle_ns = left;
}

int account_make(const struct report *report, report_key *key, struct account *ret_account)
{
	struct account account = {0};
	int error = schedule_make(&account, report);

	if (error == 0)
		error = names_make(&account, report, key);
	if (error < 0) {
		account_free(&account);
		return error;
	}
	processors_share(&account, report);
	*ret_account = account;
	return 0;
}

void account_free(struct account *account)
{
	for (size_t i = 0; i < account->name_count; i++)
		free(account->names[i].name);
	free(account->names);
	schedule_deinit(&account->schedule);
	free(account->tasks);
	*account = (struct account){0};
}
