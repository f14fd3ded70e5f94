/* Removes secrets from command lines. See redact.h.
 *
 * The arguments are walked as words. A word may be the value of the option before it,
 * or hold key=value pairs, headers, URLs and tokens. A word that is shell code
 * (`bash -c "..."`) is itself walked as words, so that only the value is lost and the
 * rest stays readable.
 */
#include "correlator/redact/redact.h"

#include <ctype.h>
#include <string.h>

#include "common/grow.h"
#include "correlator/redact/secret.h"

#define CODE_DEPTH_MAX 3 /* quotes within quotes */

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct span {
	const char *data;
	size_t size;
};

/* The text, with marks in place of the removed spans. */
struct output {
	const char *copied; /* the input is handled up to here */
	char *data;
	size_t size;
	size_t capacity;
	uint32_t redacted_count;
	bool failed;
};

/* Meaning of the next word, from the option before it. */
enum value_kind {
	VALUE_NONE,
	VALUE_SECRET,      /* all of it */
	VALUE_AFTER_COLON, /* user:password */
	VALUE_AFTER_COMMA,
	VALUE_AFTER_PERCENT,
	VALUE_CODE, /* shell code */
};

/* Options that take a password in certain programs only. */
static const struct program_option {
	const char *program;
	const char *subcommand; /* NULL: any */
	const char *option;
	bool attached; /* -pVALUE; else the next word */
	enum value_kind kind;
} program_options[] = {
	{"mysql", NULL, "-p", true, VALUE_SECRET},
	{"mysqldump", NULL, "-p", true, VALUE_SECRET},
	{"mysqladmin", NULL, "-p", true, VALUE_SECRET},
	{"mysqlimport", NULL, "-p", true, VALUE_SECRET},
	{"mysqlcheck", NULL, "-p", true, VALUE_SECRET},
	{"mariadb", NULL, "-p", true, VALUE_SECRET},
	{"mariadb-dump", NULL, "-p", true, VALUE_SECRET},
	{"mariadb-admin", NULL, "-p", true, VALUE_SECRET},
	{"mongo", NULL, "-p", false, VALUE_SECRET},
	{"mongosh", NULL, "-p", false, VALUE_SECRET},
	{"mongodump", NULL, "-p", false, VALUE_SECRET},
	{"mongorestore", NULL, "-p", false, VALUE_SECRET},
	{"redis-cli", NULL, "-a", false, VALUE_SECRET},
	{"sshpass", NULL, "-p", true, VALUE_SECRET},
	{"sshpass", NULL, "-p", false, VALUE_SECRET},
	{"curl", NULL, "-u", true, VALUE_AFTER_COLON},
	{"curl", NULL, "-u", false, VALUE_AFTER_COLON},
	{"curl", NULL, "--user", false, VALUE_AFTER_COLON},
	{"curl", NULL, "-U", false, VALUE_AFTER_COLON},
	{"curl", NULL, "--proxy-user", false, VALUE_AFTER_COLON},
	{"docker", "login", "-p", false, VALUE_SECRET},
	{"podman", "login", "-p", false, VALUE_SECRET},
	{"helm", "login", "-p", false, VALUE_SECRET},
	{"skopeo", "login", "-p", false, VALUE_SECRET},
	{"oc", "login", "-p", false, VALUE_SECRET},
	{"az", "login", "-p", false, VALUE_SECRET},
	{"apptainer", "login", "-p", false, VALUE_SECRET},
	{"singularity", "login", "-p", false, VALUE_SECRET},
	{"ldapsearch", NULL, "-w", false, VALUE_SECRET},
	{"ldapmodify", NULL, "-w", false, VALUE_SECRET},
	{"ldapadd", NULL, "-w", false, VALUE_SECRET},
	{"ldapwhoami", NULL, "-w", false, VALUE_SECRET},
	{"7z", NULL, "-p", true, VALUE_SECRET},
	{"7za", NULL, "-p", true, VALUE_SECRET},
	{"zip", NULL, "-P", false, VALUE_SECRET},
	{"unzip", NULL, "-P", false, VALUE_SECRET},
	{"openssl", NULL, "-k", false, VALUE_SECRET},
	{"openssl", NULL, "-K", false, VALUE_SECRET},
	{"sqlcmd", NULL, "-P", false, VALUE_SECRET},
	{"bcp", NULL, "-P", false, VALUE_SECRET},
	{"ipmitool", NULL, "-P", false, VALUE_SECRET},
	{"lftp", NULL, "-u", false, VALUE_AFTER_COMMA},
	{"smbclient", NULL, "-U", false, VALUE_AFTER_PERCENT},
	{"smbmount", NULL, "-U", false, VALUE_AFTER_PERCENT},
};

