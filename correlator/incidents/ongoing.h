/* Incidents that go on, as seen by process scans: processes that are stuck or idle, or do not reap their children. */
#pragma once

#include "correlator/record/record.h"

struct model;
struct process;
struct totals;

/* A scan has found a zombie whose parent now is `parent`. */
void ongoing_note_zombie(struct model *model, const struct image_key *parent);
/* A scan has found `process` running: what was noted since the scan before is what it holds. */
void ongoing_take_zombies(struct model *model, struct process *process, uint64_t boot_ns);
/* The same, with what it has used by now: whether it makes progress. */
void ongoing_note_sample(struct model *model, struct process *process, const struct record_exec *sample,
			 const struct totals *now);
/* The process, or its program, has ended, and so has what went on. */
void ongoing_end(struct model *model, struct process *process, uint64_t boot_ns);
