/* The lake's schema (datalake/generate): made, brought up to date, and looked at. */
#pragma once

#include "cli/findings.h"
#include "common/lake/client.h"

enum lake_layout { LAKE_ONE_NODE, LAKE_SHARDS, LAKE_CLUSTER, LAKE_LAYOUT_COUNT };

/* "one-node", "shards", "cluster". */
extern const char *const lake_layout_names[];

/* Below 0: none is called so. */
int lake_layout_find(const char *name);

struct lake_schema {
	int version; /* 0: there is none */
	enum lake_layout layout;
};

/* What the database holds. 0, also where it does not exist; -errno, see lake_client_error(). */
int lake_schema_read(struct lake_client *client, struct lake_schema *ret_schema);

/* Makes the database where there is none. `client` is one that asks in the database "default". */
int lake_schema_create_database(struct lake_client *client, const char *database, enum lake_layout layout);

/* For how long rows are kept: the samples of processes and hosts, and all else. 0: as it is. */
struct lake_keep {
	int samples_days, rest_days;
};

#define LAKE_KEEP_SAMPLES_DAYS 90
#define LAKE_KEEP_REST_DAYS 400
#define LAKE_KEEP_FOREVER_DAYS 100000

/* From what `from` says to this release's tables, views and rollups; may be done again at any time,
 * and goes on where it was interrupted. 0 or -errno. */
int lake_schema_migrate(struct lake_client *client, struct lake_schema from, const struct lake_keep *keep);

/* The statements that make a lake. 0 or -ENOMEM. */
int lake_schema_print(FILE *file, const char *database, enum lake_layout layout, const struct lake_keep *keep);

/* Rows of tables that have another order or partition than this release's, moved into new ones
 * (lake_move.c): tables of the old form step aside, and once the new ones are made all that did, now or
 * before an interruption, is copied and removed. 0 or -errno. */
int lake_move_begin(struct lake_client *client, enum lake_layout layout);
int lake_move_finish(struct lake_client *client, enum lake_layout layout);

/* Whether a lake is as this release wants it, as far as the user who asks may see (lake_check.c). Every
 * fact is a finding; a lake that does not answer is one. */
void lake_check(struct lake_client *client, const struct access *settings, struct findings *findings);
