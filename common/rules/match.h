/* Whether a rule's match holds for a view. */
#pragma once

#include "common/rules/view.h"

/* Bytes of joined arguments that a regular expression looks at. */
#define MATCH_ARGUMENTS_MAX 16384

/* What one regular expression matched last; `text` is valid until the next view. */
struct capture {
	const char *text;
	unsigned count; /* groups, the whole match included; 0: none */
	pcre2_match_data *match;
};

struct captures {
	struct capture sources[TEMPLATE_SOURCE_COUNT];
};

/* The last texts that regular expressions were matched against, and which rules did not match: most
 * processes are in the same cgroups and work in the same few directories. Longer texts, and rules
 * beyond the first 64 that have the key, are matched again each time. */
#define SEEN_TEXTS_MAX 8
#define SEEN_BYTES_MAX 256

struct seen_text {
	char text[SEEN_BYTES_MAX];
	uint64_t unmatched; /* bit n: none of rule_regexes number n matches */
};

struct seen_texts {
	struct seen_text items[SEEN_TEXTS_MAX];
	struct seen_text *current; /* the view's, NULL: not looked for, or too long */
	unsigned oldest;           /* the next new one takes its place */
};

/* Working memory of a rule set: classifying allocates nothing. */
struct rules_scratch {
	pcre2_match_context *context;
	struct captures captures;
	struct seen_texts seen[TEMPLATE_SOURCE_COUNT];
	const struct view *joined; /* the view `arguments` belongs to, NULL: none */
	char arguments[MATCH_ARGUMENTS_MAX];
};

struct rules_scratch *rules_scratch_new(void);
void rules_scratch_free(struct rules_scratch *scratch);
/* Another view is looked at. */
void rules_scratch_begin(struct rules_scratch *scratch);

/* The first rule in order that holds, NULL: none. Its groups are in
 * rules->scratch->captures. */
const struct rule *rules_find(const struct rules *rules, const struct view *view);

/* `named`: the index has compared the executable already. */
bool rule_holds(const struct rules *rules, const struct rule *rule, bool named, const struct view *view);
