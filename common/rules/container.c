/* What command lines say about containers, as the `container:` of rules tells how to read them:
 *
 *   CLIENT [OPTION...] run [OPTION...] IMAGE [COMMAND...]   operands: image; others may come before the command
 *   CLIENT [OPTION...] exec [OPTION...] CONTAINER COMMAND...
 *   CLIENT [OPTION...] start [OPTION...] CONTAINER
 *   MONITOR [OPTION...]                                     no operands: only options are read
 */
#include <string.h>

#include "common/rules/match.h"

const char *const rules_container_verbs[] = {"", "run", "exec", "start"};

/* Whether the next word is this option's value. Options are long, or clusters of letters. */
static bool takes_next_word(const struct rule_patterns *without_value, const char *option)
{
	if (option[1] == '-')
		return option[2] && !strchr(option, '=') && !rule_patterns_match(without_value, option);
	for (const char *letter = option + 1; *letter; letter++) {
		const char name[] = {'-', *letter, '\0'};

		if (!rule_patterns_match(without_value, name))
			return letter[1] == '\0'; /* else its value is attached */
	}
	return false;
}

/* Sets the value if `word` is one of the options: "--name VALUE", "--name=VALUE", "-n VALUE" or "-nVALUE". */
static void take_option(const struct rule_patterns *options, const char *word, const char *next, const char **value)
{
	for (size_t i = 0; i < options->count; i++) {
		size_t size = strlen(options->items[i].text);

		if (strncmp(word, options->items[i].text, size) != 0)
			continue;
		if (word[size] == '\0' && next)
			*value = next;
		else if (word[size] == '=')
			*value = word + size + 1;
		else if (word[size] && size == 2)
			*value = word + size;
	}
}

/* Sets the word that the operand is. Returns false if it is the last before the command. */
static bool take_operand(const struct rule_patterns *operands, size_t number, const char *operand,
			 struct rules_container *ret)
{
	if (ret->verb != RULES_CONTAINER_RUN) {
		ret->name = operand;
		return false;
	}
#define X(word) \
	if (strcmp(operands->items[number].text, #word) == 0) \
		ret->word = operand;
	RULES_CONTAINER_WORDS(X)
#undef X
	return number + 1 < operands->count;
}

/* Other words may come before it: docker container run. */
static enum rules_container_verb verb_of(const char *word)
{
	enum rules_container_verb verb = RULES_CONTAINER_START;

	while (verb > RULES_CONTAINER_OTHER && strcmp(word, rules_container_verbs[verb]) != 0)
		verb--;
	return verb;
}

void rules_read_container(const struct rules *rules, const struct rules_subject *subject, struct rules_container *ret)
{
	struct rules_subject alone = *subject;
	const struct rule *rule;
	struct view view;
	size_t number = 0;

	*ret = (struct rules_container){.command_index = subject->argc};
	alone.parent = NULL;
	view_init(&view, &alone);
	rule = rules_find(rules, &view);
	for (size_t i = 1; rule && i < subject->argc; i++) {
		const struct rule_container *how = &rule->container;
		const char *word = subject->argv[i], *next = i + 1 < subject->argc ? subject->argv[i + 1] : NULL;
		bool has_verb = ret->verb != RULES_CONTAINER_OTHER || how->operands.count == 0;

		if (word[0] == '-' && word[1] && has_verb) {
#define X(word_) take_option(&how->word_, word, next, &ret->word_);
			RULES_CONTAINER_WORDS(X)
#undef X
		}
		if (how->operands.count == 0)
			continue;
		if (word[0] == '-' && word[1]) {
			i += takes_next_word(&how->options_without_value, word);
		} else if (!has_verb) {
			ret->verb = verb_of(word);
		} else if (!take_operand(&how->operands, number++, word, ret)) {
			ret->command_index = i + 1;
			return;
		}
	}
}
