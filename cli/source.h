/* The store as a verb opens and asks it: failures are said, once, in one line. */
#pragma once

#include "cli/options.h"
#include "query/rows.h"

/* What a verb needs that shows what is stored. */
struct view {
	const struct options *options;
	struct output output;
	struct store *store;
};

/* Opens what the options name, lets `show` show it, and says what failed. What that returns: 0;
 * -errno, of which the store has the words; above 0, the exit status of what is said already.
 * Returns the exit status. */
int source_show(const struct options *options, int (*show)(struct view *view));

/* Opens the store or the lake that the options name and begins reading: until source_close()
 * every query sees the same state. NULL: said on standard error. */
struct store *source_open(const struct options *options);
void source_close(struct store *store);

/* Lets the next queries see what was committed since. 0 or -errno. */
int source_renew(struct store *store);

/* Says what a call that returned `error` failed of, if it did; returns it. */
int source_say(const struct store *store, int error);

/* The one run that `text` names: the beginning of an id, a run's name, or "latest"
 * (which is also what NULL means). A part of a name will do where no other name has it. Of several
 * runs of a name, the latest. Rows after the first are to be ignored. 0; -errno; VERB_FAILED where
 * none or several fit, said. */
int source_find_run(struct store *store, const char *text, struct rows *ret_run);
