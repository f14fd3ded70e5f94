/* Findings about the GPUs that tasks held: worked nearly all the time, waited for their input, were too large or not used. Only tasks of which
 * that is certain count (gpu_times.h). See asking.h; what each means, and its thresholds, is in tune/NAME.sql. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tune/asking.h"

/* Of what a task did, or of its wall time: then that is what the devices waited for. */
#define STORAGE_SHARE 0.3
#define CPU_SHARE 0.8
/* One device that worked so much may have done all the work. */
#define DEVICE_SHARE 0.8

/* What a task could save: wall time, and time of devices. */
struct saving {
	double wall_ns, gpu_ns;
	const char *cause, *remedy;
};

/* Tasks of a name that count. */
struct named {
	size_t count;
	double held_ns, busy_ns;
	double memory_share; /* largest */
};

/* Whether a task counts; sets what it could save. */
typedef bool gpu_kind(const struct asking *asking, const struct account_task *task, struct saving *ret_saving);

static double idle_ns(const struct account_task *task)
{
	double ns = (double)(task->times.gpu_held_ns - task->times.gpu_busy_ns);

	return ns > 0 ? ns : 0;
}

static double used_share(const struct account_task *task)
{
	return (double)task->times.gpu_busy_ns / (double)task->times.gpu_held_ns;
}

/* What its processes held at most, of the memory of its devices; 0 unknown. */
static double memory_share(const struct account_task *task)
{
	double bytes = (double)task->gpu_device_bytes * (double)task->gpu_count;

	return bytes > 0 ? (double)task->gpu_peak_bytes / bytes : 0;
}

/* ---- each kind --------------------------------------------------------------------- */

static bool bound_of(const struct asking *asking, const struct account_task *task, struct saving *ret_saving)
{
	double busy_ns = (double)task->times.gpu_busy_ns / (double)task->gpu_count;

	*ret_saving = (struct saving){.wall_ns = busy_ns * (1 - 1 / asking_given(asking, "faster"))};
	return account_is_gpu_bound(&task->times) && used_share(task) >= asking_given(asking, "least_share") &&
	       account_known(task->times.wall_ns) >= asking_given(asking, "least_ns");
}

/* What a device that is idle waits for is not seen: the input is taken for it if the task's processors or its storage were
 * busy meanwhile. */
static bool starved_of(const struct asking *asking, const struct account_task *task, struct saving *ret_saving)
{
	struct account_states states = account_states_of(&task->times);
	double wall_ns = account_known(task->times.wall_ns), share = used_share(task);
	double cores = (double)task->cores_milli / 1000, wait_ns = states.storage_ns + states.network_ns;
	double all_ns = states.active_ns > wall_ns ? states.active_ns : wall_ns;
	double mean_idle_ns = idle_ns(task) / (double)task->gpu_count;

	*ret_saving = (struct saving){.wall_ns = mean_idle_ns, .gpu_ns = idle_ns(task)};
	if (share < asking_given(asking, "least_share") || share > asking_given(asking, "most_share") ||
	    (double)task->times.gpu_held_ns < asking_given(asking, "least_ns"))
		return false;
	if (task->gpu_count > 1 && (double)task->times.gpu_busy_ns * (double)task->gpu_count >=
					   DEVICE_SHARE * (double)task->times.gpu_held_ns) {
		ret_saving->wall_ns = 0;
		ret_saving->cause = "some of them may not have been used";
		ret_saving->remedy = "Let it use all of its GPUs, or hold fewer.";
	} else if (wait_ns >= STORAGE_SHARE * all_ns) {
		double waited_ns = wall_ns * wait_ns / all_ns;

		ret_saving->wall_ns = waited_ns < mean_idle_ns ? waited_ns : mean_idle_ns;
		ret_saving->gpu_ns = ret_saving->wall_ns * (double)task->gpu_count;
		ret_saving->cause = "threads waited for storage";
		ret_saving->remedy = "Stage the input on faster storage, such as a local SSD, or read ahead.";
	} else if (task->cores_milli > 0 && states.cpu_ns >= CPU_SHARE * cores * wall_ns) {
		ret_saving->cause = "all processors that are allowed were busy";
		ret_saving->remedy = "Allow more processors for each GPU, or prepare the input before.";
	} else if (states.cpu_ns >= CPU_SHARE * wall_ns) {
		ret_saving->cause = "processors were busy, and more are allowed";
		ret_saving->remedy = "Use more workers for the input (num_workers and the like).";
	}
	return ret_saving->cause;
}

