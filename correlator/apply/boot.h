/* The host and the boot that the stream comes from. */
#pragma once

#include "common/wire/wire.h"

struct model;

/* Takes the host and boot from the probe's hello. If the boot has changed, everything that ran ends. */
void boot_note_hello(struct model *model, const struct wire_hello *hello);
