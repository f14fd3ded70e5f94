/* Processes that a process scan found running and that no event has mentioned yet.
 *
 * Order on the wire: after the welcome the probe sends a process scan, then what the ring already
 * held, then new events. So a process seen in the scan is only noted until an event needs it or
 * the stream's clock has passed the scan: if the ring still holds its fork, that record says more
 * (the true parent). A later scan advances the stream's clock only if nothing was left in the ring
 * before it. */
#pragma once

#include "correlator/record/record.h"

struct command;
struct model;
struct process;

void found_note(struct model *model, const struct record *record);
/* Fill in the command line of a process found by a scan: from its exec record, which arrived after
 * the scan, or from a later scan if none is known yet. */
void found_complete(struct model *model, struct process *process, struct command *command);
void found_complete_sample(struct model *model, struct process *process, const struct record *record);
struct found *found_find(struct model *model, const struct image_key *image);
void found_free(struct model *model, struct found *found);
void found_free_all(struct model *model);
void found_place_all(struct model *model);
/* Places all found processes once the stream has passed the scan: an event at `boot_ns` shows that their
 * forks are not still to come. */
void found_settle(struct model *model, uint64_t boot_ns);
/* Returns the process that an event refers to, placing it first if it was only found; NULL if unknown. */
struct process *found_resolve(struct model *model, const struct image_key *key);
