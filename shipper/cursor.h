/* The cursor: the position up to which the lake has the store's rows. Saved only after the lake's answer.
 *
 * Revisions identify what is new within one store. If a store is recreated or replaced by
 * an older copy, its revisions restart below those that the lake has seen. So
 * the `version` that is sent is a base plus the revision. The base is the wall clock in
 * nanoseconds when this cursor first saw the store: above all versions sent
 * before, as long as fewer than a billion rows per second are written.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CURSOR_ENTITIES_MAX 16

/* Identifies a store. A copy has another inode and is sent again in full, which is harmless. */
struct cursor_store {
	uint64_t inode;
	int64_t first_seen_unix_ns; /* hosts.first_seen_unix_ns, of the host seen first */
};

struct cursor {
	struct cursor_store store;
	uint64_t base_version;             /* 0: no store yet */
	uint64_t highest_version;          /* highest ever sent */
	int64_t left_out;                  /* settings_hash_left_out() when the latest batches were frozen */
	int64_t revs[CURSOR_ENTITIES_MAX]; /* by entity, in the order of store_entity_name() */
};

/* Returns 0; -ENOENT if none is saved yet; -EBADMSG if it is not a cursor of this release; -errno. */
int cursor_load(const char *directory, struct cursor *ret_cursor);
/* Starts with that cursor, or without one if there is none or it is damaged (logged). Returns 0 or -errno. */
int cursor_open(const char *directory, struct cursor *ret_cursor);
/* Saves the cursor durably: it is on disk on return. Returns 0 or -errno. */
int cursor_save(const char *directory, const struct cursor *cursor);

/* Starts at the first revision of `store`. */
void cursor_restart(struct cursor *cursor, const struct cursor_store *store, uint64_t now_unix_ns);
bool cursor_is_of(const struct cursor *cursor, const struct cursor_store *store);
/* Returns the revision up to which everything was sent. */
int64_t cursor_rev(const struct cursor *cursor);
