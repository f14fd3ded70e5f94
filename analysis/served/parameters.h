/* Parameters of a query as text: a letter for the type, a colon, the value. */
#pragma once

#include "common/store/store.h"

#define SERVED_PARAMETERS_MAX 32
#define SERVED_VALUE_BYTES_MAX 4096

/* Appends "&name=i:7" for each that is not NULL, percent-encoded for a URL, and frees `url`. Returns the new text, or
 * NULL if out of memory. */
char *served_parameters_add(char *url, const struct store_parameter *parameters);

/* Parses "name=i:7", without percent-encoding, in place: the result borrows the text. Returns 0 or -EINVAL. */
int served_parameter_parse(char *text, struct store_parameter *ret_parameter);
