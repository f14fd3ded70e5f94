/* Letting go of what has ended, is on disk and cannot be needed again. */
#pragma once

#include <stdbool.h>

struct model;
struct process;

/* Whether its row is all that is left of it: the next collection frees it, once that is written. */
bool collect_takes_process(const struct model *model, const struct process *process);
/* Frees all that is over. */
void collect(struct model *model);
