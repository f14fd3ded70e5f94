/* Names and values of secrets. See patterns.h. */
#include "common/redact/patterns.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 8

/* The words of a name, in lower case: "dbPassword", "DB_PASSWORD" and "db-password" are all {"db", "password"}. */
struct words {
	char text[2 * SECRET_NAME_BYTES_MAX];
	const char *items[WORDS_MAX];
	size_t count;
};

static int text_compare(const void *key, const void *item)
{
	return strcmp(key, *(const char *const *)item);
}

static bool list_has(const struct secrets *secrets, enum secret_name_list list, const char *word)
{
	const struct secret_texts *texts = &secrets->names[list];

	return texts->count && bsearch(word, texts->items, texts->count, sizeof(*texts->items), text_compare);
}

/* Returns false if there are no words, or more than WORDS_MAX. */
static bool words_split(struct span name, struct words *ret_words)
{
	char *out = ret_words->text;
	bool inside = false;

	ret_words->count = 0;
	for (size_t i = 0; i < name.size; i++) {
		unsigned char c = (unsigned char)name.data[i];
		bool hump = i > 0 && isupper(c) && islower((unsigned char)name.data[i - 1]);

		if (inside && (hump || !isalnum(c))) {
			*out++ = '\0';
			inside = false;
		}
		if (!isalnum(c))
			continue;
		if (!inside && ret_words->count == WORDS_MAX)
			return false;
		if (!inside)
			ret_words->items[ret_words->count++] = out;
		inside = true;
		*out++ = (char)tolower(c);
	}
	*out = '\0';
	while (ret_words->count > 1 && isdigit((unsigned char)ret_words->items[ret_words->count - 1][0]))
		ret_words->count--; /* TOKEN_2 */
	return ret_words->count > 0;
}

/* Whether the last one, two or three words, joined by blanks, are in the list. */
static bool list_has_last(const struct secrets *secrets, enum secret_name_list list, const struct words *words)
{
	char joined[2 * SECRET_NAME_BYTES_MAX + WORDS_MAX];

	for (size_t count = 1; count <= 3 && count <= words->count; count++) {
		char *end = joined;

		for (size_t i = words->count - count; i < words->count; i++) {
			if (end != joined)
				*end++ = ' ';
			end = stpcpy(end, words->items[i]);
		}
		if (list_has(secrets, list, joined))
			return true;
	}
	return false;
}

static bool has_part(const struct secret_texts *parts, const char *word)
{
	for (size_t i = 0; i < parts->count; i++)
		if (strstr(word, parts->items[i]))
			return true;
	return false;
}

static bool has_ending(const struct secret_texts *endings, const char *word)
{
	size_t size = strlen(word);

	for (size_t i = 0; i < endings->count; i++) {
		size_t ending = strlen(endings->items[i]);

		if (size >= ending && strcmp(word + size - ending, endings->items[i]) == 0)
			return true;
	}
	return false;
}

/* Strength of the words before the last, then of the last. */
static enum secret_strength words_strength(const struct secrets *secrets, const struct words *words)
{
	enum secret_strength strength = SECRET_NONE;
	const char *last = words->items[words->count - 1];

	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->items[i];

		if (list_has(secrets, SECRET_NAMES_never, word))
			continue;
		if (i > 0 && list_has(secrets, SECRET_NAMES_negations, words->items[i - 1]))
			continue;
		if (has_part(&secrets->names[SECRET_NAMES_parts], word))
			return SECRET_ALWAYS;
		if (list_has(secrets, SECRET_NAMES_words, word))
			strength = SECRET_USUAL;
	}
	if (strength == SECRET_NONE && !list_has(secrets, SECRET_NAMES_never, last) &&
	    !(words->count > 1 && list_has(secrets, SECRET_NAMES_negations, words->items[words->count - 2]))) {
		if (list_has_last(secrets, SECRET_NAMES_last, words) ||
		    has_ending(&secrets->names[SECRET_NAMES_endings], last))
			return SECRET_USUAL;
		if (list_has_last(secrets, SECRET_NAMES_random, words))
			return SECRET_IF_RANDOM;
	}
	return strength;
}

enum secret_strength secret_name(const struct secrets *secrets, struct span name)
{
	struct words words;

	if (name.size == 0 || name.size > SECRET_NAME_BYTES_MAX || !secrets_suspected(secrets, name.data, name.size) ||
	    !words_split(name, &words))
		return SECRET_NONE;
	if (name.size == 3 && memcmp(name.data, "PWD", 3) == 0)
		return SECRET_NONE; /* the working directory, in every environment */
	if (list_has_last(secrets, SECRET_NAMES_random, &words) && words.count > 1 &&
	    list_has(secrets, SECRET_NAMES_about, words.items[words.count - 1]))
		return SECRET_IF_RANDOM; /* secret_id, access_key_id */
	if (list_has(secrets, SECRET_NAMES_about, words.items[words.count - 1]) ||
	    list_has(secrets, SECRET_NAMES_negations, words.items[0]))
		return SECRET_NONE;
	return words_strength(secrets, &words);
}

