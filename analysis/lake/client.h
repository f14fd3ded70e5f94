/* Statements to a ClickHouse server over HTTP, with answers read in pieces.
 *
 * The server is told to send nothing before the result is complete (wait_end_of_query), so that a
 * statement that fails halfway returns an error and not part of the rows.
 */
#pragma once

#include "analysis/lake/settings.h"

struct lake_client;
struct lake_answer;

/* Sends nothing; secrets are read per statement. Returns 0, or -errno with one line in `ret_reason`. */
int lake_client_new(const struct access *settings, struct lake_client **ret_client, char *ret_reason, size_t capacity);
void lake_client_free(struct lake_client *client);
/* Returns one line on the last failure, safe to print. */
const char *lake_client_error(const struct lake_client *client);
/* Returns the code of ClickHouse's exception, or 0 if the last failure was not one. */
long lake_client_exception(const struct lake_client *client);

/* Sends a statement without waiting; several may be in progress. `settings` is "&name=value"..., percent-encoded,
 * appended to the URL; may be NULL. Returns 0 or -errno. */
int lake_client_ask(struct lake_client *client, const char *sql, const char *settings, struct lake_answer **ret_answer);
/* Returns 1 and more bytes, valid until the next call; 0 at the end; -errno, also unless ClickHouse reports success. */
int lake_answer_read(struct lake_answer *answer, const void **ret_data, size_t *ret_size);
/* May be called before the end: the rest is discarded. */
void lake_answer_free(struct lake_answer *answer);

/* Runs a statement that returns no rows, or a few values as text (TSV), NUL-terminated, in at
 * most `capacity` bytes. `ret_text` may be NULL. Returns 0 or -errno. */
int lake_client_run(struct lake_client *client, const char *sql, char *ret_text, size_t capacity);
