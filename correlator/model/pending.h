/* Facts: rows about past events, which wait for a commit and belong to no object in memory. */
#pragma once

#include "common/store/rows.h"

struct model;

enum fact_kind {
#define R(NAME, name, table, key) FACT_##NAME,
	ROW_FACTS(R)
#undef R
};

struct fact {
	enum fact_kind kind;
	union {
#define R(NAME, name, table, key) struct row_##name name;
		ROW_FACTS(R)
#undef R
	};
	struct fact *prev, *next;
};

/* pending_add_sample() and the like. Texts are copied. If too many host samples are waiting, the
 * oldest is dropped. */
#define R(NAME, name, table, key) void pending_add_##name(struct model *model, const struct row_##name *row);
ROW_FACTS(R)
#undef R

/* Frees all facts, once they are written or the model ends. */
void pending_clear(struct model *model);
