/* Patterns: parsing of commands and expressions, and the indexes. See patterns.h. */
#include "common/redact/patterns.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits of an expression's steps and memory: a hostile argument must not cost more. */
#define MATCH_STEPS_MAX 20000
#define MATCH_HEAP_KIB_MAX 512

/* ---- commands ---- */

static bool span_is(struct span span, const char *text)
{
	return strlen(text) == span.size && memcmp(span.data, text, span.size) == 0;
}

/* "SECRET", "pass:SECRET", "*:SECRET", "* /SECRET@*" (without the blank). */
static int value_parse(struct span word, const char *secret, struct secret_form *ret_form)
{
	struct span before = {word.data, (size_t)(secret - word.data)};
	struct span after = {secret + strlen("SECRET"), word.size - before.size - strlen("SECRET")};

	*ret_form = (struct secret_form){.kind = SECRET_FORM_VALUE, .text = before.data, .size = before.size};
	if (before.size == 2 && before.data[0] == '*') {
		ret_form->before = before.data[1];
		ret_form->size = 0;
	} else if (memchr(before.data, '*', before.size)) {
		return -EINVAL;
	}
	if (after.size == 2 && after.data[1] == '*')
		ret_form->after = after.data[0];
	else if (after.size > 0)
		return -EINVAL;
	return 0;
}

/* Appends one word; two forms for an option with its value. */
static int command_add(struct secret_command *command, struct span word)
{
	struct secret_form form = {.kind = SECRET_FORM_LITERAL, .text = word.data, .size = word.size};
	const char *secret = memmem(word.data, word.size, "SECRET", strlen("SECRET"));

	if (command->count + 2 > SECRET_FORMS_MAX)
		return -E2BIG;
	if (span_is(word, "*"))
		form.kind = SECRET_FORM_ANY;
	else if (span_is(word, "NAME"))
		form.kind = SECRET_FORM_NAME;
	else if (span_is(word, "CODE"))
		form.kind = SECRET_FORM_CODE;
	else if (span_is(word, "*,..."))
		form.kind = SECRET_FORM_LIST;
	else if (word.data[0] == '-' || word.data[0] == '+') {
		if (command->option < SECRET_FORMS_MAX)
			return -EINVAL;
		form.kind = SECRET_FORM_OPTION;
		form.attached = secret != NULL;
		form.size = secret ? (size_t)(secret - word.data) : word.size;
		command->option = command->count;
		command->forms[command->count++] = form;
		if (!secret)
			return 0;
		word = (struct span){secret, word.size - form.size};
		if (value_parse(word, secret, &form) < 0)
			return -EINVAL;
	} else if (secret && value_parse(word, secret, &form) < 0) {
		return -EINVAL;
	}
	command->forms[command->count++] = form;
	return 0;
}

static bool form_takes(const struct secret_form *form)
{
	return form->kind >= SECRET_FORM_VALUE;
}

/* Every command must end with what it takes, and literals must not follow an option. */
static const char *command_fault(const struct secret_command *command)
{
	const struct secret_form *last = &command->forms[command->count - 1];
	bool has_option = command->option < command->count;

	if (!form_takes(last) && !(has_option && last->kind == SECRET_FORM_ANY && command->option + 1 < command->count))
		return "does not end with SECRET or CODE";
	for (size_t i = command->option + 1; has_option && i < command->count; i++)
		if (command->forms[i].kind == SECRET_FORM_LITERAL)
			return "has a word between an option and its secret";
	return NULL;
}

