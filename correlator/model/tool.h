/* A tool: the images of one program in a group. */
#pragma once

#include "correlator/model/memory.h"
#include "correlator/model/tally.h"
#include "common/rules/rules.h"

struct model;

struct tool {
	int64_t id;
	struct group *group;
	char *name;
	enum rules_role role;
	struct tally *tally; /* NULL: it has had one image, of which image.h has what it contributes: tool_tally() */
	int64_t core_limit_milli, inner_core_limit_milli; /* as in a tally */
	struct set_memory memory;
	struct memory_beside beside;
	struct memory_part *parts; /* of the scan in progress */
	/* Shares of what is unsure, and of shared memory, that the latest scan found to be too much; and of shared memory that is in
	 * no sum yet, the share that is its own. */
	double memory_excess, shared_excess, hidden_share;
	struct image *images; /* in memory */
	bool dirty;           /* in model->dirty_tools: */
	struct tool *dirty_prev, *dirty_next;
	bool moved;               /* its stored processes are still in its previous task */
	struct tool *prev, *next; /* in its group */
};

/* Returns the tool of that name and role in `group`, which it creates if there is none. */
struct tool *group_tool(struct model *model, struct group *group, const char *name, enum rules_role role);
