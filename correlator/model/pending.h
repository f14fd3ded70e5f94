/* What waits for a commit and belongs to no entity: samples, incidents, losses. */
#pragma once

#include "common/store/rows.h"

struct model;

struct incident {
	struct row_incident row;
	char *sentence;
	char cause[512], sender[48];
	struct incident *prev, *next;
};

struct loss {
	struct row_loss row;
	char *cgroup_path;
	struct loss *prev, *next;
};

void pending_add_sample(struct model *model, const struct row_sample *row);
/* The oldest go where there are too many. */
void pending_add_host_sample(struct model *model, const struct row_host_sample *row);
/* Texts are copied; `cause` may be NULL or empty. `unix_ns` 0: it has just happened. */
void pending_add_incident(struct model *model, const struct row_incident *row, const char *sentence,
			  const char *cause);
void pending_add_loss(struct model *model, const struct row_loss *row);
/* All is written, or the model ends. */
void pending_clear(struct model *model);
