/* Parameters of a query as text: a letter for the type, a colon, the value.
 *
 * One of them may be a list of integers, "task_id=l:7,8,9": the query is then run once for each, and the answers follow
 * each other. A command that needs the same of thousands of tasks would else have the server start a process for each.
 */
#pragma once

#include "common/store/store.h"

#define SERVED_PARAMETERS_MAX 32
#define SERVED_LIST_MAX 48 /* integers; the text of a value has less than 1 KiB */

/* Appends "&name=i:7" for each that is not NULL, percent-encoded for a URL, and frees `url`. Returns the new text, or
 * NULL if out of memory. */
char *served_parameters_add(char *url, const struct store_parameter *parameters);

/* Parses "name=l:7,8,9" likewise. Returns the number of integers; 0 if it is another parameter; -EINVAL. */
int served_list_parse(char *text, struct store_parameter *ret_parameter, int64_t ret_values[SERVED_LIST_MAX]);

/* Parses "name=i:7", without percent-encoding, in place: the result borrows the text. Returns 0 or -EINVAL. */
int served_parameter_parse(char *text, struct store_parameter *ret_parameter);
