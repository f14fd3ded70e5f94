/* Zombies, as seen by process scans: processes that have ended and that their parent has not reaped. */
#pragma once

#include "bpf/record.h"

struct model;
struct process;

/* A scan has found a zombie whose parent now is `parent`. */
void zombies_note(struct model *model, const struct image_key *parent);
/* A scan has found `process` running: what was noted since the scan before is what it holds. */
void zombies_take(struct model *model, struct process *process, uint64_t boot_ns);
/* Ends the incident, if any: the children are reaped, or the process has ended. */
void zombies_end(struct model *model, struct process *process, uint64_t boot_ns);