int secret_command_parse(const char *text, struct secret_command *ret_command, char *ret_reason, size_t capacity)
{
	const char *fault = NULL;

	*ret_command = (struct secret_command){.option = SECRET_FORMS_MAX};
	for (const char *rest = text + strspn(text, " "); *rest && !fault; rest += strspn(rest, " ")) {
		size_t size = strcspn(rest, " ");
		int r = command_add(ret_command, (struct span){rest, size});

		rest += size;
		if (r == -E2BIG)
			fault = "has too many words";
		else if (r < 0)
			fault = "has two options, or a * that is not \"*:SECRET\" or \"SECRET@*\"";
	}
	if (ret_command->option == SECRET_FORMS_MAX)
		ret_command->option = ret_command->count;
	if (!fault)
		fault = ret_command->count ? command_fault(ret_command) : "is empty";
	if (!fault)
		return 0;
	snprintf(ret_reason, capacity, "command \"%.60s\" %s", text, fault);
	return -EINVAL;
}

/* ---- expressions ---- */

/* Reads the literal that the expression begins with. */
static void literal_read(const char *text, struct secret_expression *expression)
{
	expression->caseless = strncmp(text, "(?i)", 4) == 0;
	text += expression->caseless ? 4 : 0;
	for (; *text && expression->literal_size < sizeof(expression->literal); text++) {
		if (*text == '\\' && ispunct((unsigned char)text[1]))
			text++;
		else if (strchr("\\[](){}.*+?^$|", *text))
			break;
		expression->literal[expression->literal_size++] = *text;
	}
	if (expression->literal_size > 0 && strchr("*?{", *text) && *text)
		expression->literal_size--; /* the last one may be missing */
}

static bool has_choice(const char *text)
{
	int depth = 0;
	bool in_set = false;

	for (; *text; text++) {
		if (*text == '\\' && text[1])
			text++;
		else if (in_set)
			in_set = *text != ']';
		else if (*text == '[')
			in_set = true;
		else if (*text == '|' && depth == 0)
			return true;
		else
			depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
	}
	return false;
}

int secret_expression_parse(const char *text, struct secret_expression *ret_expression, char *ret_reason,
			    size_t capacity)
{
	PCRE2_UCHAR words[128];
	PCRE2_SIZE offset;
	int code;

	*ret_expression = (struct secret_expression){0};
	literal_read(text, ret_expression);
	if (ret_expression->literal_size < SECRET_LITERAL_BYTES || has_choice(text)) {
		snprintf(ret_reason, capacity, "\"%.60s\" does not begin with %d literal characters%s", text,
			 SECRET_LITERAL_BYTES, has_choice(text) ? " in every choice (|)" : "");
		return -EINVAL;
	}
	ret_expression->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, PCRE2_NEVER_UTF | PCRE2_ANCHORED,
					     &code, &offset, NULL);
	if (ret_expression->code)
		return 0;
	pcre2_get_error_message(code, words, sizeof(words));
	snprintf(ret_reason, capacity, "bad regular expression: %s, at offset %zu of \"%.60s\"", (const char *)words,
		 (size_t)offset, text);
	return -EINVAL;
}

/* ---- indexes ---- */

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int program_compare(const void *a, const void *b)
{
	const struct secret_program *one = a, *other = b;
	int order = strcmp(one->name, other->name);

	return order ? order : one->secret < other->secret ? -1 : one->secret > other->secret;
}

static int names_build(struct secrets *secrets, enum secret_name_list list)
{
	struct secret_texts *all = &secrets->names[list];
	size_t count = 0;

	for (size_t i = 0; i < secrets->count; i++)
		count += secrets->items[i].names[list].count;
	all->items = calloc(count + 1, sizeof(*all->items));
	if (!all->items)
		return -ENOMEM;
	for (size_t i = 0; i < secrets->count; i++) {
		const struct secret_texts *texts = &secrets->items[i].names[list];

		for (size_t k = 0; k < texts->count; k++)
			all->items[all->count++] = texts->items[k];
	}
	qsort(all->items, all->count, sizeof(*all->items), name_compare);
	return 0;
}

