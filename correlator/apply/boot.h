/* The host and the boot that the stream comes from. */
#pragma once

#include "common/wire/wire.h"
#include "correlator/host/host.h"

struct model;

/* Takes the host and boot from the probe's hello. If the boot has changed, everything that ran ends. */
void boot_note_hello(struct model *model, const struct wire_hello *hello);
/* Stores facts about the host; its row is not written before the hello has identified it. */
void boot_set_host(struct model *model, const struct host_facts *facts);
