/* Whether two decoded messages, or two events, are equal. For unit tests and fuzz targets. */
#pragma once

#include "correlator/record/event.h"

bool wire_message_equal(const struct wire_message *a, const struct wire_message *b);
bool event_equal(const struct event *a, const struct event *b);
