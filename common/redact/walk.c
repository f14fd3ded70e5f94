/* Walks the arguments as the words of commands: whether a word is a secret may depend on the program, its subcommand
 * and the option before it. An argument that is shell code (`bash -c "..."`) is itself walked as words.
 */
#include <ctype.h>
#include <string.h>

#include "common/redact/scan.h"
#include "common/shell.h"

#define CODE_DEPTH_MAX 3 /* quotes within quotes */
#define OPERANDS_MAX 12  /* of a command; more are not compared with patterns */
#define OPTIONS_MAX 16
#define PENDING_MAX 4  /* patterns of the same option */
#define ECHOED_MAX 128 /* bytes of a secret that a pipe may pass on; more is data */

/* State of the walk through the words of one command. */
struct walk {
	struct redaction *redaction;
	unsigned depth;                       /* 0: arguments; else words of code */
	const struct secret_program *program; /* entries of the last word that is a known program; NULL: none */
	size_t program_entries;
	struct span operands[OPERANDS_MAX], options[OPTIONS_MAX]; /* of the program, so far */
	size_t operand_count, option_count;
	const struct secret_command *pending[PENDING_MAX]; /* one of them says what the next word is */
	size_t pending_count, pending_form;                /* at this form; from the option on */
	enum secret_strength next;                         /* the word after an option whose name suggests a secret */
	bool skips;                                        /* the next word is the value of an option, and no operand */
	bool here;                                         /* the next word is a here-string */
	bool echoes;                                       /* the command is echo or printf */
	struct span echoed;                                /* what the command before wrote into this one's input */
};

static void code_walk(struct redaction *redaction, struct span code, unsigned depth);

/* ---- spans ---- */

static bool span_equals(struct span span, struct span other)
{
	return span.size == other.size && memcmp(span.data, other.data, span.size) == 0;
}

static struct span span_of(const char *text)
{
	return (struct span){text, strlen(text)};
}

static bool span_begins(struct span span, const char *data, size_t size)
{
	return span.size >= size && memcmp(span.data, data, size) == 0;
}

static struct span span_base(struct span span)
{
	const char *slash = span.size ? memrchr(span.data, '/', span.size) : NULL;

	return slash ? span_from(span, (size_t)(slash + 1 - span.data)) : span;
}

static bool span_has_space(struct span span)
{
	for (size_t i = 0; i < span.size; i++)
		if (isspace((unsigned char)span.data[i]))
			return true;
	return false;
}

/* Without the quotes around it, of which the last one may be missing. */
static struct span span_unquote(struct span span)
{
	if (span.size == 0 || !strchr("\"'", span.data[0]))
		return span;
	if (span.size >= 2 && span.data[span.size - 1] == span.data[0])
		return (struct span){span.data + 1, span.size - 2};
	return memchr(span.data + 1, span.data[0], span.size - 1) ? span : span_from(span, 1);
}

static bool texts_have(const struct secret_texts *texts, struct span word)
{
	for (size_t i = 0; i < texts->count; i++)
		if (span_equals(word, span_of(texts->items[i])))
			return true;
	return false;
}

/* Size of the NAME of a word NAME=VALUE or --name=value, or of a whole option. */
static size_t name_size(struct span word)
{
	size_t size = 0;

	while (size < word.size && (isalnum((unsigned char)word.data[size]) || strchr("_-.", word.data[size])))
		size++;
	return size;
}

/* Whether a word after a password option is another option, rather than a password that begins with a dash. */
static bool is_option(struct span word)
{
	size_t name = name_size(word), letters = 0, digits = 0;

	if (word.size < 2 || word.data[0] != '-')
		return false;
	for (size_t i = 1; i < name; i++) {
		letters += isalpha((unsigned char)word.data[i]) != 0;
		digits += isdigit((unsigned char)word.data[i]) != 0;
	}
	if (name < word.size)
		return word.data[name] == '=' || name <= 2;
	return word.data[1] == '-' || !(letters >= 3 && digits > 0);
}

/* ---- forms ---- */

static struct span literal_of(const struct secret_form *form)
{
	return (struct span){form->text, form->size};
}

/* The part of a word that a VALUE form takes; empty if the word is not of this form. With `cut`, its end is missing. */
static struct span value_part(const struct secret_form *form, struct span word, bool cut)
{
	static const struct span none = {"", 0};
	const char *at;