bool secret_is_query_name(const struct secrets *secrets, struct span name)
{
	char text[SECRET_NAME_BYTES_MAX + 1];

	if (name.size == 0 || name.size > SECRET_NAME_BYTES_MAX)
		return false;
	for (size_t i = 0; i < name.size; i++)
		text[i] = (char)tolower((unsigned char)name.data[i]);
	text[name.size] = '\0';
	return list_has(secrets, SECRET_NAMES_query, text);
}

/* ---- values ---- */

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool secret_is_variable(struct span value, bool literal)
{
	size_t i = 1;

	if (value.size >= 2 && value.data[0] == '`')
		return !literal;
	if (value.size >= 4 && memcmp(value.data, "{{", 2) == 0)
		return true; /* a template's */
	if (value.size < 2 || value.data[0] != '$')
		return false;
	if (value.data[1] == '{' || value.data[1] == '(')
		return true;
	if (!literal && value.size == 2)
		return true; /* $1, $@ */
	if (isdigit((unsigned char)value.data[1]))
		return false;
	while (i < value.size && is_name_char(value.data[i]) && !(literal && islower((unsigned char)value.data[i])))
		i++;
	return i > 1 && (i == value.size || value.data[i] == '/' || value.data[i] == ':');
}

/* How often letters and digits change. */
static size_t changes(struct span value)
{
	size_t count = 0;

	for (size_t i = 1; i < value.size; i++)
		count += !isdigit((unsigned char)value.data[i]) != !isdigit((unsigned char)value.data[i - 1]);
	return count;
}

bool secret_looks_random(struct span value)
{
	size_t digits = 0, marks = 0;

	for (size_t i = 0; i < value.size; i++) {
		unsigned char c = (unsigned char)value.data[i];

		if (!isalnum(c) && !strchr("+/=-_", c))
			return false;
		digits += isdigit(c) != 0;
		marks += c == '-' || c == '_';
	}
	if (value.size > 0 && digits == value.size)
		return value.size >= 4 && value.size <= 8; /* a PIN */
	if (marks > 0)
		return value.size >= 20 && changes(value) >= 8; /* a UUID, base64url; not sample_01_tumor */
	return (value.size >= 20 && changes(value) >= 3) || (value.size >= 8 && changes(value) >= 2);
}

static bool is_path(struct span value)
{
	size_t separators = 0, skip;

	if (value.data[0] == '/')
		skip = 1;
	else if (value.size > 1 && (memcmp(value.data, "./", 2) == 0 || memcmp(value.data, "~/", 2) == 0 ||
				    memcmp(value.data, "..", 2) == 0))
		skip = 2;
	else
		return false;
	for (size_t i = skip; i < value.size; i++) {
		separators += value.data[i] == '/' || value.data[i] == '.';
		if (strchr("+=$", value.data[i]))
			return false;
	}
	return separators > 0 || skip == 2;
}

/* Whether the list of values that are not secrets has it: whole, by its beginning ("file:*") or its end ("*.txt"). */
static bool is_kept(const struct secrets *secrets, struct span value, bool ends)
{
	const struct secret_texts *texts = &secrets->names[SECRET_NAMES_values];

	for (size_t i = 0; i < texts->count; i++) {
		const char *text = texts->items[i];
		size_t size = strlen(text);

		if (text[0] == '*') {
			if (ends && value.size > size - 1 && !memchr(value.data, ' ', value.size) &&
			    strncasecmp(value.data + value.size - (size - 1), text + 1, size - 1) == 0)
				return true;
		} else if (text[size - 1] == '*') {
			if (value.size >= size - 1 && strncasecmp(value.data, text, size - 1) == 0)
				return true;
		} else if (size == value.size && strncasecmp(value.data, text, size) == 0) {
			return true;
		}
	}
	return false;
}

bool secret_is_value(const struct secrets *secrets, enum secret_strength strength, struct span value, bool literal)
{
	size_t digits = 0, letters = 0;

	if (strength == SECRET_NONE || value.size == 0)
		return false;
	for (size_t i = 0; i < value.size; i++) {
		digits += isdigit((unsigned char)value.data[i]) != 0;
		letters += isalpha((unsigned char)value.data[i]) != 0;
	}
	if (digits + letters == 0) /* ***, .*, [^ ]* */
		return false;
	if ((value.data[0] == '<' && value.data[value.size - 1] == '>') ||
	    (value.data[0] == '[' && value.data[value.size - 1] == ']'))
		return false; /* <password>, [MASK] */
	if (secret_is_variable(value, literal) || is_kept(secrets, value, strength != SECRET_ALWAYS))
		return false;
	switch (strength) {
	case SECRET_NONE: return false;
	case SECRET_IF_RANDOM: return secret_looks_random(value);
	case SECRET_USUAL: return !is_path(value) && (letters > 0 || value.size > 3);
	case SECRET_ALWAYS: return true;
	}
	return false;
}
