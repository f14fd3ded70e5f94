/* See image.h. */
#include "correlator/model/image.h"

#include <utlist.h>

#include "correlator/model/cgroup.h"
#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/group.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"
#include "correlator/model/tool.h"

void image_set_dirty(struct model *model, struct image *image)
{
	model->dirty_image_count += !image->dirty;
	MODEL_SET_DIRTY(model->dirty_images, image);
}

static bool is_client(const struct image *image)
{
	return image->role == RULES_ROLE_CLIENT && image->ended == IMAGE_LIVING;
}

void image_link(struct model *model, struct image *image)
{
	if (is_client(image))
		DL_APPEND2(model->clients, image, linked_prev, linked_next);
	if (image->ended != IMAGE_LIVING)
		DL_APPEND2(model->ended_images, image, linked_prev, linked_next);
}

static void image_unlink(struct model *model, struct image *image)
{
	if (is_client(image))
		DL_DELETE2(model->clients, image, linked_prev, linked_next);
	if (image->ended != IMAGE_LIVING)
		DL_DELETE2(model->ended_images, image, linked_prev, linked_next);
}

/* A client only waits for a container: what it may use itself says nothing about the task. */
static void tally_core_limit(struct tally *part, const struct image *image)
{
	bool is_inner = image->container && image->container != image->tool->group->task->run->main->container;

	if (image->role != RULES_ROLE_CLIENT)
		*(is_inner ? &part->inner_core_limit_milli : &part->core_limit_milli) = image->core_limit_milli;
}

/* What an image contributes to its tool and run. */
static void image_tally(const struct image *image, struct tally *ret)
{
	tally_init(ret);
	ret->begin_boot_ns = image->begin_boot_ns;
	ret->started_unix_ns = image->started_unix_ns;
	ret->totals = image->totals;
	ret->process_count = 1;
	ret->living_count = image->ended == IMAGE_LIVING;
	ret->failed_count = image->failed;
	ret->partial_count = (image->totals.valid & COUNTERS_PARTIAL) != 0;
	ret->peak_rss_bytes = image->peak_rss_bytes;
	ret->gpu_peak_bytes = image->gpu_peak_bytes;
	ret->requested_thread_count = image->requested_thread_count;
	tally_core_limit(ret, image);
	ret->end_boot_ns = image->end_boot_ns;
}

static void set_dirty_above(struct model *model, struct image *image)
{
	struct task *task = image->tool->group->task;

	tool_set_dirty(model, image->tool);
	task_set_dirty(model, task);
	run_set_dirty(model, task->run);
	image_set_dirty(model, image);
}

const struct tally *tool_tally(const struct tool *tool, struct tally *room)
{
	if (tool->tally)
		return tool->tally;
	tally_init(room);
	if (tool->images)
		image_tally(tool->images, room);
	room->core_limit_milli = room->inner_core_limit_milli = ROW_NULL;
	return room;
}

void tool_keep_tally(struct model *model, struct tool *tool)
{
	if (tool->tally || !tool->images)
		return;
	tool->tally = model_alloc(model, sizeof(*tool->tally));
	if (tool->tally)
		image_tally(tool->images, tool->tally);
}

static void tally_above(struct model *model, struct image *image, const struct tally *part, int sign)
{
	struct tool *tool = image->tool;

	if (tool->tally)
		tally_add(tool->tally, part, sign);
	if (sign > 0) {
		tally_raise(&tool->core_limit_milli, part->core_limit_milli);
		tally_raise(&tool->inner_core_limit_milli, part->inner_core_limit_milli);
	}
	tally_add(&image->tool->group->task->run->tally, part, sign);
	set_dirty_above(model, image);
}

static void tally_end(struct tally *tally, uint64_t end_boot_ns, int living_growth)
{
	tally->living_count += living_growth;
	if (end_boot_ns > tally->end_boot_ns)
		tally->end_boot_ns = end_boot_ns;
}

