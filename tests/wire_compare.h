/* Whether two decoded messages are equal. For unit tests and fuzz targets. */
#pragma once

#include "common/wire/wire.h"

bool wire_message_equal(const struct wire_message *a, const struct wire_message *b);
