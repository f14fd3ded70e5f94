/* Matching of rules against a view, and what a match gives. */
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

/* ---- what a match gives (expand.c, threads.c) --------------------------------------- */

/* Expands a template with what a rule matched. Writes at most RULES_NAME_MAX - 1 bytes, truncated between characters. Empty
 * placeholders leave no double or trailing space; if `template->whole` is set, one
 * makes the text empty. `captures` are those of the rule that the template belongs to. */
void template_expand(const struct template *template, const struct rule *rule, const struct view *view,
		     const struct captures *captures, char ret_text[RULES_NAME_MAX]);

/* Returns where the match in that text ended, 0: there was none. */
size_t captures_end(const struct captures *captures, enum template_source source);

/* Copies `size` bytes, truncated between characters if necessary. */
void name_set(char ret_text[RULES_NAME_MAX], const char *text, size_t size);

/* Returns the number of threads that a command line asks for, by the options that its rule declares, or 0 if no declared option has a value from 1 to RULES_THREADS_MAX. The last option counts: if
 * its value is no such number ("auto", "0"), the request is unknown. */
unsigned threads_requested(const struct rule *rule, const struct view *view);