	if (form->size > 0) {
		if (!span_begins(word, form->text, form->size))
			return none;
		word = span_from(word, form->size);
	}
	if (form->before) {
		at = memchr(word.data, form->before, word.size);
		if (!at || (at == word.data && form->before == '/') || memmem(word.data, word.size, "://", 3))
			return none; /* a URL is recognised as such */
		word = span_from(word, (size_t)(at + 1 - word.data));
	}
	if (form->after) {
		at = word.size ? memrchr(word.data, form->after, word.size) : NULL;
		if (!at && !cut)
			return none;
		word.size = at ? (size_t)(at - word.data) : word.size;
	}
	return word;
}

/* Scans each part between commas as a text of its own. */
static void list_take(const struct walk *walk, struct span list)
{
	while (list.size > 0) {
		const char *comma = memchr(list.data, ',', list.size);
		size_t size = comma ? (size_t)(comma - list.data) : list.size;

		redaction_scan(walk->redaction, (struct span){list.data, size}, walk->depth > 0);
		list = span_from(list, size + (comma != NULL));
	}
}

static bool is_pair(struct span word)
{
	size_t name = name_size(word);

	return name > 0 && name + 1 < word.size && word.data[name] == '=' && word.data[name + 1] != '=';
}

/* Applies a form to a word that is in its place. Returns false if the word is not of this form. */
static bool form_take(const struct walk *walk, const struct secret_form *form, struct span word)
{
	struct span inner = span_unquote(word);

	switch (form->kind) {
	case SECRET_FORM_OPTION: return false;
	case SECRET_FORM_LITERAL: return span_equals(inner, literal_of(form));
	case SECRET_FORM_NAME: return secret_name(walk->redaction->secrets, inner) != SECRET_NONE;
	case SECRET_FORM_ANY: redaction_scan(walk->redaction, inner, walk->depth > 0); return true;
	case SECRET_FORM_LIST: list_take(walk, inner); return true;
	case SECRET_FORM_CODE: code_walk(walk->redaction, inner, walk->depth + 1); return true;
	case SECRET_FORM_VALUE: break;
	}
	inner = value_part(form, inner, redaction_is_cut(walk->redaction, word));
	if (inner.size == 0)
		return false;
	if (walk->pending_count == 0 && !form->size && !form->before && is_pair(inner))
		return false; /* vault login username=x */
	if (!secret_is_variable(inner, walk->depth == 0 || word.data[0] == '\''))
		redaction_mark(walk->redaction, inner);
	return true;
}

/* ---- commands ---- */

static bool walk_needs(const struct walk *walk, const struct secret *secret)
{
	for (size_t i = 0; i < secret->needs.count; i++) {
		struct span need = span_of(secret->needs.items[i]);
		bool found = false;

		for (size_t k = 0; k < walk->option_count && !found; k++) {
			struct span option = walk->options[k];

			found = span_equals(option, need) ||
				(secret->grouped && need.size == 2 && option.size > 2 && option.data[1] != '-' &&
				 memchr(option.data + 1, need.data[1], option.size - 1));
		}
		if (!found)
			return false;
	}
	return true;
}

/* Whether the operands so far hold the literals before the option, in this order. */
static bool subcommand_holds(const struct walk *walk, const struct secret_command *command)
{
	size_t form = 0;

	for (size_t i = 0; i < walk->operand_count && form < command->option; i++)
		form += command->forms[form].kind != SECRET_FORM_LITERAL ||
			span_equals(walk->operands[i], literal_of(&command->forms[form]));
	return form == command->option;
}

/* The command's option in a group of short ones (-sSu): `*ret_value` is the rest of the word. */
static bool group_has(const struct secret *secret, struct span option, struct span word, struct span *ret_value)
{
	if (option.size != 2 || word.size < 3 || word.data[0] != '-' || word.data[1] == '-')
		return false;
	for (size_t i = 1; i < word.size; i++) {
		const char letter[] = {'-', word.data[i]};

		if (word.data[i] == option.data[1]) {
			*ret_value = span_from(word, i + 1);
			return true;
		}
		if (!isalnum((unsigned char)word.data[i]) ||
		    texts_have(&secret->options_with_value, (struct span){letter, 2}))
			return false;
	}
	return false;
}

/* Whether the word is the option of the command; `*ret_value` is its value in the same word, if any. */
static bool option_holds(const struct secret *secret, const struct secret_form *form, struct span word,
			 struct span *ret_value)
{
	struct span option = literal_of(form);

