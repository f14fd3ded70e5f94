/* A YAML file as a small tree of nodes with line numbers, for rules and settings.
 *
 * Only a subset of YAML is accepted, so that a file cannot expand in memory or be misread: one
 * document; mappings, lists and plain text; no anchors, aliases, tags or duplicate keys;
 * bounded in size and nesting.
 */
#pragma once

#include "common/yaml/arena.h"

#define TREE_FILE_BYTES_MAX (1024 * 1024)
#define TREE_DEPTH_MAX 8
#define TREE_KEYS_MAX 64 /* per mapping; a list is limited only by the file size */

enum tree_kind { TREE_TEXT, TREE_LIST, TREE_MAPPING };

struct tree_node {
	enum tree_kind kind;
	unsigned line;           /* 1-based */
	const char *text;        /* TREE_TEXT, and the keys of a mapping */
	struct tree_node *first; /* items of a list; keys of a mapping */
	struct tree_node *next;  /* in the list or mapping that holds this node */
	struct tree_node *value; /* of a key */
};

/* An error in a file. */
struct tree_error {
	char file[256];
	unsigned line; /* 1-based; 0: the file as a whole */
	char reason[512];
};

/* Allocates the nodes in the arena. Returns 0 and `*ret_root` (NULL for an empty file); -EINVAL with
 * `*ret_error`; -ENOMEM. */
int tree_parse(struct arena *arena, const char *file, const void *data, size_t size, struct tree_node **ret_root,
	       struct tree_error *ret_error);

/* Reads a regular file into memory that the caller frees. At most TREE_FILE_BYTES_MAX + 1 bytes are read;
 * tree_parse() rejects more than TREE_FILE_BYTES_MAX. Returns 0; -EINVAL or -errno with
 * `*ret_error`. */
int tree_read_file(const char *path, char **ret_data, size_t *ret_size, struct tree_error *ret_error);

const char *tree_kind_text(enum tree_kind kind);

/* Fills `ret_error` and returns -EINVAL. */
int tree_error_set(struct tree_error *ret_error, const char *file, unsigned line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
