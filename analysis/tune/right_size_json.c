/* What to request for tasks, as JSON. See right_sizes.h. */
#include <math.h>

#include "analysis/query/rows.h"
#include "analysis/tune/right_sizes.h"

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
