/* Frees what has ended, is on disk and cannot be needed again. */
#pragma once

#include <stdbool.h>

struct model;
struct process;

/* Whether the next collection frees it, once its row is written. */
bool collect_takes_process(const struct model *model, const struct process *process);
void collect(struct model *model);
