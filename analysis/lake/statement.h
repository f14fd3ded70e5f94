/* Translation of a query for ClickHouse's HTTP interface: `:name` becomes
 * {name:Type}, and the value is sent separately as the URL parameter param_name.
 */
#pragma once

#include "common/store/store.h"

/* The caller frees `*ret_sql`. A parameter that is unbound or NULL becomes NULL in the text,
 * as it has no type. Returns 0; -EINVAL for a parameter that the query does not have; -ENOMEM. */
int statement_translate(const char *sql, const struct store_parameter *parameters, char **ret_sql);

/* Blanks the word MATERIALIZED of common table expressions, which servers before ClickHouse 26 do not know. */
void statement_drop_materialized(char *sql);

/* Returns "&param_NAME=VALUE" for each parameter with a value, percent-encoded, which the caller frees;
 * NULL if out of memory. */
char *statement_format_parameters(const struct store_parameter *parameters);
