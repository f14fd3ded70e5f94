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

static int spine_length(const struct run *run)
{
	const struct group *group;
	int length;

	DL_COUNT(run->main->groups, group, length);
	return length;
}

struct group *spine_push(struct model *model, struct run *run, struct process *process)
{
	int length = spine_length(run);
	struct group *group = group_open(model, run->main, process);

	if (!group)
		return NULL;
	process->spine_index = length;
	group->spine_root = process;
	group_join_spine(model, group);
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

static void spine_leave(struct model *model, struct group *group, struct task *task)
{
	if (group->spine_root) {
		group->spine_root->spine_index = -1;
		process_set_changed(model, group->spine_root);
	}
	group_leave_spine(group);
	group_move(model, group, task);
}

/* Makes one task of everything further in than `orchestrator`, which now has its second subtree. */
static void spine_raise(struct model *model, struct run *run, struct process *orchestrator)
{
	struct group *own = orchestrator->group, *first_group = own->next;
	struct process *first = first_group->spine_root;
	struct task *task = task_open(model, orchestrator, TASK_GENERIC, REASON_SUBTREE, first_group->root_process_id);
	struct task *other, *next;
	struct set_memory memory;

	if (!task)
		return;
	set_memory_init(&memory);
	if (first_group->spine && own->spine) {
		set_memory_take(&memory, &first_group->spine->inner);
		set_memory_take(&run->main->memory, &own->spine->outer);
	}
	while (own->next)
		spine_leave(model, own->next, task);
	DL_FOREACH_SAFE (run->tasks, other, next)
		if (other != task && other->kind == TASK_GENERIC && other->merged_into_id == ROW_NULL)
			task_merge(model, other, task);
	set_memory_take(&task->memory, &memory); /* with that of all that were merged */
	task_take_root(model, task, first);
	task->root_process_id = first_group->root_process_id;
	task_name_note_images(model, task);
	run->orchestrator = orchestrator->spine_index;
}

struct placement spine_place(struct model *model, struct process *process, const struct placing *placing)
{
	struct process *parent = process->parent;
	struct run *run = parent->run;

	if (parent->spine_index < 0)
		return (struct placement){parent->group, REASON_INSIDE};
	struct placement joined = subtree_join(model, process, placing);

	if (joined.group)
		return joined;
	bool is_last = !parent->group->next;

	if (is_last && run->orchestrator < 0)
		return (struct placement){spine_length(run) < RUN_SPINE_MAX ? spine_push(model, run, process)
									    : parent->group,
					  REASON_ONLY_SUBTREE};
	if (!is_last) {
		if (run->frozen)
			return (struct placement){parent->group, REASON_INSIDE};
		spine_raise(model, run, parent);
	}
	if (run->task_count >= RUN_MERGEABLE_TASKS_MAX)
		run->frozen = true;
	return subtree_open(model, process, TASK_GENERIC, REASON_SUBTREE);
}
