/* What the loaders of rules share: values, lists and mappings of a rule file, and errors with line numbers. */
#pragma once

#include "common/rules/rule.h"

struct loader {
	struct rules *rules;
	const char *file;
	unsigned layer;
	struct tree_error *error;
};

/* A key of a mapping and the function that reads it. */
struct loader_key {
	const char *name;
	int (*read)(struct loader *loader, const struct tree_node *value, void *target);
	size_t offset; /* of the target in the structure of the mapping */
};

/* All return 0; -EINVAL with the error in loader->error; -ENOMEM. */

#define loader_refuse(loader, line, ...) tree_error_set((loader)->error, (loader)->file, line, __VA_ARGS__)

int loader_read_text(struct loader *loader, const struct tree_node *node, const char **ret_text);

/* For tables of keys: `target` is a const char * or a bool. */
int loader_read_text_value(struct loader *loader, const struct tree_node *value, void *target);
int loader_read_flag(struct loader *loader, const struct tree_node *value, void *target);

/* Returns the position of the text of `value` in `names`, or -EINVAL. */
int loader_read_word(struct loader *loader, const struct tree_node *value, const char *what, const char *const *names);

/* Reads a list; a single text counts as a list of one. Calls `read_item` for each item with its slot
 * in an array of `*ret_count` items of `item_size` bytes. */
int loader_read_items(struct loader *loader, const struct tree_node *value, size_t item_size,
		      int (*read_item)(struct loader *, const char *, unsigned, void *), void **ret_items,
		      size_t *ret_count);

/* Defines read_NAME() for tables of keys: a list of the type, a structure of `items` and `count`, read by `read_item`. */
#define LOADER_LIST(name, type, read_item) \
	static int read_##name(struct loader *loader, const struct tree_node *value, void *target) \
	{ \
		struct type *list = target; \
\
		return loader_read_items(loader, value, sizeof(*list->items), read_item, (void **)&list->items, \
					 &list->count); \
	}

/* An item of a list: an option such as --name or -n, as a const char *. */
int loader_read_option(struct loader *loader, const char *text, unsigned line, void *item);

/* Reads a list at the top of a file, which may be empty, entry by entry. */
int loader_read_entries(struct loader *loader, const struct tree_node *key,
			int (*read)(struct loader *loader, const struct tree_node *entry));

/* The value of a key, or NULL. */
const struct tree_node *loader_mapping_get(const struct tree_node *mapping, const char *name);
int loader_refuse_key(struct loader *loader, const struct tree_node *key, const struct loader_key *keys);
int loader_read_mapping(struct loader *loader, const struct tree_node *mapping, const struct loader_key *keys,
			void *target);

/* An item of a list: a regular expression, as a struct rule_regex. */
int loader_read_regex(struct loader *loader, const char *text, unsigned line, void *item);

/* Read an entry of `secrets:` (load_secrets.c), of `versions:` (versions.c) and of `runtimes:` (runtimes.c). */
int loader_read_secret(struct loader *loader, const struct tree_node *entry);
int loader_read_version(struct loader *loader, const struct tree_node *entry);
int loader_read_runtime(struct loader *loader, const struct tree_node *entry);
