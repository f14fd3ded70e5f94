/* What is remembered of an entity beyond its row, as bytes and back.
 *
 * One function describes an entity for both directions: archive_int(archive, "name", &field) saves
 * the field or loads it. So nothing can be saved that is not loaded. It is a msgpack map of names
 * to values: a field that is not there loads as its default, and one that nobody asks for is passed
 * over. So a release that adds or drops a field goes on with what the one before has saved. Fields
 * at their default are left out.
 *
 * Loading trusts nothing: whatever is not as saving writes it is `bad`.
 */
#pragma once

#include <msgpack.h>

#include "common/store/rows.h"

#define ARCHIVE_DEPTH_MAX 8

struct archive {
	bool loading;
	bool bad;               /* loading: broken bytes; either way: out of memory */
	msgpack_sbuffer buffer; /* saving */
	msgpack_packer packer;
	msgpack_unpacked loaded;
	/* either way: the open maps and lists, the outermost first */
	unsigned depth;
	struct archive_level {
		size_t head;                  /* saving: where the number of fields is filled in; 0: a list */
		uint32_t count;               /* of fields that were saved; loading: of the next field or item */
		const msgpack_object *object; /* loading; NULL: there is nothing */
	} level[ARCHIVE_DEPTH_MAX];
};

/* Then the fields, then archive_end(). What was saved is in `buffer`, until the next begin or deinit. */
void archive_init(struct archive *archive);
void archive_begin_saving(struct archive *archive);
void archive_begin_loading(struct archive *archive, const void *data, size_t size);
/* Whether all went well. */
bool archive_end(struct archive *archive);
void archive_deinit(struct archive *archive);

/* Not as it must be, as far as its reader can tell. */
#define archive_require(archive, holds) ((archive)->bad = (archive)->bad || !(holds))

void archive_integer(struct archive *archive, const char *name, int64_t *value, int64_t missing);
/* Of any integer type; what does not fit into the field is bad. */
#define archive_int_or(archive, name, field, missing) \
	do { \
		int64_t archive_value = (int64_t)(*(field)); \
		archive_integer((archive), (name), &archive_value, (missing)); \
		*(field) = (typeof(*(field)))archive_value; \
		archive_require((archive), (int64_t)(*(field)) == archive_value); \
	} while (0)
#define archive_int(archive, name, field) archive_int_or((archive), (name), (field), 0)
/* An id, or another figure that ROW_NULL says is unknown. */
#define archive_id(archive, name, field) archive_int_or((archive), (name), (field), ROW_NULL)
/* Of 0 .. `count` - 1. */
#define archive_enum(archive, name, field, count) \
	do { \
		archive_int((archive), (name), (field)); \
		archive_require((archive), (uint64_t)(*(field)) < (uint64_t)(count)); \
	} while (0)

/* On the heap, NULL: none. */
void archive_text(struct archive *archive, const char *name, char **text);
/* The same with any bytes in it; a NUL is put behind them. */
void archive_bytes(struct archive *archive, const char *name, char **data, size_t *size);
/* In a buffer of so many bytes; "" is the default. */
void archive_fixed_text(struct archive *archive, const char *name, char *text, size_t capacity);
/* Plain bytes, `*size` of them, `capacity` at most. */
void archive_plain(struct archive *archive, const char *name, void *data, size_t *size, size_t capacity);

/* A part with fields of its own, where it is there; archive_close() behind those. */
bool archive_open(struct archive *archive, const char *name, bool is_there);
/* `*count` parts, each between archive_open_item() and archive_close(); one more of that in the end. */
void archive_open_list(struct archive *archive, const char *name, uint64_t *count);
void archive_open_item(struct archive *archive);
void archive_close(struct archive *archive);