/* Only its end has changed, so nothing else needs to be added up again. */
static void tally_end_above(struct model *model, struct image *image, int living_growth)
{
	if (image->tool->tally)
		tally_end(image->tool->tally, image->end_boot_ns, living_growth);
	tally_end(&image->tool->group->task->run->tally, image->end_boot_ns, living_growth);
	set_dirty_above(model, image);
}

/* Its figures have changed: adds to its tool and run what it contributes beyond `before`. */
static void tally_growth(struct model *model, struct image *image, const struct tally *before)
{
	struct tally growth;

	image_tally(image, &growth);
	tally_add(&growth, before, -1);
	tally_above(model, image, &growth, 1);
}

static void leave_tool(struct model *model, struct image *image)
{
	struct group *group = image->tool->group;

	DL_DELETE(image->tool->images, image);
	group->task->run->members--;
	if (--group->members == 0)
		task_may_be_over(model, group->task);
}

void image_set_tool(struct model *model, struct image *image, struct tool *tool)
{
	struct tally part;

	if (image->tool) {
		tool_keep_tally(model, image->tool);
		image_tally(image, &part);
		tally_above(model, image, &part, -1);
		leave_tool(model, image);
	}
	tool_keep_tally(model, tool);
	image->tool = tool;
	DL_APPEND(tool->images, image);
	tool->group->members++;
	tool->group->task->run->members++;
	image_tally(image, &part);
	tally_above(model, image, &part, 1);
}

static void count_living(struct model *model, struct container *container, int growth)
{
	if (!container)
		return;
	container->living_count += growth;
	container_set_dirty(model, container);
}

struct image *image_new(struct model *model, struct process *process, struct container *container,
			enum image_began began, uint64_t begin_boot_ns, const struct rules_class *class,
			struct tool *tool, enum reason reason)
{
	struct image *image = model_alloc(model, sizeof(*image));
	const struct image *before = process->image;

	if (!image)
		return NULL;
	image->id = image_id(model, &process->key, process->exec_id);
	image->parent_id = before ? before->id : process->parent_image_id;
	image->pid = (uint32_t)process->key.pid;
	image->exec_id = process->exec_id;
	image->uid = process->uid;
	image->process = process;
	image->container = container;
	image->began = began;
	image->begin_boot_ns = begin_boot_ns;
	image->started_unix_ns = model_unix_ns(model, begin_boot_ns);
	image->spawn_cpu_ns = ROW_NULL;
	image->uninterruptible_ns = ROW_NULL;
	image->peak_rss_bytes = ROW_NULL;
	image->gpu_peak_bytes = image->gpu_capacity_bytes = ROW_NULL;
	image->wait_status = ROW_NULL;
	image->role = class->role;
	image->rank = class->rank;
	image->boundary = class->boundary;
	image->nested = class->nested;
	image->interactive = class->interactive;
	image->expected_codes = class->expected_codes;
	image->traits = class->traits;
	image->requested_thread_count = class->requested_thread_count ? class->requested_thread_count : ROW_NULL;
	image->core_limit_milli = ROW_NULL;
	image->reason = reason;
	if (class->rule)
		model_set_text(model, &image->rule, class->rule);
	if (process->command)
		image->command = command_ref(process->command);
	if (before)
		process->image->process = NULL;
	else
		process->first_exec_id = process->exec_id;
	process->image = image;
	process_set_changed(model, process);
	image_link(model, image);
	count_living(model, container, 1);
	image_set_tool(model, image, tool);
	return image;
}

const struct counters *image_base(const struct image *image)
{
	static const struct counters zero;

	return image->base ? image->base : &zero;
}

/* Updates limits and usage of everything that the process is in, from its cgroup's counters. */
static void note_limits(struct model *model, struct image *image, const struct counters *counters)
{
	uint64_t cgroup_id = image->process ? image->process->cgroup_id : 0;
	struct group *group = image->tool->group;
	struct cgroup *cgroup = cgroup_find(model, cgroup_id);
	int64_t before_ns = counter_or_null(image_base(image), cgroup_throttled_ns);

	if (cgroup_id == 0)
		return;
	if (cgroup)
		cgroup_limits_note(&cgroup->limits, cgroup_id, counters, before_ns);
	cgroup_limits_note(&group->limits, cgroup_id, counters, before_ns);
	cgroup_limits_note(&group->task->run->limits, cgroup_id, counters, before_ns);
	if (image->container && cgroup_limits_note(&image->container->limits, cgroup_id, counters, before_ns))
		container_set_dirty(model, image->container);
}

