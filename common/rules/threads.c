/* Threads that a command line asks for. See match.h.
 *
 * `-t 8`, `-t8`, `--threads 8`, `--threads=8` and, for a declaration that ends in =, `threads=8`. Letters of other
 * options before it (`-9p8`) are not read: the option is then not found.
 */
#include "common/rules/match.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Returns the value that the argument at `position` gives to the option `spelling`, or NULL if it is another one. */
static const char *option_value(const struct view *view, size_t position, const char *spelling)
{
	size_t size = strlen(spelling);
	const char *rest;

	if (strncmp(view->argv[position], spelling, size) != 0)
		return NULL;
	rest = view->argv[position] + size;
	if (spelling[size - 1] == '=')
		return rest;
	if (*rest == '\0')
		return position + 1 < view->argc ? view->argv[position + 1] : "";
	if (*rest == '=')
		return rest + 1;
	/* -t8, but not -tmpdir: another option */
	return size == 2 && isdigit((unsigned char)*rest) ? rest : NULL;
}

static const char *last_value(const struct rule_patterns *options, const struct view *view)
{
	const char *last = NULL;
	bool only_operands = false;

	for (size_t position = 1; position < view->argc; position++) {
		only_operands = only_operands || strcmp(view->argv[position], "--") == 0;
		for (size_t i = 0; i < options->count; i++) {
			const char *value = option_value(view, position, options->items[i].text);

			if (value && !(only_operands && view->argv[position][0] == '-'))
				last = value;
		}
	}
	return last;
}

/* Returns the number in the text plus `added`, or 0. */
static unsigned thread_count(const char *text, unsigned added)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long count;

	if (digits == 0 || digits > 5 || text[digits] != '\0')
		return 0;
	count = strtoul(text, NULL, 10) + added;
	return count <= RULES_THREADS_MAX ? (unsigned)count : 0;
}

unsigned threads_requested(const struct rule *rule, const struct view *view)
{
	const char *value = last_value(&rule->threads, view);
	const char *additional = value ? NULL : last_value(&rule->additional_threads, view);

	if (value)
		return thread_count(value, 0);
	return additional ? thread_count(additional, 1) : 0;
}
