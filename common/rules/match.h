/* Matching of rules against a view. */
#pragma once

#include "common/rules/view.h"

/* Bytes of the joined arguments that regular expressions see. */
#define MATCH_ARGUMENTS_MAX 16384

/* Last match of a regular expression; `text` is valid until the next view. */
struct capture {
	const char *text;
	unsigned count; /* groups, including the whole match; 0: none */
	pcre2_match_data *match;
};

struct captures {
	struct capture sources[TEMPLATE_SOURCE_COUNT];
};

/* Cache of the last texts that regular expressions were matched against and of the rules that did not match:
 * most processes share a few cgroups and working directories. Longer texts, and rules
 * beyond the first 64 with the key, are matched each time. */
#define SEEN_TEXTS_MAX 8
#define SEEN_BYTES_MAX 256

struct seen_text {
	char text[SEEN_BYTES_MAX];
	uint64_t unmatched; /* bit n: rule_regexes number n does not match */
};

struct seen_texts {
	struct seen_text items[SEEN_TEXTS_MAX];
	struct seen_text *current; /* of the view; NULL: not looked up, or too long */
	unsigned oldest;           /* replaced by the next new text */
};

/* Working memory of a rule set, so that classifying allocates nothing. */
struct rules_scratch {
	pcre2_match_context *context;
	struct captures captures;
	struct seen_texts seen[TEMPLATE_SOURCE_COUNT];
	const struct view *joined; /* the view that `arguments` belongs to; NULL: none */
	char arguments[MATCH_ARGUMENTS_MAX];
};

struct rules_scratch *rules_scratch_new(void);
void rules_scratch_free(struct rules_scratch *scratch);
/* Call before matching another view. */
void rules_scratch_begin(struct rules_scratch *scratch);

/* Returns the first rule in order that matches, or NULL. Its groups are in
 * rules->scratch->captures. */
const struct rule *rules_find(const struct rules *rules, const struct view *view);

/* Returns true if `rule` matches. With `named`, the index has already compared the executable. */
bool rule_holds(const struct rules *rules, const struct rule *rule, bool named, const struct view *view);
