/* Facts: rows of what has happened, which wait for a commit and belong to nothing that lives on. */
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

/* pending_add_sample() and its like. Texts are copied. Of the host's samples the oldest go where there
 * are too many. */
#define R(NAME, name, table, key) void pending_add_##name(struct model *model, const struct row_##name *row);
ROW_FACTS(R)
#undef R

/* All is written, or the model ends. */
void pending_clear(struct model *model);
