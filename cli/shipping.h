/* The shipper's part of `tracer status`. */
#ifndef TRACER_CLI_SHIPPING_H
#define TRACER_CLI_SHIPPING_H

#include <jansson.h>

#include "cli/findings.h"

/* Adds what the shipper's status file in `directory` says to the findings, and its figures as
 * "shipper" to `json`, which has the store's own under "stream": the file may be old. A host
 * where none has ever run is well; one that `is_running` no more is not. */
void shipping_check(const char *directory, bool is_running, struct findings *findings, json_t *json);

#endif
