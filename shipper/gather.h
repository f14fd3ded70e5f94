/* Reads the new rows of an entity from the store and freezes them as the next batch.
 *
 * Each read of the store is one short transaction: none is open while a batch waits for
 * its answer, so that the correlator's checkpoints are never blocked.
 */
#pragma once

#include "shipper/batch.h"
#include "shipper/cloud.h"
#include "shipper/cursor.h"
#include "shipper/row.h"
#include "shipper/spans.h"

/* A column of the result. */
struct gather_column {
	const char *name;  /* valid as long as the result */
	const char *known; /* replaces NULL: the store never has values of cloud_ columns */
	bool send;
};

#define GATHER_COLUMNS_MAX 256

/* A batch being gathered. */
struct gathering {
	struct store_result *result; /* NULL: not gathering */
	size_t index;                /* of the entity */
	const char *directory;       /* for the batch; borrowed */
	struct batch_writer *writer; /* NULL until there is a row */
	struct spans spans;
	struct batch batch; /* of the writer, as far as known */
	uint64_t base_version;
	struct gather_column columns[GATHER_COLUMNS_MAX];
	size_t width; /* 0: no row yet */
	size_t rev_column;
	int64_t last_rev;
	bool is_over;  /* no rows are left */
	bool has_more; /* rows than fit */
};

struct gather {
	const struct settings *settings;
	bool as_spans;               /* what the sink takes */
	uint64_t batch_bytes;        /* before compression */
	uint64_t batch_rows;         /* row limit: that of the settings or lower */
	struct cloud_identity cloud; /* values of columns of hosts; empty: unknown */
	struct store *store;         /* NULL: not open */
	uint64_t inode;
	struct json_text row;
	struct gathering gathering;
	char boot_id[40];
	char error[512]; /* message of the last failure */
};

/* State of the store when last examined. */
struct gather_snapshot {
	struct cursor_store store;
	int64_t host_id;
	int64_t rev; /* highest committed */
	int64_t committed_unix_ns;
	bool is_empty;        /* no probe has ever connected */
	bool is_of_this_boot; /* the correlator has committed since this host booted */
};

void gather_init(struct gather *gather, const struct settings *settings);
void gather_deinit(struct gather *gather);

/* Reopens the store, so that a replaced or migrated one is noticed. Returns 0 or -errno. */
int gather_open(struct gather *gather);
/* Examines the store. Returns 0 or -errno. */
int gather_examine(struct gather *gather, struct gather_snapshot *ret_snapshot);

/* Returns the name that batches of entity `index` have; NULL past the last. */
const char *gather_entity(const struct gather *gather, size_t index, char ret_name[STORE_ENTITY_NAME_BYTES]);
/* Returns whether the entity is sent: the sink takes it, and it is not left out. */
bool gather_takes(const struct gather *gather, size_t index);

/* Freezes the rows above the cursor of entity `index` in `directory`. Returns 1 and `ret_batch`; 0 if
 * nothing is new up to `snapshot->rev`; -errno. `*ret_more` tells if there were more rows than fit. */
int gather_batch(struct gather *gather, const struct gather_snapshot *snapshot, size_t index,
		 const struct cursor *cursor, const char *directory, struct batch *ret_batch, bool *ret_more);

/* The same in steps, for a caller with other work in between. Only one batch at a time. */
int gather_begin(struct gather *gather, const struct gather_snapshot *snapshot, size_t index,
		 const struct cursor *cursor, const char *directory);
/* Reads up to `row_count` rows. Returns 1 if there may be more; 0 if gather_finish() is due; -errno, which
 * ends the gathering. */
int gather_step(struct gather *gather, uint64_t row_count);
/* Reads the remaining rows and freezes the batch. Returns as gather_batch(). */
int gather_finish(struct gather *gather, struct batch *ret_batch, bool *ret_more);
bool gather_is_begun(const struct gather *gather);
/* Discards the batch being gathered, if any. */
void gather_abandon(struct gather *gather);