	*ret_value = (struct span){"", 0};
	if (span_equals(word, option))
		return !form->attached;
	if (texts_have(&secret->options_with_value, word) || texts_have(&secret->options_without_value, word))
		return false; /* -key of openssl is not -k */
	if (!span_begins(word, option.data, option.size))
		return secret->grouped && group_has(secret, option, word, ret_value);
	*ret_value = span_from(word, option.size);
	if (form->attached)
		return true;
	if (ret_value->data[0] == '=') {
		*ret_value = span_from(*ret_value, 1);
		return true;
	}
	return option.size == 2 && option.data[1] != '-'; /* -uVALUE */
}

/* The next words are what follows `form` in the command. */
static void walk_expect(struct walk *walk, const struct secret_command *command, size_t form)
{
	if (form < command->count && walk->pending_count < PENDING_MAX) {
		walk->pending[walk->pending_count++] = command;
		walk->pending_form = form;
	}
}

/* Applies the commands that have this option. Returns true if one of them does. */
static bool walk_command_options(struct walk *walk, const struct secret *secret, struct span word)
{
	bool found = false;

	for (size_t i = 0; i < secret->commands.count; i++) {
		const struct secret_command *command = &secret->commands.items[i];
		const struct secret_form *forms = command->forms + command->option;
		struct span value;

		if (command->option == command->count || !option_holds(secret, forms, word, &value) ||
		    !subcommand_holds(walk, command) || !walk_needs(walk, secret))
			continue;
		if (value.size == 0) {
			walk_expect(walk, command, command->option + 1);
			found = true;
		} else if (form_take(walk, forms + 1, value)) {
			walk_expect(walk, command, command->option + 2);
			return true;
		}
	}
	return found;
}

/* Whether the operands before the last are those of the command. Without a literal, they are counted from the first. */
static bool operands_hold(const struct walk *walk, const struct secret_command *command, size_t before)
{
	size_t last = walk->operand_count - 1;
	bool anchored = true;

	if (before > last)
		return false;
	for (size_t i = 0; i < before; i++) {
		const struct secret_form *form = &command->forms[i];
		struct span operand = walk->operands[last - before + i];

		if (form->kind == SECRET_FORM_LITERAL && !span_equals(operand, literal_of(form)))
			return false;
		if (form->kind == SECRET_FORM_NAME && secret_name(walk->redaction->secrets, operand) == SECRET_NONE)
			return false;
		anchored = anchored && form->kind != SECRET_FORM_LITERAL && form->kind != SECRET_FORM_NAME;
	}
	if (before == 0 && command->forms[0].size > 0)
		return true; /* /p:SECRET may be anywhere */
	return !anchored || before == last;
}

/* Applies the commands whose secret is an operand. Returns true if this one is. */
static bool walk_command_operands(struct walk *walk, const struct secret *secret, struct span word)
{
	bool taken = false;

	for (size_t i = 0; i < secret->commands.count; i++) {
		const struct secret_command *command = &secret->commands.items[i];

		for (size_t k = 0; command->option == command->count && k < command->count; k++)
			if (command->forms[k].kind >= SECRET_FORM_VALUE && operands_hold(walk, command, k) &&
			    walk_needs(walk, secret) && form_take(walk, &command->forms[k], word))
				taken = true;
	}
	return taken;
}

/* Whether a pattern of the program has this word: `aws` of `tw credentials add aws` is not the program aws. */
static bool program_has_word(const struct walk *walk, struct span word)
{
	for (size_t i = 0; i < walk->program_entries; i++) {
		const struct secret_commands *commands = &walk->program[i].secret->commands;

		for (size_t k = 0; k < commands->count; k++)
			for (size_t f = 0; f < commands->items[k].count; f++)
				if (commands->items[k].forms[f].kind == SECRET_FORM_LITERAL &&
				    span_equals(word, literal_of(&commands->items[k].forms[f])))
					return true;
	}
	return false;
}

/* ---- standard input ---- */

