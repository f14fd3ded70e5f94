/* Findings about what tasks waited for: storage, memory, a network filesystem, a quota, processors that others used. See
 * asking.h; what each means, and its thresholds, is in tune/NAME.sql. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/ask.h"
#include "analysis/query/joined.h"
#include "analysis/tune/asking.h"

/* Other programs are named if they used at least this part of what tasks waited for. */
#define OTHERS_LEAST_SHARE 0.5
#define OWN_LEAST_SHARE 0.95 /* of what the run used meanwhile: less, and tasks ran beside */
#define OTHERS_MAX 20        /* names of tasks for which that is asked */

/* What the threads of a task waited, and did in all. */
struct wait {
	double wait_ns, active_ns;
	double cpu_ns;     /* that it cost */
	double least_ns;   /* the task cannot be shorter */
	double used_share; /* of the processors, by the run itself meanwhile */
	bool is_beside;    /* tasks of the run ran beside, perhaps on the same processors */
};

/* Tasks of a name that waited. */
struct named {
	size_t count;
	double wait_ns, active_ns, most_used_share;
	int64_t read_bytes, write_bytes, begin_ns, end_ns;
	size_t longest; /* task */
	double longest_ns;
	bool is_beside;
	char *others; /* a program; NULL: not one alone */
};

/* What the run did on a task's host meanwhile, if each task used its CPU time evenly. */
struct meanwhile {
	double used_ns; /* CPU time */
	double full_ns; /* for so long it used most_used_share of the processors or more */
};

struct waits {
	struct asking *asking;
	struct meanwhile *meanwhile; /* by task */
	struct wait *tasks;
	struct named *names;
};

/* Whether a task waited for that; sets how long. */
typedef bool wait_of(const struct waits *waits, const struct account_states *states, size_t task,
		     struct wait *ret_wait);

/* ---- each kind --------------------------------------------------------------------- */

static bool storage_of(const struct waits *waits, const struct account_states *states, size_t task,
		       struct wait *ret_wait)
{
	*ret_wait = (struct wait){states->storage_ns, states->active_ns};
	return states->storage_ns >= states->queue_ns && states->storage_ns >= states->memory_ns &&
	       states->storage_ns >= states->network_ns;
}

static bool memory_of(const struct waits *waits, const struct account_states *states, size_t task,
		      struct wait *ret_wait)
{
	*ret_wait = (struct wait){states->memory_ns, states->active_ns, .cpu_ns = states->reclaim_ns};
	return true;
}

static bool network_of(const struct waits *waits, const struct account_states *states, size_t task,
		       struct wait *ret_wait)
{
	*ret_wait = (struct wait){states->network_ns, states->active_ns};
	return states->network_ns >= states->queue_ns;
}

static int64_t run_cores_milli(const struct waits *waits, size_t task)
{
	return report_part_cores_milli(waits->asking->report, asking_part(waits->asking, task));
}

/* The time is that of a cgroup. If its limit is the run's, it is shared with the tasks beside: each has the part of it that it
 * has in the CPU time. */
static double throttled_ns(const struct waits *waits, const struct account_states *states, size_t task)
{
	const struct account_task *facts = asking_task(waits->asking, task);
	double ns = account_known(facts->throttled_ns), used_ns = waits->meanwhile[task].used_ns;

	return facts->cores_milli < run_cores_milli(waits, task) || used_ns <= states->cpu_ns
		       ? ns
		       : ns * states->cpu_ns / used_ns;
}

/* The kernel counts it as a wait for a processor, too; from 6.18 on, less of it. */
static bool throttled_of(const struct waits *waits, const struct account_states *states, size_t task,
			 struct wait *ret_wait)
{
	double ns = throttled_ns(waits, states, task), queue_ns = states->queue_ns;

	*ret_wait = (struct wait){
		.wait_ns = queue_ns > ns && queue_ns <= 2 * ns ? queue_ns : ns,
		.active_ns = states->active_ns + (ns > queue_ns ? ns - queue_ns : 0),
	};
	return ns >= asking_given(waits->asking, "least_share") * ret_wait->active_ns;
}

/* Tasks that wanted more processors than they may use by themselves wait for their own threads. */
static bool contention_of(const struct waits *waits, const struct account_states *states, size_t task,
			  struct wait *ret_wait)
{
	const struct account_task *facts = asking_task(waits->asking, task);
	double cores = (double)facts->cores_milli / 1000, held_ns = account_known(facts->times.wall_ns) * cores;
	double run_ns =
		facts->cores_milli < run_cores_milli(waits, task) ? states->cpu_ns : waits->meanwhile[task].used_ns;

	if (held_ns <= 0 || facts->times.cpu_ns == ROW_NULL)
		return false;
	*ret_wait = (struct wait){
		/* In the time in which the run filled the processors, it waited for the run's own tasks. */
		.wait_ns = states->queue_ns - throttled_ns(waits, states, task) -
			   waits->meanwhile[task].full_ns * states->active_ns / account_known(facts->times.wall_ns),
		.active_ns = states->active_ns,
		.least_ns = states->cpu_ns / cores,
		.used_share = run_ns / held_ns,
		/* Which processors its affinity allows is not stored. */
		.is_beside = run_ns < OWN_LEAST_SHARE * waits->meanwhile[task].used_ns,
	};
	return states->active_ns <= held_ns && ret_wait->used_share <= asking_given(waits->asking, "most_used_share");
}

