/* See tool.h. */
#include "correlator/model/tool.h"

#include <utlist.h>

#include "correlator/model/group.h"
#include "correlator/model/model.h"

/* Limit of tools in one group: a service may run scripts with ever new names for years. Beyond
 * that they are reported as one tool. */
#define GROUP_TOOLS_MAX 500
#define GROUP_TOOL_OTHERS "(others)"
/* Tools of groups that began within a millisecond, and so have ids that differ below this, are told apart by hashes. */
#define TOOL_HASH_MASK ((INT64_C(1) << 33) - 1)

static struct tool *tool_new(struct model *model, struct group *group, const char *name, enum rules_role role)
{
	struct tool *tool = model_alloc(model, sizeof(*tool));
	struct identity identity;

	if (!tool)
		return NULL;
	identity_begin(&identity, "tool");
	identity_add_u64(&identity, (uint64_t)group->id);
	identity_add_u64(&identity, role);
	identity_add_bytes(&identity, name, strlen(name));
	tool->id = (group->id & ~TOOL_HASH_MASK) | (identity_end(&identity) & TOOL_HASH_MASK);
	tool->group = group;
	model_set_text(model, &tool->name, name);
	tool->role = role;
	tool->core_limit_milli = tool->inner_core_limit_milli = ROW_NULL;
	set_memory_init(&tool->memory);
	memory_beside_init(&tool->beside);
	DL_APPEND(group->tools, tool);
	return tool;
}

struct tool *group_tool(struct model *model, struct group *group, const char *name, enum rules_role role)
{
	struct tool *tool;
	int count = 0;

	DL_FOREACH (group->tools, tool) {
		if (tool->role == role && strcmp(tool->name, name) == 0)
			return tool;
		count++;
	}
	if (count < GROUP_TOOLS_MAX || strcmp(name, GROUP_TOOL_OTHERS) == 0)
		return tool_new(model, group, name, role);
	return group_tool(model, group, GROUP_TOOL_OTHERS, RULES_ROLE_TOOL);
}
