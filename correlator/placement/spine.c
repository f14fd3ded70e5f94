/* Tasks without an engine: the subtrees of the outermost process that has more than one.
 *
 * Which process that is emerges only over time, so a run has a spine: its root, the only
 * subtree of the root, the only subtree of that, and so on. While no process on the spine
 * has a second subtree, there are no tasks. The first to get one is the orchestrator. If a
 * process further out gets a second subtree later, it takes over and the existing tasks
 * are merged into one. Helpers (mkdir, cat) do not count as subtrees.
 */
#include "correlator/placement/spine.h"

#include <utlist.h>

#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/tree.h"
#include "correlator/placement/subtree.h"
#include "correlator/placement/task_name.h"

struct group *spine_push(struct model *model, struct run *run, struct process *process)
{
	struct group *group = group_open(model, run->main, process);

	if (!group)
		return NULL;
	process->spine_index = run->spine.length;
	run->spine.level[run->spine.length].process = process;
	run->spine.level[run->spine.length++].group = group;
	return group;
}

/* Sets the root of a task; the root alone decides the task's outcome. */
static void task_take_root(struct model *model, struct task *task, struct process *root)
{
	outcome_init(&task->outcome);
	if (!root) {
		task->outcome.root_count = 1;
		return;
	}
	task_add_root(model, task, root);
	if (root->ended) {
		outcome_note(&task->outcome, root->image ? root->image->wait_status : ROW_NULL, root->end_boot_ns);
		task_set_cause(task, root->cause);
	}
}

/* Makes one task of everything below `level` of the spine, which now has its second subtree. */
static void spine_raise(struct model *model, struct run *run, int level)
{
	struct process *orchestrator = run->spine.level[level].process, *first = run->spine.level[level + 1].process;
	struct group *first_group = run->spine.level[level + 1].group;
	struct task *task = task_open(model, orchestrator, TASK_GENERIC, REASON_SUBTREE, first_group->root_process_id);
	struct task *other, *next;
	int64_t outer_bytes = run->spine.level[level].group->outer_memory_bytes;

	if (!task)
		return;
	task->memory.bytes = first_group->inner_memory_bytes ? first_group->inner_memory_bytes : ROW_NULL;
	run->main->memory.bytes = outer_bytes ? outer_bytes : ROW_NULL;
	for (int i = level + 1; i < run->spine.length; i++) {
		if (run->spine.level[i].process) {
			run->spine.level[i].process->spine_index = -1;
			process_set_changed(model, run->spine.level[i].process);
		}
		group_move(model, run->spine.level[i].group, task);
	}
	DL_FOREACH_SAFE (run->tasks, other, next)
		if (other != task && other->kind == TASK_GENERIC && other->merged_into_id == ROW_NULL)
			task_merge(model, other, task);
	task_take_root(model, task, first);
	task->root_process_id = first_group->root_process_id;
	task_name_note_images(model, task);
	run->spine.length = level + 1;
	run->spine.orchestrator = level;
}

struct placement spine_place(struct model *model, struct process *process, const struct placing *placing)
{
	struct process *parent = process->parent;
	struct run *run = parent->run;
	int level = parent->spine_index;

	if (level < 0)
		return (struct placement){parent->group, REASON_INSIDE};
	struct placement joined = subtree_join(model, process, placing);

	if (joined.group)
		return joined;
	if (level == run->spine.length - 1 && run->spine.orchestrator < 0)
		return (struct placement){run->spine.length < RUN_SPINE_MAX ? spine_push(model, run, process)
									    : parent->group,
					  REASON_ONLY_SUBTREE};
	if (run->spine.orchestrator != level) {
		if (run->spine.frozen)
			return (struct placement){parent->group, REASON_INSIDE};
		spine_raise(model, run, level);
	}
	if (run->task_count >= RUN_MERGEABLE_TASKS_MAX)
		run->spine.frozen = true;
	return subtree_open(model, process, TASK_GENERIC, REASON_SUBTREE);
}
