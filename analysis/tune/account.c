/* Where the time of a run went. See account.h. */
#include "analysis/tune/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "analysis/tune/edges.h"
#include "analysis/tune/gpu_times.h"
#include "analysis/tune/right_size.h"
#include "common/grow.h"
#include "common/text.h"

#define COMPUTE_SHARE 0.8   /* our proposal */
#define STORAGE_SHARE 0.3   /* our proposal */
#define MEMORY_SHARE 0.05   /* our proposal */
#define PROCESSOR_SHARE 0.3 /* our proposal */
#define GPU_SHARE 0.8       /* our proposal */
#define WAITS_SHARE 0.1     /* of its time: a task that was less active waited for its parts; our proposal */

/* ---- what bounds a task ------------------------------------------------------------ */

double account_known(int64_t ns)
{
	return ns == ROW_NULL || ns < 0 ? 0 : (double)ns;
}

/* The kernel frees memory on a task's own CPU time. Where such waits are at least half of its system time, all of that
 * counts. Waits for memory that is read back from swap are waits for block devices, too. */
struct account_states account_states_of(const struct account_times *times)
{
	double memory_ns = account_known(times->memory_ns), system_ns = account_known(times->system_ns);
	double block_io_ns = account_known(times->block_io_ns),
	       uninterruptible_ns = account_known(times->uninterruptible_ns);
	bool mostly_reclaims = system_ns <= 2 * memory_ns;
	struct account_states states = {
		.queue_ns = account_known(times->run_delay_ns),
		.storage_ns = block_io_ns > memory_ns ? block_io_ns - memory_ns : 0,
		.memory_ns = mostly_reclaims && system_ns > memory_ns ? system_ns : memory_ns,
		.reclaim_ns = mostly_reclaims ? system_ns : memory_ns,
	};

	states.cpu_ns = account_known(times->cpu_ns) - states.reclaim_ns;
	if (states.cpu_ns < 0)
		states.cpu_ns = 0;
	if (times->block_io_ns == ROW_NULL) /* no delay accounting: as scans found it */
		states.storage_ns = uninterruptible_ns > memory_ns ? uninterruptible_ns - memory_ns : 0;
	else if (times->memory_ns != ROW_NULL && uninterruptible_ns > block_io_ns + memory_ns)
		states.network_ns = uninterruptible_ns - block_io_ns - memory_ns;
	states.active_ns = states.cpu_ns + states.queue_ns + states.storage_ns + states.memory_ns + states.network_ns;
	return states;
}

const char *account_bound_name(enum account_bound bound)
{
	static const char *const names[] = {ACCOUNT_BOUNDS(TEXT_OF)};

	return names[bound];
}

bool account_is_gpu_bound(const struct account_times *times)
{
	return times->gpu_held_ns > 0 && (double)times->gpu_busy_ns >= GPU_SHARE * (double)times->gpu_held_ns &&
	       (double)times->gpu_held_ns >= GPU_SHARE * account_known(times->wall_ns);
}

enum account_bound account_bound_of(const struct account_times *times)
{
	struct account_states states = account_states_of(times);
	bool knows_storage = times->block_io_ns != ROW_NULL || times->uninterruptible_ns != ROW_NULL;

	if (account_is_gpu_bound(times))
		return ACCOUNT_BOUND_GPU;
	if (states.active_ns < COMPUTE_SHARE / 2 * account_known(times->wall_ns))
		return times->cpu_ns != ROW_NULL && knows_storage ? ACCOUNT_BOUND_SLEEP : ACCOUNT_BOUND_UNKNOWN;
	if (states.active_ns <= 0)
		return ACCOUNT_BOUND_UNKNOWN;
	if (states.memory_ns >= MEMORY_SHARE * states.active_ns)
		return ACCOUNT_BOUND_MEMORY;
	if (states.storage_ns >= STORAGE_SHARE * states.active_ns && states.storage_ns >= states.queue_ns &&
	    states.storage_ns >= states.network_ns)
		return ACCOUNT_BOUND_STORAGE;
	if (states.network_ns >= STORAGE_SHARE * states.active_ns && states.network_ns >= states.queue_ns)
		return ACCOUNT_BOUND_NETWORK_FILESYSTEM;
	if (states.queue_ns >= PROCESSOR_SHARE * states.active_ns)
		return ACCOUNT_BOUND_PROCESSORS;
	return states.cpu_ns >= COMPUTE_SHARE * states.active_ns ? ACCOUNT_BOUND_COMPUTE : ACCOUNT_BOUND_UNKNOWN;
}

