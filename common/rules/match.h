/* Whether a rule's match holds for a view. */
#ifndef TRACER_COMMON_RULES_MATCH_H
#define TRACER_COMMON_RULES_MATCH_H

#include <stdbool.h>

#include "common/rules/rule.h"
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

/* Working memory of a rule set: classifying allocates nothing. */
struct rules_scratch {
	pcre2_match_context *context;
	struct captures captures;
	const struct view *joined; /* the view `arguments` belongs to, NULL: none */
	char arguments[MATCH_ARGUMENTS_MAX];
};

struct rules_scratch *rules_scratch_new(void);
void rules_scratch_free(struct rules_scratch *scratch);

/* The first rule in order that holds, NULL: none. Its groups are in
 * rules->scratch->captures. */
const struct rule *rules_find(const struct rules *rules, const struct view *view);

/* `named`: the index has compared the executable already. */
bool rule_holds(const struct rules *rules, const struct rule *rule, bool named,
		const struct view *view);

#endif
