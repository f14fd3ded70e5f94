/* The prices that an import has found so far: one for each machine, region and lifecycle. Of cost/import*.c only. */
#pragma once

#include "analysis/cost/import.h"
#include "analysis/query/rows.h"
#include "common/yaml/arena.h"

struct import_list {
	struct import_entry *entries; /* in the order in which they were found */
	struct import_counts counts;
	struct arena texts;
};

enum import_asset { IMPORT_NODE, IMPORT_CPU, IMPORT_MEMORY };

struct import_price {
	enum import_asset asset;
	const char *type, *region; /* neither is empty */
	bool is_spot;
	int64_t nanos;
	const char *currency;
	const char *since; /* of several for the same machine, the one with the latest text is kept; "": the first */
};

/* Counts the price as left out if a text is missing or it is 0. Returns 0 or -ENOMEM. */
int import_list_add(struct import_list *list, const struct import_price *price);
static inline void import_leave_out(struct import_list *list)
{
	list->counts.left_out++;
}

int import_aws_csv(const char *path, struct import_list *list, struct tree_error *ret_error);
int import_focus(const char *path, struct import_list *list, struct tree_error *ret_error);
int import_aws_json(const char *path, struct import_list *list, struct tree_error *ret_error);
int import_azure(const char *path, struct import_list *list, struct tree_error *ret_error);
int import_gcp(const char *path, struct import_list *list, struct tree_error *ret_error);