/* Programs whose --password without = prompts: the next word is not a password. */
static const char *const programs_that_ask[] = {"psql",          "pg_dump",   "pg_dumpall",   "pg_restore",
						"pg_basebackup", "createdb",  "dropdb",       "vacuumdb",
						"mysql",         "mysqldump", "mysqladmin",   "mysqlimport",
						"mysqlcheck",    "mariadb",   "mariadb-dump", "mariadb-admin"};

static const char *const shells[] = {"bash", "sh",   "dash", "zsh",     "ksh",    "ash",  "csh",
				     "tcsh", "fish", "su",   "runuser", "script", "flock"};

/* State of the walk through the words of one command. */
struct walk {
	struct output *output;
	unsigned depth;
	const char *program; /* the last word that is a known program's name */
	bool is_shell;
	bool logs_in; /* "login" was among the words */
	bool asks;
	enum value_kind next;
};

static void span_walk(struct walk *outer, struct span span);

/* ---- output ---- */

static void output_append(struct output *output, const char *data, size_t size)
{
	char *grown;

	if (output->failed || size == 0)
		return;
	grown = grow(output->data, &output->capacity, output->size + size, 1);
	if (!grown) {
		output->failed = true;
		return;
	}
	output->data = grown;
	memcpy(output->data + output->size, data, size);
	output->size += size;
}

static void output_redact(struct output *output, struct span secret)
{
	size_t mark_size = strlen(REDACT_MARK);

	if (secret.size == 0 || secret.data < output->copied)
		return;
	if (secret.size == mark_size && memcmp(secret.data, REDACT_MARK, mark_size) == 0)
		return;
	output_append(output, output->copied, (size_t)(secret.data - output->copied));
	output_append(output, REDACT_MARK, mark_size);
	output->copied = secret.data + secret.size;
	output->redacted_count++;
}

/* ---- spans ---- */

static struct span span_from(struct span span, size_t offset)
{
	return (struct span){span.data + offset, span.size - offset};
}

static bool span_is(struct span span, const char *text)
{
	return strlen(text) == span.size && memcmp(span.data, text, span.size) == 0;
}

static bool span_begins(struct span span, const char *text)
{
	size_t size = strlen(text);

	return span.size >= size && memcmp(span.data, text, size) == 0;
}

static struct span span_base(struct span span)
{
	const char *slash = span.size ? memrchr(span.data, '/', span.size) : NULL;

	return slash ? span_from(span, (size_t)(slash + 1 - span.data)) : span;
}

static bool span_has_space(struct span span)
{
	for (size_t i = 0; i < span.size; i++) {
		if (isspace((unsigned char)span.data[i]))
			return true;
	}
	return false;
}

/* Strips the surrounding quotes. */
static struct span span_unquote(struct span span)
{
	if (span.size >= 2 && (span.data[0] == '"' || span.data[0] == '\'') && span.data[span.size - 1] == span.data[0])
		return (struct span){span.data + 1, span.size - 2};
	return span;
}

static bool span_is_one_of(struct span span, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (span_is(span, list[i]))
			return true;
	}
	return false;
}

static bool is_key_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static size_t key_size(struct span span)
{
	size_t size = 0;

	while (size < span.size && is_key_char(span.data[size]))
		size++;
	return size;
}

/* Strips what is not part of the key: the dashes of an option, the -D of
 * `java -Ddb.password=x`, the -H of `curl -HAuthorization:...`. */
static struct span key_trim(struct span key)
{
	if (key.size > 3 && key.data[0] == '-' &&
	    (key.data[1] == 'H' || (strchr("DPJ", key.data[1]) && islower((unsigned char)key.data[2]))))
		return span_from(key, 2);
	while (key.size > 0 && (key.data[0] == '-' || key.data[0] == '.'))
		key = span_from(key, 1);
	return key;
}

static bool key_is_secret(struct span key)
{
	key = key_trim(key);
	return secret_is_key(key.data, key.size);
}

/* ---- within one word ---- */

/* Skips a scheme such as Bearer: `Authorization: Bearer X`. */
static struct span header_value(struct span value)
{
	static const char *const schemes[] = {"bearer ", "basic ", "token ", "digest ", "apikey "};

