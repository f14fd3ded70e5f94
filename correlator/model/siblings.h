/* Tasks of one kind in a run, and what their command lines have in common. */
#pragma once

#include "correlator/model/words.h"

struct model;
struct run;

/* Kinds of tasks of one run whose common words are remembered; the longest unused goes. */
#define SIBLINGS_MAX 64

struct siblings {
	uint64_t kind;
	struct common_words common;
	uint32_t stem_hash, stem_words_hash; /* of the latest label that is a stem, and its task */
	bool whole_words;                    /* stems do not distinguish them */
	bool several;                        /* there was a second one */
	struct siblings *prev, *next;        /* in its run, the longest unused first */
};

/* NULL: there are none. */
struct siblings *siblings_find(const struct run *run, uint64_t kind);
/* NULL: out of memory. The longest unused go where there are too many. */
struct siblings *siblings_new(struct model *model, struct run *run, uint64_t kind);
void siblings_free(struct run *run);
