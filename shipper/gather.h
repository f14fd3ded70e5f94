/* Reads the store: what is new of an entity, frozen as the next batch.
 *
 * Every look is one short read transaction: nothing is held open while a batch waits for
 * its answer, so that the correlator's checkpoints are never in its way.
 */
#ifndef TRACER_SHIPPER_GATHER_H
#define TRACER_SHIPPER_GATHER_H

#include "shipper/batch.h"
#include "shipper/cloud.h"
#include "shipper/cursor.h"
#include "shipper/row.h"
#include "shipper/settings.h"

struct gather {
	const struct settings *settings;
	struct cloud_identity cloud; /* fills columns of hosts in; empty: nothing is known */
	struct store *store;                /* NULL: not open */
	uint64_t inode;
	struct row_text row;
	char boot_id[40];
	char error[512]; /* of the last failure, for a person */
};

/* What one look at the store told. */
struct gather_look {
	struct cursor_store store;
	int64_t host_id;
	int64_t rev;               /* highest committed */
	int64_t committed_unix_ns;
	bool is_empty;             /* no probe has ever been heard */
	bool is_of_this_boot;      /* the correlator has committed since this host booted */
};

void gather_init(struct gather *gather, const struct settings *settings);
void gather_deinit(struct gather *gather);

/* Opens the store anew, so that one that was replaced or migrated is noticed. 0 or -errno. */
int gather_open(struct gather *gather);
/* 0 or -errno. */
int gather_look(struct gather *gather, struct gather_look *ret_look);

/* Freezes what is above `after_rev` of entity `index` in `directory`. 1: `ret_batch`; 0:
 * nothing is new up to `look->rev`. `ret_more`: there was more than fits. -errno. */
int gather_batch(struct gather *gather, const struct gather_look *look, size_t index,
		 const struct cursor *cursor, const char *directory, struct batch *ret_batch,
		 bool *ret_more);

#endif
