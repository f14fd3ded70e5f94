/* The name of a run and the user it belongs to. */
#pragma once

#include "common/rules/rules.h"

struct model;
struct process;
struct run;

/* Notes a new image of `process`; `behind_wrapper`: its previous image or its parent is a wrapper. */
void run_name_note_image(struct model *model, struct run *run, const struct process *process,
			 const struct rules_class *class, bool behind_wrapper);
