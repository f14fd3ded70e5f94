/* Ids of all entities in the model. An id is a hash of what identifies the entity (a process id is
 * the hash of its boot plus a position within it: correlator/model/image.c), never random, so
 * that replaying a stream gives the same ids. Ids have 63 bits and are therefore positive in the signed
 * integers of SQLite and ClickHouse. They are printed as 16 hexadecimal digits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FNV-1a over the parts in the order added, then the 64-bit finaliser of murmur3.
 * The length of each part is hashed too, so ("a", "bc") and ("ab", "c") differ. */
struct identity {
	uint64_t state;
};

/* `kind` names the entity ("process", "run", ...), so that entities of different
 * kinds with the same parts have different ids. */
void identity_begin(struct identity *identity, const char *kind);
void identity_add_bytes(struct identity *identity, const void *data, size_t size);
void identity_add_u64(struct identity *identity, uint64_t value);
/* Returns an id in 1 .. INT64_MAX; 0 always means "none". */
int64_t identity_end(struct identity *identity);
/* Returns the id at a distance from another one. Ids whose distances follow the time are adjacent in the store, so that a
 * commit writes few pages. */
int64_t identity_add(int64_t base, int64_t offset);

/* Returns true if a column of that name holds hashes. They are not quantities: they must not be summed,
 * and JSON parsers would round them if they were written as numbers. */
bool identity_is_column(const char *name);

#define IDENTITY_TEXT_SIZE 17
void identity_format(int64_t id, char text[IDENTITY_TEXT_SIZE]);
/* Returns 0 and the range of ids that begin with the 1..16 hexadecimal digits in `text`,
 * or -EINVAL if `text` is not such a prefix. */
int identity_parse_prefix(const char *text, int64_t *ret_first, int64_t *ret_last);
