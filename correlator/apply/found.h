/* Processes that a process scan found running and no event has spoken of yet.
 *
 * Order on the wire: after the welcome the probe sends a process scan, then what the ring held
 * before, then what happens now. So a process of the scan is only noted until an event needs it, or
 * until the stream's clock has passed the scan: if the ring still holds its fork, that says more
 * (the true parent). A later scan gives the time of the stream only where nothing was left in the
 * ring before it. */
#pragma once

#include "correlator/record/event.h"

struct command;
struct model;
struct process;
struct process_key;

void found_note(struct model *model, const struct event_sample *sample);
/* The command line of one that a scan found, from its exec, which came after the scan; or from
 * a later scan, if none is known yet. */
void found_complete(struct model *model, struct process *process, struct command *command);
void found_complete_sample(struct model *model, struct process *process, const struct event_sample *sample);
struct found *found_find(struct model *model, const struct process_key *key);
void found_free(struct model *model, struct found *found);
void found_free_all(struct model *model);
void found_place_all(struct model *model);
/* Places those found that an event at `boot_ns` leaves no doubt about. */
void found_settle(struct model *model, uint64_t boot_ns);
/* The process an event speaks of, placed if it was only found; NULL: unknown. */
struct process *found_resolve(struct model *model, const struct image_key *key);
