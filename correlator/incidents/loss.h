/* Losses: records that the kernel side had to drop, or that nobody can read. */
#pragma once

#include "bpf/record.h"
#include "common/wire/wire.h"

struct model;

/* False: that is no array of losses. */
bool loss_take(struct model *model, const struct wire_losses *losses);
/* One record that could not be read. */
void loss_note_record(struct model *model, const struct record_header *header);
