/* Loading of rule files: all keys are checked, and errors have line numbers.
 *
 * Tables list the keys of each mapping and the functions that read them. docs/rules.md
 * describes the format for users.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/grow.h"
#include "common/rules/glob.h"
#include "common/rules/loader.h"
#include "common/text.h"

#define RULE_COUNT_MAX 10000
#define SUMMARY_MAX 255 /* bytes of the line that tells what a rule matches */

/* ---- values ---- */

#define READ_ENUM(name, ...) \
	static int read_##name(struct loader *loader, const struct tree_node *value, void *target) \
	{ \
		static const char *const names[] = {__VA_ARGS__ NULL}; \
		int r = loader_read_word(loader, value, #name, names); \
\
		if (r < 0) \
			return r; \
		*(enum rules_##name *)target = (enum rules_##name)r; \
		return 0; \
	}
READ_ENUM(role, RULES_ROLES(TEXT_OF))
READ_ENUM(boundary, RULES_BOUNDARIES(TEXT_OF))

static int read_rank(struct loader *loader, const struct tree_node *value, void *target)
{
	static const char *const names[] = {"parallel", "workflow", NULL};
	int r = loader_read_word(loader, value, "rank", names);

	if (r < 0)
		return r;
	*(enum rules_rank *)target = r == 0 ? RULES_RANK_PARALLEL : RULES_RANK_WORKFLOW;
	return 0;
}

static int read_pattern(struct loader *loader, const char *text, unsigned line, void *item)
{
	struct rule_pattern *pattern = item;

	pattern->text = text;
	pattern->is_glob = glob_is(text);
	if (pattern->is_glob && !glob_is_valid(text))
		return loader_refuse(loader, line, "bad glob \"%.100s\": [ without ] or a trailing \\", text);
	return 0;
}

LOADER_LIST(patterns, rule_patterns, read_pattern)

static int read_base_names(struct loader *loader, const struct tree_node *value, void *target)
{
	struct rule_patterns *patterns = target;
	int r = read_patterns(loader, value, target);

	for (size_t i = 0; r == 0 && i < patterns->count; i++) {
		if (strchr(patterns->items[i].text, '/'))
			r = loader_refuse(loader, value->line,
					  "\"%.100s\" is a path; this key compares "
					  "names without directories (use \"path\" for paths)",
					  patterns->items[i].text);
	}
	return r;
}

LOADER_LIST(options, rule_patterns, loader_read_option)

/* An option, or the name of an operand NAME=VALUE. */
static int read_thread_option(struct loader *loader, const char *text, unsigned line, void *item)
{
	size_t size = strlen(text);

	if (size < 2 || text[size - 1] != '=')
		return loader_read_option(loader, text, line, item);
	((struct rule_pattern *)item)->text = text;
	return 0;
}

LOADER_LIST(thread_options, rule_patterns, read_thread_option)

static int read_code(struct loader *loader, const char *text, unsigned line, void *item)
{
	uint64_t *code = item;

	size_t digits = strspn(text, "0123456789");

	*code = digits > 0 && digits < 3 && text[digits] == '\0' ? strtoul(text, NULL, 10) : 0;
	if (*code == 0 || *code > RULES_EXPECTED_CODE_MAX)
		return loader_refuse(loader, line, "\"%.40s\" is not an exit code from 1 to %d", text,
				     RULES_EXPECTED_CODE_MAX);
	return 0;
}

static int read_codes(struct loader *loader, const struct tree_node *value, void *target)
{
	uint64_t *codes = NULL, *mask = target;
	size_t count = 0;
	int r = loader_read_items(loader, value, sizeof(*codes), read_code, (void **)&codes, &count);

	for (size_t i = 0; r == 0 && i < count; i++)
		*mask |= UINT64_C(1) << codes[i];
	return r;
}

int loader_read_regex(struct loader *loader, const char *text, unsigned line, void *item)
{
	struct rule_regex *regex = item;
	PCRE2_UCHAR words[256];
	PCRE2_SIZE offset;
	int code;

	regex->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, PCRE2_NEVER_UTF, &code, &offset, NULL);
	if (!regex->code) {
		pcre2_get_error_message(code, words, sizeof(words));
		return loader_refuse(loader, line, "bad regular expression: %s, at offset %zu of \"%.100s\"",
				     (const char *)words, (size_t)offset, text);
	}
	pcre2_pattern_info(regex->code, PCRE2_INFO_CAPTURECOUNT, &regex->group_count);
	return 0;
}

LOADER_LIST(regexes, rule_regexes, loader_read_regex)

/* Only checks the value: a template may refer to groups of a regular expression further
 * down (loader_read_templates). */
static int read_template(struct loader *loader, const struct tree_node *value, void *target)
{
	const char *text = NULL;

	return loader_read_text(loader, value, &text);
}

/* ---- mappings ---- */

static int read_match(struct loader *loader, const struct tree_node *value, void *target)
{
	static const struct loader_key keys[] = {
		{"executable", read_base_names, offsetof(struct rule_match, executable)},
		{"script", read_patterns, offsetof(struct rule_match, script)},
		{"argument", read_patterns, offsetof(struct rule_match, argument)},
		{"parent", read_base_names, offsetof(struct rule_match, parent)},
		{"ancestor", read_base_names, offsetof(struct rule_match, ancestor)},
#define X(NAME, key) {key, read_regexes, offsetof(struct rule_match, regexes[TEMPLATE_SOURCE_##NAME])},
		TEMPLATE_SOURCES(X)
#undef X
			{NULL}};
	struct rule_match *match = target;
	int r = loader_read_mapping(loader, value, keys, match);

	if (r == 0 && !value->first)
		r = loader_refuse(loader, value->line, "has no key: it would match everything");
	match->only_executable = r == 0 && match->executable.count > 0 && !value->first->next;
	return r;
}

static int read_unwrap(struct loader *loader, const struct tree_node *value, void *target)
{
	static const struct loader_key keys[] = {
		{"multi_call", loader_read_flag, offsetof(struct rule_unwrap, multi_call)},
		{"short_clusters", loader_read_flag, offsetof(struct rule_unwrap, short_clusters)},
		{"script_option", read_options, offsetof(struct rule_unwrap, script_option)},
		{"module_option", read_options, offsetof(struct rule_unwrap, module_option)},
		{"command_option", read_options, offsetof(struct rule_unwrap, command_option)},
		{"stdin_option", read_options, offsetof(struct rule_unwrap, stdin_option)},
		{"options_attached", read_options, offsetof(struct rule_unwrap, options_attached)},
		{NULL}};
	struct rule_unwrap *unwrap = target;

	unwrap->enabled = true;
	unwrap->short_clusters = true;
	return loader_read_mapping(loader, value, keys, target);
}

static int read_operand(struct loader *loader, const char *text, unsigned line, void *item)
{
	if (strcmp(text, "image") != 0 && strcmp(text, "id") != 0 && strcmp(text, "service") != 0)
		return loader_refuse(loader, line, "\"%.40s\" is not image, id or service", text);
	((struct rule_pattern *)item)->text = text;
	return 0;
}

LOADER_LIST(operands, rule_patterns, read_operand)

static int read_container(struct loader *loader, const struct tree_node *value, void *target)
{
	static const struct loader_key keys[] = {
		{"operands", read_operands, offsetof(struct rule_container, operands)},
		{"options_without_value", read_options, offsetof(struct rule_container, options_without_value)},
#define X(word) {#word, read_options, offsetof(struct rule_container, word)},
		RULES_CONTAINER_WORDS(X)
#undef X
			{NULL}};

	return loader_read_mapping(loader, value, keys, target);
}

static int read_example(struct loader *loader, const struct tree_node *node, struct rule_example *example)
{
	static const struct loader_key keys[] = {
		{"command", loader_read_text_value, offsetof(struct rule_example, command)},
		{"parent", loader_read_text_value, offsetof(struct rule_example, parent)},
		{"working_directory", loader_read_text_value, offsetof(struct rule_example, working_directory)},
		{"cgroup", loader_read_text_value, offsetof(struct rule_example, cgroup)},
		{"role", loader_read_text_value, offsetof(struct rule_example, role)},
		{"threads", loader_read_text_value, offsetof(struct rule_example, threads)},
		{"container", loader_read_text_value, offsetof(struct rule_example, container)},
#define X(NAME, key, meaning) {key, loader_read_text_value, offsetof(struct rule_example, traits[RULES_TRAIT_##NAME])},
		RULES_TRAITS(X)
#undef X
#define X(NAME, key, field) {key, loader_read_text_value, offsetof(struct rule_example, texts[TEMPLATE_TEXT_##NAME])},
			TEMPLATE_TEXTS(X)
#undef X
				{NULL}};
	int r = loader_read_mapping(loader, node, keys, example);

	example->line = node->line;
	if (r == 0 && !example->command)
		r = loader_refuse(loader, node->line, "an example needs \"command: ...\"");
	if (r == 0 && !node->first->next)
		r = loader_refuse(loader, node->line, "the example has no expected result: add \"name: ...\"");
	return r;
}

static int read_examples(struct loader *loader, const struct tree_node *value, void *target)
{
	struct rule_examples *examples = target;
	size_t count = 0;

	if (value->kind != TREE_LIST || !value->first)
		return loader_refuse(loader, value->line, "expected a list of examples");
	for (const struct tree_node *node = value->first; node; node = node->next)
		count++;
	examples->items = arena_alloc(&loader->rules->arena, count * sizeof(*examples->items));
	if (!examples->items)
		return -ENOMEM;
	for (const struct tree_node *node = value->first; node; node = node->next) {
		int r = read_example(loader, node, &examples->items[examples->count++]);

		if (r < 0)
			return r;
	}
	return 0;
}

static const struct loader_key rule_keys[] = {
	{"rule", loader_read_text_value, offsetof(struct rule, name)},
	{"match", read_match, offsetof(struct rule, match)},
	{"continue", loader_read_flag, offsetof(struct rule, continues)},
	{"role", read_role, offsetof(struct rule, role)},
	{"rank", read_rank, offsetof(struct rule, rank)},
	{"boundary", read_boundary, offsetof(struct rule, boundary)},
	{"nested", loader_read_flag, offsetof(struct rule, nested)},
#define X(NAME, key, meaning) {key, loader_read_flag, offsetof(struct rule, traits[RULES_TRAIT_##NAME])},
	RULES_TRAITS(X)
#undef X
		{"expected_codes", read_codes, offsetof(struct rule, expected_codes)},
	{"engine", loader_read_text_value, offsetof(struct rule, engine)},
#define X(NAME, key, field) {key, read_template, offsetof(struct rule, texts[TEMPLATE_TEXT_##NAME])},
	TEMPLATE_TEXTS(X)
#undef X
		{"options_with_value", read_options, offsetof(struct rule, options_with_value)},
	{"threads", read_thread_options, offsetof(struct rule, threads)},
	{"additional_threads", read_thread_options, offsetof(struct rule, additional_threads)},
	{"unwrap", read_unwrap, offsetof(struct rule, unwrap)},
	{"container", read_container, offsetof(struct rule, container)},
	{"examples", read_examples, offsetof(struct rule, examples)},
	{NULL}};

/* ---- rules ---- */

static void loader_count_groups(const struct rule *rule, struct template_groups *ret_groups)
{
	for (int source = 0; source < TEMPLATE_SOURCE_COUNT; source++) {
		const struct rule_regexes *regexes = &rule->match.regexes[source];

		ret_groups->counts[source] = regexes->count > 0 ? 0 : -1;
		for (size_t i = 0; i < regexes->count; i++) {
			int count = (int)regexes->items[i].group_count;

			if (count > ret_groups->counts[source])
				ret_groups->counts[source] = count;
		}
	}
}

static int loader_read_templates(struct loader *loader, const struct tree_node *node, struct rule *rule)
{
	static const char *const names[] = {
#define X(NAME, key, field) key,
		TEMPLATE_TEXTS(X)
#undef X
	};
	struct template_groups groups;

	loader_count_groups(rule, &groups);
	for (int i = 0; i < TEMPLATE_TEXT_COUNT; i++) {
		const struct tree_node *value = loader_mapping_get(node, names[i]);
		char reason[256];
		int r;

		if (!value)
			continue;
		r = template_parse(&loader->rules->arena, value->text, &groups, &rule->texts[i], reason,
				   sizeof(reason));
		if (r == -EINVAL)
			return loader_refuse(loader, value->line, "%s: %s", names[i], reason);
		if (r < 0)
			return r;
		rule->texts[i]->whole = i == TEMPLATE_TEXT_RUN_KEY || i == TEMPLATE_TEXT_SAMPLE;
	}
	return 0;
}

static int loader_check_role(struct loader *loader, const struct tree_node *node, const struct rule *rule)
{
	static const struct {
		const char *key;
		enum rules_role roles[2];
	} belongings[] = {
		{"rank", {RULES_ROLE_ORCHESTRATOR, RULES_ROLE_ORCHESTRATOR}},
		{"boundary", {RULES_ROLE_ORIGIN, RULES_ROLE_ORIGIN}},
		{"nested", {RULES_ROLE_ORIGIN, RULES_ROLE_ORIGIN}},
		{"unwrap", {RULES_ROLE_INTERPRETER, RULES_ROLE_SHELL}},
	};

	for (size_t i = 0; i < sizeof(belongings) / sizeof(*belongings); i++) {
		const struct tree_node *value = loader_mapping_get(node, belongings[i].key);
		const enum rules_role *roles = belongings[i].roles;

		if (value && rule->role != roles[0] && rule->role != roles[1])
			return loader_refuse(
				loader, value->line, "%s belongs to role %s%s%s, not %s", belongings[i].key,
				rules_role_text(roles[0]), roles[0] == roles[1] ? "" : " or ",
				roles[0] == roles[1] ? "" : rules_role_text(roles[1]), rules_role_text(rule->role));
	}
	return 0;
}

/* Checks for missing keys, and for combinations of keys that make no sense. */
static int loader_check_rule(struct loader *loader, const struct tree_node *node, const struct rule *rule)
{
	if (!rule->name)
		return loader_refuse(loader, node->line, "the rule has no name: add \"rule: NAME\"");
	if (!loader_mapping_get(node, "match"))
		return loader_refuse(loader, node->line, "rule \"%.60s\" has no match", rule->name);
	if (rule->continues && loader_mapping_get(node, "role"))
		return loader_refuse(loader, loader_mapping_get(node, "role")->line,
				     "role: not allowed in a rule with \"continue: true\"");
	if (rule->role == RULES_ROLE_ORCHESTRATOR && !rule->rank)
		return loader_refuse(loader, node->line,
				     "role orchestrator needs \"rank: parallel\" or \"rank: workflow\"");
	if (rule->role == RULES_ROLE_INTERPRETER && !rule->unwrap.enabled)
		return loader_refuse(loader, node->line,
				     "role interpreter needs \"unwrap\" (\"unwrap: {}\": the first operand)");
	return loader_check_role(loader, node, rule);
}

/* Returns 1 if a rule of the same name in an earlier layer replaces this one. */
static int loader_check_name(struct loader *loader, const struct rule *rule)
{
	const struct rules *rules = loader->rules;

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *other = &rules->items[i];

		if (strcmp(other->name, rule->name) != 0)
			continue;
		if (other->layer != rule->layer)
			return 1;
		return loader_refuse(loader, rule->line, "a rule named \"%.60s\" already exists at %.200s:%u",
				     other->name, other->file, other->line);
	}
	return 0;
}

