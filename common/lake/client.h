/* Statements to a ClickHouse server over HTTP, answers read piece by piece.
 *
 * The server is told to send nothing before it has everything (wait_end_of_query), so that a
 * statement that fails half-way answers with its error and not with half of the rows.
 */
#pragma once

#include "common/lake/settings.h"

struct lake_client;
struct lake_answer;

/* Nothing is read or sent yet: secrets are with each statement. 0, or -errno with one line in `ret_reason`. */
int lake_client_new(const struct access *settings, struct lake_client **ret_client, char *ret_reason, size_t capacity);
void lake_client_free(struct lake_client *client);
/* One line on the last failure, safe to print. */
const char *lake_client_error(const struct lake_client *client);
/* The number of ClickHouse's exception, where it was one: 0, none. */
long lake_client_exception(const struct lake_client *client);

/* Sends a statement and does not wait: several may be under way. `settings`: "&name=value"..., encoded,
 * to append to the address; may be NULL. 0 or -errno. */
int lake_client_ask(struct lake_client *client, const char *sql, const char *settings, struct lake_answer **ret_answer);
/* More of the answer, which must be one of ClickHouse's that says success. 1 and some bytes, valid until the next call; 0: that was all; -errno. */
int lake_answer_read(struct lake_answer *answer, const void **ret_data, size_t *ret_size);
/* Also in the midst of it: the rest is not waited for. */
void lake_answer_free(struct lake_answer *answer);

/* A statement without rows, or whose answer is a few values as text (TSV), ended by NUL, of at
 * most `capacity` bytes. `ret_text` may be NULL. 0 or -errno. */
int lake_client_run(struct lake_client *client, const char *sql, char *ret_text, size_t capacity);
