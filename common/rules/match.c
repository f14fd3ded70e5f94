/* Matching of rules. See match.h.
 *
 * Cheap keys are compared first; parents and ancestors, which may need unwrapping
 * themselves, last.
 */
#include "common/rules/match.h"

#include <string.h>

/* A hostile argument may cause excessive backtracking in a careless pattern: beyond the first two limits
 * it does not match. The third is the number of groups, with group 0, that templates can refer to. */
#define MATCH_STEPS_MAX 20000
#define MATCH_HEAP_KIB_MAX 512
#define MATCH_GROUPS_MAX 100

void rules_scratch_free(struct rules_scratch *scratch)
{
	if (!scratch)
		return;
	for (int source = 0; source < TEMPLATE_SOURCE_COUNT; source++)
		pcre2_match_data_free(scratch->captures.sources[source].match);
	pcre2_match_context_free(scratch->context);
	free(scratch);
}

struct rules_scratch *rules_scratch_new(void)
{
	struct rules_scratch *scratch = calloc(1, sizeof(*scratch));
	bool complete;

	if (!scratch)
		return NULL;
	scratch->context = pcre2_match_context_create(NULL);
	complete = scratch->context != NULL;
	for (int source = 0; source < TEMPLATE_SOURCE_COUNT; source++) {
		struct capture *capture = &scratch->captures.sources[source];

		capture->match = pcre2_match_data_create(MATCH_GROUPS_MAX, NULL);
		complete = complete && capture->match;
	}
	if (!complete) {
		rules_scratch_free(scratch);
		return NULL;
	}
	pcre2_set_match_limit(scratch->context, MATCH_STEPS_MAX);
	pcre2_set_heap_limit(scratch->context, MATCH_HEAP_KIB_MAX);
	return scratch;
}

static const char *source_text(struct rules_scratch *scratch, enum template_source source, const struct view *view)
{
	switch (source) {
	case TEMPLATE_SOURCE_PATH: return view->path;
	case TEMPLATE_SOURCE_WORKING_DIRECTORY: return view->subject->working_directory;
	case TEMPLATE_SOURCE_CGROUP: return view->subject->cgroup;
	case TEMPLATE_SOURCE_ARGV:
	case TEMPLATE_SOURCE_COUNT: break;
	}
	if (scratch->joined != view) {
		view_join_arguments(view, scratch->arguments, sizeof(scratch->arguments));
		scratch->joined = view;
	}
	return scratch->arguments;
}

void rules_scratch_begin(struct rules_scratch *scratch)
{
	scratch->joined = NULL;
	for (int source = 0; source < TEMPLATE_SOURCE_COUNT; source++)
		scratch->seen[source].current = NULL;
}

/* Returns NULL if the text is too long for the cache. */
static struct seen_text *seen_find(struct seen_texts *seen, const char *text)
{
	size_t size = strlen(text);
	struct seen_text *item;

	if (size >= SEEN_BYTES_MAX)
		return NULL;
	for (size_t i = 0; i < SEEN_TEXTS_MAX && !seen->current; i++) {
		if (strcmp(seen->items[i].text, text) == 0)
			seen->current = &seen->items[i];
	}
	if (seen->current)
		return seen->current;
	item = &seen->items[seen->oldest];
	seen->oldest = (seen->oldest + 1) % SEEN_TEXTS_MAX;
	memcpy(item->text, text, size + 1);
	item->unmatched = 0;
	seen->current = item;
	return item;
}

static bool regexes_hold(struct rules_scratch *scratch, const struct rule_regexes *regexes, enum template_source source,
			 const struct view *view)
{
	struct capture *capture = &scratch->captures.sources[source];
	struct seen_text *seen = scratch->seen[source].current;
	uint64_t bit = regexes->number < 64 ? UINT64_C(1) << regexes->number : 0;
	size_t size;

	capture->count = 0;
	if (regexes->count == 0)
		return true;
	if (!seen) {
		capture->text = source_text(scratch, source, view);
		seen = seen_find(&scratch->seen[source], capture->text);
	}
	if (seen && seen->unmatched & bit)
		return false;
	size = strlen(capture->text);
	for (size_t i = 0; i < regexes->count; i++) {
		int count = pcre2_match(regexes->items[i].code, (PCRE2_SPTR)capture->text, size, 0, 0, capture->match,
					scratch->context);

		if (count < 0)
			continue;
		capture->count = count > 0 ? (unsigned)count : MATCH_GROUPS_MAX;
		return true;
	}
	if (seen)
		seen->unmatched |= bit;
	return false;
}

