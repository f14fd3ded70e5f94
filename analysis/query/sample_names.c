/* Names of samples that a user gives. See sample_names.h. */
#include "analysis/query/sample_names.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <ctype.h>
#include <errno.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define MATCH_STEPS_MAX 10000 /* an expression that needs more does not match */

struct listed {
	UT_hash_handle hh;
	char text[];
};

struct sample_names {
	struct listed *listed; /* by text */
	size_t longest;
	pcre2_code *code; /* NULL: a list, or rules */
	pcre2_match_data *match;
	pcre2_match_context *context;
	struct rules *rules;
};

struct sample_names *sample_names_new(void)
{
	return calloc(1, sizeof(struct sample_names));
}

void sample_names_free(struct sample_names *names)
{
	struct listed *listed, *next;

	if (!names)
		return;
	HASH_ITER (hh, names->listed, listed, next) {
		HASH_DEL(names->listed, listed);
		free(listed);
	}
	rules_free(names->rules);
	pcre2_match_context_free(names->context);
	pcre2_match_data_free(names->match);
	pcre2_code_free(names->code);
	free(names);
}

struct sample_names *sample_names_of_rules(struct rules *rules)
{
	struct sample_names *names = sample_names_new();

	if (names)
		names->rules = rules;
	else
		rules_free(rules);
	return names;
}

const struct rules *sample_names_rules(const struct sample_names *names)
{
	return names ? names->rules : NULL;
}

/* ---- a list ---------------------------------------------------------------------------- */

/* Letters and digits; bytes of other scripts are taken for letters. */
static bool is_in_name(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

int sample_names_add(struct sample_names *names, const char *name)
{
	size_t size = strlen(name), at = 0;
	struct listed *listed;

	while (at < size && !is_in_name(name[at]))
		at++;
	if (at == size || size > SAMPLE_NAMES_BYTES_MAX)
		return -EINVAL;
	HASH_FIND(hh, names->listed, name, size, listed);
	if (listed)
		return 0;
	listed = calloc(1, sizeof(*listed) + size + 1);
	if (!listed)
		return -ENOMEM;
	memcpy(listed->text, name, size);
	HASH_ADD_KEYPTR(hh, names->listed, listed->text, size, listed);
	names->longest = size > names->longest ? size : names->longest;
	return 0;
}

size_t sample_names_count(const struct sample_names *names)
{
	return HASH_COUNT(names->listed);
}

/* Whether a name can begin or end at `at`: never within letters and digits. */
static bool is_bound(const char *word, size_t at)
{
	return at == 0 || !is_in_name(word[at - 1]) || !is_in_name(word[at]);
}

/* A number at the end of a word is more likely one of threads. */
static bool is_number(const char *word, size_t at, size_t size)
{
	return !word[at + size] && strspn(word + at, "0123456789") == size;
}

/* Returns the size of the longest name that begins there, or 0. */
static size_t listed_size(const struct sample_names *names, const char *word, size_t at)
{
	struct listed *listed;

	for (size_t size = strnlen(word + at, names->longest); size > 0; size--) {
		if (!is_bound(word, at + size) || is_number(word, at, size))
			continue;
		HASH_FIND(hh, names->listed, word + at, size, listed);
		if (listed)
			return size;
	}
	return 0;
}

static bool listed_next(const struct sample_names *names, const char *word, size_t *at, const char **ret_name,
			size_t *ret_size)
{
	for (size_t i = *at; word[i]; i++) {
		size_t size = is_bound(word, i) ? listed_size(names, word, i) : 0;

		if (size == 0)
			continue;
		*ret_name = word + i;
		*ret_size = size;
		*at = i + size;
		return true;
	}
	return false;
}

/* ---- a pattern ------------------------------------------------------------------------- */

int sample_names_compile(const char *pattern, struct sample_names **ret_names, char reason[SAMPLE_NAMES_REASON_SIZE])
{
	struct sample_names *names = sample_names_new();
	uint32_t group_count = 0;
	PCRE2_SIZE offset;
	int code, error = 0;

	if (!names)
		return -ENOMEM;
	names->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_NEVER_UTF, &code, &offset, NULL);
	if (!names->code) {
		pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, SAMPLE_NAMES_REASON_SIZE);
		error = -EINVAL;
	} else {
		pcre2_pattern_info(names->code, PCRE2_INFO_CAPTURECOUNT, &group_count);
		names->match = pcre2_match_data_create_from_pattern(names->code, NULL);
		names->context = pcre2_match_context_create(NULL);
	}
	if (error == 0 && (!names->match || !names->context))
		error = -ENOMEM;
	if (error == 0 && group_count != 1) {
		snprintf(reason, SAMPLE_NAMES_REASON_SIZE, "needs one group ( ), has %u", group_count);
		error = -EINVAL;
	}
	if (error < 0) {
		sample_names_free(names);
		return error;
	}
	pcre2_set_match_limit(names->context, MATCH_STEPS_MAX);
	*ret_names = names;
	return 0;
}

static bool pattern_next(const struct sample_names *names, const char *word, size_t *at, const char **ret_name,
			 size_t *ret_size)
{
	size_t size = strlen(word);

	while (*at < size && pcre2_match(names->code, (PCRE2_SPTR)word, size, *at, PCRE2_NOTEMPTY, names->match,
					 names->context) > 0) {
		const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(names->match);

		if (ends[1] <= *at) /* a lookbehind, \K */
			return false;
		*at = ends[1];
		if (ends[2] == PCRE2_UNSET || ends[3] <= ends[2] || ends[3] - ends[2] > SAMPLE_NAMES_BYTES_MAX)
			continue;
		*ret_name = word + ends[2];
		*ret_size = ends[3] - ends[2];
		return true;
	}
	return false;
}

/* ---- both ------------------------------------------------------------------------------ */

bool sample_names_next(const struct sample_names *names, const char *word, size_t *at, const char **ret_name,
		       size_t *ret_size)
{
	return names->code ? pattern_next(names, word, at, ret_name, ret_size)
			   : listed_next(names, word, at, ret_name, ret_size);
}

const char *sample_names_misfit(const struct sample_names *names)
{
	if (names->code)
		return "the pattern matches in no command line";
	return names->listed ? "no name of the sample sheet is in a command line" : "--sample-sheet none";
}