static int programs_build(struct secrets *secrets)
{
	size_t count = 0;

	for (size_t i = 0; i < secrets->count; i++)
		count += secrets->items[i].programs.count;
	secrets->programs = calloc(count + 1, sizeof(*secrets->programs));
	if (!secrets->programs)
		return -ENOMEM;
	for (size_t i = 0; i < secrets->count; i++)
		for (size_t k = 0; k < secrets->items[i].programs.count; k++)
			secrets->programs[secrets->program_count++] =
				(struct secret_program){secrets->items[i].programs.items[k], &secrets->items[i]};
	qsort(secrets->programs, secrets->program_count, sizeof(*secrets->programs), program_compare);
	for (size_t i = 0; i < secrets->program_count; i++)
		secrets->program_starts[(unsigned char)secrets->programs[i].name[0] + 1] = i + 1;
	for (size_t c = 0; c < 256; c++)
		if (secrets->program_starts[c + 1] == 0)
			secrets->program_starts[c + 1] = secrets->program_starts[c];
	return 0;
}

static int start_add(struct secret_starts *starts, const struct secret_expression *expression)
{
	const struct secret_expression **grown = reallocarray(starts->items, starts->count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	starts->items = grown;
	starts->items[starts->count++] = expression;
	return 0;
}

static int starts_build(struct secrets *secrets)
{
	int r = 0;

	for (size_t i = 0; i < secrets->count; i++) {
		struct secret_expressions *expressions = &secrets->items[i].expressions;

		for (size_t k = 0; k < expressions->count && r == 0; k++) {
			unsigned char c = (unsigned char)expressions->items[k].literal[0];

			r = start_add(&secrets->starts[c], &expressions->items[k]);
			if (r == 0 && expressions->items[k].caseless && isalpha(c))
				r = start_add(&secrets->starts[c ^ 0x20], &expressions->items[k]);
		}
	}
	return r;
}

int secrets_index(struct secrets *secrets)
{
	int r = programs_build(secrets);

	for (int list = 0; list < SECRET_NAME_LIST_COUNT && r == 0; list++)
		r = names_build(secrets, (enum secret_name_list)list);
	if (r == 0)
		r = starts_build(secrets);
	if (r == 0)
		r = secrets_hints_build(secrets);
	secrets->match = pcre2_match_data_create(2, NULL);
	secrets->context = pcre2_match_context_create(NULL);
	if (r < 0 || !secrets->match || !secrets->context)
		return -ENOMEM;
	pcre2_set_match_limit(secrets->context, MATCH_STEPS_MAX);
	pcre2_set_heap_limit(secrets->context, MATCH_HEAP_KIB_MAX);
	return 0;
}

void secret_deinit(struct secret *secret)
{
	for (size_t i = 0; i < secret->expressions.count; i++)
		pcre2_code_free(secret->expressions.items[i].code);
	secret->expressions.count = 0;
}

void secrets_deinit(struct secrets *secrets)
{
	for (size_t i = 0; i < secrets->count; i++)
		secret_deinit(&secrets->items[i]);
	free(secrets->items);
	free(secrets->programs);
	for (int list = 0; list < SECRET_NAME_LIST_COUNT; list++)
		free(secrets->names[list].items);
	for (size_t c = 0; c < 256; c++)
		free(secrets->starts[c].items);
	secrets_hints_free(secrets->hints);
	pcre2_match_data_free(secrets->match);
	pcre2_match_context_free(secrets->context);
}

const struct secret_program *secrets_program(const struct secrets *secrets, struct span name, size_t *ret_count)
{
	const struct secret_program *programs = secrets->programs;
	unsigned char first = name.size ? (unsigned char)name.data[0] : 0;
	size_t low = secrets->program_starts[first], high = secrets->program_starts[first + 1], end;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strncmp(programs[middle].name, name.data, name.size);

		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	end = low;
	while (end < secrets->program_count && span_is(name, programs[end].name))
		end++;
	*ret_count = end - low;
	return end > low ? &programs[low] : NULL;
}