/* Whether each word of "login --password-stdin" is among the words of the command. */
static bool stdin_holds(const struct walk *walk, const char *words)
{
	while (*words) {
		struct span word = {words, strcspn(words, " ")};
		bool found = span_equals(word, span_of("*"));

		for (size_t i = 0; i < walk->option_count && !found; i++)
			found = span_equals(word, walk->options[i]);
		for (size_t i = 0; i < walk->operand_count && !found; i++)
			found = span_equals(word, walk->operands[i]);
		if (!found)
			return false;
		words += word.size + strspn(words + word.size, " ");
	}
	return true;
}

static bool reads_secret(const struct walk *walk)
{
	for (size_t i = 0; i < walk->program_entries; i++) {
		const struct secret_texts *words = &walk->program[i].secret->stdin_words;

		for (size_t k = 0; k < words->count; k++)
			if (stdin_holds(walk, words->items[k]))
				return true;
	}
	return false;
}

/* Marks what was given to the command's standard input, if it is a secret. "user:password": the password. */
static void input_mark(const struct walk *walk, struct span input)
{
	struct span inner = span_unquote(input);
	const char *colon = inner.size ? memchr(inner.data, ':', inner.size) : NULL;

	if (inner.size == 0 || !reads_secret(walk) || secret_is_variable(inner, input.data[0] == '\''))
		return;
	redaction_mark(walk->redaction, colon ? span_from(inner, (size_t)(colon + 1 - inner.data)) : inner);
}

/* ---- words ---- */

static void walk_begin_program(struct walk *walk, const struct secret_program *program, size_t entries)
{
	walk->program = program;
	walk->program_entries = entries;
	walk->operand_count = 0;
	walk->option_count = 0;
}

static void walk_operand(struct walk *walk, struct span word)
{
	static const char *words[] = {SECRET_ECHOES};
	const struct secret_texts echoes = {words, sizeof(words) / sizeof(*words)};
	struct span inner = span_unquote(word), base = span_base(inner);
	const struct secret_program *program;
	size_t entries = 0;
	bool taken = false;

	if (walk->echoes)
		walk->echoed = word; /* the last one; before it is a format */
	program = secrets_program(walk->redaction->secrets, base, &entries);
	if (program && !program_has_word(walk, inner)) {
		walk_begin_program(walk, program, entries);
		return;
	}
	if (!walk->program && walk->operand_count == 0 && texts_have(&echoes, base))
		walk->echoes = true;
	if (walk->operand_count < OPERANDS_MAX)
		walk->operands[walk->operand_count++] = inner;
	else
		return;
	for (size_t i = 0; i < walk->program_entries && !taken; i++)
		taken = walk_command_operands(walk, walk->program[i].secret, word);
}

static void walk_option(struct walk *walk, struct span word)
{
	struct span name = word;
	bool without_value = false;

	while (name.size > 0 && name.data[0] == '-')
		name = span_from(name, 1);
	if (walk->option_count < OPTIONS_MAX)
		walk->options[walk->option_count++] = word;
	for (size_t i = 0; i < walk->program_entries; i++) {
		const struct secret *secret = walk->program[i].secret;

		if (walk_command_options(walk, secret, word))
			return;
		walk->skips = walk->skips || texts_have(&secret->options_with_value, word);
		without_value = without_value || texts_have(&secret->options_without_value, word);
	}
	/* Few programs have options of one dash and a word (-token); -p is too short for one. */
	if (!walk->skips && !without_value && word.size > 3 && name_size(word) == word.size)
		walk->next = secret_name(walk->redaction->secrets, name);
}

/* Walks a part of a word that is several words: the value of --wrap='a b', of ssh_command=..., or all of it. */
static void walk_text(struct walk *walk, struct span word)
{
	size_t name = name_size(word);
	struct span inner;

	if (name > 0 && name + 1 < word.size && strchr("=:", word.data[name])) {
		if (secret_name(walk->redaction->secrets, (struct span){word.data, name}) != SECRET_NONE)
			return; /* one value: PASSWORD="a b" */
		word = span_from(word, name + 1);
	}
	inner = span_unquote(word);
	if (span_has_space(inner) && (inner.size < word.size || walk->depth == 0))
		code_walk(walk->redaction, inner, walk->depth + 1);
}

/* Applies the patterns of the option before to the word. Returns false if it is not its value. */
static bool walk_pending(struct walk *walk, struct span word)
{
	size_t count = walk->pending_count;

	walk->pending_count = 0;
	if (is_option(word))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (form_take(walk, &walk->pending[i]->forms[walk->pending_form], word)) {
			walk_expect(walk, walk->pending[i], walk->pending_form + 1);
			break;
		}
	}
	return true;
}