/* A pattern without a slash matches the base name. */
static bool script_holds(const struct rule_patterns *patterns, const struct view *view)
{
	for (size_t i = 0; i < patterns->count; i++) {
		const struct rule_pattern *pattern = &patterns->items[i];

		if (rule_pattern_match(pattern, strchr(pattern->text, '/') ? view->path : view->program))
			return view->is_script;
	}
	return false;
}

static bool arguments_hold(const struct rule_patterns *patterns, const struct view *view)
{
	for (size_t i = 1; i < view->argc; i++) {
		if (rule_patterns_match(patterns, view->argv[i]))
			return true;
	}
	return false;
}

/* Only rules that match by the executable alone are used to unwrap interpreters here:
 * evaluating others could recurse into this function. */
static const struct rule *find_interpreter(const struct rules *rules, const struct view *view)
{
	struct rule_candidates candidates;
	const struct rule *rule;

	rule_candidates_begin(&candidates, rules, &rules->deciding, view->program);
	while ((rule = rule_candidates_next(&candidates))) {
		if (rule->unwrap.enabled && rule->match.only_executable &&
		    (candidates.named || rule_patterns_match(&rule->match.executable, view->program)))
			return rule;
	}
	return NULL;
}

/* Matches the program as executed or what it interprets: `python /usr/bin/snakemake` is both. */
static bool subject_is_named(const struct rules *rules, const struct rules_subject *subject,
			     const struct rule_patterns *names)
{
	struct view views[2];

	view_init(&views[0], subject);
	for (unsigned depth = 0; depth <= RULES_UNWRAP_MAX; depth++) {
		const struct view *view = &views[depth % 2];
		const struct rule *interpreter;

		if (rule_patterns_match(names, view->program))
			return true;
		interpreter = find_interpreter(rules, view);
		if (!interpreter || view_unwrap(view, interpreter, &views[(depth + 1) % 2]) != VIEW_OPERAND_SCRIPT)
			return false;
	}
	return false;
}

static bool ancestors_hold(const struct rules *rules, const struct rule_patterns *names,
			   const struct rules_subject *subject, unsigned depth_max)
{
	const struct rules_subject *parent = subject->parent;

	for (unsigned depth = 0; parent && depth < depth_max; depth++) {
		if (subject_is_named(rules, parent, names))
			return true;
		parent = parent->parent;
	}
	return false;
}

bool rule_holds(const struct rules *rules, const struct rule *rule, bool named, const struct view *view)
{
	const struct rule_match *match = &rule->match;

	if (match->executable.count > 0 && !named && !rule_patterns_match(&match->executable, view->program))
		return false;
	if (match->script.count > 0 && !script_holds(&match->script, view))
		return false;
	if (match->argument.count > 0 && !arguments_hold(&match->argument, view))
		return false;
	for (int source = 0; source < TEMPLATE_SOURCE_COUNT; source++) {
		if (!regexes_hold(rules->scratch, &match->regexes[source], (enum template_source)source, view))
			return false;
	}
	if (match->parent.count > 0 && !ancestors_hold(rules, &match->parent, view->subject, 1))
		return false;
	return match->ancestor.count == 0 ||
	       ancestors_hold(rules, &match->ancestor, view->subject, RULES_ANCESTORS_MAX);
}

const struct rule *rules_find(const struct rules *rules, const struct view *view)
{
	struct rule_candidates candidates;
	const struct rule *rule;

	rules_scratch_begin(rules->scratch);
	rule_candidates_begin(&candidates, rules, &rules->deciding, view->program);
	while ((rule = rule_candidates_next(&candidates))) {
		if (rule_holds(rules, rule, candidates.named, view))
			return rule;
	}
	return NULL;
}
