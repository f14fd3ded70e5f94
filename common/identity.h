/* Ids of everything in the model: hashes of what identifies it (and of processes their place behind
 * the hash of their boot: correlator/model/image.c), never random, so
 * that replaying a stream gives the same ids. 63 bits: positive in SQLite's and
 * ClickHouse's signed integers. Printed as 16 hexadecimal digits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FNV-1a, then a 64-bit finaliser (the murmur3 one), over parts added in turn.
 * Every part carries its length, so ("a", "bc") and ("ab", "c") differ. */
struct identity {
	uint64_t state;
};

/* `kind` names the entity ("process", "run", ...), so that ids of two kinds made
 * of the same parts differ. */
void identity_begin(struct identity *identity, const char *kind);
void identity_add_bytes(struct identity *identity, const void *data, size_t size);
void identity_add_u64(struct identity *identity, uint64_t value);
/* In 1 .. INT64_MAX: 0 always means "none". */
int64_t identity_end(struct identity *identity);

/* Whether a column of that name holds hashes, which are no figures: not to be added up, and
 * JSON's readers would round them as numbers. */
bool identity_is_column(const char *name);

#define IDENTITY_TEXT_SIZE 17
void identity_format(int64_t id, char text[IDENTITY_TEXT_SIZE]);
/* 0 and the range of ids that begin with the 1..16 hexadecimal digits of `text`;
 * -EINVAL where it is not that. */
int identity_parse_prefix(const char *text, int64_t *ret_first, int64_t *ret_last);