	for (size_t i = 0; i < COUNT(schemes); i++) {
		size_t size = strlen(schemes[i]);

		if (value.size > size && strncasecmp(value.data, schemes[i], size) == 0)
			return span_from(value, size);
	}
	return value;
}

/* A value that ends at a quote or delimiter. */
static struct span value_bounded(struct span rest)
{
	size_t size = 0;

	if (rest.size > 0 && (rest.data[0] == '"' || rest.data[0] == '\'')) {
		const char *end = memchr(rest.data + 1, rest.data[0], rest.size - 1);

		return (struct span){rest.data + 1, (end ? (size_t)(end - rest.data) : rest.size) - 1};
	}
	while (size < rest.size && !isspace((unsigned char)rest.data[size]) && !strchr("&;,\"'|)}>", rest.data[size]))
		size++;
	return (struct span){rest.data, size};
}

/* Redacts a secret value that follows the key at `offset` of `word`. Returns the offset
 * to continue from, or 0 if there is no such pair. */
static size_t pair_redact(struct walk *walk, struct span word, size_t offset, size_t key_bytes)
{
	struct span key = {word.data + offset, key_bytes};
	size_t at = offset + key_bytes;
	bool in_query = offset > 0 && strchr("?&", word.data[offset - 1]);
	bool starts = offset == 0 || word.data[offset - 1] == '='; /* of the word, or of a value */
	struct span value;
	char separator;

	if (at < word.size && (word.data[at] == '"' || word.data[at] == '\''))
		at++; /* JSON: "password": */
	if (at >= word.size || (word.data[at] != '=' && word.data[at] != ':'))
		return 0;
	separator = word.data[at++];
	if (separator == ':' &&
	    ((at < word.size && strchr(":/", word.data[at])) || (offset > 0 && strchr("/:", word.data[offset - 1]))))
		return 0; /* a URL, a::b, an image's tag, a mounted path */
	if (!key_is_secret(key) && !(in_query && separator == '=' &&
				     (span_is(key, "sig") || span_is(key, "key") || span_is(key, "X-Amz-Signature") ||
				      span_is(key, "Signature"))))
		return 0;
	while (at < word.size && word.data[at] == ' ')
		at++;
	value = span_from(word, at);
	if (separator == ':' && starts && word.data[at - 1] == ' ' && value.size > 0 && value.data[0] != '"')
		value = header_value(value);
	else if (separator == '=' && offset == 0)
		value = span_unquote(value);
	else
		value = value_bounded(value);
	if (!secret_is_value(value.data, value.size))
		return 0;
	output_redact(walk->output, value);
	return (size_t)(value.data + value.size - word.data);
}

/* Redacts the password of `://user:password@host`; `offset` is after the slashes.
 * Returns the offset after the password, or 0 if there is none. */
static size_t url_redact(struct walk *walk, struct span word, size_t offset)
{
	size_t end = offset, at = 0, colon = 0;

	while (end < word.size && !isspace((unsigned char)word.data[end]) && !strchr("/?#\"'<>", word.data[end])) {
		if (word.data[end] == '@')
			at = end;
		if (word.data[end] == ':' && !colon)
			colon = end;
		end++;
	}
	if (!at || !colon || colon > at || word.data[colon + 1] == '$')
		return 0;
	output_redact(walk->output, (struct span){word.data + colon + 1, at - colon - 1});
	return at;
}

/* Redacts `Bearer X` outside a header. */
static size_t bearer_redact(struct walk *walk, struct span word, size_t offset)
{
	struct span rest = span_from(word, offset);
	struct span value;

	if (rest.size < 7 + 16 || strncasecmp(rest.data, "bearer ", 7) != 0)
		return 0;
	value = value_bounded(span_from(rest, 7));
	if (value.size < 16)
		return 0;
	output_redact(walk->output, value);
	return (size_t)(value.data + value.size - word.data);
}

