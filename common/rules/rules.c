/* Rule sets: the shipped rules and those of the site. See rules.h. */
#include "common/rules/rules.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/rules/match.h"
#include "common/rules/shipped.h"
#include "common/text.h"

#define FILES_MAX 1000 /* per directory */

const char *rules_role_text(enum rules_role role)
{
	static const char *const texts[] = {RULES_ROLES(TEXT_OF)};

	return role < RULES_ROLE_COUNT ? texts[role] : "unknown";
}

const char *rules_role_meaning(const char *role)
{
	static const char *const meanings[] = {
#define X(NAME, text, meaning) text ": " meaning,
		RULES_ROLES(X)
#undef X
	};

	for (unsigned i = 0; i < RULES_ROLE_COUNT; i++)
		if (strcmp(rules_role_text((enum rules_role)i), role) == 0)
			return meanings[i];
	return role;
}

void rules_free(struct rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->count; i++)
		rule_deinit(&rules->items[i]);
	free(rules->items);
	for (size_t i = 0; i < rules->versions.count; i++)
		rule_version_deinit(&rules->versions.items[i]);
	free(rules->versions.items);
	for (size_t i = 0; i < rules->runtimes.count; i++)
		rule_runtime_deinit(&rules->runtimes.items[i]);
	free(rules->runtimes.items);
	secrets_deinit(&rules->secrets);
	rules_scratch_free(rules->scratch);
	arena_deinit(&rules->arena);
	free(rules);
}

static struct rules *rules_new(void)
{
	struct rules *rules = calloc(1, sizeof(*rules));

	if (!rules)
		return NULL;
	rules->scratch = rules_scratch_new();
	if (!rules->scratch) {
		rules_free(rules);
		return NULL;
	}
	identity_begin(&rules->identity, "rules");
	return rules;
}

/* Finishes a load with the result `r` so far: on success builds the index, otherwise frees the rules. */
static int rules_finish(struct rules *rules, int r, struct rules **ret_rules)
{
	if (r == 0)
		r = rules_index_build(rules);
	if (r == 0)
		r = secrets_index(&rules->secrets);
	if (r < 0) {
		rules_free(rules);
		return r;
	}
	rules->version = (uint64_t)identity_end(&rules->identity);
	*ret_rules = rules;
	return 0;
}

static int rules_read_path(struct rules *rules, const char *path, unsigned layer, struct tree_error *ret_error)
{
	char *data;
	size_t size;
	int r = tree_read_file(path, &data, &size, ret_error);

	if (r < 0)
		return r;
	r = rules_read(rules, path, layer, data, size, ret_error);
	free(data);
	if (r < 0 && r != -EINVAL)
		tree_error_set(ret_error, path, 0, "cannot be read: %s", strerror(-r));
	return r;
}

static int name_is_rules(const struct dirent *entry)
{
	size_t size = strlen(entry->d_name);

	return entry->d_name[0] != '.' && size > 5 && strcmp(entry->d_name + size - 5, ".yaml") == 0;
}

