/* Process scans: samples, concurrent memory, and processes that ended without a record. */
#pragma once

#include "correlator/record/record.h"

struct model;

void scan_apply_sample(struct model *model, const struct record *record);
void scan_apply_end(struct model *model, const struct wire_scan *scan);