void image_set_base(struct model *model, struct image *image, const struct counters *counters)
{
	if (!image->base)
		image->base = model_alloc(model, sizeof(*image->base));
	if (image->base)
		*image->base = *counters;
	note_limits(model, image, counters);
}

/* Figures that the new record lacks keep their last known value, and COUNTERS_PARTIAL stays set. */
static void keep_known(struct totals *now, const struct totals *before)
{
	now->valid |= before->valid & COUNTERS_PARTIAL;
#define I(name) \
	if (!(now->valid & COUNTER_VALID(name)) && before->valid & COUNTER_VALID(name)) { \
		now->name = before->name; \
		now->valid |= COUNTER_VALID(name); \
	}
	ROW_TOTALS(I)
#undef I
}

/* signal.maxrss also covers the earlier images of the process, so it is the peak of this one only if it
 * grew meanwhile. A fork starts from zero. Of a process that was found running, it is not known how much
 * belongs to earlier images. The peak of the memory map is known as long as there is one. */
static void note_peak(struct image *image, const struct counters *counters, enum image_totals kind)
{
	const struct counters *base = image_base(image);
	uint64_t before = base->valid & COUNTER_VALID(maxrss_bytes) ? base->maxrss_bytes : 0;

	if (kind != TOTALS_EXEC && image->process)
		process_memory_note(&image->process->memory, counters);
	if (kind != TOTALS_EXEC && counters->valid & COUNTER_VALID(peak_rss_bytes))
		tally_raise(&image->peak_rss_bytes, (int64_t)counters->peak_rss_bytes);
	if (kind == TOTALS_SAMPLE || !(counters->valid & COUNTER_VALID(maxrss_bytes)) ||
	    counters->maxrss_bytes <= before)
		return;
	if (image->began != IMAGE_FOUND || image->peak_rss_bytes == ROW_NULL)
		tally_raise(&image->peak_rss_bytes, (int64_t)counters->maxrss_bytes);
}

/* A program that another one replaces at once does not count: taskset, numactl and env only prepare the next. */
static void note_core_limit(struct image *image, enum image_totals kind)
{
	if (kind != TOTALS_EXEC && image->process && image->process->core_limit_milli)
		image->core_limit_milli = image->process->core_limit_milli;
}

/* The kernel's delays lack the time for which memory.high puts a thread to sleep. Scans find that, and estimate the rest: the
 * larger counts. */
static void take_memory_stalls(struct totals *now, const struct image *image)
{
	if (image->memory_stall_ns <= now->memory_delay_ns)
		return;
	now->memory_delay_ns = image->memory_stall_ns;
	now->valid |= COUNTER_VALID(memory_delay_ns);
}

void image_update(struct model *model, struct image *image, const struct counters *counters, enum image_totals kind)
{
	struct tally before;
	struct totals now;

	/* A second final record is from another build, and lacks what was kept of exited threads. */
	if (kind < image->totals_kind || image->totals_kind == TOTALS_FINAL)
		return;
	image_tally(image, &before);
	totals_of_image(&now, image_base(image), counters);
	keep_known(&now, &image->totals);
	totals_set(&now, uninterruptible_ns, image->uninterruptible_ns);
	take_memory_stalls(&now, image);
	image->totals = now;
	image->totals_kind = kind;
	note_peak(image, counters, kind);
	note_limits(model, image, counters);
	note_core_limit(image, kind);
	tally_growth(model, image, &before);
	run_note_cpu(model, image->tool->group->task->run);
}

void image_enter(struct model *model, struct image *image, struct container *container)
{
	struct tally before;

	image_tally(image, &before);
	count_living(model, image->container, -1);
	image->container = container;
	count_living(model, container, 1);
	tally_growth(model, image, &before);
}

