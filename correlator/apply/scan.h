/* Process scans: samples, concurrent memory, and processes that ended without a record. */
#pragma once

#include "correlator/record/event.h"

struct model;

void scan_apply_sample(struct model *model, const struct event_sample *sample);
void scan_apply_end(struct model *model, const struct wire_scan *scan);
