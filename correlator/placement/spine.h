/* Tasks without an engine: the subtrees of the outermost process that has more than one. */
#pragma once

#include "correlator/placement/placing.h"

struct model;
struct process;
struct run;

struct group *spine_push(struct model *model, struct run *run, struct process *process);
struct placement spine_place(struct model *model, struct process *process, const struct placing *placing);
