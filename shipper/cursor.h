/* How far the lake has the store: saved after the lake's answer, and only then.
 *
 * A revision tells what is new within one store. A store may be made anew, or replaced by
 * an older copy: then its revisions begin again, below those that the lake has seen. So
 * what is sent as `version` is a base plus the revision. The base is the wall clock in
 * nanoseconds when this cursor first met the store: above every version that was sent
 * before, as long as fewer than a thousand million rows a second are written.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CURSOR_ENTITIES_MAX 16

/* Which store it is. A copy has another inode and is sent again in full: harmless. */
struct cursor_store {
	uint64_t inode;
	int64_t first_seen_unix_ns; /* hosts.first_seen_unix_ns, of the host seen first */
};

struct cursor {
	struct cursor_store store;
	uint64_t base_version;             /* 0: no store yet */
	uint64_t highest_version;          /* ever sent */
	int64_t left_out;                  /* settings_hash_left_out() of who froze the latest batches */
	int64_t revs[CURSOR_ENTITIES_MAX]; /* by entity, in the order of store_entity_name() */
};

/* 0; -ENOENT: none is saved yet; -EBADMSG: not a cursor (of this release); -errno. */
int cursor_load(const char *directory, struct cursor *ret_cursor);
/* On disk when it returns. 0 or -errno. */
int cursor_save(const char *directory, const struct cursor *cursor);

/* Begins with the store from its first revision on. */
void cursor_restart(struct cursor *cursor, const struct cursor_store *store, uint64_t now_unix_ns);
bool cursor_is_of(const struct cursor *cursor, const struct cursor_store *store);
/* The revision up to which everything was sent. */
int64_t cursor_rev(const struct cursor *cursor);
