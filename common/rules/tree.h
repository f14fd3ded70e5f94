/* A YAML file as a small tree whose every node knows its line.
 *
 * A subset of YAML, so that a rule file cannot grow in memory or surprise its
 * reader: one document; mappings, lists and plain text; no anchors, aliases, tags
 * or repeated keys; bounded in size and nesting.
 */
#ifndef TRACER_COMMON_RULES_TREE_H
#define TRACER_COMMON_RULES_TREE_H

#include <stddef.h>

#include "common/rules/arena.h"
#include "common/rules/rules.h"

#define TREE_FILE_BYTES_MAX (1024 * 1024)
#define TREE_DEPTH_MAX 8
#define TREE_KEYS_MAX 64 /* in one mapping; a list may be as long as the file */

enum tree_kind { TREE_TEXT, TREE_LIST, TREE_MAPPING };

struct tree_node {
	enum tree_kind kind;
	unsigned line; /* 1-based */
	const char *text;        /* TREE_TEXT, and the keys of a mapping */
	struct tree_node *first; /* items of a list; keys of a mapping */
	struct tree_node *next;  /* in the list or mapping that holds this node */
	struct tree_node *value; /* of a key */
};

/* Nodes live in the arena. 0 and `*ret_root` (NULL: an empty file); -EINVAL with
 * `*ret_error`; -ENOMEM. */
int tree_parse(struct arena *arena, const char *file, const void *data, size_t size,
	       struct tree_node **ret_root, struct rules_error *ret_error);

const char *tree_kind_text(enum tree_kind kind);

/* Fills `ret_error` and returns -EINVAL. */
int rules_error_set(struct rules_error *ret_error, const char *file, unsigned line,
		    const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
