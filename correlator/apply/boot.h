/* The host, and its boots: which one the stream is of. */
#pragma once

#include "common/wire/wire.h"
#include "correlator/host/host.h"

struct model;

/* The probe says where it runs. Of another boot than before nothing lives on. */
void boot_note_hello(struct model *model, const struct wire_hello *hello);
/* The row waits for the hello, which says whose it is. */
void boot_set_host(struct model *model, const struct host_facts *facts);
