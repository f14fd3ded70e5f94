/* Interface of the engines behind a store: SQLite for one host (reader.c), ClickHouse for
 * all hosts (analysis/lake), another process (analysis/served). All have the same queries; readers use store.h.
 *
 * The store and result structures of a driver begin with the structures declared here.
 */
#pragma once

#include "common/store/store.h"

struct store_driver {
	bool is_remote;    /* queries go over the network or to another process */
	size_t ahead_most; /* queries of one walk that are worth announcing; 0: none */
	bool has_stream;   /* of one host, so it has the position in its stream */
	void (*close)(struct store *store);
	int (*begin_reading)(struct store *store);
	void (*end_reading)(struct store *store);
	int (*query)(struct store *store, const struct store_text *text, const struct store_parameter *parameters,
		     struct store_result **ret_result);
	/* NULL if the engine would not benefit. */
	void (*ask_ahead)(struct store *store, const struct store_text *text, const struct store_parameter *parameters);
	int (*next)(struct store_result *result);
	size_t (*width)(const struct store_result *result);
	const char *(*column)(const struct store_result *result, size_t column);
	struct store_value (*value)(struct store_result *result, size_t column);
	void (*free)(struct store_result *result);
};

struct store_base {
	const struct store_driver *driver;
	bool is_restricted; /* sees only what ran as one user */
	char error[sizeof(((struct store_error *)NULL)->text)];
};

struct store_result {
	struct store *store;
	const char *query; /* its name */
	int error;         /* of the reader: access to a missing column */
};

/* Sets the error of a query that a restricted reader may not ask, and returns -EPERM. */
int store_refuse_part(struct store *store, const char *query);

/* The SQLite driver. */
extern const struct store_driver store_driver_sqlite;
