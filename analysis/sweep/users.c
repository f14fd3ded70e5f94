/* What each user wastes, and what to change. See users.h. */
#include "analysis/sweep/users.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cost/prices.h"
#include "analysis/query/units.h"
#include "common/grow.h"
#include "common/text.h"

#define GIB 1073741824.0
#define HOUR_NS 3.6e12
#define JOBS_MAX 5
#define HEADROOM 1.15 /* our proposal */
#define TEXT_MAX 256
#define HOURS_SHOWN 0.05 /* fewer would be shown as 0.0 */

/* Columns of user_jobs.sql, and members of what is shown: I(name) a whole number, R(name) a real one, 0: unknown. Those
 * of a user are there for each job, as user_NAME. */
/* clang-format off */
#define JOB_COLUMNS(I, R) \
	I(run_count) \
	I(failed_count) R(asked_cores) R(most_cores) R(enough_cores) R(unused_core_hours) I(asked_bytes) I(most_bytes) \
		R(unused_gib_hours) R(failed_core_hours)
#define USER_COLUMNS(I, R) \
	I(run_count) \
	I(failed_count) R(asked_core_hours) R(unused_core_hours) R(asked_gib_hours) R(unused_gib_hours) \
		R(failed_core_hours)
/* clang-format on */

/* Findings that are told to the user they are of. */
enum left { LEFT_SESSION, LEFT_HOST, LEFT_GPU, LEFT_COUNT };
static const struct {
	const char *finding, *count_name;
} lefts[] = {
	[LEFT_SESSION] = {"session_open", "session_count"},
	[LEFT_HOST] = {"host_idle", "idle_host_count"}, /* since a run of the user */
	[LEFT_GPU] = {"gpu_idle", "idle_gpu_count"},
};

#define I(name) int64_t name;
#define R(name) double name;

struct job {
	char name[TEXT_MAX]; /* escaped */
	JOB_COLUMNS(I, R)
};

struct user {
	int64_t id;
	USER_COLUMNS(I, R)
	bool is_low_cpu, is_low_memory, is_failing;
	struct job jobs[JOBS_MAX];
	size_t job_count;
	struct {
		const struct sweep_item *worst; /* NULL: none */
		size_t count;
		double hours; /* of all, in hours of a processor: 9 GiB or a tenth of a GPU are as much as one */
	} left[LEFT_COUNT];
	double wasted_hours; /* above the thresholds, likewise */
};

#undef I
#undef R

struct users {
	struct user *items;
	size_t count, capacity;
};

/* ---- reading ----------------------------------------------------------------------- */

static struct user *user_of(struct users *users, int64_t id)
{
	struct user *items;

	for (size_t i = users->count; i-- > 0;)
		if (users->items[i].id == id)
			return &users->items[i];
	items = grow(users->items, &users->capacity, users->count + 1, sizeof(*items));
	if (!items)
		return NULL;
	users->items = items;
	items[users->count] = (struct user){.id = id};
	return &items[users->count++];
}

static double result_real(struct store_result *result, const char *column)
{
	struct store_value value = store_result_get(result, column);

	return value.type == STORE_VALUE_REAL      ? value.real
	       : value.type == STORE_VALUE_INTEGER ? (double)value.integer
						   : 0;
}

static int row_take(struct users *users, struct store_result *result)
{
	struct user *user = user_of(users, result_integer(result, "user_id"));
	const char *name = result_text(result, "name");
	struct job *job;

	if (!user)
		return -ENOMEM;
#define I(name) user->name = result_integer(result, "user_" #name);
#define R(name) user->name = result_real(result, "user_" #name);
	USER_COLUMNS(I, R)
#undef I
#undef R
	user->is_low_cpu = result_integer(result, "is_low_cpu") == 1;
	user->is_low_memory = result_integer(result, "is_low_memory") == 1;
	user->is_failing = result_integer(result, "is_failing") == 1;
	if (user->job_count == JOBS_MAX)
		return 0;
	job = &user->jobs[user->job_count++];
	text_escape(name ? name : "-", name ? strlen(name) : 1, job->name, sizeof(job->name));
#define I(name) job->name = result_integer(result, #name);
#define R(name) job->name = result_real(result, #name);
	JOB_COLUMNS(I, R)
#undef I
#undef R
	return 0;
}