static bool oversized_of(const struct asking *asking, const struct account_task *task, struct saving *ret_saving)
{
	double share = used_share(task), memory = memory_share(task);
	double most_share = asking_given(asking, "most_share");

	*ret_saving =
		(struct saving){.gpu_ns = (double)task->times.gpu_held_ns * (1 - (share > memory ? share : memory))};
	return memory > 0 && memory <= most_share && share <= most_share &&
	       share >= asking_given(asking, "least_share") &&
	       (double)task->times.gpu_held_ns >= asking_given(asking, "least_ns");
}

static bool unused_of(const struct asking *asking, const struct account_task *task, struct saving *ret_saving)
{
	*ret_saving = (struct saving){.gpu_ns = idle_ns(task)};
	return used_share(task) < asking_given(asking, "most_share") &&
	       (double)task->times.gpu_held_ns >= asking_given(asking, "least_ns");
}

/* ---- all kinds --------------------------------------------------------------------- */

static int task_give(struct asking *asking, const struct named *name, size_t task, const struct saving *saving)
{
	asking_put_task(asking, task);
	asking_put_integer(asking, "task_count", (int64_t)name->count);
	asking_put_integer(asking, "held_ns", (int64_t)name->held_ns);
	asking_put_integer(asking, "idle_ns", (int64_t)(name->held_ns - name->busy_ns));
	asking_put_real(asking, "used_share", name->busy_ns / name->held_ns);
	asking_put_real(asking, "memory_share", name->memory_share);
	asking_put_text(asking, "cause", saving->cause ? saving->cause : "");
	asking_put_text(asking, "remedy", saving->remedy ? saving->remedy : "");
	asking_put_integer(asking, "saved_ns", (int64_t)saving->wall_ns);
	asking_put_integer(asking, "saved_gpu_ns", (int64_t)saving->gpu_ns);
	return asking_give(asking);
}

int gpus_ask(struct asking *asking)
{
	static const struct {
		const char *finding;
		gpu_kind *of;
	} kinds[] = {{"gpu_bound", bound_of},
		     {"gpu_oversized", oversized_of},
		     {"gpu_starved", starved_of},
		     {"gpu_unused", unused_of}};
	size_t task_count = asking->account->schedule.count, count = 0;
	struct named *names = calloc(asking->account->task_name_count + 1, sizeof(*names));
	struct asking_place *places = calloc(task_count + 1, sizeof(*places));
	int error = names && places ? 0 : -ENOMEM;
	gpu_kind *of = NULL;
	struct saving saving;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].finding, asking->question->name) == 0)
			of = kinds[i].of;
	for (size_t i = 0; error == 0 && i < task_count; i++) {
		const struct account_task *task = asking_task(asking, i);
		struct named *name = &names[task->name];

		if (task->times.gpu_held_ns <= 0 || !of(asking, task, &saving))
			continue;
		name->count++;
		name->held_ns += (double)task->times.gpu_held_ns;
		name->busy_ns += (double)row_least(task->times.gpu_busy_ns, task->times.gpu_held_ns);
		if (memory_share(task) > name->memory_share)
			name->memory_share = memory_share(task);
		places[count++] = (struct asking_place){i, SCHEDULE_NO_TASK, (int64_t)(saving.wall_ns + saving.gpu_ns)};
	}
	if (count > 0)
		qsort(places, count, sizeof(*places), asking_compare_places);
	for (size_t i = 0; i < count && error == 0; i++) {
		const struct account_task *task = asking_task(asking, places[i].task);

		of(asking, task, &saving);
		error = task_give(asking, &names[task->name], places[i].task, &saving);
	}
	free(places);
	free(names);
	return error;
}
