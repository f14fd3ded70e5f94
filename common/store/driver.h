/* How a store is read, whichever engine keeps it: SQLite on a host (reader.c), ClickHouse for
 * all hosts (common/lake). The queries are the same text for both; store.h is what readers see.
 *
 * A driver's store and result begin with the structures here and go on with its own.
 */
#pragma once

#include "common/store/store.h"

struct store_driver {
	bool is_remote; /* a question takes a way over the network */
	void (*close)(struct store *store);
	int (*begin_reading)(struct store *store);
	void (*end_reading)(struct store *store);
	int (*read_stream)(struct store *store, struct store_stream *ret_stream);
	int (*query)(struct store *store, const struct store_text *text, const struct store_parameter *parameters,
		     struct store_result **ret_result);
	/* NULL: nothing is gained by it. */
	void (*ask_ahead)(struct store *store, const struct store_text *text, const struct store_parameter *parameters);
	int (*next)(struct store_result *result);
	size_t (*width)(const struct store_result *result);
	const char *(*column)(const struct store_result *result, size_t column);
	struct store_value (*value)(struct store_result *result, size_t column);
	void (*free)(struct store_result *result);
};

struct store_base {
	const struct store_driver *driver;
	char error[sizeof(((struct store_error *)NULL)->text)];
};

struct store_result {
	struct store *store;
	const char *query; /* its name */
	int error;         /* of whoever reads it: a column that is not there */
};

/* SQLite's, for a store that store.c opened. */
extern const struct store_driver store_driver_sqlite;

/* The text of queries/NAME.sql, NULL if there is none. */
const char *store_own_query(const char *name);
