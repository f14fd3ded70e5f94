/* Right sizes of tasks in a store or a lake. See right_sizes.h. */
#include "analysis/tune/right_sizes.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/query/rows.h"
#include "common/grow.h"

struct right_sizes_task {
	int64_t id, started_unix_ns, begin_boot_ns, end_boot_ns;
	const char *name; /* one of `texts`, unless renamed */
	struct right_size_task task;
};

/* ---- tasks ----------------------------------------------------------------------------- */

/* Rows come by name: only a new one is copied. Returns NULL if out of memory. */
static const char *name_keep(struct right_sizes *sizes, const char *name)
{
	char **texts;

	if (sizes->text_count > 0 && strcmp(sizes->texts[sizes->text_count - 1], name) == 0)
		return sizes->texts[sizes->text_count - 1];
	texts = grow(sizes->texts, &sizes->text_capacity, sizes->text_count + 1, sizeof(*texts));
	if (!texts)
		return NULL;
	sizes->texts = texts;
	texts[sizes->text_count] = strdup(name);
	return texts[sizes->text_count] ? texts[sizes->text_count++] : NULL;
}

static double mean_cores(int64_t cpu_ns, int64_t wall_ns)
{
	return cpu_ns == ROW_NULL || wall_ns <= 0 ? NAN : (double)cpu_ns / (double)wall_ns;
}

static struct right_size_task task_from(const struct row_right_size_task *row)
{
	int64_t limit_bytes =
		row->limit_is_own == 1 && row->memory_limit_bytes > 0 ? row->memory_limit_bytes : ROW_NULL;
	struct right_size_task task = {
		.run_id = row->run_id,
		.wall_ns = row_subtract(row->end_boot_ns, row->begin_boot_ns),
		.oom_bytes = ROW_NULL,
		.limit_bytes = limit_bytes,
		.input_bytes = row->rchar_bytes,
		.has_succeeded = row->has_succeeded == 1,
		.is_running = row->is_running == 1,
	};

	task.unattributed_bytes = row->unattributed_memory_bytes > 0 ? row->unattributed_memory_bytes : 0;
	task.memory_bytes = right_size_need(row->concurrent_memory_bytes, task.unattributed_bytes, row->peak_rss_bytes,
					    &task.is_peak_rss);
	task.cores = mean_cores(row->cpu_ns, task.wall_ns);
	task.has_waited = right_size_has_waited(row->cpu_ns, row->run_delay_ns);
	/* In a limit that it shared, others may have used the rest. */
	if (row->is_oom_killed == 1)
		task.oom_bytes = limit_bytes != ROW_NULL ? limit_bytes : task.memory_bytes;
	return task;
}

static int task_add(void *context, const void *of_task)
{
	const struct row_right_size_task *row = of_task;
	struct right_sizes *sizes = context;
	const char *name = name_keep(sizes, row->name);
	struct right_sizes_task *tasks =
		grow(sizes->tasks, &sizes->task_capacity, sizes->task_count + 1, sizeof(*tasks));

	if (tasks)
		sizes->tasks = tasks;
	if (!tasks || !name)
		return -ENOMEM;
	tasks[sizes->task_count++] = (struct right_sizes_task){
		.id = row->task_id,
		.started_unix_ns = row->started_unix_ns,
		.begin_boot_ns = row->begin_boot_ns,
		.end_boot_ns = row->end_boot_ns,
		.name = name,
		.task = task_from(row),
	};
	return 0;
}

/* ---- CPU over time --------------------------------------------------------------------- */

