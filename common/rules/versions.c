/* What a path or the name of a container image says about the version of a program: the entries of `versions:`. docs/rules.md
 * describes the keys.
 *
 * A version is said only where a naming scheme says it. What is only likely stays unknown.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/grow.h"
#include "common/rules/loader.h"
#include "common/rules/match.h"

#define VERSION_COUNT_MAX 10000

/* ---- loading ----------------------------------------------------------------------- */

static const char *const groups[] = {"package", "version"};

static int read_named_regex(struct loader *loader, const char *text, unsigned line, void *item)
{
	const struct rule_regex *regex = item;
	int r = loader_read_regex(loader, text, line, item);

	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups) && r == 0; i++)
		if (pcre2_substring_number_from_name(regex->code, (PCRE2_SPTR)groups[i]) < 0) {
			pcre2_code_free(regex->code);
			r = loader_refuse(loader, line, "has no group (?<%s>...)", groups[i]);
		}
	return r;
}

LOADER_LIST(regexes, rule_regexes, read_named_regex)

static int read_name(struct loader *loader, const char *text, unsigned line, void *item)
{
	if (strchr(text, '/'))
		return loader_refuse(loader, line, "\"%.40s\" is not a name without folders", text);
	*(const char **)item = text;
	return 0;
}

LOADER_LIST(names, rule_names, read_name)

static int read_example(struct loader *loader, const struct tree_node *node, struct rule_version_example *example)
{
	static const struct loader_key keys[] = {
		{"path", loader_read_text_value, offsetof(struct rule_version_example, texts[RULES_VERSION_PATH])},
		{"image", loader_read_text_value, offsetof(struct rule_version_example, texts[RULES_VERSION_IMAGE])},
		{"program", loader_read_text_value, offsetof(struct rule_version_example, program)},
		{"package", loader_read_text_value, offsetof(struct rule_version_example, package)},
		{"version", loader_read_text_value, offsetof(struct rule_version_example, version)},
		{NULL}};
	const char *const *texts = example->texts;
	int r = loader_read_mapping(loader, node, keys, example);

	example->line = node->line;
	if (r == 0 && !texts[RULES_VERSION_PATH] == !texts[RULES_VERSION_IMAGE])
		return loader_refuse(loader, node->line, "an example needs \"path: ...\" or \"image: ...\"");
	if (r == 0 && texts[RULES_VERSION_IMAGE] && !example->program)
		return loader_refuse(loader, node->line, "an example of an image needs \"program: ...\"");
	if (r == 0 && !example->version)
		return loader_refuse(loader, node->line, "an example needs \"version: ...\", which may be unknown");
	return r;
}