const struct device_use *image_use(const struct image *image)
{
	return image->use ? image->use : &device_use_none;
}

void image_take_use(struct model *model, struct image *image)
{
	const struct device_use *use = image_use(image);
	struct totals now = image->totals;
	struct tally before;

#define I(name) totals_set(&now, name, use->name);
	ROW_GPU_TOTALS(I)
#undef I
	if (memcmp(&now, &image->totals, sizeof(now)) == 0 && use->peak_bytes <= image->gpu_peak_bytes &&
	    use->capacity_bytes <= image->gpu_capacity_bytes)
		return;
	image_tally(image, &before);
	tally_raise(&image->gpu_peak_bytes, use->peak_bytes);
	tally_raise(&image->gpu_capacity_bytes, use->capacity_bytes);
	image->totals = now;
	tally_growth(model, image, &before);
}

bool image_end(struct model *model, struct image *image, enum image_ended how, uint64_t boot_ns, int64_t wait_status,
	       uint32_t exit_flags)
{
	if (image->ended != IMAGE_LIVING)
		return false;
	image_take_use(model, image);
	image_unlink(model, image);
	image->ended = how;
	image_link(model, image);
	image->end_boot_ns = boot_ns > image->begin_boot_ns ? boot_ns : image->begin_boot_ns;
	image->wait_status = wait_status;
	image->oom_killed = exit_flags & RECORD_EXIT_OOM;
	image->exit_flags = exit_flags;
	tally_end_above(model, image, -1);
	if (image->container) {
		image->container->living_count--;
		if (image->end_boot_ns > image->container->end_boot_ns)
			image->container->end_boot_ns = image->end_boot_ns;
		container_set_dirty(model, image->container);
	}
	return true;
}

void image_set_failed(struct model *model, struct image *image)
{
	struct tally before;

	image_tally(image, &before);
	image->failed = true;
	tally_growth(model, image, &before);
}

void image_extend_end(struct model *model, struct image *image, int64_t teardown_ns, uint64_t until_boot_ns)
{
	uint64_t end_boot_ns = image->end_boot_ns + (uint64_t)teardown_ns;

	if (teardown_ns <= 0)
		return;
	image->end_boot_ns = end_boot_ns < until_boot_ns ? end_boot_ns : until_boot_ns;
	tally_end_above(model, image, 0);
}

void image_free(struct model *model, struct image *image)
{
	image_unlink(model, image);
	model->dirty_image_count -= image->dirty;
	MODEL_FORGET_DIRTY(model->dirty_images, image);
	leave_tool(model, image);
	command_unref(image->command);
	free(image->base);
	free(image->rule);
	free(image->gpu);
	free(image->device_error);
	device_use_free(image->use);
	free(image->file);
	free(image);
}

void image_note_file(struct model *model, struct image *image, const struct record_file *file)
{
	struct file_read *known = image->file;

	if (file->size_bytes > INT64_MAX || file->position_bytes > file->size_bytes ||
	    (known && known->scan_number == model->scan_number && (int64_t)file->size_bytes <= known->size_bytes))
		return;
	if (!known)
		known = image->file = model_alloc(model, sizeof(*known));
	if (!known)
		return;
	known->position_bytes = (int64_t)file->position_bytes;
	known->size_bytes = (int64_t)file->size_bytes;
	known->scan_number = model->scan_number;
}

const struct file_read *image_file_at(const struct image *image, uint64_t scan_number)
{
	return image->file && image->file->scan_number + 1 == scan_number ? image->file : NULL;
}

void image_note_sample(struct image *image, uint64_t boot_ns, const struct totals *now)
{
	image->sampled_boot_ns = boot_ns;
	image->sampled_cpu_ns = now->cpu_ns;
	image->sampled_io_bytes = totals_io_bytes(now);
	if (!image->use)
		return;
	image->use->sampled_busy_ns = image->use->gpu_busy_ns;
	image->use->sampled_bytes = device_use_memory_at(image->use, boot_ns);
}
