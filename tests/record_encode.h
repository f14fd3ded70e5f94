/* The bytes of a record that says what an event says: the kernel side's part, for tests
 * that tell a story of their own.
 */
#pragma once

#include "correlator/record/event.h"

/* Writes at most EVENT_RECORD_MAX bytes, 8-aligned, to `ret_record`; how many there are.
 * Text must be within the limits of its kind (bpf/record.h). */
size_t record_encode(const struct event *event, void *ret_record);
