/* A file of settings: lines `name: value`, and sections of such lines, one deep.
 *
 * Whoever knows the settings takes them one by one; here is what all such files have in
 * common: reading, the names within sections, and errors that say file and line.
 */
#pragma once

#include "common/yaml/tree.h"

/* Takes one setting; `name` is "send.rows" for one in the section `send`. 0; -ENOMEM; -EINVAL
 * with what is wrong in `ret_reason`. */
typedef int entries_take(void *target, const char *name, const struct tree_node *value, char *ret_reason,
			 size_t capacity);

/* 0; -ENOMEM; -EINVAL, or -errno where the file cannot be read, with "FILE:LINE: ..." in
 * `ret_reason`. What stands before an error has been taken. */
int entries_load(const char *path, entries_take *take, void *target, char *ret_reason, size_t capacity);
int entries_parse(const char *file, const char *data, size_t size, entries_take *take, void *target, char *ret_reason,
		  size_t capacity);
