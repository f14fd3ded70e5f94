/* The lake's schema (datalake/generate): creates, migrates and checks it. */
#pragma once

#include <stdio.h>

#include "analysis/lake/client.h"

enum lake_layout { LAKE_ONE_NODE, LAKE_SHARDS, LAKE_CLUSTER, LAKE_LAYOUT_COUNT };

/* "one-node", "shards", "cluster". */
extern const char *const lake_layout_names[];

struct lake_schema {
	int version; /* 0 if there is no schema */
	enum lake_layout layout;
};

/* Reads the schema version. Returns 0, also without a database, or -errno (see lake_client_error()). */
int lake_schema_read(struct lake_client *client, struct lake_schema *ret_schema);

/* Creates the database if it does not exist. `client` must be connected to the database "default". */
int lake_schema_create_database(struct lake_client *client, const char *database, enum lake_layout layout);

/* Retention of the samples of processes and hosts, and of all other rows. 0 leaves it unchanged. */
struct lake_keep {
	int samples_days, rest_days;
};

/* Parses samples=DAYS,rest=DAYS in any order, or one of them, or DAYS for both; DAYS as 90d or forever. Returns 0 or
 * -EINVAL. */
int lake_keep_parse(const char *text, struct lake_keep *keep);

#define LAKE_KEEP_SAMPLES_DAYS 90
#define LAKE_KEEP_REST_DAYS 400
#define LAKE_KEEP_FOREVER_DAYS 100000

/* Migrates from the schema `from` to this release's tables, views and rollups. Idempotent; resumes where
 * it was interrupted. Returns 0 or -errno. */
int lake_schema_migrate(struct lake_client *client, struct lake_schema from, const struct lake_keep *keep);

/* Prints the statements that create a lake. Returns 0 or -ENOMEM. */
int lake_schema_print(FILE *file, const char *database, enum lake_layout layout, const struct lake_keep *keep);

/* Move the rows of tables whose sorting or partitioning differs from this release's (migrate.c). Begin
 * renames the old tables; after the new ones are created, finish copies and drops all that were renamed,
 * now or before an interruption. Return 0 or -errno. */
int lake_move_begin(struct lake_client *client, enum lake_layout layout);
int lake_move_finish(struct lake_client *client, enum lake_layout layout);

enum lake_fact_level {
	LAKE_OK,
	LAKE_LIMITED, /* works with limitations */
	LAKE_MISSING, /* does not work */
};

/* `text` is not safe to print; `fix` is what to do, or NULL. */
typedef void lake_fact_take(void *data, enum lake_fact_level level, const char *topic, const char *text,
			    const char *fix);

/* Checks whether a lake is as this release expects, as far as the user's rights allow (check.c). Passes on every fact,
 * including that a lake does not answer. */
void lake_check(struct lake_client *client, const struct access *settings, lake_fact_take *take, void *data);
