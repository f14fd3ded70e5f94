/* Lost records as far as they are counted: incidents/loss.c. Saved in the state of the host. */
#pragma once

#include <stdbool.h>

#include "bpf/record.h"

struct losses {
	struct loss_slot reported[LOSS_SLOTS]; /* as last reported by the probe */
	bool dirty;
	uint64_t number; /* number of losses that this correlator has counted */
};