static int read_examples(struct loader *loader, const struct tree_node *value, void *target)
{
	struct rule_version_examples *examples = target;
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

static const struct loader_key version_keys[] = {
	{"version", loader_read_text_value, offsetof(struct rule_version, name)},
	{"path", read_regexes, offsetof(struct rule_version, regexes[RULES_VERSION_PATH])},
	{"image", read_regexes, offsetof(struct rule_version, regexes[RULES_VERSION_IMAGE])},
	{"same_name", loader_read_flag, offsetof(struct rule_version, same_name)},
	{"packages", read_names, offsetof(struct rule_version, packages)},
	{"programs", read_names, offsetof(struct rule_version, programs)},
	{"examples", read_examples, offsetof(struct rule_version, examples)},
	{NULL}};

static int check(struct loader *loader, const struct tree_node *node, const struct rule_version *version)
{
	if (!version->name)
		return loader_refuse(loader, node->line, "the entry has no name: add \"version: NAME\"");
	if ((version->regexes[RULES_VERSION_PATH].count > 0) + (version->regexes[RULES_VERSION_IMAGE].count > 0) +
		    (version->packages.count > 0) !=
	    1)
		return loader_refuse(loader, node->line, "version \"%.60s\" needs one of path, image and packages",
				     version->name);
	if (!version->packages.count != !version->programs.count)
		return loader_refuse(loader, node->line, "version \"%.60s\" needs both packages and programs",
				     version->name);
	return 0;
}

/* Returns 1 if an entry of the same name in an earlier layer replaces this one. */
static int check_name(struct loader *loader, const struct rule_version *version)
{
	const struct rule_versions *versions = &loader->rules->versions;

	for (size_t i = 0; i < versions->count; i++) {
		const struct rule_version *other = &versions->items[i];

		if (strcmp(other->name, version->name) != 0)
			continue;
		if (other->layer != version->layer)
			return 1;
		return loader_refuse(loader, version->line, "a version named \"%.60s\" already exists at %.200s:%u",
				     other->name, other->file, other->line);
	}
	return 0;
}

int loader_read_version(struct loader *loader, const struct tree_node *node)
{
	struct rule_versions *versions = &loader->rules->versions;
	struct rule_version *version =
		grow(versions->items, &versions->capacity, versions->count + 1, sizeof(*version));
	int r;

	if (!version)
		return -ENOMEM;
	versions->items = version;
	if (versions->count == VERSION_COUNT_MAX)
		return loader_refuse(loader, node->line, "more than %d versions", VERSION_COUNT_MAX);
	version += versions->count;
	*version = (struct rule_version){.file = loader->file, .line = node->line, .layer = loader->layer};
	r = loader_read_mapping(loader, node, version_keys, version);
	if (r == 0)
		r = check(loader, node, version);
	if (r == 0)
		r = check_name(loader, version);
	if (r == 0)
		versions->count++;
	else
		rule_version_deinit(version);
	return r < 0 ? r : 0;
}

void rule_version_deinit(struct rule_version *version)
{
	for (int source = 0; source < RULES_VERSION_SOURCE_COUNT; source++)
		rule_regexes_deinit(&version->regexes[source]);
}

/* ---- reading ----------------------------------------------------------------------- */

/* For comparison of names: trim-galore is trim_galore, SAMtools is samtools. */
static char plain(char c)
{
	return c == '_' ? '-' : (char)tolower((unsigned char)c);
}

/* Whether a program is what a package is named after: samtools of SAMtools, hisat2-build of hisat2, gatk of gatk4. */
static bool is_same_name(const char *package, const char *program)
{
	while (*package && plain(*package) == plain(*program)) {
		package++;
		program++;
	}
	if (*program == '\0')
		return package[strspn(package, "0123456789")] == '\0';
	return *package == '\0' && !isalnum((unsigned char)*program);
}

static bool names_have(const struct rule_names *names, const char *name, bool in_any_case)
{
	for (size_t i = 0; i < names->count; i++)
		if ((in_any_case ? strcasecmp(names->items[i], name) : strcmp(names->items[i], name)) == 0)
			return true;
	return false;
}

/* Whether an entry says that packages of the name have the program. */
static bool has_program(const struct rule_versions *versions, const char *package, const char *program)
{
	for (size_t i = 0; i < versions->count; i++)
		if (names_have(&versions->items[i].packages, package, true) &&
		    names_have(&versions->items[i].programs, program, false))
			return true;
	return false;
}

static void group_copy(pcre2_match_data *match, const char *group, char *text, size_t capacity)
{
	PCRE2_SIZE size = capacity;

	if (pcre2_substring_copy_byname(match, (PCRE2_SPTR)group, (PCRE2_UCHAR *)text, &size) < 0)
		*text = '\0'; /* absent, or too long to be one */
}

static bool regex_read(const struct rules *rules, const struct rule_regex *regex, const char *text,
		       struct rules_version *ret)
{
	pcre2_match_data *match = rules->scratch->captures.sources[TEMPLATE_SOURCE_PATH].match;

	if (pcre2_match(regex->code, (PCRE2_SPTR)text, strlen(text), 0, 0, match, rules->scratch->context) < 0)
		return false;
	group_copy(match, "package", ret->package, sizeof(ret->package));
	group_copy(match, "version", ret->version, sizeof(ret->version));
	return *ret->package && *ret->version;
}

bool rules_read_version(const struct rules *rules, enum rules_version_source source, const char *program,
			const char *text, struct rules_version *ret_version)
{
	for (size_t i = 0; i < rules->versions.count; i++) {
		const struct rule_version *version = &rules->versions.items[i];
		const struct rule_regexes *regexes = &version->regexes[source];

		for (size_t k = 0; k < regexes->count; k++)
			if (regex_read(rules, &regexes->items[k], text, ret_version) &&
			    ((!version->same_name && source != RULES_VERSION_IMAGE) ||
			     is_same_name(ret_version->package, program) ||
			     has_program(&rules->versions, ret_version->package, program)))
				return true;
	}
	return false;
}

int rules_check_version_examples(const struct rules *rules, const struct rule_version *version,
				 struct tree_error *ret_error)
{
	for (size_t i = 0; i < version->examples.count; i++) {
		const struct rule_version_example *example = &version->examples.items[i];
		bool is_path = example->texts[RULES_VERSION_PATH] != NULL;
		enum rules_version_source source = is_path ? RULES_VERSION_PATH : RULES_VERSION_IMAGE;
		const char *text = example->texts[source];
		const char *program = example->program ? example->program : strrchr(text, '/');
		struct rules_version found = {.version = "unknown"};

		if (!rules_read_version(rules, source, program ? program + (*program == '/') : text, text, &found))
			found = (struct rules_version){.version = "unknown"};
		if (strcmp(found.version, example->version) != 0 ||
		    (example->package && strcmp(found.package, example->package) != 0))
			return tree_error_set(ret_error, version->file, example->line,
					      "example \"%.100s\" of version \"%.60s\" gives %.60s %.60s", text,
					      version->name, found.package, found.version);
	}
	return 0;
}