/* ---- by name ----------------------------------------------------------------------- */

#define NO_NAME SIZE_MAX

struct account_text {
	UT_hash_handle hh;
	size_t name, task_name; /* indexes of the account's, or NO_NAME */
	char text[];
};

/* Returns the text as it is kept, or NULL if out of memory. */
static struct account_text *text_get(struct account *account, const char *text)
{
	struct account_text *kept;

	HASH_FIND_STR(account->texts, text, kept);
	if (kept)
		return kept;
	kept = calloc(1, sizeof(*kept) + strlen(text) + 1);
	if (!kept)
		return NULL;
	strcpy(kept->text, text);
	kept->name = kept->task_name = NO_NAME;
	HASH_ADD_STR(account->texts, text, kept);
	return kept;
}

static struct account_name *name_get(struct account *account, const char *name)
{
	struct account_text *text = text_get(account, name);
	struct account_name *grown;

	if (!text)
		return NULL;
	if (text->name != NO_NAME)
		return &account->names[text->name];
	grown = grow(account->names, &account->name_capacity, account->name_count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	account->names = grown;
	text->name = account->name_count++;
	grown[text->name] = (struct account_name){.name = text->text};
	return &grown[text->name];
}

/* Returns the index of a task's own name, or NO_NAME if out of memory. */
static size_t task_name_get(struct account *account, const char *name)
{
	struct account_text *text = text_get(account, name);
	struct account_task_name *grown;

	if (!text || text->task_name != NO_NAME)
		return text ? text->task_name : NO_NAME;
	grown = grow(account->task_names, &account->task_name_capacity, account->task_name_count + 1, sizeof(*grown));
	if (!grown)
		return NO_NAME;
	account->task_names = grown;
	text->task_name = account->task_name_count++;
	grown[text->task_name] = (struct account_task_name){.text = text->text};
	return text->task_name;
}

struct maker {
	const struct report *report;
	report_key *key;
	struct account *account;
	int64_t *path_ns; /* by index in the schedule */
	struct gpu_times *gpu_times;
};

/* The processors that a task was allowed: its own limit, else the run's on its host. The limit is that of one process:
 * if the task used more, others have other processors. */
static int64_t task_cores_milli(const struct maker *maker, const struct account_task *task, int64_t limit_milli)
{
	int64_t run = report_part_cores_milli(maker->report, maker->report->tasks[task->index].part);
	double used_milli = 1000 * account_known(task->times.cpu_ns), wall_ns = account_known(task->times.wall_ns);

	if (limit_milli <= 0 || (run != ROW_NULL && run < limit_milli) ||
	    used_milli > 1.01 * wall_ns * (double)limit_milli)
		return run;
	return limit_milli;
}

static bool limit_is_own(const struct maker *maker, size_t index, const struct row_task *row)
{
	const struct row_run *run = &ROWS_ITEM(&maker->report->parts, part, maker->report->tasks[index].part)->run;

	return run->task_count == 0 || run->container_id != row->container_id ||
	       run->memory_limit_bytes != row->memory_limit_bytes;
}

static int task_take(void *context, size_t index, const struct row_task *row, const struct row_tool *tools,
		     size_t count)
{
	struct maker *maker = context;
	size_t place = maker->account->index_of[index];
	int64_t wall_ns = report_wall_ns(maker->report, row->begin_boot_ns, row->end_boot_ns);
	struct account_task *task;
	struct account_name *name;
	size_t task_name;
	bool is_peak_rss;

	if (place == SCHEDULE_NO_TASK && !maker->report->tasks[index].is_main)
		return 0;
	if (place == SCHEDULE_NO_TASK) {
		maker->account->driver_cpu_ns = row_add(maker->account->driver_cpu_ns, row->cpu_ns);
		maker->account->driver_queue_ns = row_add(maker->account->driver_queue_ns, row->run_delay_ns);
		maker->account->driver_bytes =
			row_most(maker->account->driver_bytes,
				 right_size_need(row->concurrent_memory_bytes, row->unattributed_memory_bytes,
						 row->peak_rss_bytes, &is_peak_rss));
		return 0;
	}
	task_name = task_name_get(maker->account, report_task_name(maker->report, index, row));
	name = name_get(maker->account, maker->key(maker->report, index, row));
	if (task_name == NO_NAME || !name)
		return -ENOMEM;
	maker->account->task_names[task_name].task_count++;
	task = &maker->account->tasks[place];
	*task = (struct account_task){
		.index = index,
		.name = task_name,
		.times =
			{
				.wall_ns = wall_ns,
				.cpu_ns = row->cpu_ns,
				.run_delay_ns = row->run_delay_ns,
				.block_io_ns = row->block_io_delay_ns,
				.memory_ns = row->memory_delay_ns,
				.uninterruptible_ns = row->uninterruptible_ns,
				.system_ns = row->system_ns,
				.gpu_held_ns = maker->gpu_times[place].held_ns,
				.gpu_busy_ns = maker->gpu_times[place].busy_ns,
			},
		.gpu_count = maker->gpu_times[place].device_count,
		.gpu_peak_bytes = maker->gpu_times[place].peak_bytes,
		.gpu_device_bytes = maker->gpu_times[place].device_bytes,
		.gpu_ns = row->gpu_busy_ns != ROW_NULL      ? row->gpu_busy_ns
			  : row->gpu_peak_bytes != ROW_NULL ? wall_ns
							    : 0,
		.throttled_ns = row->throttled_ns,
		.read_bytes = row->read_bytes,
		.write_bytes = row->write_bytes,
		.memory_bytes = right_size_need(row->concurrent_memory_bytes, row->unattributed_memory_bytes,
						row->peak_rss_bytes, &is_peak_rss),
		.memory_limit_bytes = row->memory_limit_bytes,
		.limit_is_own = limit_is_own(maker, index, row),
	};
	task->cores_milli = task_cores_milli(maker, task, row->core_limit_milli);
	name->task_count++;
	name->path_ns += maker->path_ns[place];
#define I(time) name->times.time = row_add(name->times.time, task->times.time);
	ACCOUNT_TIMES(I)
#undef I
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
	struct maker maker = {report, key, account, calloc(report->task_count + 1, sizeof(int64_t)),
			      calloc(report->task_count + 1, sizeof(struct gpu_times))};
	int error = maker.path_ns && maker.gpu_times ? 0 : -ENOMEM;

	for (size_t i = 0; i < account->schedule.span_count && error == 0; i++) {
		const struct schedule_span *span = &account->schedule.spans[i];

		if (span->owner == SCHEDULE_TASK)
			maker.path_ns[span->task] += span->end_ns - span->begin_ns;
	}
	if (error == 0)
		error = gpu_times_load(report, &account->schedule, account->index_of, maker.gpu_times);
	if (error == 0)
		error = report_walk(report, NULL, report->task_count, &writer, &maker);
	for (size_t i = 0; i < account->name_count; i++)
		account->names[i].bound = account_bound_of(&account->names[i].times);
	if (account->name_count > 0)
		qsort(account->names, account->name_count, sizeof(*account->names), compare_names);
	free(maker.gpu_times);
	free(maker.path_ns);
	return error;
}

bool account_is_prompt(const struct row_run *run)
{
	static const char *const engines[] = {"make", "ninja", "parallel", "xargs"};

	for (size_t i = 0; run->engine && i < sizeof(engines) / sizeof(engines[0]); i++)
		if (strcmp(run->engine, engines[i]) == 0)
			return true;
	return !run->engine;
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

/* Sets which tasks only waited for tasks that they are the engine of, as a make does that make started: these are scheduled.
 * What a failed one lost is its whole time. */
static void waiting_find(const struct report *report, bool *ret_only_waits)
{
	for (size_t i = 0; i < report->task_count; i++) {
		size_t parent = report_find_task(report, report->tasks[i].parent_task_id);
		const struct report_task *task = &report->tasks[parent == REPORT_NO_TASK ? i : parent];
		int64_t wall_ns = report_wall_ns(report, task->begin_boot_ns, task->end_boot_ns);

		if (parent != REPORT_NO_TASK && !task->is_main && !task->failed && task->active_ns != ROW_NULL &&
		    (double)task->active_ns < WAITS_SHARE * account_known(wall_ns))
			ret_only_waits[parent] = true;
	}
}

static int schedule_make(struct account *account, const struct report *report)
{
	const struct row_run *run = report_run(report);
	int64_t end = run->end_boot_ns != ROW_NULL ? run->end_boot_ns : report->now_boot_ns;
	bool with_main = !has_other_tasks(report);
	struct schedule_task *spans;
	bool *only_waits;
	size_t count = 0;
	int error = -ENOMEM;

	if (end < run->begin_boot_ns) /* a clock jumped, or the host was not heard of since */
		end = run->begin_boot_ns;
	spans = calloc(report->task_count + 1, sizeof(*spans));
	account->tasks = calloc(report->task_count + 1, sizeof(*account->tasks));
	account->index_of = calloc(report->task_count + 1, sizeof(*account->index_of));
	only_waits = calloc(report->task_count + 1, sizeof(*only_waits));
	if (only_waits)
		waiting_find(report, only_waits);
	for (size_t i = 0; spans && account->index_of && only_waits && i < report->task_count; i++) {
		const struct report_task *task = &report->tasks[i];

		account->index_of[i] = SCHEDULE_NO_TASK;
		/* In no time no task is scheduled. */
		if ((task->is_main && !with_main) || only_waits[i] || end == run->begin_boot_ns)
			continue;
		spans[count] = (struct schedule_task){
			task->begin_boot_ns,
			task->end_boot_ns != ROW_NULL ? task->end_boot_ns : end,
		};
		account->index_of[i] = count++;
	}
	if (spans && account->tasks && account->index_of && only_waits)
		error = schedule_init(&account->schedule, spans, count, run->begin_boot_ns, end);
	free(only_waits);
	free(spans);
	return error;
}

static void path_count(struct account *account, bool is_prompt)
{
	schedule_count_path(&account->schedule,
			    is_prompt ? SCHEDULE_TEARDOWN_NS : schedule_launch_ns(&account->schedule),
			    &account->path_count, &account->unsure_count);
}

/* Where times cannot tell which task was waited for, the files that command lines name may. */
static int causes_find(struct account *account, const struct report *report, bool is_prompt)
{
	struct edges edges = {0};
	size_t *causes = calloc(account->schedule.count + 1, sizeof(*causes));
	int error = causes ? 0 : -ENOMEM;

	if (error == 0)
		error = edges_load(&edges, report, &account->schedule, account->index_of);
	if (error == 0)
		error = edges_find(&edges, &account->schedule, is_prompt ? SCHEDULE_TEARDOWN_NS : -1, causes);
	if (error == 0)
		error = schedule_take_causes(&account->schedule, causes);
	if (error < 0)
		free(causes);
	edges_free(&edges);
	return error;
}

static int path_make(struct account *account, const struct report *report)
{
	bool is_prompt = account_is_prompt(report_run(report));
	int error = schedule_make(account, report);

	if (error < 0)
		return error;
	path_count(account, is_prompt);
	if (is_prompt && account->unsure_count == 0)
		return 0;
	error = causes_find(account, report, is_prompt);
	path_count(account, is_prompt);
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
	int error = path_make(&account, report);

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
	struct account_text *text, *next;

	HASH_ITER (hh, account->texts, text, next) {
		HASH_DEL(account->texts, text);
		free(text);
	}
	free(account->names);
	free(account->task_names);
	schedule_deinit(&account->schedule);
	free(account->tasks);
	free(account->index_of);
	*account = (struct account){0};
}