/* ---- what the run used meanwhile --------------------------------------------------- */

static double rate_of(const struct asking *asking, size_t task)
{
	return account_known(asking_task(asking, task)->times.cpu_ns) /
	       (double)(asking_end_ns(asking, task) - asking_begin_ns(asking, task));
}

static void meanwhile_change(struct meanwhile *meanwhile, const struct meanwhile *until, int sign)
{
	meanwhile->used_ns += sign * until->used_ns;
	meanwhile->full_ns += sign * until->full_ns;
}

/* Adds for each task on a host what the run did there until its end, less what it had done until its begin. */
static void meanwhile_add(const struct asking *asking, int64_t host_id, double cores, struct meanwhile *meanwhile)
{
	const struct schedule *schedule = &asking->account->schedule;
	double rate = 0, full_rate = asking_given(asking, "most_used_share") * cores;
	struct meanwhile until = {0};
	int64_t last_ns = schedule->begin_ns;

	for (size_t begun = 0, ended = 0; ended < schedule->count;) {
		bool begins = begun < schedule->count && asking_begin_ns(asking, schedule->by_begin[begun]) <
								 asking_end_ns(asking, schedule->by_end[ended]);
		size_t task = begins ? schedule->by_begin[begun++] : schedule->by_end[ended++];
		int64_t now_ns = begins ? asking_begin_ns(asking, task) : asking_end_ns(asking, task);

		if (asking_run(asking, asking_part(asking, task))->host_id != host_id)
			continue;
		until.used_ns += rate * (double)(now_ns - last_ns);
		until.full_ns += cores > 0 && rate >= full_rate ? (double)(now_ns - last_ns) : 0;
		last_ns = now_ns;
		rate += begins ? rate_of(asking, task) : -rate_of(asking, task);
		meanwhile_change(&meanwhile[task], &until, begins ? -1 : 1);
	}
}

static struct meanwhile *meanwhile_make(const struct asking *asking)
{
	struct meanwhile *meanwhile = calloc(asking->account->schedule.count + 1, sizeof(*meanwhile));

	for (size_t i = 0; meanwhile && i < asking->report->parts.count; i++)
		if (joined_is_new_host(asking->report->parts.items, i))
			meanwhile_add(asking, asking_run(asking, i)->host_id,
				      (double)report_part_cores_milli(asking->report, i) / 1000, meanwhile);
	return meanwhile;
}

/* ---- who used the processors ------------------------------------------------------- */

/* Finds the program that used the processors, if one used most of what these tasks waited for. */
static int others_find(const struct asking *asking, struct named *name)
{
	const struct row_run *run = asking_run(asking, asking_part(asking, name->longest));
	int64_t shift_ns = report_part_shift_ns(asking->report, asking_part(asking, name->longest));
	const struct store_parameter parameters[] = {
		STORE_INT("run_id", run->id),
		STORE_INT("host_id", run->host_id),
		STORE_INT("begin_boot_ns", row_subtract(name->begin_ns, shift_ns)),
		STORE_INT("end_boot_ns", row_subtract(name->end_ns, shift_ns)),
		{0},
	};
	struct store_result *result;
	int more;

	if (store_is_restricted(asking->report->store) || name->is_beside)
		return 0; /* it may be another user's, or the run's own */
	more = query_ask(asking->report->store, "other_programs", parameters, &result);
	if (more < 0)
		return more;
	more = store_result_next(result);
	if (more > 0 && account_known(result_integer(result, "used_ns")) >= OTHERS_LEAST_SHARE * name->wait_ns) {
		name->others = strdup(result_text(result, "program"));
		more = name->others ? more : -ENOMEM;
	}
	store_result_free(result);
	return more < 0 ? more : 0;
}

/* Finds it for the names that waited longest. */
static int others_find_all(const struct waits *waits)
{
	const struct asking *asking = waits->asking;
	size_t count = asking->account->task_name_count;
	struct asking_place *names = calloc(count + 1, sizeof(*names));
	int error = names ? 0 : -ENOMEM;

	for (size_t i = 0; names && i < count; i++)
		names[i] = (struct asking_place){i, SCHEDULE_NO_TASK, (int64_t)waits->names[i].wait_ns};
	if (names)
		qsort(names, count, sizeof(*names), asking_compare_places);
	for (size_t i = 0; i < count && i < OTHERS_MAX && error == 0; i++)
		if ((double)names[i].ns >= asking_given(asking, "least_ns"))
			error = others_find(asking, &waits->names[names[i].task]);
	free(names);
	return error;
}

/* ---- all kinds --------------------------------------------------------------------- */

