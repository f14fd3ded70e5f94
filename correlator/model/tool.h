/* A tool: the images of one program in a group. */
#pragma once

#include "correlator/model/tally.h"
#include "common/rules/rules.h"

struct model;

struct tool {
	int64_t id;
	struct group *group;
	char *name;
	enum rules_role role;
	struct tally tally;
	struct concurrent_memory memory;
	int64_t scan_memory_bytes; /* sum in the current scan */
	struct image *images;      /* in memory */
	bool dirty;                /* in model->dirty_tools: */
	struct tool *dirty_prev, *dirty_next;
	bool moved;               /* its stored processes are still in its previous task */
	struct tool *prev, *next; /* in its group */
};

/* Returns the tool of that name and role in `group`, which it creates if there is none. */
struct tool *group_tool(struct model *model, struct group *group, const char *name, enum rules_role role);
