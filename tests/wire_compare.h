/* Are two decoded messages the same, or two events? For unit tests and fuzz targets. */
#ifndef TRACER_TESTS_WIRE_COMPARE_H
#define TRACER_TESTS_WIRE_COMPARE_H

#include <stdbool.h>

#include "correlator/record/event.h"
#include "common/wire/wire.h"

bool wire_message_equal(const struct wire_message *a, const struct wire_message *b);
bool event_equal(const struct event *a, const struct event *b);

#endif