/* Redacts the word if it is the value of the option before. Returns false if it is a word of its own. */
static bool walk_value(struct walk *walk, struct span word)
{
	enum secret_strength strength = walk->next;
	bool skips = walk->skips;

	walk->next = SECRET_NONE;
	walk->skips = false;
	if (walk->here) {
		walk->here = false;
		input_mark(walk, word);
		return true;
	}
	if (walk->pending_count > 0)
		return walk_pending(walk, word);
	if (skips && !is_option(word)) {
		walk_text(walk, word);
		return true;
	}
	if (strength == SECRET_NONE || (is_option(word) && !redaction_is_cut(walk->redaction, word)))
		return false;
	return redaction_mark_value(walk->redaction, strength, span_unquote(word), walk->depth == 0);
}

static void walk_word(struct walk *walk, struct span word)
{
	if (walk_value(walk, word))
		return;
	walk_text(walk, word);
	if (word.size > 1 && word.data[0] == '-')
		walk_option(walk, word);
	else
		walk_operand(walk, word);
}

/* ---- shell code ---- */

/* A separator begins another command; a pipe gives it the output of the one before. */
static void walk_separate(struct walk *walk, struct span code)
{
	bool pipes = code.data[0] == '|' && !(code.size > 1 && code.data[1] == '|');
	struct span echoed = walk->echoed;

	*walk = (struct walk){.redaction = walk->redaction, .depth = walk->depth};
	if (pipes)
		walk->echoed = echoed;
}

/* At the end of a command its options are known, and so is whether its input was a secret. If the command that was to
 * read it was cut, it may be one. */
static void walk_end(const struct walk *walk, struct span rest)
{
	if (!walk->echoes)
		input_mark(walk, walk->echoed);
	else if (rest.size == 0 && redaction_is_cut(walk->redaction, rest) && walk->echoed.size <= ECHOED_MAX)
		redaction_mark(walk->redaction, span_unquote(walk->echoed));
}

static void code_walk(struct redaction *redaction, struct span code, unsigned depth)
{
	struct walk walk = {.redaction = redaction, .depth = depth};

	if (depth > CODE_DEPTH_MAX)
		return;
	while (code.size > 0) {
		size_t size = shell_word_size(code.data, code.size);

		if (size > 0) {
			walk_word(&walk, (struct span){code.data, size});
		} else if (span_begins(code, "<<<", 3)) {
			walk.here = true;
			size = 3;
		} else {
			if (strchr(";|()&`\n", code.data[0])) {
				walk_end(&walk, code);
				walk_separate(&walk, code);
			}
			size = 1;
		}
		code = span_from(code, size);
	}
	walk_end(&walk, code);
}

/* ---- arguments ---- */

static enum secret_form_kind expected_kind(const struct walk *walk)
{
	return walk->pending_count > 0 ? walk->pending[0]->forms[walk->pending_form].kind : SECRET_FORM_ANY;
}

/* Whether it is shell code, or text: several words that do not begin with a name and its value. */
static bool is_code(const struct walk *walk, struct span argument)
{
	size_t name = name_size(argument);

	if (expected_kind(walk) == SECRET_FORM_CODE)
		return true;
	return span_has_space(argument) && argument.data[0] != '-' &&
	       !(name > 0 && name < argument.size && strchr("=:", argument.data[name]));
}

/* Of a long command line most arguments pass the fast test, even if one does not. */
static bool is_suspected(const struct redaction *redaction, struct span argument)
{
	return secrets_suspected(redaction->secrets, argument.data, argument.size) ||
	       (redaction_is_cut(redaction, argument) && secrets_suspected_cut(argument.data, argument.size));
}

void redaction_walk(struct redaction *redaction)
{
	struct walk walk = {.redaction = redaction};
	struct span rest = {redaction->data, redaction->size};

	while (rest.size > 0) {
		const char *end = memchr(rest.data, '\0', rest.size);
		struct span argument = {rest.data, end ? (size_t)(end - rest.data) : rest.size};

		/* A list is scanned part by part. */
		if (expected_kind(&walk) != SECRET_FORM_LIST && is_suspected(redaction, argument))
			redaction_scan(redaction, argument, is_code(&walk, argument));
		walk_word(&walk, argument);
		rest = span_from(rest, argument.size + (end != NULL));
	}
}
