/* Encodes an event as a record, as the kernel side does, for tests that make up their own events. */
#pragma once

#include "correlator/record/event.h"

/* Writes at most EVENT_RECORD_MAX bytes, 8-aligned, to `ret_record` and returns their number. Text must
 * be within the limits of its kind (bpf/record.h). */
size_t record_encode(const struct event *event, void *ret_record);
