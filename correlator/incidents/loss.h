/* Losses: records that the kernel side had to drop or that could not be decoded. */
#pragma once

#include "bpf/record.h"
#include "common/wire/wire.h"

struct model;
struct process;

/* Returns false if the message is not an array of losses. */
bool loss_take(struct model *model, const struct wire_losses *losses);
/* Counts a process that is not recorded since its user has too many: what its parent, if known, belongs to is incomplete. */
void loss_note_unrecorded(struct model *model, const struct process *parent);
/* Adds their number to what the next commit writes. */
void loss_write_unrecorded(struct model *model);
/* Counts one record that could not be decoded, or is missing, from the time in `header` until `until_boot_ns`. */
void loss_note_record(struct model *model, const struct record_header *header, uint64_t until_boot_ns);