/* Redacts pairs, URLs and tokens anywhere in a word. */
static void word_scan(struct walk *walk, struct span word)
{
	size_t i = 0;

	if (span_begins(word, "pass:")) { /* openssl -passin */
		output_redact(walk->output, span_from(word, 5));
		return;
	}
	while (i < word.size) {
		size_t next = 0, key, token;

		if (word.size - i > 3 && memcmp(word.data + i, "://", 3) == 0) {
			next = url_redact(walk, word, i + 3);
			i = next ? next : i + 3;
			continue;
		}
		if (!is_key_char(word.data[i])) {
			i++;
			continue;
		}
		key = key_size(span_from(word, i));
		token = secret_token_size(word.data + i, word.size - i);
		if (token > 0) {
			output_redact(walk->output, (struct span){word.data + i, token});
			next = i + token;
		}
		if (!next)
			next = pair_redact(walk, word, i, key);
		if (!next)
			next = bearer_redact(walk, word, i);
		i = next ? next : i + key;
	}
}

/* ---- words of a command ---- */

static void value_redact_after(struct walk *walk, struct span word, char separator)
{
	const char *at = memchr(word.data, separator, word.size);

	if (at)
		output_redact(walk->output, span_from(word, (size_t)(at + 1 - word.data)));
}

/* Redacts the word if the option before it takes a secret. Returns false if it is not its value. */
static bool walk_value(struct walk *walk, struct span word)
{
	enum value_kind kind = walk->next;

	walk->next = VALUE_NONE;
	word = span_unquote(word);
	switch (kind) {
	case VALUE_NONE: return false;
	case VALUE_SECRET:
		if ((word.size > 1 && word.data[0] == '-') || !secret_is_value(word.data, word.size))
			return false;
		output_redact(walk->output, word);
		return true;
	case VALUE_AFTER_COLON: value_redact_after(walk, word, ':'); return true;
	case VALUE_AFTER_COMMA: value_redact_after(walk, word, ','); return true;
	case VALUE_AFTER_PERCENT: value_redact_after(walk, word, '%'); return true;
	case VALUE_CODE: span_walk(walk, word); return true;
	}
	return false;
}

static bool walk_program_option(struct walk *walk, struct span word)
{
	for (size_t i = 0; walk->program && i < COUNT(program_options); i++) {
		const struct program_option *option = &program_options[i];
		size_t size = strlen(option->option);
		struct span value;

		if (strcmp(option->program, walk->program) != 0 || !span_begins(word, option->option) ||
		    (option->subcommand && !walk->logs_in))
			continue;
		if (!option->attached) {
			if (word.size != size)
				continue;
			walk->next = option->kind;
			return true;
		}
		if (word.size == size)
			continue;
		value = span_unquote(span_from(word, size));
		if (option->kind == VALUE_AFTER_COLON)
			value_redact_after(walk, value, ':');
		else
			output_redact(walk->output, value);
		return true;
	}
	return false;
}

/* Remembers what the word tells about the following ones. */
static void walk_note_program(struct walk *walk, struct span word)
{
	struct span base = span_base(word);

	for (size_t i = 0; i < COUNT(program_options); i++) {
		if (span_is(base, program_options[i].program))
			walk->program = program_options[i].program;
	}
	if (span_is_one_of(base, shells, COUNT(shells)))
		walk->is_shell = true;
	if (span_is_one_of(base, programs_that_ask, COUNT(programs_that_ask)))
		walk->asks = true;
	if (span_is(word, "login"))
		walk->logs_in = true;
}

/* -c, -lc, -euc: shell code follows. */
static bool is_code_option(struct span word)
{
	return word.size >= 2 && word.size <= 6 && word.data[0] == '-' && word.data[1] != '-' &&
	       word.data[word.size - 1] == 'c';
}

static void walk_option(struct walk *walk, struct span word)
{
	if (walk_program_option(walk, word))
		return;
	if (walk->is_shell && is_code_option(word)) {
		walk->next = VALUE_CODE;
		return;
	}
	if (key_size(word) == word.size) {
		/* Few programs have options of one dash and a word (-token); -p is too short for one. */
		if (!walk->asks && word.size > 3 && key_is_secret(word))
			walk->next = VALUE_SECRET;
		return;
	}
	word_scan(walk, word);
}

/* Whether it is several words. With spaces, but beginning with a key, it is one value
 * (`env PASSWORD="a b"`) or a header; beginning with a dash, it is an option. */
static bool span_is_text(struct span span)
{
	size_t key = key_size(span);

	return span_has_space(span) && span.data[0] != '-' && (key == 0 || !strchr("=:", span.data[key]));
}

static void walk_word(struct walk *walk, struct span word)
{
	struct span inner = span_unquote(word);

	if (walk_value(walk, word))
		return;
	if (word.size > 1 && word.data[0] == '-') {
		walk_option(walk, word);
		return;
	}
	if (inner.size < word.size && span_is_text(inner)) {
		span_walk(walk, inner);
		return;
	}
	walk_note_program(walk, inner);
	word_scan(walk, inner);
}

