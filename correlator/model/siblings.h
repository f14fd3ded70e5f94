/* Tasks of one kind in a run, and what their command lines have in common. */
#pragma once

#include "correlator/model/words.h"

struct model;
struct run;

/* Kinds of tasks of one run whose common words are remembered; the least recently used is evicted. */
#define SIBLINGS_MAX 64

struct siblings {
	uint64_t kind;
	struct common_words common;
	uint32_t stem_hash, stem_words_hash; /* of the latest label that is a stem, and of its task's words */
	bool whole_words;                    /* stems do not distinguish them */
	bool several;                        /* there was a second task */
	struct siblings *prev, *next;        /* in its run, least recently used first */
};

/* Returns NULL if there are none. */
struct siblings *siblings_find(const struct run *run, uint64_t kind);
/* Evicts the least recently used if there are too many. Returns NULL if out of memory. */
struct siblings *siblings_new(struct model *model, struct run *run, uint64_t kind);
void siblings_free(struct run *run);
