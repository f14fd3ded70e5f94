/* Are two decoded messages the same? For the wire's unit test and fuzz target. */
#ifndef TRACER_TESTS_WIRE_COMPARE_H
#define TRACER_TESTS_WIRE_COMPARE_H

#include <stdbool.h>

#include "common/wire/wire.h"

bool wire_message_equal(const struct wire_message *a, const struct wire_message *b);

#endif
