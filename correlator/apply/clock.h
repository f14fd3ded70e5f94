/* The wall clock of the host. Within a boot the boot clock is the truth; the wall clock only places it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct model;

/* Takes both clocks, read at the same moment; `is_new_boot`: nothing else is known of this boot. If the wall clock was set,
 * that is an incident. */
void clock_note(struct model *model, uint64_t boot_ns, uint64_t unix_ns, bool is_new_boot);
