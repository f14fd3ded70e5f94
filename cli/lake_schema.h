/* The lake's schema: which migrations there are (datalake/generate), which have been applied. */
#ifndef TRACER_CLI_LAKE_SCHEMA_H
#define TRACER_CLI_LAKE_SCHEMA_H

#include <stdio.h>

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
int lake_schema_create_database(struct lake_client *client, const char *database,
				enum lake_layout layout);

/* Applies what comes after `from`, then the views and rollups. Each migration is noted once all
 * its statements are done; they may be applied again. 0 or -errno. */
int lake_schema_migrate(struct lake_client *client, struct lake_schema from);

/* The statements that would be. */
void lake_schema_print(FILE *file, const char *database, struct lake_schema from);

#endif
