/* Template expansion. See match.h. */
#include "common/rules/match.h"

#include <ctype.h>
#include <string.h>

#include "common/text.h"

#define SUBCOMMAND_MAX 64

struct slice {
	const char *text;
	size_t size;
};

static struct slice slice_whole(const char *text)
{
	return (struct slice){text, strlen(text)};
}

static struct slice slice_base(const char *path)
{
	struct slice slice;

	slice.text = path_base(path, &slice.size);
	return slice;
}

/* A subcommand is a word, not a file or a number: `samtools sort` but not `vep /data/x.vcf`. */
static struct slice slice_subcommand(const char *text)
{
	size_t size = strlen(text);
	const char *c = text;

	if (size == 0 || size > SUBCOMMAND_MAX || isdigit((unsigned char)*c))
		return (struct slice){"", 0};
	for (; *c; c++) {
		if (!isalnum((unsigned char)*c) && !strchr("_-:+", *c))
			return (struct slice){"", 0};
	}
	return (struct slice){text, size};
}

static struct slice captures_get(const struct captures *captures, enum template_source source, unsigned number)
{
	const struct capture *capture = &captures->sources[source];
	const PCRE2_SIZE *offsets;

	if (number >= capture->count)
		return (struct slice){"", 0};
	offsets = pcre2_get_ovector_pointer(capture->match) + 2 * (size_t)number;
	if (offsets[0] == PCRE2_UNSET || offsets[1] < offsets[0])
		return (struct slice){"", 0};
	return (struct slice){capture->text + offsets[0], offsets[1] - offsets[0]};
}

size_t captures_end(const struct captures *captures, enum template_source source)
{
	struct slice whole = captures_get(captures, source, 0);

	return whole.size > 0 ? (size_t)(whole.text - captures->sources[source].text) + whole.size : 0;
}

static struct slice part_get(const struct template_part *part, const struct rule *rule, const struct view *view,
			     const struct captures *captures)
{
	switch (part->kind) {
	case TEMPLATE_LITERAL: return slice_whole(part->text);
	case TEMPLATE_PROGRAM: return slice_whole(view->program);
	case TEMPLATE_SUBCOMMAND: return slice_subcommand(view_operand(view, &rule->options_with_value, 1));
	case TEMPLATE_SCRIPT: return slice_whole(view->is_script ? view->program : "");
	case TEMPLATE_DIRECTORY: return slice_base(view->subject->working_directory);
	case TEMPLATE_ARGUMENT: return slice_whole(part->number < view->argc ? view->argv[part->number] : "");
	case TEMPLATE_OPERAND: return slice_base(view_operand(view, &rule->options_with_value, part->number));
	case TEMPLATE_OPTION: return slice_whole(view_option(view, part->text));
	case TEMPLATE_GROUP: return captures_get(captures, part->source, part->number);
	}
	return (struct slice){"", 0};
}

/* Returns the largest size up to `size` that does not split a UTF-8 character. */
static size_t size_cut(const char *text, size_t size)
{
	for (size_t back = 1; back <= 3 && back <= size; back++) {
		unsigned char byte = (unsigned char)text[size - back];

		if (byte < 0x80 || (byte & 0xc0) == 0x80)
			continue;
		return text_utf8_size(text + size - back, back) == 0 ? size - back : size;
	}
	return size;
}

void name_set(char ret_text[RULES_NAME_MAX], const char *text, size_t size)
{
	if (size >= RULES_NAME_MAX)
		size = size_cut(text, RULES_NAME_MAX - 1);
	memcpy(ret_text, text, size);
	ret_text[size] = '\0';
}

void template_expand(const struct template *template, const struct rule *rule, const struct view *view,
		     const struct captures *captures, char ret_text[RULES_NAME_MAX])
{
	char text[2 * RULES_NAME_MAX];
	size_t size = 0;

	for (const struct template_part *part = template->parts; part; part = part->next) {
		struct slice slice = {"", 0};

		for (const struct template_part *try = part; try && slice.size == 0; try = try->alternative)
			slice = part_get(try, rule, view, captures);
		if (slice.size == 0 && template->whole) {
			size = 0;
			break;
		}
		if (size == 0 || text[size - 1] == ' ') {
			while (slice.size > 0 && *slice.text == ' ') {
				slice.text++;
				slice.size--;
			}
		}
		if (slice.size > sizeof(text) - size)
			slice.size = sizeof(text) - size;
		memcpy(text + size, slice.text, slice.size);
		size += slice.size;
	}
	while (size > 0 && text[size - 1] == ' ')
		size--;
	name_set(ret_text, text, size);
}
