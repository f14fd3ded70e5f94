/* Stalled processes, as seen by process scans: stuck or idle. */
#pragma once

#include "correlator/record/record.h"

struct model;
struct process;
struct totals;

void stall_note_sample(struct model *model, struct process *process, const struct record_exec *sample,
		       const struct totals *now);
/* Ends the stall, if any: the process makes progress again or has ended. */
void stall_end(struct model *model, struct process *process, uint64_t boot_ns);
