/* Settings files. See entries.h. */
#include "common/yaml/entries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct entries {
	const char *file;
	entries_take *take;
	void *target;
	char *reason;
	size_t capacity;
};

static int refuse(const struct entries *entries, unsigned line, const char *reason)
{
	snprintf(entries->reason, entries->capacity, "%.200s:%u: %s", entries->file, line, reason);
	return -EINVAL;
}

static int mapping_take(const struct entries *entries, const char *section, const struct tree_node *mapping)
{
	char name[160], reason[512];
	int error = 0;

	for (const struct tree_node *key = mapping->first; error == 0 && key; key = key->next) {
		snprintf(name, sizeof(name), "%s%s%.100s", section, *section ? "." : "", key->text);
		if (key->value->kind == TREE_TEXT && !*key->value->text && !*section)
			continue; /* every line of a section may be commented out */
		if (key->value->kind == TREE_MAPPING && !*section)
			error = mapping_take(entries, name, key->value);
		else
			error = entries->take(entries->target, name, key->value, reason, sizeof(reason));
		if (error == -EINVAL && (*section || key->value->kind != TREE_MAPPING))
			refuse(entries, key->line, reason);
	}
	return error;
}

int entries_parse(const char *file, const char *data, size_t size, entries_take *take, void *target, char *ret_reason,
		  size_t capacity)
{
	const struct entries entries = {file, take, target, ret_reason, capacity};
	struct arena arena = {0};
	struct tree_node *root = NULL;
	struct tree_error fault;
	int error = tree_parse(&arena, file, data, size, &root, &fault);

	if (error == -EINVAL)
		refuse(&entries, fault.line, fault.reason);
	else if (error == 0 && root && root->kind != TREE_MAPPING)
		error = refuse(&entries, 1, "expected `name: value` lines");
	else if (error == 0 && root)
		error = mapping_take(&entries, "", root);
	if (error == -ENOMEM)
		snprintf(ret_reason, capacity, "%.200s: out of memory", file);
	arena_deinit(&arena);
	return error;
}

int entries_load(const char *path, entries_take *take, void *target, char *ret_reason, size_t capacity)
{
	struct tree_error fault;
	char *data;
	size_t size;
	int error = tree_read_file(path, &data, &size, &fault);

	if (error < 0) {
		snprintf(ret_reason, capacity, "%.200s: %s", path, fault.reason);
		return error;
	}
	error = entries_parse(path, data, size, take, target, ret_reason, capacity);
	free(data);
	return error;
}
