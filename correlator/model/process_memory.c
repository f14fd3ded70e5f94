/* See process_memory.h. */
#include "correlator/model/process_memory.h"

#include <utlist.h>

#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/memory.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"
#include "correlator/model/tool.h"

typedef void note_set(struct model *model, struct set_memory *set, const struct memory_held *held);

/* As long as no process is the orchestrator, or one further out may become it, each group of the spine may yet become a
 * task, with those further in and all tasks that there are, and leave those further out to the run. */
static void note_spine(struct model *model, const struct group *own, const struct memory_held *held, note_set *note)
{
	struct group *group;
	bool is_outside = false;

	DL_FOREACH (own->task->run->main->groups, group) {
		if (group->spine && !is_outside)
			note(model, &group->spine->inner, held);
		is_outside = is_outside || group == own;
		if (group->spine && is_outside)
			note(model, &group->spine->outer, held);
	}
}

static void note_all(struct model *model, struct tool *tool, const struct memory_held *held, note_set *note)
{
	struct task *task = tool->group->task;

	note(model, &tool->memory, held);
	note(model, &task->memory, held);
	note(model, &task->run->memory, held);
	if ((task->kind == TASK_MAIN || task->kind == TASK_GENERIC) && task->run->orchestrator != 0)
		note_spine(model, tool->group, held, note);
}

bool memory_is_fork(const struct process *process)
{
	const struct image *image = process->image;

	return !image || image->began == IMAGE_FORK ||
	       (image->began == IMAGE_FOUND && process->parent && process->exec_id == process->parent_exec_id);
}

int64_t memory_own_shared(const struct process *process, bool is_fork, int64_t shared_bytes)
{
	int64_t inherited = process->memory.parent_shared_bytes;

	if (!is_fork)
		return shared_bytes;
	if (process->parent && process->parent->image && process->parent->image->id == process->parent_image_id)
		tally_raise(&inherited, process->parent->memory.shared_bytes);
	return shared_bytes > inherited ? shared_bytes - inherited : 0;
}

int64_t memory_hidden(const struct process *process)
{
	int64_t shared = process->memory.shared_bytes;

	return shared - memory_own_shared(process, memory_is_fork(process), shared);
}

int64_t memory_held(const struct process *process, const struct image *image)
{
	const struct process_memory *memory = &process->memory;
	double excess = (double)memory->unsure_bytes * image->tool->memory_excess;

	if (!memory_is_fork(process) && !memory->is_unique)
		excess += (double)memory->shared_bytes * image->tool->shared_excess;
	return memory->held_bytes - (int64_t)excess +
	       (int64_t)((double)memory_hidden(process) * image->tool->hidden_share);
}

/* What a fork held of its own anonymous memory. That it writes to what it inherited shows in its faults only. */
static int64_t fork_anon(const struct process_memory *memory, int64_t most_anon_bytes, uint64_t fault_count)
{
	return memory_own_of_fork(most_anon_bytes, memory->least_anon_bytes, fault_count) + memory->inherited_bytes;
}

static struct memory_held held_since_scan(const struct process *process, const struct image *image,
					  uint64_t peak_rss_bytes, uint64_t fault_count)
{
	const struct process_memory *memory = &process->memory;
	bool forked = memory_is_fork(process);
	int64_t peak_bytes = memory_bounded(peak_rss_bytes);
	int64_t anon = peak_bytes - memory->mapped_file_bytes - memory->mapped_shared_bytes;
	int64_t shared = memory_own_shared(process, forked, memory->mapped_shared_bytes) -
			 memory_own_shared(process, forked, memory->shared_bytes);

	if (forked)
		anon = fork_anon(memory, anon, fault_count);
	else if (peak_bytes <= memory->peak_bytes)
		anon = 0;
	return (struct memory_held){
		.begin_boot_ns = memory->seen_boot_ns ? memory->seen_boot_ns
				 : process->image     ? image->begin_boot_ns
						      : process->fork_boot_ns,
		.end_boot_ns = image->end_boot_ns,
		.image_id = forked ? 0 : image->id,
		.inherited_bytes = memory->least_anon_bytes < INT64_MAX ? memory->least_anon_bytes : 0,
		.origin_id = forked && !memory->seen_boot_ns ? memory->origin_image_id : 0,
		.known_bytes = memory_held(process, image),
		.anon_bytes = anon < memory->anon_bytes ? 0 : anon - memory->anon_bytes,
		.shared_bytes = shared < 0 ? 0 : shared,
	};
}

void memory_note_peak(struct model *model, struct process *process, const struct image *image,
		      const struct counters *counters)
{
	struct memory_held held;

	process_memory_note(&process->memory, counters);
	process->memory.most_anon_bytes = 0;
	if (!(counters->valid & COUNTER_VALID(peak_rss_bytes)))
		return;
	held = held_since_scan(process, image, counters->peak_rss_bytes, counters->minor_faults);
	process->memory.most_anon_bytes = process->memory.anon_bytes + held.anon_bytes;
	note_all(model, image->tool, &held, set_memory_note);
}

void memory_note_more(struct model *model, struct tool *tool, uint64_t begin_boot_ns, int64_t bytes)
{
	const struct memory_held held = {.begin_boot_ns = begin_boot_ns, .anon_bytes = bytes};

	note_all(model, tool, &held, set_memory_note);
}

void memory_note_inherited(struct model *model, struct tool *tool, int64_t origin_image_id, int64_t bytes,
			   uint64_t boot_ns)
{
	const struct memory_held held = {
		.origin_id = origin_image_id,
		.inherited_bytes = bytes,
		.end_boot_ns = boot_ns,
	};

	note_all(model, tool, &held, set_memory_note_inherited);
}

void memory_note_end(struct model *model, const struct image *image)
{
	struct memory_held held;

	if (!image->process)
		return;
	held = held_since_scan(image->process, image,
			       image->peak_rss_bytes == ROW_NULL ? 0 : (uint64_t)image->peak_rss_bytes,
			       (uint64_t)image->totals.minor_faults);
	note_all(model, image->tool, &held, set_memory_note_end);
}
