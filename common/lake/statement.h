/* A query as ClickHouse takes it over HTTP: `:name` becomes
 * {name:Type}, and the value goes beside it, as param_name of the address.
 */
#pragma once

#include "common/store/store.h"

/* `*ret_sql` is to free. What is not bound, or bound to NULL, stands as NULL in the text,
 * as it has no type. 0; -EINVAL: a parameter that the query does not have; -ENOMEM. */
int statement_translate(const char *sql, const struct store_parameter *parameters, char **ret_sql);

/* "&param_NAME=VALUE" for every parameter with a value, percent-encoded; to free. NULL: out
 * of memory. */
char *statement_format_parameters(const struct store_parameter *parameters);