static double item_hours(const struct sweep_item *item)
{
	double hours = item->held.cpu_ns == ROW_NULL ? 0 : (double)item->held.cpu_ns / HOUR_NS;

	if (item->held.memory_byte_seconds != ROW_NULL)
		hours += (double)item->held.memory_byte_seconds / GIB / 3600 / PRICES_CORE_WEIGHT;
	if (item->held.gpu_ns != ROW_NULL)
		hours += (double)item->held.gpu_ns / HOUR_NS * PRICES_GPU_WEIGHT / PRICES_CORE_WEIGHT;
	return hours;
}

static int item_take(struct users *users, const struct sweep_item *item)
{
	struct user *user;
	size_t kind = 0;

	while (kind < LEFT_COUNT && strcmp(item->question->name, lefts[kind].finding) != 0)
		kind++;
	if (kind == LEFT_COUNT || item->user_id == ROW_NULL || (kind == LEFT_HOST && !(item->is_now && item->run)))
		return 0;
	user = user_of(users, item->user_id);
	if (!user)
		return -ENOMEM;
	if (!user->left[kind].worst || item_hours(item) > item_hours(user->left[kind].worst))
		user->left[kind].worst = item;
	user->left[kind].hours += item_hours(item);
	user->left[kind].count++;
	return 0;
}

static double gib_weight(double gib_hours)
{
	return gib_hours / PRICES_CORE_WEIGHT;
}

static double wasted_hours(const struct user *user)
{
	double hours = 0;

	for (size_t i = 0; i < LEFT_COUNT; i++)
		hours += user->left[i].hours;
	hours += user->is_low_cpu ? user->unused_core_hours : 0;
	hours += user->is_low_memory ? gib_weight(user->unused_gib_hours) : 0;
	return hours + (user->is_failing ? user->failed_core_hours : 0);
}