/* Size of the shell word at `code`, including quotes. Not a full parser, just enough to
 * keep a quoted value in one piece. */
static size_t code_word_size(struct span code)
{
	size_t size = 0;
	char quote = '\0';

	for (; size < code.size; size++) {
		char c = code.data[size];

		if (quote) {
			if (c == quote)
				quote = '\0';
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if (isspace((unsigned char)c) || strchr(";|()", c)) {
			break;
		}
	}
	return size;
}

static bool span_is_json(struct span span)
{
	size_t i = 1;

	if (span.size == 0 || (span.data[0] != '{' && span.data[0] != '['))
		return false;
	while (i < span.size && (isspace((unsigned char)span.data[i]) || strchr("{[", span.data[i])))
		i++;
	return i < span.size && span.data[i] == '"';
}

/* Walks shell code, or any text with spaces, as the words of commands. */
static void span_walk(struct walk *outer, struct span span)
{
	struct walk walk = {.output = outer->output, .depth = outer->depth + 1};

	if (walk.depth > CODE_DEPTH_MAX || span_is_json(span)) {
		word_scan(outer, span);
		return;
	}
	while (span.size > 0) {
		size_t size = code_word_size(span);

		if (size > 0) {
			walk_word(&walk, (struct span){span.data, size});
		} else {
			/* A separator other than a space begins another command. */
			if (!isspace((unsigned char)span.data[0]) || span.data[0] == '\n')
				walk = (struct walk){.output = walk.output, .depth = walk.depth};
			size = 1;
		}
		span = span_from(span, size);
	}
}

static void walk_argument(struct walk *walk, struct span argument)
{
	if (walk->next == VALUE_NONE && span_is_text(argument))
		span_walk(walk, argument);
	else
		walk_word(walk, argument);
}

static void output_redact_secrets(struct output *output, struct span argv)
{
	struct walk walk = {.output = output};

	output->copied = argv.data;
	while (argv.size > 0) {
		const char *end = memchr(argv.data, '\0', argv.size);
		size_t size = end ? (size_t)(end - argv.data) : argv.size;

		walk_argument(&walk, (struct span){argv.data, size});
		argv = span_from(argv, end ? size + 1 : size);
	}
	output_append(output, output->copied, (size_t)(argv.data - output->copied));
}

/* ---- interface ---- */

int redact_mode_parse(const char *text, enum redact_mode *ret_mode)
{
	static const char *const names[] = {
		[REDACT_FULL] = "full", [REDACT_SECRETS] = "redacted", [REDACT_PROGRAM_ONLY] = "program-only"};

	for (size_t i = 0; i < COUNT(names); i++) {
		if (strcmp(text, names[i]) == 0) {
			*ret_mode = (enum redact_mode)i;
			return 0;
		}
	}
	return -EINVAL;
}

static void output_keep_program(struct output *output, struct span argv)
{
	const char *end = memchr(argv.data, '\0', argv.size);
	size_t program_size = end ? (size_t)(end + 1 - argv.data) : argv.size;

	output_append(output, argv.data, program_size);
	for (size_t i = program_size; i < argv.size; i++)
		output->redacted_count += argv.data[i] == '\0' || i + 1 == argv.size;
}

bool redact_is_needed(enum redact_mode mode, const char *argv, size_t size)
{
	return size > 0 && (mode == REDACT_PROGRAM_ONLY || (mode == REDACT_SECRETS && secret_is_suspected(argv, size)));
}

int redact_arguments(enum redact_mode mode, const char *argv, size_t size, char **ret_argv, size_t *ret_size,
		     uint32_t *ret_redacted)
{
	struct output output = {.capacity = size + 64};

	output.data = malloc(output.capacity);
	if (!output.data)
		return -ENOMEM;
	if (!redact_is_needed(mode, argv, size))
		output_append(&output, argv, size);
	else if (mode == REDACT_PROGRAM_ONLY)
		output_keep_program(&output, (struct span){argv, size});
	else
		output_redact_secrets(&output, (struct span){argv, size});
	if (output.failed) {
		free(output.data);
		return -ENOMEM;
	}
	*ret_argv = output.data;
	*ret_size = output.size;
	*ret_redacted = output.redacted_count;
	return 0;
}
