/* Entities to what the store keeps of them, and back. Each is described once, for both directions:
 * columns.c has what readers see, state.c the rest.
 */
#pragma once

#include "correlator/model/process.h"
#include "correlator/rows/archive.h"

struct container;
struct task;
struct tool;

/* ---- columns.c: from the entity to its row or, where it is loaded, from the row to the entity.
 * Texts of a row are borrowed. What the entity is part of is not here. */
struct columns {
	struct model *model;
	bool loading;
	bool bad; /* loading: a row that cannot be, or out of memory */
};

void container_columns(struct columns *columns, struct row_container *row, struct container *container);
void run_columns(struct columns *columns, struct row_run *row, struct run *run);
void task_columns(struct columns *columns, struct row_task *row, struct task *task);
void tool_columns(struct columns *columns, struct row_tool *row, struct tool *tool);
/* Its command is the caller's. */
void image_columns(struct columns *columns, struct row_process *row, struct image *image);

/* ---- state.c: what no column holds, through an archive that is open */

/* What a process refers to, by ids. */
struct process_links {
	struct process_key key, parent;
	int64_t group_id; /* 0: it has no place */
};

void host_state(struct archive *archive, struct model *model);
void container_state(struct archive *archive, struct container *container);
void run_state(struct archive *archive, struct run *run);
/* With its groups and their tools. Its orchestrator's group is orchestrator_group_id where it is loaded. */
void task_state(struct archive *archive, struct task *task);
void process_links_state(struct archive *archive, struct process_links *links);
/* With what belongs to its image. */
void process_state(struct archive *archive, const struct model *model, struct process *process);
