/* Commands that cancelled batch jobs. */
#pragma once

#include <stdint.h>

struct model;
struct process;
struct run;

/* Call when a process has executed a program that cancels jobs. */
void cancel_note(struct model *model, const struct process *process, uint64_t boot_ns);
/* Returns the command that can explain what happened to the run at `boot_ns`, or NULL if none was seen. */
const struct cancel *cancel_find(const struct run *run, uint64_t boot_ns);
