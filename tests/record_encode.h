/* Encodes a record as the kernel side does, for tests that make up their own. */
#pragma once

#include "correlator/record/record.h"

/* Writes the record, with sizes and texts as given beside it, to `ret_data`: at most RECORD_SIZE_MAX bytes,
 * 8-aligned. Returns their number. Texts must be complete and within the limits of their kind (bpf/record.h). */
size_t record_encode(const struct record *record, void *ret_data);