/* The one who wastes most first. */
static int compare_users(const void *left, const void *right)
{
	const struct user *a = left, *b = right;

	if (a->wasted_hours != b->wasted_hours)
		return a->wasted_hours > b->wasted_hours ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static int users_load(const struct sweep_users_request *request, struct users *users)
{
	struct store_result *result;
	int error = question_ask(request->jobs, request->store, request->parameters, &result), more;

	if (error < 0)
		return error;
	while (error == 0 && (more = store_result_next(result)) != 0)
		error = more < 0 ? more : row_take(users, result);
	store_result_free(result);
	for (size_t i = 0; i < request->sweep->count && error == 0; i++)
		error = item_take(users, &request->sweep->items[i]);
	for (size_t i = 0; i < users->count; i++)
		users->items[i].wasted_hours = request->user_id == ROW_NULL || users->items[i].id == request->user_id
						       ? wasted_hours(&users->items[i])
						       : 0;
	if (users->count > 0)
		qsort(users->items, users->count, sizeof(*users->items), compare_users);
	while (users->count > 0 && users->items[users->count - 1].wasted_hours <= 0)
		users->count--;
	return error;
}

/* ---- what to change ---------------------------------------------------------------- */

enum waste { WASTE_CPU, WASTE_MEMORY, WASTE_FAILED };

static double job_waste(const struct job *job, enum waste waste)
{
	return waste == WASTE_CPU      ? job->unused_core_hours
	       : waste == WASTE_MEMORY ? job->unused_gib_hours
				       : job->failed_core_hours;
}

/* The job that wastes most of that; NULL if none of those listed does. */
static const struct job *worst_job(const struct user *user, enum waste waste)
{
	const struct job *worst = NULL;

	for (size_t i = 0; i < user->job_count; i++)
		if (job_waste(&user->jobs[i], waste) > (worst ? job_waste(worst, waste) : 0))
			worst = &user->jobs[i];
	return worst;
}

static void change_request(FILE *text, const struct job *job, double need, double asked, const char *what,
			   const char *unit, const char *slurm)
{
	need = need < 1 ? 1 : ceil(need);
	if (need < asked)
		fprintf(text, "Ask for %.0f%s %s instead of %.4g for %s (Slurm: %s%.0f%s).", need, unit, what, asked,
			job->name, slurm, need, *unit ? "G" : "");
	else
		fprintf(text, "See what %s needs (tracer tune --right-size).", job->name);
}

static void left_change(FILE *text, const struct user *user, enum left kind)
{
	const struct sweep_item *item = user->left[kind].worst;
	char name[TEXT_MAX];

	text_escape(item->hostname, strlen(item->hostname), name, sizeof(name));
	if (kind == LEFT_SESSION)
		fputs("Close the session that you do not use.", text);
	else if (kind == LEFT_HOST)
		fprintf(text, "Stop %s when your run has ended.", name);
	else
		fprintf(text, "End what holds a GPU on %s and does not use it.", name);
}

/* What wastes most. */
static void change_write(FILE *text, const struct user *user)
{
	const struct job *jobs[] = {worst_job(user, WASTE_CPU), worst_job(user, WASTE_MEMORY),
				    worst_job(user, WASTE_FAILED)};
	double cpu = user->is_low_cpu && jobs[WASTE_CPU] ? user->unused_core_hours : 0;
	double memory = user->is_low_memory && jobs[WASTE_MEMORY] ? gib_weight(user->unused_gib_hours) : 0;
	double failed = user->is_failing && jobs[WASTE_FAILED] ? user->failed_core_hours : 0;
	double most = fmax(fmax(cpu, memory), failed);
	enum left worst = LEFT_SESSION;

	for (enum left kind = 0; kind < LEFT_COUNT; kind++)
		if (user->left[kind].hours > user->left[worst].hours)
			worst = kind;
	if (user->left[worst].worst && user->left[worst].hours >= most) {
		left_change(text, user, worst);
	} else if (most == cpu && cpu > 0) {
		change_request(text, jobs[WASTE_CPU], jobs[WASTE_CPU]->enough_cores, jobs[WASTE_CPU]->asked_cores,
			       jobs[WASTE_CPU]->enough_cores <= 1 ? "processor" : "processors", "", "--cpus-per-task=");
	} else if (most == memory && memory > 0) {
		change_request(text, jobs[WASTE_MEMORY], HEADROOM * (double)jobs[WASTE_MEMORY]->most_bytes / GIB,
			       (double)jobs[WASTE_MEMORY]->asked_bytes / GIB, "of memory", " GiB", "--mem=");
	} else if (failed > 0) {
		fprintf(text, "See why %s failed before you start it again (tracer failed).", jobs[WASTE_FAILED]->name);
	}
}

/* ---- the text ---------------------------------------------------------------------- */

/* Nothing of a job that wastes nothing. */
static void job_write(FILE *text, const struct job *job)
{
	if (job->failed_count == 0 && job->unused_core_hours < HOURS_SHOWN && job->unused_gib_hours < HOURS_SHOWN)
		return;
	fprintf(text, "- %s: %lld %s", job->name, (long long)job->run_count,
		units_plural(job->run_count, "run", "runs"));
	if (job->failed_count > 0)
		fprintf(text, ", %lld failed", (long long)job->failed_count);
	if (job->failed_core_hours >= HOURS_SHOWN)
		fprintf(text, " (%.1f core-hours)", job->failed_core_hours);
	if (job->unused_core_hours >= HOURS_SHOWN)
		fprintf(text, "; asked for %.4g %s, used %.2g on average%s, %.1f core-hours not used", job->asked_cores,
			job->asked_cores <= 1 ? "processor" : "processors", job->most_cores,
			job->run_count > 1 ? " at most" : "", job->unused_core_hours);
	if (job->unused_gib_hours >= HOURS_SHOWN)
		fprintf(text, "; asked for %s, used at most %s, %.1f GiB-hours not used",
			units_bytes(job->asked_bytes, false), units_bytes(job->most_bytes, false),
			job->unused_gib_hours);
	fputs("\n", text);
}

static void item_write(FILE *text, enum left kind, const struct sweep_item *item, size_t count)
{
	char safe[4 * TEXT_MAX];

	text_escape(item->sentence, strlen(item->sentence), safe, sizeof(safe));
	fprintf(text, "- %s.", safe);
	if (kind == LEFT_HOST) {
		text_escape(item->run, strlen(item->run), safe, sizeof(safe));
		fprintf(text, " The last run there was yours: %s.", safe);
	}
	if (count > 1)
		fprintf(text, " %zu more.", count - 1);
	fputs("\n", text);
}

static void unused_write(FILE *text, const char *what, double unused, double asked, const char *unit)
{
	if (unused >= HOURS_SHOWN)
		fprintf(text, "%s asked for and not used: %.1f of %.1f %s (%.0f %%).\n", what, unused, asked, unit,
			100 * unused / asked);
}

static void jobs_write(FILE *text, const struct user *user, int64_t since_unix_ns)
{
	fprintf(text, "Your jobs since %s: %lld %s", units_time(since_unix_ns), (long long)user->run_count,
		units_plural(user->run_count, "run", "runs"));
	if (user->failed_count > 0)
		fprintf(text, ", %lld failed", (long long)user->failed_count);
	fputs(".\n", text);
	unused_write(text, "Processors", user->unused_core_hours, user->asked_core_hours, "core-hours");
	unused_write(text, "Memory", user->unused_gib_hours, user->asked_gib_hours, "GiB-hours");
	if (user->failed_core_hours >= HOURS_SHOWN)
		fprintf(text, "CPU time of failed jobs: %.1f core-hours.\n", user->failed_core_hours);
	fputs("\n", text);
}

static void user_write(FILE *text, const struct user *user, int64_t since_unix_ns)
{
	if (user->run_count > 0)
		jobs_write(text, user, since_unix_ns);
	for (size_t i = 0; i < user->job_count; i++)
		job_write(text, &user->jobs[i]);
	for (enum left kind = 0; kind < LEFT_COUNT; kind++)
		if (user->left[kind].worst)
			item_write(text, kind, user->left[kind].worst, user->left[kind].count);
	fputs("\nTo change: ", text);
	change_write(text, user);
	fputs("\n", text);
}

/* Returns what `write` writes, to be freed, or NULL if out of memory. */
static char *user_text(const struct user *user, int64_t since_unix_ns, bool only_change)
{
	char *data = NULL;
	size_t size;
	FILE *text = open_memstream(&data, &size);

	if (!text)
		return NULL;
	if (only_change)
		change_write(text, user);
	else
		user_write(text, user, since_unix_ns);
	if (fclose(text) == 0)
		return data;
	free(data);
	return NULL;
}

static json_t *job_to_object(const struct job *job)
{
	json_t *object = json_object();

	json_set_string(object, "name", job->name);
#define I(name) json_set_integer(object, #name, job->name);
#define R(name) json_set_real(object, #name, job->name);
	JOB_COLUMNS(I, R)
#undef I
#undef R
	if (job->asked_cores <= 0)
		json_object_update_new(object, json_pack("{s:n, s:n}", "asked_cores", "most_cores"));
	if (job->enough_cores <= 0)
		json_object_set_new(object, "enough_cores", json_null());
	return object;
}

json_t *sweep_users_columns(void)
{
	return json_pack("{s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n}", "user_id",
			 "user", "run_count", "failed_count", "asked_core_hours", "unused_core_hours",
			 "asked_gib_hours", "unused_gib_hours", "failed_core_hours", "session_count", "idle_host_count",
			 "idle_gpu_count", "wasted_core_hours", "change", "text", "jobs");
}

static int user_add(json_t *list, const struct user *user, int64_t since_unix_ns)
{
	char *text = user_text(user, since_unix_ns, false), *change = user_text(user, since_unix_ns, true);
	json_t *object = json_object(), *jobs = json_array();

	json_set_integer(object, "user_id", user->id);
	json_set_string(object, "user", units_user(user->id));
#define I(name) json_set_integer(object, #name, user->name);
#define R(name) json_set_real(object, #name, user->name);
	USER_COLUMNS(I, R)
#undef I
#undef R
	for (size_t i = 0; i < LEFT_COUNT; i++)
		json_set_integer(object, lefts[i].count_name, (int64_t)user->left[i].count);
	json_set_real(object, "wasted_core_hours", user->wasted_hours);
	json_set_string(object, "change", change);
	json_set_string(object, "text", text);
	for (size_t i = 0; i < user->job_count; i++)
		json_array_append_new(jobs, job_to_object(&user->jobs[i]));
	json_object_set_new(object, "jobs", jobs);
	json_array_append_new(list, object);
	free(text);
	free(change);
	return text && change ? 0 : -ENOMEM;
}

int sweep_users_load(const struct sweep_users_request *request, json_t **ret_users, size_t *ret_count)
{
	struct users users = {0};
	int error = users_load(request, &users);

	*ret_users = json_array();
	*ret_count = users.count;
	for (size_t i = 0; i < users.count && i < request->most && error == 0; i++)
		error = user_add(*ret_users, &users.items[i], request->since_unix_ns);
	free(users.items);
	return error;
}
