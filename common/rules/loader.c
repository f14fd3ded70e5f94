/* What the loaders of rules share. See loader.h. */
#include "common/rules/loader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/yaml/suggest.h"

#define TEXT_BYTES_MAX 4096 /* of a pattern, a template, a regular expression */

int loader_read_text(struct loader *loader, const struct tree_node *node, const char **ret_text)
{
	if (node->kind != TREE_TEXT)
		return loader_refuse(loader, node->line, "expected text, found %s", tree_kind_text(node->kind));
	if (node->text[0] == '\0')
		return loader_refuse(loader, node->line, "a value is missing");
	if (strlen(node->text) > TEXT_BYTES_MAX)
		return loader_refuse(loader, node->line, "longer than %d bytes", TEXT_BYTES_MAX);
	*ret_text = node->text;
	return 0;
}

int loader_read_text_value(struct loader *loader, const struct tree_node *value, void *target)
{
	return loader_read_text(loader, value, target);
}

int loader_read_flag(struct loader *loader, const struct tree_node *value, void *target)
{
	bool *flag = target;
	const char *text = NULL;
	int r = loader_read_text(loader, value, &text);

	if (r < 0)
		return r;
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return loader_refuse(loader, value->line, "expected true or false, found \"%.40s\"", text);
	*flag = text[0] == 't';
	return 0;
}

int loader_read_word(struct loader *loader, const struct tree_node *value, const char *what, const char *const *names)
{
	char hint[96];
	const char *text = NULL;
	int r = loader_read_text(loader, value, &text);

	if (r < 0)
		return r;
	for (int i = 0; names[i]; i++) {
		if (strcmp(names[i], text) == 0)
			return i;
	}
	suggest_nearest(text, names, hint, sizeof(hint));
	return loader_refuse(loader, value->line, "unknown %s \"%.40s\"%s", what, text, hint);
}

int loader_read_items(struct loader *loader, const struct tree_node *value, size_t item_size,
		      int (*read_item)(struct loader *, const char *, unsigned, void *), void **ret_items,
		      size_t *ret_count)
{
	const struct tree_node *first = value->kind == TREE_LIST ? value->first : value;
	size_t count = 0;
	char *items;

	if (value->kind == TREE_MAPPING)
		return loader_refuse(loader, value->line, "expected text or a list, found a mapping");
	if (!first)
		return loader_refuse(loader, value->line, "the list is empty");
	for (const struct tree_node *node = first; node; node = node == value ? NULL : node->next)
		count++;
	items = arena_alloc(&loader->rules->arena, count * item_size);
	if (!items)
		return -ENOMEM;
	*ret_items = items;
	for (const struct tree_node *node = first; node; node = node == value ? NULL : node->next) {
		const char *text = NULL;
		int r = loader_read_text(loader, node, &text);

		if (r == 0)
			r = read_item(loader, text, node->line, items);
		if (r < 0)
			return r;
		items += item_size;
		++*ret_count; /* item by item: counted items are complete and can be freed */
	}
	return 0;
}

int loader_read_option(struct loader *loader, const char *text, unsigned line, void *item)
{
	if ((text[0] != '-' && text[0] != '+') || text[1] == '\0')
		return loader_refuse(loader, line, "\"%.40s\" is not an option like --name or -n", text);
	*(const char **)item = text;
	return 0;
}

int loader_read_entries(struct loader *loader, const struct tree_node *key,
			int (*read)(struct loader *loader, const struct tree_node *entry))
{
	const struct tree_node *list = key->value;
	int r = 0;

	if (list->kind == TREE_TEXT && list->text[0] == '\0')
		return 0;
	if (list->kind != TREE_LIST)
		return loader_refuse(loader, list->line, "%s: expected a list, found %s", key->text,
				     tree_kind_text(list->kind));
	for (const struct tree_node *entry = list->first; entry && r == 0; entry = entry->next)
		r = read(loader, entry);
	return r;
}

const struct tree_node *loader_mapping_get(const struct tree_node *mapping, const char *name)
{
	const struct tree_node *key = mapping->first;

	while (key && strcmp(key->text, name) != 0)
		key = key->next;
	return key ? key->value : NULL;
}

int loader_refuse_key(struct loader *loader, const struct tree_node *key, const struct loader_key *keys)
{
	const char *names[TREE_KEYS_MAX + 1];
	char hint[96];
	size_t count = 0;

	for (; keys[count].name; count++)
		names[count] = keys[count].name;
	names[count] = NULL;
	suggest_nearest(key->text, names, hint, sizeof(hint));
	return loader_refuse(loader, key->line, "unknown key \"%.40s\"%s", key->text, hint);
}

/* Puts the key before the reason: "match: argv: bad regular expression ...". */
static int loader_refuse_value(struct loader *loader, const char *key)
{
	char reason[sizeof(loader->error->reason)];

	snprintf(reason, sizeof(reason), "%s", loader->error->reason);
	return loader_refuse(loader, loader->error->line, "%s: %s", key, reason);
}

int loader_read_mapping(struct loader *loader, const struct tree_node *mapping, const struct loader_key *keys,
			void *target)
{
	if (mapping->kind != TREE_MAPPING)
		return loader_refuse(loader, mapping->line, "expected a mapping (key: value), found %s",
				     tree_kind_text(mapping->kind));
	for (const struct tree_node *key = mapping->first; key; key = key->next) {
		const struct loader_key *known = keys;
		int r;

		while (known->name && strcmp(known->name, key->text) != 0)
			known++;
		if (!known->name)
			return loader_refuse_key(loader, key, keys);
		r = known->read(loader, key->value, (char *)target + known->offset);
		if (r == -EINVAL)
			return loader_refuse_value(loader, known->name);
		if (r < 0)
			return r;
	}
	return 0;
}
