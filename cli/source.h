/* The store as a verb opens and asks it: failures are said, once, in one line. */
#ifndef TRACER_CLI_SOURCE_H
#define TRACER_CLI_SOURCE_H

#include "cli/options.h"
#include "query/rows.h"
#include "common/store/store.h"

/* Opens the store or the lake that the options name and begins reading: until source_close()
 * every query sees the same state. NULL: said on standard error. */
struct store *source_open(const struct options *options);
void source_close(struct store *store);

/* Lets the next queries see what was committed since. 0 or -errno, said. */
int source_renew(struct store *store);

/* Says what a call that returned `error` failed of, if it did; returns it. */
int source_say(const struct store *store, int error);

/* store_query() and store_result_next() that say what failed. */
int source_query(struct store *store, const char *query, const struct store_parameter *parameters,
		 struct store_result **ret_result);
int source_next(struct store *store, struct store_result *result);

/* rows_load() that says what failed. */
int source_load(struct store *store, const struct row_type *type, const char *query,
		const struct store_parameter *parameters, struct rows *ret_rows);

/* The one run that `text` names: the beginning of an id, a run's name, or "latest"
 * (which is also what NULL means). A part of a name will do where no other name has it. Of several
 * runs of a name, the latest. Rows after the first are to be ignored. 0; -ENOENT, or -EEXIST where
 * several fit, both said; -errno, said. */
int source_find_run(struct store *store, const char *text, struct rows *ret_run);

#endif
