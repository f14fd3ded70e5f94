/* What Tracer asks of a store or a lake, by name.
 *
 * questions/ is what people ask (question.h), lookups/ what a command needs besides to answer. Each
 * is one file in the SQL that SQLite and ClickHouse share, part of the program.
 */
#pragma once

#include "common/store/store.h"

/* questions/NAME.sql or lookups/NAME.sql: its text, NULL if there is none. */
const char *query_text(const char *name);
/* The names of all of them, NULL past the last; those of questions come first. */
const char *query_name(size_t index);
bool query_is_question(size_t index);

/* Asks it (store_query_text()). -EINVAL: none is of that name. */
int query_ask(struct store *store, const char *name, const struct store_parameter *parameters,
	      struct store_result **ret_result);

/* It will be asked soon: of a lake, several questions are under way at once. */
void query_ask_ahead(struct store *store, const char *name, const struct store_parameter *parameters);

/* The parameters of what is asked of one thing of a host. */
/* clang-format off */
#define QUERY_PARAMETERS_OF(key, of_id, of_host_id) \
	{{key, STORE_INTEGER, of_id, NULL}, {"host_id", STORE_INTEGER, of_host_id, NULL}, {0}}
/* clang-format on */