static void name_add(const struct waits *waits, size_t task)
{
	const struct account_task *facts = asking_task(waits->asking, task);
	int64_t begin_ns = asking_begin_ns(waits->asking, task), end_ns = asking_end_ns(waits->asking, task);
	const struct wait *wait = &waits->tasks[task];
	struct named *name = &waits->names[facts->name];

	name->begin_ns = name->count == 0 ? begin_ns : row_least(name->begin_ns, begin_ns);
	name->end_ns = row_most(name->end_ns, end_ns);
	if (wait->wait_ns > name->longest_ns)
		name->longest = task;
	name->longest_ns = wait->wait_ns > name->longest_ns ? wait->wait_ns : name->longest_ns;
	name->most_used_share = wait->used_share > name->most_used_share ? wait->used_share : name->most_used_share;
	name->is_beside = name->is_beside || wait->is_beside;
	name->count++;
	name->wait_ns += wait->wait_ns;
	name->active_ns += wait->active_ns;
	name->read_bytes = row_add(name->read_bytes, facts->read_bytes);
	name->write_bytes = row_add(name->write_bytes, facts->write_bytes);
}

static int task_give(const struct waits *waits, size_t task)
{
	const struct account_task *facts = asking_task(waits->asking, task);
	const struct named *name = &waits->names[facts->name];
	const struct wait *wait = &waits->tasks[task];
	double wall_ns = account_known(facts->times.wall_ns);
	double without_ns = wall_ns - wall_ns * wait->wait_ns / (wait->active_ns > wall_ns ? wait->active_ns : wall_ns);

	if (without_ns < wait->least_ns)
		without_ns = wait->least_ns;
	asking_put_task(waits->asking, task);
	asking_put_integer(waits->asking, "task_count", (int64_t)name->count);
	asking_put_integer(waits->asking, "wait_ns", (int64_t)name->wait_ns);
	asking_put_real(waits->asking, "wait_share", name->wait_ns / name->active_ns);
	asking_put_integer(waits->asking, "read_bytes", name->read_bytes);
	asking_put_integer(waits->asking, "write_bytes", name->write_bytes);
	asking_put_real(waits->asking, "used_share", name->most_used_share);
	asking_put_text(waits->asking, "others",
			name->others      ? name->others
			: name->is_beside ? "other work, perhaps of this run,"
					  : "other work");
	asking_put_text(waits->asking, "own", name->is_beside ? "it" : "the run itself");
	asking_put_integer(waits->asking, "cpu_ns", (int64_t)wait->cpu_ns);
	asking_put_integer(waits->asking, "saved_ns", without_ns < wall_ns ? (int64_t)(wall_ns - without_ns) : 0);
	return asking_give(waits->asking);
}

/* Finds the tasks that waited for at least that share of what they did; returns their number. */
static size_t waits_find(const struct waits *waits, wait_of *of, struct asking_place *places)
{
	double least_share = asking_given(waits->asking, "least_share");
	size_t count = 0;

	for (size_t i = 0; i < waits->asking->account->schedule.count; i++) {
		const struct account_times *times = &asking_task(waits->asking, i)->times;
		struct account_states states = account_states_of(times);
		struct wait *wait = &waits->tasks[i];

		if (account_known(times->wall_ns) <= 0 || !of(waits, &states, i, wait) || wait->wait_ns <= 0 ||
		    wait->wait_ns < least_share * wait->active_ns)
			continue;
		name_add(waits, i);
		places[count++] = (struct asking_place){i, SCHEDULE_NO_TASK, (int64_t)wait->wait_ns};
	}
	if (count > 0)
		qsort(places, count, sizeof(*places), asking_compare_places);
	return count;
}

int waits_ask(struct asking *asking)
{
	static const struct {
		const char *finding;
		wait_of *of;
	} kinds[] = {{"memory_wait", memory_of},
		     {"network_filesystem_wait", network_of},
		     {"processor_contention", contention_of},
		     {"storage_wait", storage_of},
		     {"throttled", throttled_of}};
	size_t task_count = asking->account->schedule.count, name_count = asking->account->task_name_count, count = 0;
	struct asking_place *places = calloc(task_count + 1, sizeof(*places));
	struct waits waits = {
		.asking = asking,
		.meanwhile = meanwhile_make(asking),
		.tasks = calloc(task_count + 1, sizeof(*waits.tasks)),
		.names = calloc(name_count + 1, sizeof(*waits.names)),
	};
	int error = places && waits.meanwhile && waits.tasks && waits.names ? 0 : -ENOMEM;
	wait_of *of = NULL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].finding, asking->question->name) == 0)
			of = kinds[i].of;
	if (error == 0)
		count = waits_find(&waits, of, places);
	if (error == 0 && of == contention_of)
		error = others_find_all(&waits);
	for (size_t i = 0; error == 0 && i < count; i++)
		if (waits.names[asking_task(asking, places[i].task)->name].wait_ns >= asking_given(asking, "least_ns"))
			error = task_give(&waits, places[i].task);
	for (size_t i = 0; waits.names && i < name_count; i++)
		free(waits.names[i].others);
	free(waits.names);
	free(waits.tasks);
	free(waits.meanwhile);
	free(places);
	return error;
}
