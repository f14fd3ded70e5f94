/* The queries that Tracer runs on a store or a lake, by name.
 *
 * questions/ has those that users ask (question.h), lookups/ those that commands need internally. Each is
 * one file in the SQL subset that SQLite and ClickHouse share, compiled into the program.
 */
#pragma once

#include "common/store/store.h"

/* Returns the text of questions/NAME.sql or lookups/NAME.sql, or NULL if neither exists. */
const char *query_text(const char *name);
/* Returns the name of a query by index, questions first, or NULL past the last. */
const char *query_name(size_t index);
bool query_is_question(size_t index);

/* Runs a query as store_query_text() does. Returns -EINVAL if there is no query of that name. */
int query_ask(struct store *store, const char *name, const struct store_parameter *parameters,
	      struct store_result **ret_result);

/* Announces a query that will be run soon: a lake then runs several concurrently. */
void query_ask_ahead(struct store *store, const char *name, const struct store_parameter *parameters);

/* Parameters of a query about one entity of a host. */
/* clang-format off */
#define QUERY_PARAMETERS_OF(key, of_id, of_host_id) \
	{{key, STORE_INTEGER, of_id, NULL}, {"host_id", STORE_INTEGER, of_host_id, NULL}, {0}}
/* clang-format on */
