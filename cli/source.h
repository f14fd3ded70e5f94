/* Opens and queries the store of a verb: errors are printed once, in one line. */
#pragma once

#include "analysis/query/rows.h"
#include "cli/options.h"

/* The context of a verb that shows stored data. */
struct view {
	const struct options *options;
	struct output output;
	struct store *store;
};

/* Opens the store or lake that the options name, checks that --host names a host, calls `show`, and prints errors. `show` returns 0;
 * -errno, with the message in the store; or, if it has printed the error itself, an exit status above 0.
 * Returns the exit status. */
int source_show(const struct options *options, int (*show)(struct view *view));

/* Opens the store or the lake that the options name and begins reading: until source_close()
 * every query sees the same state. Returns NULL after printing an error. */
struct store *source_open(const struct options *options);
void source_close(struct store *store);

/* From now on, stores are opened so that only what ran as this user is seen. */
void source_restrict(int64_t user_id);
/* Whether the last store or lake could not be opened. */
bool source_is_missing(void);

/* Makes later commits visible to the next queries. Returns 0 or -errno. */
int source_renew(struct store *store);

/* Prints why a call that returned `error` failed, if it did. Returns `error`. */
int source_say(const struct store *store, int error);

/* Parameters of queries: what --host and --user restrict them to. `options` may be NULL. */
/* clang-format off */
#define SOURCE_FILTER(options) \
	{"host", (options) && (options)->host ? STORE_TEXT : STORE_NULL, 0, (options) ? (options)->host : NULL}, \
	{"user_id", (options) && (options)->user_id != ROW_NULL ? STORE_INTEGER : STORE_NULL, \
	 (options) ? (options)->user_id : 0, NULL}
/* clang-format on */

/* Finds the hosts (`host` NULL: of all) whose wall clock was set since then (ROW_NULL: ever): what they recorded before has
 * wrong times. Both return 0 or -errno; the second prints them. */
int source_read_clocks(struct store *store, const char *host, int64_t since_unix_ns, struct rows *ret_sets);
int source_say_clocks(struct store *store, const char *host, int64_t since_unix_ns);

/* Says that in the time asked for none of these was watched: an empty answer is not that nothing was wrong. */
void source_say_unwatched(const struct rows *hosts);

/* Finds the run that `text` names: a prefix of its id, its name, or "latest" (also if `text` is NULL), among those
 * that --host and --user leave; `options` may be NULL.
 * A part of a name suffices if no other name contains it. Among runs with the same name, the latest is
 * taken. Ignore rows after the first. Returns 0, -errno or, after printing an error, VERB_FAILED if no
 * run or several match. */
int source_find_run(struct store *store, const struct options *options, const char *text, struct rows *ret_run);
