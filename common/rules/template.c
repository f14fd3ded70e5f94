/* Parsing of name templates. See template.h; expansion is in expand.c. */
#include "common/rules/template.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/yaml/suggest.h"
#include "common/text.h"

#define NUMBER_MAX 99

struct template_parser {
	struct arena *arena;
	const struct template_groups *groups;
	char *reason;
	size_t reason_capacity;
};

static const struct {
	const char *word;
	enum template_kind kind;
} placeholders[] = {
	{"program", TEMPLATE_PROGRAM},
	{"subcommand", TEMPLATE_SUBCOMMAND},
	{"script", TEMPLATE_SCRIPT},
	{"directory", TEMPLATE_DIRECTORY},
};

static const char *const placeholder_names[] = {"program",  "subcommand", "script", "directory", "arg1",
						"operand1", "option:",    "path:1", "argv:1",    "working_directory:1",
						"cgroup:1", NULL};

static const char *const source_names[] = {TEMPLATE_SOURCES(TEXT_OF)};

#define parser_refuse(parser, ...) (snprintf((parser)->reason, (parser)->reason_capacity, __VA_ARGS__), -EINVAL)

/* Returns the whole of `text` as a number up to NUMBER_MAX, or -1. */
static int number_parse(const char *text)
{
	int number = 0;

	if (*text == '\0')
		return -1;
	for (; *text; text++) {
		if (!isdigit((unsigned char)*text))
			return -1;
		number = number * 10 + (*text - '0');
		if (number > NUMBER_MAX)
			return -1;
	}
	return number;
}

/* Returns the only regex that {1} can refer to, or -1. */
static int groups_only_source(const struct template_groups *groups)
{
	int only = -1;

	for (int source = 0; source < TEMPLATE_SOURCE_COUNT; source++) {
		if (groups->counts[source] < 0)
			continue;
		if (only >= 0)
			return -1;
		only = source;
	}
	return only;
}

static int parser_read_group(struct template_parser *parser, const char *word, int source, int number,
			     struct template_part *part)
{
	if (source < 0)
		return parser_refuse(parser,
				     "{%s} needs a rule with one regular expression; write "
				     "{path:1}, {argv:1}, {working_directory:1} or {cgroup:1}",
				     word);
	if (parser->groups->counts[source] < 0)
		return parser_refuse(parser, "{%s} needs a \"%s\" in the rule's match", word, source_names[source]);
	if (number > parser->groups->counts[source])
		return parser_refuse(parser, "{%s}: \"%s\" has %d groups", word, source_names[source],
				     parser->groups->counts[source]);
	part->kind = TEMPLATE_GROUP;
	part->source = (enum template_source)source;
	part->number = (unsigned)number;
	return 0;
}

/* {option:--name,-n}: spellings become alternatives of one another. */
static int parser_read_option(struct template_parser *parser, const char *spellings, struct template_part *part)
{
	for (;;) {
		size_t size = strcspn(spellings, ",");

		if (size < 2 || (spellings[0] != '-' && spellings[0] != '+'))
			return parser_refuse(parser, "{option:%s} needs spellings like --name or -n", spellings);
		part->kind = TEMPLATE_OPTION;
		part->text = arena_copy(parser->arena, spellings, size);
		if (!part->text)
			return -ENOMEM;
		if (spellings[size] == '\0')
			return 0;
		spellings += size + 1;
		part->alternative = arena_alloc(parser->arena, sizeof(*part));
		if (!part->alternative)
			return -ENOMEM;
		part = part->alternative;
	}
}

static bool word_numbered(const char *word, const char *prefix, int *ret_number)
{
	size_t size = strlen(prefix);

	if (strncmp(word, prefix, size) != 0)
		return false;
	*ret_number = number_parse(word + size);
	return *ret_number >= 0;
}

static int parser_read_word(struct template_parser *parser, const char *word, struct template_part *part)
{
	char hint[96], prefix[32];
	int number;

	for (size_t i = 0; i < sizeof(placeholders) / sizeof(*placeholders); i++) {
		if (strcmp(word, placeholders[i].word) == 0) {
			part->kind = placeholders[i].kind;
			return 0;
		}
	}
	if (strncmp(word, "option:", 7) == 0)
		return parser_read_option(parser, word + 7, part);
	if (word_numbered(word, "arg", &number) || word_numbered(word, "operand", &number)) {
		part->kind = word[0] == 'a' ? TEMPLATE_ARGUMENT : TEMPLATE_OPERAND;
		part->number = (unsigned)number;
		if (part->kind == TEMPLATE_OPERAND && number == 0)
			return parser_refuse(parser, "{operand0}: operands begin at 1");
		return 0;
	}
	if (word_numbered(word, "", &number))
		return parser_read_group(parser, word, groups_only_source(parser->groups), number, part);
	for (int source = 0; source < TEMPLATE_SOURCE_COUNT; source++) {
		snprintf(prefix, sizeof(prefix), "%s:", source_names[source]);
		if (word_numbered(word, prefix, &number))
			return parser_read_group(parser, word, source, number, part);
	}
	suggest_nearest(word, placeholder_names, hint, sizeof(hint));
	return parser_refuse(parser, "unknown placeholder {%s}%s", word, hint);
}

/* Reads the text between { and }: words separated by |. */
static int parser_read_placeholder(struct template_parser *parser, const char *text, size_t size,
				   struct template_part *part)
{
	for (;;) {
		const char *bar = memchr(text, '|', size);
		size_t word_size = bar ? (size_t)(bar - text) : size;
		char *word = arena_copy(parser->arena, text, word_size);
		int r = word ? parser_read_word(parser, word, part) : -ENOMEM;

		if (r < 0 || !bar)
			return r;
		while (part->alternative)
			part = part->alternative;
		part->alternative = arena_alloc(parser->arena, sizeof(*part));
		if (!part->alternative)
			return -ENOMEM;
		part = part->alternative;
		text += word_size + 1;
		size -= word_size + 1;
	}
}

/* Reads one literal or placeholder at `text`; `*ret_end` is the start of the next. */
static int parser_read_part(struct template_parser *parser, const char *text, const char **ret_end,
			    struct template_part *part)
{
	size_t size = strcspn(text, "{}");

	if (size > 0 || text[0] == '}') {
		if (text[0] == '}')
			return parser_refuse(parser, "} without {");
		part->kind = TEMPLATE_LITERAL;
		part->text = arena_copy(parser->arena, text, size);
		*ret_end = text + size;
		return part->text ? 0 : -ENOMEM;
	}
	text++;
	size = strcspn(text, "{}");
	if (text[size] != '}')
		return parser_refuse(parser, "{ without }");
	*ret_end = text + size + 1;
	return parser_read_placeholder(parser, text, size, part);
}

int template_parse(struct arena *arena, const char *text, const struct template_groups *groups,
		   struct template **ret_template, char *reason, size_t reason_capacity)
{
	struct template_parser parser = {arena, groups, reason, reason_capacity};
	struct template *template = arena_alloc(arena, sizeof(*template));
	struct template_part **tail;

	if (!template)
		return -ENOMEM;
	if (*text == '\0')
		return parser_refuse(&parser, "is empty");
	tail = &template->parts;
	while (*text) {
		int r;

		*tail = arena_alloc(arena, sizeof(**tail));
		if (!*tail)
			return -ENOMEM;
		r = parser_read_part(&parser, text, &text, *tail);
		if (r < 0)
			return r;
		tail = &(*tail)->next;
	}
	*ret_template = template;
	return 0;
}
