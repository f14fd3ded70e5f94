/* Findings about the memory of tasks: requested and not used, held asleep. See asking.h; what each means, and its thresholds, is
 * in tune/NAME.sql. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tune/asking.h"
#include "analysis/tune/right_size.h"

#define NS 1e9

/* Tasks of a name. */
struct named {
	size_t count;
	double asleep_ns, cpu_ns, wall_ns;
	double most_bytes, least_limit_bytes;
	double mean_bytes, squares; /* of what they used: squares of the deviations from the mean */
};

/* Whether a task counts, and what it could save. */
struct memory_kind {
	bool (*counts)(const struct asking *asking, const struct account_task *task);
	double (*saved)(const struct asking *asking, const struct named *name, const struct account_task *task);
};

static double asleep_ns(const struct account_task *task)
{
	struct account_states states = account_states_of(&task->times);

	return account_known(task->times.wall_ns) - states.active_ns - account_known(task->gpu_ns);
}

/* ---- memory_unused ----------------------------------------------------------------- */

static bool is_limited(const struct asking *asking, const struct account_task *task)
{
	return task->limit_is_own && task->memory_limit_bytes > 0 && task->memory_bytes > 0 &&
	       account_known(task->times.wall_ns) >= asking_given(asking, "least_ns");
}

static double request_of(const struct named *name)
{
	double count = (double)name->count;

	return (double)right_size_round(right_size_request(name->most_bytes, name->squares, count, 1 / sqrt(count)));
}

static double unused_byte_ns(const struct asking *asking, const struct named *name, const struct account_task *task)
{
	if (name->most_bytes > asking_given(asking, "most_share") * name->least_limit_bytes)
		return 0;
	return ((double)task->memory_limit_bytes - request_of(name)) * account_known(task->times.wall_ns);
}

/* ---- memory_held ------------------------------------------------------------------- */

static bool is_asleep(const struct asking *asking, const struct account_task *task)
{
	double ns = asleep_ns(task);

	return (double)task->memory_bytes >= asking_given(asking, "least_bytes") && task->times.cpu_ns != ROW_NULL &&
	       ns >= asking_given(asking, "least_ns") &&
	       ns >= (1 - asking_given(asking, "most_share")) * account_known(task->times.wall_ns);
}

static double held_byte_ns(const struct asking *asking, const struct named *name, const struct account_task *task)
{
	return (double)task->memory_bytes * asleep_ns(task);
}

/* A script, or the kernel of a notebook, that is no task because others are: it slept while none of these ran. */
static int driver_give(struct asking *asking)
{
	const struct account *account = asking->account;
	const struct row_run *run = report_run(asking->report);
	double active_ns = account_known(account->driver_cpu_ns) + account_known(account->driver_queue_ns);
	double wall_ns = (double)asking_wall_ns(asking), ns = -active_ns;

	ns += (double)(account->schedule.owned_ns[SCHEDULE_DRIVER] + account->schedule.owned_ns[SCHEDULE_GAP]);
	if (run->engine || asking->report->parts.count != 1 || account->driver_cpu_ns == ROW_NULL ||
	    (double)account->driver_bytes < asking_given(asking, "least_bytes") ||
	    ns < asking_given(asking, "least_ns") || ns < (1 - asking_given(asking, "most_share")) * wall_ns)
		return 0;
	asking_put_text(asking, "name", run->name);
	asking_put_integer(asking, "task_count", 1);
	asking_put_integer(asking, "used_bytes", account->driver_bytes);
	asking_put_integer(asking, "asleep_ns", (int64_t)ns);
	asking_put_real(asking, "cpu_share", account_known(account->driver_cpu_ns) / wall_ns);
	asking_put_integer(asking, "saved_byte_seconds", (int64_t)((double)account->driver_bytes * ns / NS));
	return asking_give(asking);
}

/* ---- both -------------------------------------------------------------------------- */

static void name_add(struct named *name, const struct account_task *task)
{
	double bytes = (double)task->memory_bytes, limit = (double)task->memory_limit_bytes, from_mean;

	name->least_limit_bytes = name->count == 0 || limit < name->least_limit_bytes ? limit : name->least_limit_bytes;
	name->most_bytes = bytes > name->most_bytes ? bytes : name->most_bytes;
	name->count++;
	from_mean = bytes - name->mean_bytes;
	name->mean_bytes += from_mean / (double)name->count;
	name->squares += from_mean * (bytes - name->mean_bytes);
	name->asleep_ns += asleep_ns(task);
	name->cpu_ns += account_known(task->times.cpu_ns);
	name->wall_ns += account_known(task->times.wall_ns);
}

static int task_give(struct asking *asking, const struct named *name, size_t task, int64_t saved)
{
	asking_put_task(asking, task);
	asking_put_integer(asking, "task_count", (int64_t)name->count);
	asking_put_integer(asking, "used_bytes", (int64_t)name->most_bytes);
	asking_put_integer(asking, "memory_limit_bytes", (int64_t)name->least_limit_bytes);
	asking_put_integer(asking, "request_bytes", (int64_t)request_of(name));
	asking_put_integer(asking, "asleep_ns", (int64_t)name->asleep_ns);
	asking_put_real(asking, "cpu_share", name->cpu_ns / name->wall_ns);
	asking_put_integer(asking, "saved_byte_seconds", saved);
	return asking_give(asking);
}

int memory_ask(struct asking *asking)
{
	static const struct memory_kind held = {is_asleep, held_byte_ns}, unused = {is_limited, unused_byte_ns};
	const struct memory_kind *kind = strcmp(asking->question->name, "memory_held") == 0 ? &held : &unused;
	size_t task_count = asking->account->schedule.count, count = 0;
	struct named *names = calloc(asking->account->task_name_count + 1, sizeof(*names));
	struct asking_place *places = calloc(task_count + 1, sizeof(*places));
	int error = names && places ? 0 : -ENOMEM;

	for (size_t i = 0; error == 0 && i < task_count; i++)
		if (kind->counts(asking, asking_task(asking, i)))
			name_add(&names[asking_task(asking, i)->name], asking_task(asking, i));
	for (size_t i = 0; error == 0 && i < task_count; i++) {
		const struct account_task *task = asking_task(asking, i);
		double saved = kind->counts(asking, task) ? kind->saved(asking, &names[task->name], task) / NS : 0;

		if (saved >= 1)
			places[count++] = (struct asking_place){i, SCHEDULE_NO_TASK, (int64_t)saved};
	}
	if (count > 0)
		qsort(places, count, sizeof(*places), asking_compare_places);
	if (error == 0 && kind == &held)
		error = driver_give(asking);
	for (size_t i = 0; i < count && error == 0; i++)
		error = task_give(asking, &names[asking_task(asking, places[i].task)->name], places[i].task,
				  places[i].ns);
	free(places);
	free(names);
	return error;
}
