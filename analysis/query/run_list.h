/* The runs of a store or a lake, newest first; one that several hosts share is listed once, with the figures of all. */
#pragma once

#include "analysis/query/joined.h"
#include "analysis/query/live.h"

struct run_list_request {
	int64_t most;                         /* runs */
	bool with_system;                     /* also the system's own */
	int64_t since_unix_ns, until_unix_ns; /* of their start, the rest as in runs.sql; ROW_NULL or NULL: any */
	const char *name, *status, *host;
	int64_t user_id;
};

struct run_list {
	struct store *store; /* borrowed */
	struct rows runs, parts, hosts;
	struct live live;       /* of the listed runs */
	int64_t left_out_count; /* matching runs of the system's own that are omitted */
	int64_t count;          /* of matching runs, also of those beyond the limit */
};

/* Returns 0 or -errno. Call run_list_free() after a failure, too. */
int run_list_load(struct run_list *list, struct store *store, const struct run_list_request *request);
void run_list_free(struct run_list *list);

/* A listed run combined with its parts, which are borrowed. */
struct run_list_item {
	struct row_run run;
	const struct row_part *parts;
	size_t part_count; /* 0: it has none */
	int64_t wall_ns;   /* until now, if it has not ended; ROW_NULL if unknown */
};

struct run_list_item run_list_get(const struct run_list *list, size_t index);
/* Returns when it is expected to end, or NULL if that is unknown, as for a run of several parts. */
const struct row_expected_end *run_list_end(const struct run_list *list, const struct run_list_item *item);

/* The document of tracer runs (docs/json.md), and a row with all its columns. */
json_t *run_list_to_json(const struct run_list *list);
json_t *run_list_columns(void);
