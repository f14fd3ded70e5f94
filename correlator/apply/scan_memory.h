/* Memory at one time, as one process scan finds it: of each tool, task and run. */
#pragma once

#include "bpf/record.h"

struct model;
struct process;
struct row_sample;
struct scan_memory;

/* What the memory cgroup of the samples that follow holds. */
void scan_memory_note_cgroup(struct model *model, const struct record_memory *record);
/* What a running process holds. */
void scan_memory_note_process(struct model *model, struct process *process, const struct record_exec *sample);
/* The same of one whose end is still in the ring: what it held before. */
void scan_memory_note_exiting(struct model *model, struct process *process);
/* What one holds whose program is not known yet: its exec, or its fork, is still in the ring. */
void scan_memory_note_stranger(struct model *model, const struct counters *counters);
/* A sample row of that process, which is stored when the scan has ended: then its part of what its sets hold is known. */
void scan_memory_add_sample(struct model *model, const struct process *process, const struct row_sample *row);
/* The scan that began at that time has ended. */
void scan_memory_end(struct model *model, uint64_t boot_ns);
void scan_memory_free(struct scan_memory *memory);
