/* tracer-probe --check: what this kernel offers, told item by item. */
#ifndef TRACER_PROBE_CHECK_H
#define TRACER_PROBE_CHECK_H

#include <stdbool.h>

#include "probe/kernel.h"

/* Prints on standard output, as lines or as one JSON object. 0: the probe would work
 * with these options. Loads the programs for a moment, without pins. */
int check_print(const struct kernel_options *options, bool json);

#endif
