/* Reads the store: what is new of an entity, frozen as the next batch.
 *
 * Every look is one short read transaction: nothing is held open while a batch waits for
 * its answer, so that the correlator's checkpoints are never in its way.
 */
#pragma once

#include "shipper/batch.h"
#include "shipper/cloud.h"
#include "shipper/cursor.h"
#include "shipper/row.h"

/* A column of what is read. */
struct gather_column {
	const char *name;  /* as long as the result */
	const char *known; /* what stands for NULL: a cloud_ column is never known to the store */
	bool send;
};

#define GATHER_COLUMNS_MAX 256

/* A batch that is being gathered. */
struct gathering {
	struct store_result *result; /* NULL: none is */
	const char *directory;       /* for the batch; borrowed */
	struct batch_writer *writer; /* NULL until there is a row */
	struct batch batch;          /* of the writer, as far as it is known */
	uint64_t base_version;
	struct gather_column columns[GATHER_COLUMNS_MAX];
	size_t width; /* 0: no row was there yet */
	size_t rev_column;
	int64_t last_rev;
	bool is_over;  /* nothing is left to take */
	bool has_more; /* than fits */
};

struct gather {
	const struct settings *settings;
	uint64_t batch_rows;         /* at most: as the settings have it, or fewer */
	struct cloud_identity cloud; /* fills columns of hosts in; empty: nothing is known */
	struct store *store;         /* NULL: not open */
	uint64_t inode;
	struct row_text row;
	struct gathering gathering;
	char boot_id[40];
	char error[512]; /* of the last failure, for a person */
};

/* What one look at the store told. */
struct gather_look {
	struct cursor_store store;
	int64_t host_id;
	int64_t rev; /* highest committed */
	int64_t committed_unix_ns;
	bool is_empty;        /* no probe has ever been heard */
	bool is_of_this_boot; /* the correlator has committed since this host booted */
};

void gather_init(struct gather *gather, const struct settings *settings);
void gather_deinit(struct gather *gather);

/* Opens the store anew, so that one that was replaced or migrated is noticed. 0 or -errno. */
int gather_open(struct gather *gather);
/* 0 or -errno. */
int gather_look(struct gather *gather, struct gather_look *ret_look);

/* Freezes what is above the cursor of entity `index` in `directory`. 1: `ret_batch`; 0:
 * nothing is new up to `look->rev`. `ret_more`: there was more than fits. -errno. */
int gather_batch(struct gather *gather, const struct gather_look *look, size_t index, const struct cursor *cursor,
		 const char *directory, struct batch *ret_batch, bool *ret_more);

/* The same in pieces, one batch at a time, for who has other things to do meanwhile. */
int gather_begin(struct gather *gather, const struct gather_look *look, size_t index, const struct cursor *cursor,
		 const char *directory);
/* Takes up to `row_count` rows. 1: there may be more; 0: gather_finish() is due; -errno: it
 * is over. */
int gather_step(struct gather *gather, uint64_t row_count);
/* Takes what is left, and freezes: as gather_batch(). */
int gather_finish(struct gather *gather, struct batch *ret_batch, bool *ret_more);
bool gather_is_begun(const struct gather *gather);
/* Drops it. */
void gather_abandon(struct gather *gather);
