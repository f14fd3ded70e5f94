/* Settings files: lines `name: value`, and sections of such lines, one level deep.
 *
 * The caller handles the settings, one by one, in a callback. This module does what is common to
 * all such files: reading, names within sections, and errors with file and line.
 */
#pragma once

#include "common/yaml/tree.h"

/* Callback for one setting; `name` is "send.rows" for `rows` in the section `send`. Returns 0; -ENOMEM;
 * -EINVAL with a reason in `ret_reason`. */
typedef int entries_take(void *target, const char *name, const struct tree_node *value, char *ret_reason,
			 size_t capacity);

/* Return 0; -ENOMEM; -EINVAL, or -errno if the file cannot be read, with "FILE:LINE: ..." in
 * `ret_reason`. The settings before an error have been passed to `take`. */
int entries_load(const char *path, entries_take *take, void *target, char *ret_reason, size_t capacity);
int entries_parse(const char *file, const char *data, size_t size, entries_take *take, void *target, char *ret_reason,
		  size_t capacity);
