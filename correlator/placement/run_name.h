/* What a run is called, and whose it is. */
#pragma once

#include "common/rules/rules.h"

struct model;
struct process;
struct run;

/* `process` has a new image; `behind_wrapper`: what it or its parent was before only led there. */
void run_name_note_image(struct model *model, struct run *run, const struct process *process,
			 const struct rules_verdict *verdict, bool behind_wrapper);