/* Appends "executable x|y" or, for regular expressions, "argv ~ x|y". */
static void summary_add(FILE *summary, const struct tree_node *key)
{
	static const char *const sources[] = {TEMPLATE_SOURCES(TEXT_OF)};
	const struct tree_node *value = key->value, *first = value->kind == TREE_LIST ? value->first : value;

	fprintf(summary, "%s%s ", ftell(summary) > 0 ? "; " : "", key->text);
	for (int source = 0; source < TEMPLATE_SOURCE_COUNT; source++)
		if (strcmp(key->text, sources[source]) == 0)
			fputs("~ ", summary);
	for (const struct tree_node *item = first; item; item = item == value ? NULL : item->next)
		fprintf(summary, "%s%s", item == first ? "" : "|", item->text);
}

/* Builds a one-line summary of the rule's match, truncated if too long. */
static int loader_summarise(struct loader *loader, const struct tree_node *match, struct rule *rule)
{
	char *text = NULL;
	size_t size = 0;
	FILE *summary = open_memstream(&text, &size);

	if (!summary)
		return -ENOMEM;
	for (const struct tree_node *key = match->first; key; key = key->next)
		summary_add(summary, key);
	if (fclose(summary) != 0) {
		free(text);
		return -ENOMEM;
	}
	if (size > SUMMARY_MAX)
		memcpy(text + SUMMARY_MAX - 3, "...", 3);
	rule->summary = arena_copy(&loader->rules->arena, text, size < SUMMARY_MAX ? size : SUMMARY_MAX);
	free(text);
	return rule->summary ? 0 : -ENOMEM;
}

