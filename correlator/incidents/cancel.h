/* Who asked a batch system to end a job. */
#pragma once

#include <stdint.h>

struct model;
struct process;
struct run;

/* A process has executed another program. */
void cancel_note(struct model *model, const struct process *process, uint64_t boot_ns);
/* The command that can explain what happened to the run at `boot_ns`; NULL: none was seen. */
const struct cancel *cancel_find(const struct run *run, uint64_t boot_ns);