static int compare_by_id(const void *left, const void *right)
{
	const struct right_sizes_task *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* The task whose readings are being read, and the latest reading of the process. */
struct reader {
	struct right_sizes_task *tasks; /* sorted by id */
	size_t count;
	struct right_sizes_task *task; /* NULL: none of them */
	int64_t task_id;
	struct right_size_windows windows;
	int64_t process_id, boot_ns, cpu_ns, thread_count; /* thread_count 0: unknown */
	bool has_samples;
};

static void task_end(struct reader *reader)
{
	if (!reader->task)
		return;
	reader->task->task.cores = right_size_windows_cores(&reader->windows);
	reader->task->task.has_samples = reader->has_samples;
	right_size_windows_deinit(&reader->windows);
	reader->task = NULL;
}

static int task_begin(struct reader *reader, int64_t task_id)
{
	struct right_sizes_task key = {.id = task_id};
	struct right_sizes_task *task = bsearch(&key, reader->tasks, reader->count, sizeof(key), compare_by_id);
	int error = 0;

	if (task && task->task.wall_ns == ROW_NULL)
		task = NULL;
	if (task)
		error = right_size_windows_init(&reader->windows, task->begin_boot_ns, task->end_boot_ns);

	reader->task = error == 0 ? task : NULL;
	reader->task_id = task_id;
	reader->has_samples = false;
	reader->process_id = ROW_NULL;
	return error;
}

/* When the process may have begun to use what it used since its last reading. A scan that finds it quiet (less than
 * 2 % of a core since its last sample) writes none: what it used since is of the last second, or as much longer
 * as all its threads took. Before a process had a sample with its threads this is not known. */
static int64_t use_begin(const struct reader *reader, const struct row_right_size_cpu *row)
{
	int64_t elapsed_ns = row->boot_ns - reader->boot_ns, used_ns = row->cpu_ns - reader->cpu_ns;

	if (elapsed_ns < 2 * RIGHT_SIZE_WINDOW_NS || reader->thread_count <= 0)
		return reader->boot_ns;
	used_ns /= reader->thread_count;
	if (used_ns < RIGHT_SIZE_WINDOW_NS)
		used_ns = RIGHT_SIZE_WINDOW_NS;
	return used_ns < elapsed_ns ? row->boot_ns - used_ns : reader->boot_ns;
}

static int reading_take(void *context, const void *reading)
{
	const struct row_right_size_cpu *row = reading;
	struct reader *reader = context;
	bool is_first_of_found = false; /* it was not scanned before */
	int error = 0;

	if (!reader->task || row->task_id != reader->task_id) {
		task_end(reader);
		error = task_begin(reader, row->task_id);
	}
	if (error < 0 || !reader->task)
		return error;
	if (row->process_id != reader->process_id) {
		reader->process_id = row->process_id;
		reader->boot_ns = row->begin_boot_ns;
		reader->cpu_ns = 0;
		reader->thread_count = 0;
		is_first_of_found = row->is_found == 1;
	}
	reader->has_samples |= row->is_sample == 1;
	if (row->thread_count != ROW_NULL && !is_first_of_found)
		reader->thread_count = row->thread_count;
	if (row->cpu_ns <= reader->cpu_ns)
		return 0;
	right_size_windows_add(&reader->windows, use_begin(reader, row), row->boot_ns, row->cpu_ns - reader->cpu_ns);
	reader->boot_ns = row->boot_ns;
	reader->cpu_ns = row->cpu_ns;
	return 0;
}

int64_t right_sizes_add(struct right_sizes *sizes, struct store *store, const struct right_sizes_selection *selection)
{
	struct store_parameter parameters[] = {
		{"name", selection->name ? STORE_TEXT : STORE_NULL, 0, selection->name, 0},
		{"run_id", selection->run_id != ROW_NULL ? STORE_INTEGER : STORE_NULL, selection->run_id, NULL, 0},
		{"host_id", selection->host_id != ROW_NULL ? STORE_INTEGER : STORE_NULL, selection->host_id, NULL, 0},
		{"host", STORE_NULL},
		{"user_id", STORE_NULL},
		{0},
	};
	struct reader reader = {0};
	size_t before = sizes->task_count;
	int error;

	if (selection->filter)
		memcpy(&parameters[3], selection->filter, 2 * sizeof(*parameters));
	error = rows_each(&row_type_right_size_task, store, "right_size_tasks", parameters, task_add, sizes);
	if (error < 0 || sizes->task_count == before)
		return error;
	reader.tasks = sizes->tasks + before;
	reader.count = sizes->task_count - before;
	qsort(reader.tasks, reader.count, sizeof(*reader.tasks), compare_by_id);
	error = rows_each(&row_type_right_size_cpu, store, "right_size_cpu", parameters, reading_take, &reader);
	if (error == 0)
		task_end(&reader);
	right_size_windows_deinit(&reader.windows);
	return error < 0 ? error : (int64_t)reader.count;
}

/* ---- names ------------------------------------------------------------------------------ */

int right_sizes_runs(const struct right_sizes *sizes, int64_t **ret_ids, size_t *ret_count)
{
	int64_t *ids = calloc(sizes->task_count + 1, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < sizes->task_count; i++)
		ids[i] = sizes->tasks[i].task.run_id;
	*ret_ids = ids;
	*ret_count = right_size_ids_unique(ids, sizes->task_count);
	return 0;
}

void right_sizes_rename(struct right_sizes *sizes, const struct engine_names *names)
{
	for (size_t i = 0; i < sizes->task_count; i++)
		sizes->tasks[i].name = engine_names_of(names, sizes->tasks[i].id, sizes->tasks[i].name);
}

/* ---- by name --------------------------------------------------------------------------- */

static int compare_by_name(const void *left, const void *right)
{
	const struct right_sizes_task *a = left, *b = right;
	int names = strcmp(a->name, b->name);

	if (names != 0)
		return names;
	if (a->started_unix_ns != b->started_unix_ns)
		return a->started_unix_ns < b->started_unix_ns ? -1 : 1;
	return compare_by_id(a, b);
}

/* A task that was selected twice is counted once. */
static void tasks_sort(struct right_sizes *sizes)
{
	size_t kept = 0;

	if (sizes->task_count > 0)
		qsort(sizes->tasks, sizes->task_count, sizeof(*sizes->tasks), compare_by_name);
	for (size_t i = 0; i < sizes->task_count; i++)
		if (i == 0 || sizes->tasks[i].id != sizes->tasks[kept - 1].id)
			sizes->tasks[kept++] = sizes->tasks[i];
	sizes->task_count = kept;
}

int right_sizes_find(struct right_sizes *sizes, int64_t input_bytes)
{
	struct right_size_task *tasks = calloc(sizes->task_count + 1, sizeof(*tasks));
	int error = 0;

	sizes->items = calloc(sizes->task_count + 1, sizeof(*sizes->items));
	if (!tasks || !sizes->items)
		error = -ENOMEM;
	tasks_sort(sizes);
	for (size_t first = 0, end; error == 0 && first < sizes->task_count; first = end) {
		struct right_sizes_name *item = &sizes->items[sizes->count];

		for (end = first; end < sizes->task_count; end++) {
			if (strcmp(sizes->tasks[end].name, sizes->tasks[first].name) != 0)
				break;
			tasks[end - first] = sizes->tasks[end].task;
		}
		item->name = sizes->tasks[first].name;
		error = right_size_find(tasks, end - first, input_bytes, &item->size);
		if (error == 0)
			sizes->count++;
	}
	free(tasks);
	return error;
}

void right_sizes_free(struct right_sizes *sizes)
{
	for (size_t i = 0; i < sizes->text_count; i++)
		free(sizes->texts[i]);
	free(sizes->texts);
	free(sizes->tasks);
	free(sizes->items);
}

/* ---- JSON ------------------------------------------------------------------------------ */

static const char *const input_bases[] = {
	[RIGHT_SIZE_INPUT_SEEN] = "seen",   [RIGHT_SIZE_INPUT_LARGER] = "extrapolated", [RIGHT_SIZE_INPUT_FEW] = "few",
	[RIGHT_SIZE_INPUT_ALIKE] = "alike", [RIGHT_SIZE_INPUT_TOO_FAR] = "too_far",
};

static json_t *name_to_json(const struct right_sizes_name *item)
{
	const struct right_size *size = &item->size;
	json_t *object = json_object();

	json_set_string(object, "name", item->name);
	json_set_integer(object, "memory_bytes", size->memory_bytes);
	json_set_integer(object, "cores", size->cores);
	json_set_integer(object, "task_count", (int64_t)size->task_count);
	json_set_integer(object, "run_count", (int64_t)size->run_count);
	json_set_integer(object, "failed_count", (int64_t)size->failed_count);
	json_set_integer(object, "oom_count", (int64_t)size->oom_count);
	json_set_integer(object, "running_count", (int64_t)size->running_count);
	json_object_set_new(object, "is_so_far", json_boolean(right_size_is_so_far(size)));
	json_set_real(object, "fail_share", size->fail_share);
	json_set_integer(object, "left_out_failed_count", size->left_out_failed_count);
	json_set_integer(object, "used_bytes", size->used_bytes);
	json_set_string(object, "memory_basis",
			size->used_bytes == ROW_NULL ? NULL
			: size->is_peak_rss          ? "peak_rss"
						     : "concurrent");
	json_set_integer(object, "unattributed_memory_bytes", size->unattributed_bytes);
	json_set_real(object, "cores_used", size->cores_used);
	json_set_string(object, "cores_basis",
			isnan(size->cores_used) ? NULL
			: size->cores_are_least ? "lower_bound"
						: "samples");
	json_set_integer(object, "memory_limit_bytes", size->limit_bytes);
	json_set_integer(object, "saved_byte_seconds", size->saved_byte_seconds);
	json_set_integer(object, "largest_input_bytes", size->largest_input_bytes);
	json_set_integer(object, "input_memory_bytes", size->input_memory_bytes);
	json_set_string(object, "input_basis", input_bases[size->input.basis]);
	json_set_integer(object, "input_task_count", (int64_t)size->input.task_count);
	json_set_integer(object, "input_left_out_failed_count",
			 size->input_memory_bytes == ROW_NULL ? ROW_NULL : (int64_t)size->input.left_out_failed_count);
	return object;
}

json_t *right_sizes_columns(void)
{
	return name_to_json(&(const struct right_sizes_name){0});
}

json_t *right_sizes_to_json(const struct right_sizes *sizes, int64_t input_bytes)
{
	json_t *root = json_object(), *names = json_array();

	json_set_integer(root, "input_bytes", input_bytes);
	for (size_t i = 0; i < sizes->count; i++)
		json_array_append_new(names, name_to_json(&sizes->items[i]));
	json_object_set_new(root, "names", names);
	return root;
}