void rule_regexes_deinit(struct rule_regexes *regexes)
{
	for (size_t i = 0; i < regexes->count; i++)
		pcre2_code_free(regexes->items[i].code);
	regexes->count = 0;
}

void rule_deinit(struct rule *rule)
{
	for (int source = 0; source < TEMPLATE_SOURCE_COUNT; source++)
		rule_regexes_deinit(&rule->match.regexes[source]);
}

static int loader_fill_rule(struct loader *loader, const struct tree_node *node, struct rule *rule)
{
	int r = loader_read_mapping(loader, node, rule_keys, rule);

	if (r == 0)
		r = loader_check_rule(loader, node, rule);
	if (r == 0)
		r = loader_check_name(loader, rule);
	if (r == 0)
		r = loader_read_templates(loader, node, rule);
	if (r == 0)
		r = loader_summarise(loader, loader_mapping_get(node, "match"), rule);
	return r;
}

static int loader_read_rule(struct loader *loader, const struct tree_node *node)
{
	struct rules *rules = loader->rules;
	struct rule *rule = grow(rules->items, &rules->capacity, rules->count + 1, sizeof(*rule));
	int r;

	if (!rule)
		return -ENOMEM;
	rules->items = rule;
	if (rules->count == RULE_COUNT_MAX)
		return loader_refuse(loader, node->line, "more than %d rules", RULE_COUNT_MAX);
	rule += rules->count;
	*rule = (struct rule){.file = loader->file, .line = node->line, .layer = loader->layer};
	r = loader_fill_rule(loader, node, rule);
	if (r == 0)
		rules->count++;
	else
		rule_deinit(rule);
	return r < 0 ? r : 0;
}

