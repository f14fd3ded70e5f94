/* See tool.h. */
#include "correlator/model/tool.h"

#include <utlist.h>

#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"

struct tool *tool_new(struct model *model, struct group *group, const char *name, enum rules_role role)
{
	struct tool *tool = model_alloc(model, sizeof(*tool));
	struct identity identity;

	if (!tool)
		return NULL;
	identity_begin(&identity, "tool");
	identity_add_u64(&identity, (uint64_t)group->id);
	identity_add_u64(&identity, role);
	identity_add_bytes(&identity, name, strlen(name));
	tool->id = identity_end(&identity);
	tool->group = group;
	tool->name = strdup(name);
	tool->role = role;
	if (!tool->name)
		model->out_of_memory = true;
	tally_init(&tool->tally);
	tool->memory = (struct concurrent_memory){ROW_NULL, ROW_NULL};
	DL_APPEND(group->tools, tool);
	return tool;
}

void tool_set_dirty(struct model *model, struct tool *tool)
{
	MODEL_SET_DIRTY(model->dirty_tools, tool);
}

void tool_free(struct model *model, struct tool *tool)
{
	while (tool->images)
		image_free(model, tool->images);
	MODEL_FORGET_DIRTY(model->dirty_tools, tool);
	DL_DELETE(tool->group->tools, tool);
	free(tool->name);
	free(tool);
}
