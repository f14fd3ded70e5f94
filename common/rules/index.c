/* Index of rules by the base name of the program, so that classifying an exec tries a few
 * rules instead of all.
 *
 * A rule that lists exact names is found by binary search, one with globs by their
 * first byte; the rest are tried for every program. Candidates are returned in the order
 * of the rules, however they were found, so the index changes no result. Rules with
 * `continue: true` have a separate index.
 */
#include <errno.h>
#include <string.h>

#include "common/rules/glob.h"
#include "common/rules/rule.h"

bool rule_pattern_match(const struct rule_pattern *pattern, const char *text)
{
	if (pattern->is_glob)
		return glob_match(pattern->text, text);
	return strcmp(pattern->text, text) == 0;
}

bool rule_patterns_match(const struct rule_patterns *patterns, const char *text)
{
	for (size_t i = 0; i < patterns->count; i++) {
		if (rule_pattern_match(&patterns->items[i], text))
			return true;
	}
	return false;
}

static int entry_compare(const void *a, const void *b)
{
	const struct rule_index_entry *left = a, *right = b;
	int order = strcmp(left->name, right->name);

	return order ? order : (left->rule > right->rule) - (left->rule < right->rule);
}

/* Adds a rule unless it is in the list already: rules come in order, so it would be the last item. */
static void list_add(struct rule_index_list *list, uint32_t rule)
{
	if (list->count == 0 || list->rules[list->count - 1] != rule)
		list->rules[list->count++] = rule;
}

static int list_reserve(struct arena *arena, struct rule_index_list *list)
{
	size_t capacity = list->count;

	list->count = 0;
	if (capacity == 0)
		return 0;
	list->rules = arena_alloc(arena, capacity * sizeof(*list->rules));
	return list->rules ? 0 : -ENOMEM;
}

/* Returns the list for the rule of a pattern, or NULL if it belongs to the exact names. */
static struct rule_index_list *index_list(struct rule_index *index, const struct rule_pattern *pattern)
{
	if (!pattern->is_glob)
		return NULL;
	if (strchr("*?[\\", pattern->text[0]))
		return &index->any;
	return &index->by_first_byte[(unsigned char)pattern->text[0]];
}

/* Called twice per rule: first to count, then, once memory is allocated, to fill. */
static void index_visit_rule(struct rule_index *index, const struct rule *rule, uint32_t position, bool fill)
{
	const struct rule_patterns *names = &rule->match.executable;

	if (names->count == 0) {
		if (fill)
			list_add(&index->any, position);
		else
			index->any.count++;
		return;
	}
	for (size_t i = 0; i < names->count; i++) {
		struct rule_index_list *list = index_list(index, &names->items[i]);

		if (!list && fill)
			index->exact[index->exact_count] = (struct rule_index_entry){names->items[i].text, position};
		if (!list)
			index->exact_count++;
		else if (fill)
			list_add(list, position);
		else
			list->count++;
	}
}

static void index_visit_rules(struct rule_index *index, const struct rules *rules, bool continuing, bool fill)
{
	for (size_t i = 0; i < rules->count; i++) {
		if (rules->items[i].continues == continuing)
			index_visit_rule(index, &rules->items[i], (uint32_t)i, fill);
	}
}

static int index_build(struct rule_index *index, struct rules *rules, bool continuing)
{
	int r;

	index_visit_rules(index, rules, continuing, false);
	for (size_t i = 0; i < 256; i++) {
		r = list_reserve(&rules->arena, &index->by_first_byte[i]);
		if (r < 0)
			return r;
	}
	r = list_reserve(&rules->arena, &index->any);
	if (r < 0)
		return r;
	index->exact = arena_alloc(&rules->arena, (index->exact_count + 1) * sizeof(*index->exact));
	if (!index->exact)
		return -ENOMEM;
	index->exact_count = 0;
	index_visit_rules(index, rules, continuing, true);
	qsort(index->exact, index->exact_count, sizeof(*index->exact), entry_compare);
	for (size_t i = 0; i < index->exact_count; i++)
		index->exact_ends[(unsigned char)index->exact[i].name[0]] = i + 1;
	for (size_t i = 1; i < 256; i++) {
		if (index->exact_ends[i] == 0)
			index->exact_ends[i] = index->exact_ends[i - 1];
	}
	return 0;
}

/* Assigns the numbers by which scratch memory identifies regular expressions (match.c). */
static void number_regexes(struct rules *rules)
{
	unsigned counts[TEMPLATE_SOURCE_COUNT] = {0};

	for (size_t i = 0; i < rules->count; i++) {
		for (int source = 0; source < TEMPLATE_SOURCE_COUNT; source++) {
			struct rule_regexes *regexes = &rules->items[i].match.regexes[source];

			if (regexes->count > 0)
				regexes->number = counts[source]++;
		}
	}
}

int rules_index_build(struct rules *rules)
{
	int r = index_build(&rules->deciding, rules, false);

	number_regexes(rules);
	return r < 0 ? r : index_build(&rules->continuing, rules, true);
}

/* Returns the position of the first entry that does not sort before `program`. */
static size_t index_find_exact(const struct rule_index *index, const char *program)
{
	unsigned char first = (unsigned char)program[0];
	size_t low = first ? index->exact_ends[first - 1] : 0, high = index->exact_ends[first];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(index->exact[middle].name, program) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void rule_candidates_begin(struct rule_candidates *candidates, const struct rules *rules,
			   const struct rule_index *index, const char *program)
{
	size_t exact = index_find_exact(index, program), exact_end = exact;

	while (exact_end < index->exact_count && strcmp(index->exact[exact_end].name, program) == 0)
		exact_end++;
	*candidates = (struct rule_candidates){
		.rules = rules,
		.exact = &index->exact[exact],
		.exact_end = &index->exact[exact_end],
		.lists = {&index->by_first_byte[(unsigned char)program[0]], &index->any},
	};
}

static uint32_t candidates_listed(const struct rule_candidates *candidates, int list)
{
	if (candidates->positions[list] == candidates->lists[list]->count)
		return UINT32_MAX;
	return candidates->lists[list]->rules[candidates->positions[list]];
}

const struct rule *rule_candidates_next(struct rule_candidates *candidates)
{
	bool has_exact = candidates->exact < candidates->exact_end;
	uint32_t exact = has_exact ? candidates->exact->rule : UINT32_MAX, best = exact;

	for (int list = 0; list < 2; list++) {
		uint32_t rule = candidates_listed(candidates, list);

		if (rule < best)
			best = rule;
	}
	if (best == UINT32_MAX)
		return NULL;
	candidates->named = exact == best;
	if (candidates->named)
		candidates->exact++;
	for (int list = 0; list < 2; list++) {
		if (candidates_listed(candidates, list) == best)
			candidates->positions[list]++;
	}
	return &candidates->rules->items[best];
}
