/* Losses: records that the kernel side had to drop or that could not be decoded. */
#pragma once

#include "bpf/record.h"
#include "common/wire/wire.h"

struct model;

/* Returns false if the message is not an array of losses. */
bool loss_take(struct model *model, const struct wire_losses *losses);
/* Counts one record that could not be decoded, or is missing, from the time in `header` until `until_boot_ns`. */
void loss_note_record(struct model *model, const struct record_header *header, uint64_t until_boot_ns);
