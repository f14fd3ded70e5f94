/* Conversion between entities and their stored form. Each entity is described once, for both
 * directions: columns.c covers what readers see, state.c the rest.
 */
#pragma once

#include "correlator/model/process.h"
#include "correlator/rows/archive.h"

struct container;
struct task;
struct tool;

/* ---- columns.c: from the entity to its row or, when loading, from the row to the entity.
 * Texts of a row are borrowed. References to other entities are left to the caller. */
struct columns {
	struct model *model;
	bool loading;
	bool bad; /* loading: an invalid row, or out of memory */
};

void container_columns(struct columns *columns, struct row_container *row, struct container *container);
void run_columns(struct columns *columns, struct row_run *row, struct run *run);
void task_columns(struct columns *columns, struct row_task *row, struct task *task);
void tool_columns(struct columns *columns, struct row_tool *row, struct tool *tool);
/* The command is left to the caller. */
void image_columns(struct columns *columns, struct row_process *row, struct image *image);

/* ---- state.c: what no column holds, in an open archive */

/* References of a process, as ids. */
struct process_links {
	struct process_key key, parent;
	int64_t group_id; /* 0: not placed */
};

void host_state(struct archive *archive, struct model *model);
void container_state(struct archive *archive, struct container *container);
void run_state(struct archive *archive, struct run *run);
/* Includes its groups and their tools. Loading sets orchestrator_group_id, not orchestrator_group. */
void task_state(struct archive *archive, struct task *task);
void process_links_state(struct archive *archive, struct process_links *links);
/* Includes the state of its image. */
void process_state(struct archive *archive, const struct model *model, struct process *process);