/* Sorts by bytes; alphasort() depends on the locale. */
static int name_compare(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* How to handle a file that cannot be used. */
struct refusal {
	rules_refused tell; /* NULL: the load fails */
	void *data;
	struct tree_error *error;
};

static int refuse(const struct refusal *refusal, int error)
{
	if (!refusal->tell || error == -ENOMEM)
		return error;
	refusal->tell(refusal->error, refusal->data);
	return 0;
}

/* Adds all rules of the file or none. */
static int rules_take_file(struct rules *rules, const char *path, unsigned layer, const struct refusal *refusal)
{
	struct identity identity = rules->identity;
	struct rules_counts counts = rules_count_all(rules);
	int r;

	*refusal->error = (struct tree_error){.line = 0};
	r = rules_read_path(rules, path, layer, refusal->error);
	if (r == 0)
		return 0;
	while (rules->count > counts.rules)
		rule_deinit(&rules->items[--rules->count]);
	while (rules->secrets.count > counts.secrets)
		secret_deinit(&rules->secrets.items[--rules->secrets.count]);
	while (rules->versions.count > counts.versions)
		rule_version_deinit(&rules->versions.items[--rules->versions.count]);
	while (rules->runtimes.count > counts.runtimes)
		rule_runtime_deinit(&rules->runtimes.items[--rules->runtimes.count]);
	rules->identity = identity;
	return refuse(refusal, r);
}

static int rules_read_directory(struct rules *rules, const char *directory, unsigned layer,
				const struct refusal *refusal)
{
	struct dirent **entries;
	char path[4096];
	int r = 0, count = scandir(directory, &entries, name_is_rules, name_compare);

	if (count < 0 && errno == ENOENT)
		return 0;
	if (count < 0) {
		r = -errno;
		tree_error_set(refusal->error, directory, 0, "cannot be read: %s", strerror(-r));
		return refuse(refusal, r);
	}
	if (count > FILES_MAX)
		r = refuse(refusal, tree_error_set(refusal->error, directory, 0, "more than %d rule files", FILES_MAX));
	for (int i = 0; i < count; i++) {
		if (r == 0 && count <= FILES_MAX) {
			snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
			r = rules_take_file(rules, path, layer, refusal);
		}
		free(entries[i]);
	}
	free(entries);
	return r;
}

static int rules_read_shipped(struct rules *rules, unsigned layer, struct tree_error *ret_error)
{
	for (size_t i = 0; i < rules_shipped_count; i++) {
		const struct rules_shipped *file = &rules_shipped[i];
		char name[256];
		int r;

		snprintf(name, sizeof(name), "shipped:%s", file->name);
		r = rules_read(rules, name, layer, file->text, file->size, ret_error);
		if (r < 0)
			return r;
	}
	return 0;
}

static int load(const char *const *directories, const struct refusal *refusal, struct rules **ret_rules)
{
	struct rules *rules = rules_new();
	size_t count = 0;
	unsigned layer = 0;
	int r = 0;

	if (!rules)
		return -ENOMEM;
	while (directories && directories[count])
		count++;
	while (r == 0 && count-- > 0)
		r = rules_read_directory(rules, directories[count], ++layer, refusal);
	if (r == 0)
		r = rules_read_shipped(rules, 0, refusal->error);
	return rules_finish(rules, r, ret_rules);
}

int rules_load(const char *const *directories, struct rules **ret_rules, struct tree_error *ret_error)
{
	const struct refusal refusal = {.error = ret_error};

	return load(directories, &refusal, ret_rules);
}

int rules_load_valid(const char *const *directories, rules_refused refused, void *data, struct rules **ret_rules)
{
	struct tree_error error;
	const struct refusal refusal = {refused, data, &error};

	return load(directories, &refusal, ret_rules);
}

int rules_check_file(const char *path, size_t *ret_count, struct tree_error *ret_error)
{
	struct rules *rules = rules_new();
	struct rules_counts counts = {0};
	int r;

	if (!rules)
		return -ENOMEM;
	r = rules_read_path(rules, path, 1, ret_error);
	if (r == 0) {
		counts = rules_count_all(rules);
		r = rules_read_shipped(rules, 0, ret_error);
	}
	r = rules_finish(rules, r, &rules);
	if (r < 0)
		return r;
	r = rules_check_examples(rules, &counts, ret_error);
	rules_free(rules);
	if (r == 0)
		*ret_count = counts.rules + counts.secrets + counts.versions + counts.runtimes;
	return r;
}

int rules_load_memory(const char *name, const void *data, size_t size, struct rules **ret_rules,
		      struct tree_error *ret_error)
{
	struct rules *rules = rules_new();

	if (!rules)
		return -ENOMEM;
	return rules_finish(rules, rules_read(rules, name, 0, data, size, ret_error), ret_rules);
}

size_t rules_count(const struct rules *rules)
{
	return rules->count;
}

struct rules_counts rules_count_all(const struct rules *rules)
{
	return (struct rules_counts){rules->count, rules->secrets.count, rules->versions.count, rules->runtimes.count};
}

const struct secrets *rules_secrets(const struct rules *rules)
{
	return &rules->secrets;
}

bool rules_name_samples(const struct rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		if (rules->items[i].texts[TEMPLATE_TEXT_SAMPLE])
			return true;
	return false;
}

uint64_t rules_version(const struct rules *rules)
{
	return rules->version;
}

bool rules_describe(const struct rules *rules, size_t index, struct rules_description *ret)
{
	const struct rule *rule;

	if (index >= rules->count)
		return false;
	rule = &rules->items[index];
	*ret = (struct rules_description){
		.name = rule->name,
		.file = rule->file,
		.line = rule->line,
		.role = rule->role,
		.summary = rule->summary,
	};
	return true;
}
