/* What secrets look like: names, forms and places on command lines. The patterns are data, from the `secrets:`
 * of rule files (common/rules/load_secrets.c fills this structure; docs/rules.md describes the keys).
 */
#pragma once

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdbool.h>
#include <stddef.h>

#define SECRET_FORMS_MAX 8       /* words of a command */
#define SECRET_LITERAL_BYTES 3   /* every expression begins with as many literal bytes */
#define SECRET_NAME_BYTES_MAX 64 /* of a key; longer ones are text, not keys */

struct span {
	const char *data;
	size_t size;
};

struct secret_texts {
	const char **items;
	size_t count;
};

/* One word of a command: "docker", "login", "-p", "SECRET". */
enum secret_form_kind {
	SECRET_FORM_LITERAL, /* an operand of this text */
	SECRET_FORM_OPTION,  /* an option; its values are the forms that follow */
	SECRET_FORM_ANY,     /* *: any word; as the value of an option: a text of its own */
	SECRET_FORM_NAME,    /* NAME: any name of a secret */
	SECRET_FORM_VALUE,   /* SECRET, also as part of the word: *:SECRET, pass:SECRET */
	SECRET_FORM_LIST,    /* *,...: the same for each part between commas */
	SECRET_FORM_CODE,    /* CODE: shell code */
};

struct secret_form {
	enum secret_form_kind kind;
	const char *text; /* literal, option, or what a value begins with */
	size_t size;
	char before;   /* VALUE: the secret begins after the first of these; '\0': with the text or at once */
	char after;    /* VALUE: ... and ends before the last of these; '\0': at the end */
	bool attached; /* OPTION: has its value in the same word only: -pSECRET */
};

struct secret_command {
	struct secret_form forms[SECRET_FORMS_MAX];
	size_t count;
	size_t option; /* position of the option; `count` if there is none */
};

struct secret_commands {
	struct secret_command *items;
	size_t count;
};

/* A regular expression; group 1, or all if it has no group, is the secret. */
struct secret_expression {
	pcre2_code *code;
	char literal[32]; /* what it begins with, at most as many bytes */
	size_t literal_size;
	bool caseless;
};

struct secret_expressions {
	struct secret_expression *items;
	size_t count;
};

/* X(field, key): lists of words that decide whether a name is one of a secret. */
#define SECRET_NAME_LISTS(X) \
	X(parts, "parts")         /* part of a word: password */ \
	X(words, "words")         /* any word of the name: secret_key_base */ \
	X(last, "last")           /* the last word, or the last two or three: token, api key */ \
	X(endings, "endings")     /* end of the last word: storepass */ \
	X(random, "random")       /* like `last`, if the value looks random: key */ \
	X(about, "about")         /* not if the last word is one of these: password-file */ \
	X(negations, "negations") /* not if the word before is one of these: max-token */ \
	X(never, "never")         /* not these words: compass */ \
	X(values, "values")       /* values that are not secrets: true, *.txt, file:* */ \
	X(query, "query")         /* also in the query of a URL: sig */

enum secret_name_list {
#define X(field, key) SECRET_NAMES_##field,
	SECRET_NAME_LISTS(X)
#undef X
		SECRET_NAME_LIST_COUNT
};

struct secret_example {
	const char *command; /* secrets are between « and » */
	unsigned line;
};

struct secret_examples {
	struct secret_example *items;
	size_t count;
};

/* One entry of `secrets:`. */
struct secret {
	const char *name, *file;
	unsigned line, layer;
	struct secret_texts programs;
	bool grouped; /* short options may share a word: -sSu */
	struct secret_texts needs, options_with_value, options_without_value;
	struct secret_commands commands;
	struct secret_texts stdin_words; /* "login --password-stdin": then its standard input is a secret; *: always */
	struct secret_expressions expressions;
	struct secret_texts names[SECRET_NAME_LIST_COUNT];
	struct secret_examples examples;
};

struct secret_program {
	const char *name;
	const struct secret *secret;
};

/* Expressions by the first byte of their literal. */
struct secret_starts {
	const struct secret_expression **items;
	size_t count;
};

/* All entries, and indexes over them (secrets_index()). */
struct secrets {
	struct secret *items;
	size_t count, capacity;
	struct secret_program *programs; /* sorted by name */
	size_t program_count;
	size_t program_starts[257];                        /* of the programs that begin with each byte */
	struct secret_texts names[SECRET_NAME_LIST_COUNT]; /* sorted */
	struct secret_starts starts[256];
	struct secret_hints *hints; /* of the fast test */
	pcre2_match_data *match;
	pcre2_match_context *context;
};

/* Build the indexes once all entries are there. Returns 0 or -ENOMEM. */
int secrets_index(struct secrets *secrets);
void secrets_deinit(struct secrets *secrets);
void secret_deinit(struct secret *secret);

/* Parse "login -p SECRET", and an expression. Return 0; -EINVAL with a reason; -ENOMEM. The text must stay. */
int secret_command_parse(const char *text, struct secret_command *ret_command, char *ret_reason, size_t capacity);
int secret_expression_parse(const char *text, struct secret_expression *ret_expression, char *ret_reason,
			    size_t capacity);

/* The entries for a program, NULL-terminated by count. */
const struct secret_program *secrets_program(const struct secrets *secrets, struct span name, size_t *ret_count);

int secrets_hints_build(struct secrets *secrets); /* after the other indexes; 0 or -ENOMEM */
void secrets_hints_free(struct secret_hints *hints);

/* A fast test: false means that nothing here can be a secret. */
bool secrets_suspected(const struct secrets *secrets, const char *data, size_t size);
/* The same of what a cut may have made unrecognisable: then both must be false. */
bool secrets_suspected_cut(const char *data, size_t size);

/* Programs that write their arguments into a pipe. */
#define SECRET_ECHOES "echo", "printf", "yes"

/* ---- names and values (names.c) ---- */

enum secret_strength {
	SECRET_NONE,
	SECRET_IF_RANDOM, /* --key */
	SECRET_USUAL,     /* --token: paths, file names and small numbers are not secrets */
	SECRET_ALWAYS,    /* --password */
};

/* A name without the dashes of an option: DB_PASSWORD, clientSecret, api-key. */
enum secret_strength secret_name(const struct secrets *secrets, struct span name);
bool secret_is_query_name(const struct secrets *secrets, struct span name);

/* Whether the value of such a name is a secret. With `literal`, $X is not a variable unless it looks like one. */
bool secret_is_value(const struct secrets *secrets, enum secret_strength strength, struct span value, bool literal);
bool secret_is_variable(struct span value, bool literal);
bool secret_looks_random(struct span value);
