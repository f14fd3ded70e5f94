/* See group.h. */
#include "correlator/model/group.h"

#include <utlist.h>

#include "correlator/model/model.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"

struct group *group_new(struct model *model, struct task *task, const struct process_key *root)
{
	struct group *group = model_alloc(model, sizeof(*group));
	struct identity identity;

	if (!group)
		return NULL;
	identity_begin(&identity, "group");
	identity_add_u64(&identity, (uint64_t)task->run->id);
	identity_add_u64(&identity, root->pid);
	identity_add_u64(&identity, root->start_boot_ns);
	group->id = identity_end(&identity);
	group->task = task;
	cgroup_limits_init(&group->limits);
	DL_APPEND(task->groups, group);
	return group;
}
