/* Conversion of entities by tables of their fields; entities.c has the tables.
 *
 * A field is either a column of the entity's row, which readers see, or part of its state, which only a
 * restart needs. The same table serves both directions, so everything saved is also loaded. A state is
 * a msgpack map of names to values, without those that have their default. So a release that adds or drops
 * a field can load what the previous one saved: a missing field gets its default, an unknown one is
 * ignored. Loading trusts nothing: a value out of its range is refused.
 */
#pragma once

#include <msgpack.h>
#include <stdbool.h>

#include "common/store/rows.h"

enum field_kind {
	FIELD_END,    /* of a table */
	FIELD_NUMBER, /* any integer type */
	FIELD_WORD,   /* an enum that is a text in rows; in columns only */
	FIELD_TOTALS, /* struct totals, the columns ROW_TOTALS; in columns only */
	FIELD_CHARS,  /* char [] */
	FIELD_RAW,    /* any type, as it is in memory, unless its size has changed; from here on in states only: */
	/* pointers, or NULL */
	FIELD_TEXT,    /* char *, owned; in columns too */
	FIELD_BYTES,   /* char *, owned, with a size */
	FIELD_POINTER, /* a struct on the heap */
	FIELD_LIST,    /* linked structs */
};

struct field {
	enum field_kind kind;
	uint16_t offset, size; /* in the entity */
	uint16_t column;       /* offset in the row */
	bool is_signed;
	bool of_several; /* totals: of several images */
	uint8_t name_size;
	bool is_required;   /* a pointer: it may not be NULL in a state, nor the text in a row, where "" replaces it */
	const char *name;   /* in a state */
	int64_t missing;    /* value that is NULL in the row or absent from the state */
	int64_t min, max;   /* allowed */
	uint64_t valid_bit; /* the number is known if this bit is set; 0: always, */
	uint16_t valid;     /* of the uint64_t at this offset */
	uint16_t size_at;   /* FIELD_BYTES: offset of the size_t */
	const char *const *words;
	const struct part *part;
};

struct part {
	const struct field *fields;
	uint16_t size;  /* 0: never allocated, and loaded only if it is there */
	uint16_t links; /* FIELD_LIST: offset of `prev`, which `next` follows */
};

/* Texts in a row are borrowed. */
void fields_to_row(const struct field *fields, const void *entity, void *row);
/* Returns false if a value is bad, or if out of memory. */
bool fields_from_row(const struct field *fields, const void *row, void *entity);

void fields_to_state(const struct field *fields, const void *entity, msgpack_packer *packer);
/* `entity` is zeroed memory. Returns false like the above. */
bool fields_from_state(const struct field *fields, const void *state, size_t size, void *entity);
