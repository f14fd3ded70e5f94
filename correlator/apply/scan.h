/* Process scans: samples, concurrent memory, and processes that ended without a record. */
#pragma once

#include "correlator/record/event.h"

struct image;
struct model;
struct totals;

void scan_apply_sample(struct model *model, const struct event_sample *sample);
void scan_note_step(struct image *image, uint64_t boot_ns, const struct totals *now);
void scan_apply_end(struct model *model, const struct wire_scan *scan);
