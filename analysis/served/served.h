/* The services' store, for a user who may not read its file: asked of `tracer serve` over its socket.
 *
 * The kernel tells the server who asks, and it answers with what that user may see (store_restrict()). A query is asked
 * by its name and parameters, never by its text; the answer is its rows (rows.h).
 */
#pragma once

#include <stdio.h>

#include "common/store/store.h"

/* Where the services' `tracer serve` listens, for all users of the host. */
#define SERVED_SOCKET TRACER_RUN_DIR "-serve/serve.sock"
#define SERVED_PATH "/api/v1/rows/" /* and the name of the query */

#define SERVED_ANSWER_BYTES_MAX (512LL << 20)

/* Opens the store behind that socket, for reading. Returns 0 or -errno with `ret_error` set: -ENOENT, -ECONNREFUSED if
 * nothing listens there. */
int served_open(const char *socket_path, struct store **ret_store, struct store_error *ret_error);

/* Of the server: runs the query of that name with parameters as served_parameter_format() writes them ("run_id=i:7";
 * the last is NULL), and writes its rows. Returns 0; -ENOENT if there is no such query; -EINVAL for a wrong parameter;
 * -EPERM if the user may not ask it; -errno. Then `ret_error` is set, and what was written is of no use. */
int served_answer(FILE *out, struct store *store, const char *query, char *const *parameters,
		  struct store_error *ret_error);
