/* Index of rules by the base name of the program, so that classifying an exec tries a few
 * rules instead of all.
 *
 * A rule that lists exact names is found by binary search, one with globs by their first byte. Candidates are returned in the order
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

/* A glob is listed by its first byte, or as "" if that may be any, like a rule without names. */
static void index_add_glob(struct rule_index *index, const char *glob, size_t rule)
{
	const char *name = strchr("*?[\\", glob[0]) ? "" : glob;

	index->globs[index->glob_count++] = (struct rule_index_entry){name, (uint32_t)rule};
}

static void index_add_rule(struct rule_index *index, const struct rule_patterns *names, size_t rule)
{
	if (names->count == 0)
		index_add_glob(index, "*", rule);
	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->items[i].text;

		if (names->items[i].is_glob)
			index_add_glob(index, name, rule);
		else
			index->exact[index->exact_count++] = (struct rule_index_entry){name, (uint32_t)rule};
	}
}

static int glob_compare(const void *a, const void *b)
{
	const struct rule_index_entry *left = a, *right = b;
	int order = (unsigned char)left->name[0] - (unsigned char)right->name[0];

	return order ? order : (left->rule > right->rule) - (left->rule < right->rule);
}

static void index_sort(struct rule_index *index)
{
	size_t glob = 0;

	qsort(index->exact, index->exact_count, sizeof(*index->exact), entry_compare);
	qsort(index->globs, index->glob_count, sizeof(*index->globs), glob_compare);
	for (unsigned byte = 0; byte <= UCHAR_MAX + 1; byte++) {
		while (glob < index->glob_count && (unsigned char)index->globs[glob].name[0] < byte)
			glob++;
		index->globs_from[byte] = glob;
	}
}

static int index_build(struct rule_index *index, struct rules *rules, bool continuing)
{
	size_t capacity = 1;

	for (size_t i = 0; i < rules->count; i++)
		if (rules->items[i].continues == continuing)
			capacity += rules->items[i].match.executable.count + 1;
	index->exact = arena_alloc(&rules->arena, capacity * sizeof(*index->exact));
	index->globs = arena_alloc(&rules->arena, capacity * sizeof(*index->globs));
	if (!index->exact || !index->globs)
		return -ENOMEM;
	for (size_t i = 0; i < rules->count; i++)
		if (rules->items[i].continues == continuing)
			index_add_rule(index, &rules->items[i].match.executable, i);
	index_sort(index);
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
	size_t low = 0, high = index->exact_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(index->exact[middle].name, program) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct rule_index_range globs_with(const struct rule_index *index, unsigned char first_byte)
{
	return (struct rule_index_range){&index->globs[index->globs_from[first_byte]],
					 &index->globs[index->globs_from[first_byte + 1]]};
}

void rule_candidates_begin(struct rule_candidates *candidates, const struct rules *rules,
			   const struct rule_index *index, const char *program)
{
	size_t exact = index_find_exact(index, program), exact_end = exact;

	while (exact_end < index->exact_count && strcmp(index->exact[exact_end].name, program) == 0)
		exact_end++;
	*candidates = (struct rule_candidates){
		.rules = rules,
		.ranges = {{&index->exact[exact], &index->exact[exact_end]},
			   globs_with(index, (unsigned char)program[0]),
			   globs_with(index, 0)},
	};
}

const struct rule *rule_candidates_next(struct rule_candidates *candidates)
{
	uint32_t rule = UINT32_MAX;

	for (size_t i = 0; i < 3; i++) {
		struct rule_index_range *range = &candidates->ranges[i];

		while (range->first < range->end && range->first->rule < candidates->next)
			range->first++;
		if (range->first < range->end && range->first->rule < rule) {
			rule = range->first->rule;
			candidates->named = i == 0;
		}
	}
	if (rule == UINT32_MAX)
		return NULL;
	candidates->next = rule + 1;
	return &candidates->rules->items[rule];
}
