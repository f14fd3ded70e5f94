/* Loading of `secrets:` in rule files: what redaction recognises. docs/rules.md describes the keys. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/grow.h"
#include "common/rules/loader.h"

#define SECRET_COUNT_MAX 10000

static int read_word(struct loader *loader, const char *text, unsigned line, void *item)
{
	*(const char **)item = text;
	return 0;
}

LOADER_LIST(words, secret_texts, read_word)

LOADER_LIST(options, secret_texts, loader_read_option)

static int read_program(struct loader *loader, const char *text, unsigned line, void *item)
{
	if (strchr(text, '/') || text[1] == '\0')
		return loader_refuse(loader, line, "\"%.40s\" is not a file name of two characters or more", text);
	return read_word(loader, text, line, item);
}

LOADER_LIST(programs, secret_texts, read_program)

static int read_command(struct loader *loader, const char *text, unsigned line, void *item)
{
	char reason[256];

	return secret_command_parse(text, item, reason, sizeof(reason)) < 0 ? loader_refuse(loader, line, "%s", reason)
									    : 0;
}

LOADER_LIST(commands, secret_commands, read_command)

static int read_expression(struct loader *loader, const char *text, unsigned line, void *item)
{
	char reason[256];
	int r = secret_expression_parse(text, item, reason, sizeof(reason));

	return r == -EINVAL ? loader_refuse(loader, line, "%s", reason) : r;
}

LOADER_LIST(expressions, secret_expressions, read_expression)

/* Names are compared in lower case. */
static int read_name(struct loader *loader, const char *text, unsigned line, void *item)
{
	for (const char *p = text; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			return loader_refuse(loader, line, "\"%.40s\" is not in lower case", text);
	return read_word(loader, text, line, item);
}

LOADER_LIST(name_list, secret_texts, read_name)

static int read_names(struct loader *loader, const struct tree_node *value, void *target)
{
	static const struct loader_key keys[] = {
#define X(field, key) {key, read_name_list, SECRET_NAMES_##field * sizeof(struct secret_texts)},
		SECRET_NAME_LISTS(X)
#undef X
			{NULL}};

	return loader_read_mapping(loader, value, keys, target);
}

static int read_example(struct loader *loader, const char *text, unsigned line, void *item)
{
	*(struct secret_example *)item = (struct secret_example){text, line};
	return 0;
}

LOADER_LIST(examples, secret_examples, read_example)

static const struct loader_key secret_keys[] = {
	{"secret", loader_read_text_value, offsetof(struct secret, name)},
	{"programs", read_programs, offsetof(struct secret, programs)},
	{"grouped", loader_read_flag, offsetof(struct secret, grouped)},
	{"needs", read_options, offsetof(struct secret, needs)},
	{"options_with_value", read_options, offsetof(struct secret, options_with_value)},
	{"options_without_value", read_options, offsetof(struct secret, options_without_value)},
	{"commands", read_commands, offsetof(struct secret, commands)},
	{"stdin", read_words, offsetof(struct secret, stdin_words)},
	{"expressions", read_expressions, offsetof(struct secret, expressions)},
	{"names", read_names, offsetof(struct secret, names)},
	{"examples", read_examples, offsetof(struct secret, examples)},
	{NULL}};

/* Whether the pattern finds a secret and spares something else must be tested. */
static bool examples_show(const struct secret_examples *examples)
{
	bool found = false, spared = false;

	for (size_t i = 0; i < examples->count; i++) {
		bool has_mark = strstr(examples->items[i].command, "\u00ab") != NULL;

		found = found || has_mark;
		spared = spared || !has_mark;
	}
	return found && spared;
}

static int check(struct loader *loader, const struct tree_node *node, const struct secret *secret)
{
	bool of_programs = secret->commands.count || secret->stdin_words.count || secret->needs.count ||
			   secret->options_with_value.count || secret->options_without_value.count;

	if (!secret->name)
		return loader_refuse(loader, node->line, "the entry has no name: add \"secret: NAME\"");
	if (of_programs && secret->programs.count == 0)
		return loader_refuse(loader, node->line, "secret \"%.60s\" has no programs", secret->name);
	if (!examples_show(&secret->examples))
		return loader_refuse(loader, node->line,
				     "secret \"%.60s\" needs an example with a secret between « and », and one without",
				     secret->name);
	return 0;
}

/* Returns 1 if an entry of the same name in an earlier layer replaces this one. */
static int check_name(struct loader *loader, const struct secret *secret)
{
	const struct secrets *secrets = &loader->rules->secrets;

	for (size_t i = 0; i < secrets->count; i++) {
		const struct secret *other = &secrets->items[i];

		if (strcmp(other->name, secret->name) != 0)
			continue;
		if (other->layer != secret->layer)
			return 1;
		return loader_refuse(loader, secret->line, "a secret named \"%.60s\" already exists at %.200s:%u",
				     other->name, other->file, other->line);
	}
	return 0;
}

int loader_read_secret(struct loader *loader, const struct tree_node *node)
{
	struct secrets *secrets = &loader->rules->secrets;
	struct secret *secret = grow(secrets->items, &secrets->capacity, secrets->count + 1, sizeof(*secret));
	int r;

	if (!secret)
		return -ENOMEM;
	secrets->items = secret;
	if (secrets->count == SECRET_COUNT_MAX)
		return loader_refuse(loader, node->line, "more than %d secrets", SECRET_COUNT_MAX);
	secret += secrets->count;
	*secret = (struct secret){.file = loader->file, .line = node->line, .layer = loader->layer};
	r = loader_read_mapping(loader, node, secret_keys, secret);
	if (r == 0)
		r = check(loader, node, secret);
	if (r == 0)
		r = check_name(loader, secret);
	if (r == 0)
		secrets->count++;
	else
		secret_deinit(secret);
	return r < 0 ? r : 0;
}
