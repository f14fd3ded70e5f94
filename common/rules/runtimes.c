/* Which container a cgroup is of, by its path: the entries of `runtimes:`. docs/rules.md describes the keys. */
#include <string.h>

#include "common/grow.h"
#include "common/rules/loader.h"
#include "common/rules/match.h"

#define RUNTIME_COUNT_MAX 100
#define GROUP_ID "id"

/* ---- loading ----------------------------------------------------------------------- */

static int read_regex_of_id(struct loader *loader, const char *text, unsigned line, void *item)
{
	const struct rule_regex *regex = item;
	int r = loader_read_regex(loader, text, line, item);

	if (r < 0 || pcre2_substring_number_from_name(regex->code, (PCRE2_SPTR)GROUP_ID) >= 0)
		return r;
	pcre2_code_free(regex->code);
	return loader_refuse(loader, line, "has no group (?<" GROUP_ID ">...)");
}

LOADER_LIST(cgroups, rule_regexes, read_regex_of_id)

static const struct loader_key runtime_keys[] = {
	{"runtime", loader_read_text_value, offsetof(struct rule_runtime, name)},
	{"cgroup", read_cgroups, offsetof(struct rule_runtime, cgroups)},
	{NULL}};

int loader_read_runtime(struct loader *loader, const struct tree_node *node)
{
	struct rule_runtimes *runtimes = &loader->rules->runtimes;
	struct rule_runtime *runtime =
		grow(runtimes->items, &runtimes->capacity, runtimes->count + 1, sizeof(*runtime));
	int r;

	if (!runtime)
		return -ENOMEM;
	runtimes->items = runtime;
	if (runtimes->count == RUNTIME_COUNT_MAX)
		return loader_refuse(loader, node->line, "more than %d runtimes", RUNTIME_COUNT_MAX);
	runtime += runtimes->count;
	*runtime = (struct rule_runtime){0};
	r = loader_read_mapping(loader, node, runtime_keys, runtime);
	if (r == 0 && (!runtime->name || !runtime->cgroups.count))
		r = loader_refuse(loader, node->line, "a runtime needs \"runtime: NAME\" and \"cgroup: ...\"");
	if (r == 0)
		runtimes->count++;
	else
		rule_runtime_deinit(runtime);
	return r;
}

void rule_runtime_deinit(struct rule_runtime *runtime)
{
	rule_regexes_deinit(&runtime->cgroups);
}

/* ---- reading ----------------------------------------------------------------------- */

static bool regex_read(const struct rules *rules, const struct rule_regex *regex, const char *path, size_t size,
		       struct rules_cgroup *ret)
{
	pcre2_match_data *match = rules->scratch->captures.sources[TEMPLATE_SOURCE_PATH].match;
	const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(match);
	int group = pcre2_substring_number_from_name(regex->code, (PCRE2_SPTR)GROUP_ID);

	if (pcre2_match(regex->code, (PCRE2_SPTR)path, size, 0, 0, match, rules->scratch->context) <= group)
		return false;
	if (ends[2 * group] == PCRE2_UNSET || ends[2 * group] >= ends[2 * group + 1])
		return false; /* another alternative has matched */
	ret->id = path + ends[2 * group];
	ret->id_size = ends[2 * group + 1] - ends[2 * group];
	return true;
}

bool rules_read_cgroup(const struct rules *rules, const char *path, size_t size, struct rules_cgroup *ret_cgroup)
{
	for (size_t i = 0; i < rules->runtimes.count; i++) {
		const struct rule_runtime *runtime = &rules->runtimes.items[i];

		for (size_t k = 0; k < runtime->cgroups.count; k++) {
			if (!regex_read(rules, &runtime->cgroups.items[k], path, size, ret_cgroup))
				continue;
			ret_cgroup->runtime = runtime->name;
			return true;
		}
	}
	return false;
}