int rules_read(struct rules *rules, const char *file, unsigned layer, const void *data, size_t size,
	       struct tree_error *ret_error)
{
	static const struct loader_key keys[] = {{"rules"}, {"secrets"}, {"versions"}, {"runtimes"}, {NULL}};
	static int (*const read[])(struct loader * loader, const struct tree_node *entry) = {
		loader_read_rule, loader_read_secret, loader_read_version, loader_read_runtime};
	struct loader loader = {.rules = rules, .layer = layer, .error = ret_error};
	struct tree_node *root;
	int r;

	loader.file = arena_copy(&rules->arena, file, strlen(file));
	if (!loader.file)
		return -ENOMEM;
	identity_add_bytes(&rules->identity, data, size);
	r = tree_parse(&rules->arena, file, data, size, &root, ret_error);
	if (r < 0 || !root)
		return r;
	if (root->kind != TREE_MAPPING || !root->first)
		return loader_refuse(
			&loader, root->line,
			"a rule file must begin with \"rules:\", \"secrets:\", \"versions:\" or \"runtimes:\"");
	for (const struct tree_node *key = root->first; key; key = key->next) {
		size_t which = 0;

		while (keys[which].name && strcmp(key->text, keys[which].name) != 0)
			which++;
		r = keys[which].name ? loader_read_entries(&loader, key, read[which])
				     : loader_refuse_key(&loader, key, keys);
		if (r < 0)
			return r;
	}
	return 0;
}
