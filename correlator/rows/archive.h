/* Serialization of the state of an entity that its row does not hold.
 *
 * One function describes an entity for both directions: archive_int(archive, "name", &field) saves
 * the field or loads it, so everything saved is also loaded. The format is a msgpack map of names
 * to values: a missing field loads as its default, and an unknown one is ignored. So a release that
 * adds or drops a field can load what the previous one saved. Fields that have their default are
 * not saved.
 *
 * Loading trusts nothing: anything that saving would not have written sets `bad`.
 */
#pragma once

#include <msgpack.h>

#include "common/store/rows.h"

#define ARCHIVE_DEPTH_MAX 8

struct archive {
	bool loading;
	bool bad;               /* loading: invalid data; both directions: out of memory */
	msgpack_sbuffer buffer; /* saving */
	msgpack_packer packer;
	msgpack_unpacked loaded;
	/* both directions: the open maps and lists, outermost first */
	unsigned depth;
	struct archive_level {
		size_t head;                  /* saving: offset of the number of fields, 0: a list */
		uint32_t count;               /* saving: fields so far; loading: index of the next field or item */
		const msgpack_object *object; /* loading; NULL: empty */
	} level[ARCHIVE_DEPTH_MAX];
};

/* After a begin, the fields, then archive_end(). Saved data is in `buffer` until the next begin or deinit. */
void archive_init(struct archive *archive);
void archive_begin_saving(struct archive *archive);
void archive_begin_loading(struct archive *archive, const void *data, size_t size);
/* Returns false if anything was bad. */
bool archive_end(struct archive *archive);
void archive_deinit(struct archive *archive);

/* Marks the archive as bad unless `holds`. */
#define archive_require(archive, holds) ((archive)->bad = (archive)->bad || !(holds))

void archive_integer(struct archive *archive, const char *name, int64_t *value, int64_t missing);
/* A field of any integer type; a value that does not fit is bad. */
#define archive_int_or(archive, name, field, missing) \
	do { \
		int64_t archive_value = (int64_t)(*(field)); \
		archive_integer((archive), (name), &archive_value, (missing)); \
		*(field) = (typeof(*(field)))archive_value; \
		archive_require((archive), (int64_t)(*(field)) == archive_value); \
	} while (0)
#define archive_int(archive, name, field) archive_int_or((archive), (name), (field), 0)
/* An id or another figure whose unknown value is ROW_NULL. */
#define archive_id(archive, name, field) archive_int_or((archive), (name), (field), ROW_NULL)
/* A value of 0 .. `count` - 1. */
#define archive_enum(archive, name, field, count) \
	do { \
		archive_int((archive), (name), (field)); \
		archive_require((archive), (uint64_t)(*(field)) < (uint64_t)(count)); \
	} while (0)

/* A text on the heap, or NULL. */
void archive_text(struct archive *archive, const char *name, char **text);
/* The same for arbitrary bytes; loading appends a NUL. */
void archive_bytes(struct archive *archive, const char *name, char **data, size_t *size);
/* A text in a buffer of `capacity` bytes; the default is "". */
void archive_fixed_text(struct archive *archive, const char *name, char *text, size_t capacity);
/* `*size` plain bytes, at most `capacity`. */
void archive_plain(struct archive *archive, const char *name, void *data, size_t *size, size_t capacity);

/* Opens a part with its own fields. Returns whether it exists; if so, archive_close() ends it. */
bool archive_open(struct archive *archive, const char *name, bool is_there);
/* A list of `*count` parts, each between archive_open_item() and archive_close(), then archive_close(). */
void archive_open_list(struct archive *archive, const char *name, uint64_t *count);
void archive_open_item(struct archive *archive);
void archive_close(struct archive *archive);
