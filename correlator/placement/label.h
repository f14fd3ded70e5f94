/* Labels: what distinguishes a task from its siblings, the tasks of the same kind in its run. */
#pragma once

#include "common/rules/rules.h"

struct model;
struct process;
struct task;

void label_note_image(struct model *model, struct task *task, const struct process *process,
		      const struct rules_class *class);
/* Rebuilds the label. Returns true if the labels of its siblings must be rebuilt too. */
bool label_set(struct model *model, struct task *task);
