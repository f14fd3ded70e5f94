/* Finds secrets within a text. See scan.h. */
#include "common/redact/scan.h"

#include <ctype.h>
#include <string.h>

#include "common/shell.h"

void redaction_mark(struct redaction *redaction, struct span secret)
{
	/* Redacting again changes nothing. */
	if (secret.size == 0 ||
	    (secret.size >= strlen(REDACT_MARK) && memcmp(secret.data, REDACT_MARK, strlen(REDACT_MARK)) == 0))
		return;
	memset(redaction->mask + (secret.data - redaction->data), 1, secret.size);
}

bool redaction_mark_value(struct redaction *redaction, enum secret_strength strength, struct span value, bool literal)
{
	if (strength != SECRET_NONE && redaction_is_cut(redaction, value))
		strength = SECRET_ALWAYS;
	if (!secret_is_value(redaction->secrets, strength, value, literal))
		return false;
	redaction_mark(redaction, value);
	return true;
}

static bool is_key_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_at(struct span text, size_t at, const char *expected)
{
	size_t size = strlen(expected);

	return text.size - at >= size && memcmp(text.data + at, expected, size) == 0;
}

static size_t skip_blanks(struct span text, size_t at)
{
	while (at < text.size && is_space(text.data[at]))
		at++;
	return at;
}

static size_t key_size(struct span text, size_t at)
{
	size_t end = at;

	while (end < text.size && is_key_char(text.data[end]))
		end++;
	return end - at;
}

/* ---- values ---- */

/* A string from the quote at `at`; `*ret_end` is the offset after the closing quote. The quote may be escaped (JSON
 * within a string); within others, a backslash escapes. A shell's 'it'\''s' is one string. */
static struct span string_at(struct span text, size_t at, size_t *ret_end)
{
	bool escaped = text.data[at] == '\\';
	char quote = text.data[at + escaped];
	size_t begin = at + escaped + 1, i = begin, end;

	for (; i < text.size; i++) {
		if (escaped ? text.data[i] == '\\' && i + 1 < text.size && text.data[i + 1] == quote
			    : text.data[i] == quote && !is_at(text, i, "'\\''"))
			break;
		if (!escaped && is_at(text, i, "'\\''"))
			i += 3;
		else if (text.data[i] == '\\' && i + 2 < text.size &&
			 (quote == '"' || isalnum((unsigned char)text.data[i + 2])))
			i++;
	}
	end = i < text.size ? i : text.size;
	*ret_end = end + escaped + 1 < text.size ? end + escaped + 1 : text.size;
	return (struct span){text.data + begin, end - begin};
}

static bool quote_is_at(struct span text, size_t at)
{
	return at < text.size &&
	       (strchr("\"'", text.data[at]) ? text.data[at] != '\0'
					     : text.data[at] == '\\' && at + 1 < text.size &&
						       strchr("\"'", text.data[at + 1]) && text.data[at + 1] != '\0');
}

/* Whether another NAME= begins at `at`, perhaps after blanks. */
static bool pair_is_at(struct span text, size_t at)
{
	size_t size;

	at = skip_blanks(text, at);
	size = key_size(text, at);
	/* In a connection string, names are of several words: User Id=x. */
	while (at + size < text.size && text.data[at + size] == ' ' && key_size(text, at + size + 1) > 0)
		size += 1 + key_size(text, at + size + 1);
	return size > 0 && isalpha((unsigned char)text.data[at]) && at + size < text.size &&
	       text.data[at + size] == '=' && !is_at(text, at + size, "==");
}

/* A value that is a whole argument (PASSWORD=a b), up to another pair: "password=x user=y", "Password=x;Server=y". */
static struct span value_whole(struct span text, size_t at, const char *separators)
{
	size_t end = at;

	for (; end < text.size; end++)
		if (strchr(separators, text.data[end]) &&
		    (text.data[end] == ' ' || text.data[end] == ';' || text.data[end] == ',' ||
		     text.data[end] == '&') &&
		    pair_is_at(text, end + 1))
			break;
	return (struct span){text.data + at, end - at};
}

/* A value somewhere in a text: up to a blank, a quote or what separates values. */
static struct span value_bounded(struct span text, size_t at, bool in_code, char delimiter)
{
	size_t end = at;

	for (; end < text.size; end++) {
		char c = text.data[end], next = end + 1 < text.size ? text.data[end + 1] : '\0';

		if (is_space(c) || c == '"' || c == '\'' || c == '`' || (delimiter && c == delimiter))
			break;
		if (c == '\\' && next && in_code) {
			end++;
			continue;
		}
		if (c == '\\' && (next == '"' || next == 'n' || next == 'r'))
			break;
		if (in_code && strchr(";|)&>", c))
			break;
		if (strchr(";,&", c) &&
		    (!next || is_space(next) || strchr("}])\"'", next) || pair_is_at(text, end + 1)))
			break;
		if (strchr(")}]", c) && (!next || is_space(next) || strchr(",;)}]\"'", next)))
			break;
	}
	return (struct span){text.data + at, end - at};
}

/* Skips a scheme such as Bearer: `Authorization: Bearer X`. */
static struct span scheme_skip(struct span value)
{
	static const char *const schemes[] = {"bearer ", "basic ", "token ", "digest ",   "apikey ",
					      "splunk ", "dsn ",   "key ",   "negotiate "};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
		size_t size = strlen(schemes[i]);

		if (value.size > size && strncasecmp(value.data, schemes[i], size) == 0)
			return span_from(value, size);
	}
	return value;
}

/* ---- names with values ---- */

struct pair {
	struct span text;
	size_t key, key_end; /* the name */
	size_t value;        /* offset after the separator and blanks */
	char separator;      /* : = < (R's <-), or a comma between arguments of a call */
	char quote;          /* before the name, '\0': none */
	bool closed;         /* the name has a closing quote */
	bool spaced;         /* blanks before the value */
	bool in_code;
	enum secret_strength strength;
};

/* The dashes of an option, the -D of java, the -H of `curl -HAuthorization: x`. */
static struct span key_trim(struct span key)
{
	if (key.size > 3 && key.data[0] == '-' &&
	    (key.data[1] == 'H' || (strchr("DPJe", key.data[1]) && isalpha((unsigned char)key.data[2]) &&
				    (key.data[1] != 'e' || isupper((unsigned char)key.data[2])))))
		return span_from(key, 2);
	while (key.size > 0 && (key.data[0] == '-' || key.data[0] == '.'))
		key = span_from(key, 1);
	return key;
}

/* Reads what separates name and value. */
static bool pair_separate(struct pair *pair)
{
	static const char *const separators[] = {"=>", "<-", ":=", "||=", "==", "=", ":", ","};
	struct span text = pair->text;
	size_t at = pair->key_end, blanks;

	if (pair->quote && quote_is_at(text, at) && text.data[at + (text.data[at] == '\\')] == pair->quote) {
		at += text.data[at] == '\\' ? 2 : 1;
		pair->closed = true;
		if (at < text.size && text.data[at] == ']')
			at++; /* os.environ['X'] = */
	}
	if (pair->key > 0 && text.data[pair->key - 1] == '{' && at < text.size && text.data[at] == '}') {
		at++; /* Perl's $ENV{X} = */
		pair->closed = true;
	}
	blanks = skip_blanks(text, at);
	if (blanks > at && memchr(text.data + at, '\n', blanks - at))
		return false;
	for (size_t i = 0; i < sizeof(separators) / sizeof(*separators); i++) {
		if (!is_at(text, blanks, separators[i]))
			continue;
		pair->separator = separators[i][0];
		pair->value = skip_blanks(text, blanks + strlen(separators[i]));
		pair->spaced = blanks > at || pair->value > blanks + strlen(separators[i]);
		if (pair->in_code && pair->separator == '=' && blanks == at && pair->spaced &&
		    !quote_is_at(text, pair->value))
			return false; /* PASSWORD= program */
		return pair->separator != ':' || (blanks == at || pair->closed);
	}
	return false;
}

/* A URL, a::b, an image's tag, a mounted path: no name and value. */
static bool pair_is_other(const struct pair *pair)
{
	struct span text = pair->text;
	char before = pair->key > 0 ? text.data[pair->key - 1] : '\0';
	char after = pair->value < text.size ? text.data[pair->value] : '\0';

	if (pair->separator == ',') {
		bool call = pair->quote && pair->key > 1 && text.data[pair->key - 2] == '(';

		return !pair->closed || !quote_is_at(text, pair->value) || !(call || text.data[pair->key] == '-');
	}
	if (pair->key == 1 && before == '/' && after != '/')
		return false; /* /password:x */
	return pair->separator == ':' && !pair->spaced &&
	       (after == ':' || after == '/' || before == '/' || before == ':');
}

static size_t pair_mark(struct redaction *redaction, const struct pair *pair, struct span value, bool literal)
{
	value = scheme_skip(value);
	if (!redaction_mark_value(redaction, pair->strength, value, literal))
		return 0;
	return (size_t)(value.data + value.size - pair->text.data);
}

/* "passwords": ["a", "b"] */
static size_t pair_mark_list(struct redaction *redaction, const struct pair *pair)
{
	size_t at = pair->value + 1, end = 0;

	while (at < pair->text.size && !strchr("])}", pair->text.data[at])) {
		if (quote_is_at(pair->text, at))
			end = pair_mark(redaction, pair, string_at(pair->text, at, &at), true) ? at : end;
		else
			at++;
	}
	return end;
}

/* An expression of a program, not a value: getpass.getpass(), os.environ["X"], str = None. */
static bool is_expression(struct span value)
{
	size_t name = 0;

	while (name < value.size && (isalnum((unsigned char)value.data[name]) || strchr("_.:$", value.data[name])))
		name++;
	return name > 0 && name < value.size && strchr("([", value.data[name]);
}

static bool is_prose(const struct pair *pair, struct span value)
{
	bool begins = pair->key == 0 || pair->text.data[pair->key - 1] == '\n';

	if (begins || pair->separator != ':')
		return false;
	for (size_t i = 0; i < value.size; i++)
		if (!islower((unsigned char)value.data[i]))
			return false;
	return true;
}

/* A value without quotes. `delimiter` is that of sed's s/a/b/. */
static size_t pair_mark_bare(struct redaction *redaction, const struct pair *pair, char delimiter)
{
	struct span text = pair->text, value;
	bool begins = pair->key == 0 || text.data[pair->key - 1] == '=';
	bool header =
		pair->separator == ':' && (begins || (pair->quote && !pair->closed) || text.data[pair->key] == '-');
	bool in_query = pair->key > 0 && strchr("?&", text.data[pair->key - 1]);
	const char *end;

	if (header) {
		end = pair->quote ? memchr(text.data + pair->value, pair->quote, text.size - pair->value)
				  : memchr(text.data + pair->value, '\n', text.size - pair->value);
		value = span_from(text, pair->value);
		if (end)
			value.size = (size_t)(end - value.data);
		if (pair->key > 0 && pair->quote && !redaction_is_cut(redaction, value) && is_prose(pair, value))
			return 0;
	} else if (begins && pair->separator == '=' && !pair->in_code && !pair->spaced && !in_query && !delimiter) {
		value = value_whole(text, pair->value, pair->key == 0 ? " ;&" : " ;,&");
	} else {
		value = value_bounded(text, pair->value, pair->in_code, in_query ? '#' : delimiter);
		if (pair->spaced && !redaction_is_cut(redaction, value) && is_prose(pair, value))
			return 0;
	}
	if (((pair->spaced || pair->in_code) && is_expression(value)) || (value.size > 0 && value.data[0] == ')'))
		return 0;
	return pair_mark(redaction, pair, value, !pair->in_code);
}

/* --from-file=password=x: x is a file. */
static bool is_of_file(struct span text, size_t at)
{
	return at > 5 && text.data[0] == '-' && key_size(text, 0) == at - 1 &&
	       memcmp(text.data + at - 5, "file=", 5) == 0;
}

/* Python's token: str = "x" */
static void pair_skip_type(struct pair *pair)
{
	size_t at = pair->value + key_size(pair->text, pair->value);

	if (at == pair->value)
		return;
	at = skip_blanks(pair->text, at);
	if (at >= pair->text.size || pair->text.data[at] != '=')
		return;
	at = skip_blanks(pair->text, at + 1);
	if (quote_is_at(pair->text, at))
		pair->value = at;
}

/* Whether a shell word goes on after a closing quote: 'a'b */
static bool word_goes_on(struct span text, size_t at)
{
	return at < text.size && (isalnum((unsigned char)text.data[at]) || strchr("\"'\\$", text.data[at]));
}

/* Marks the secret that follows the name at `at`. Returns the offset to continue from, or 0 if there is none. */
static size_t pair_scan(struct redaction *redaction, struct span text, size_t at, size_t size, bool in_code,
			char delimiter)
{
	struct pair pair = {.text = text, .key = at, .key_end = at + size, .in_code = in_code};
	struct span key = key_trim((struct span){text.data + at, size});
	bool in_query = at > 0 && strchr("?&", text.data[at - 1]);
	size_t end;

	if (at > 0 && strchr("\"'", text.data[at - 1]))
		pair.quote = text.data[at - 1];
	if (!pair_separate(&pair) || pair_is_other(&pair))
		return 0;
	pair.strength = in_query && pair.separator == '=' && secret_is_query_name(redaction->secrets, key)
				? SECRET_USUAL
				: secret_name(redaction->secrets, key);
	if (pair.strength == SECRET_NONE || pair.value >= text.size || is_of_file(text, at))
		return 0;
	if (pair.separator == ':' && pair.spaced)
		pair_skip_type(&pair);
	if (is_at(text, pair.value, "$'"))
		pair.value++; /* the shell's $'...' */
	if (quote_is_at(text, pair.value)) {
		struct span value;
		bool literal = !in_code || text.data[pair.value] == '\'';

		/* The closing quote of what the name is in: "password:" */
		if (pair.quote && !pair.closed && text.data[pair.value] == pair.quote)
			return 0;
		value = string_at(text, pair.value, &end);
		if (in_code && text.data[pair.value] != '\\' && pair.separator == '=' && word_goes_on(text, end))
			value = (struct span){text.data + pair.value,
					      shell_word_size(text.data + pair.value, text.size - pair.value)};
		pair_mark(redaction, &pair, value, literal);
		return end;
	}
	if (strchr("[(", text.data[pair.value]))
		return pair.strength == SECRET_ALWAYS || pair.closed ? pair_mark_list(redaction, &pair) : 0;
	if (text.data[pair.value] == '{' && (at > 0 || pair.separator != '='))
		return 0; /* its contents have names of their own */
	return pair_mark_bare(redaction, &pair, delimiter);
}

/* ---- URLs ---- */

/* What `at` may be followed by: h, h:1, h.org, at the end or before a path. 2: certainly a host. */
static int host_rank(struct span text, size_t at)
{
	size_t size = key_size(text, at), end = at + size;
	bool dotted, numeric;

	if (at < text.size && text.data[at] == '[')
		return 2; /* IPv6 */
	if (size == 0)
		return 0;
	dotted = memchr(text.data + at, '.', size) && isalpha((unsigned char)text.data[end - 1]);
	numeric = isdigit((unsigned char)text.data[at]) && isdigit((unsigned char)text.data[end - 1]) && size >= 7;
	if (end == text.size || strchr("/?#;\"'`)>, \n\t}|&\\", text.data[end]))
		return dotted || numeric ? 2 : 1;
	if (text.data[end] == ':' || text.data[end] == '$' || text.data[end] == '{')
		return 2;
	return 0;
}

/* Offset of the @ that ends user and password, or 0. Passwords may hold / @ # ? although they should not. */
static size_t userinfo_end(struct span text, size_t begin, size_t end)
{
	size_t plain = 0;

	for (size_t i = begin; i < end; i++) {
		int rank = text.data[i] == '@' ? host_rank(text, i + 1) : 0;

		if (rank == 2)
			return i;
		if (rank == 1 && !plain)
			plain = i;
	}
	return plain;
}

static bool is_port(struct span text, size_t at)
{
	size_t digits = 0;

	while (at + digits < text.size && isdigit((unsigned char)text.data[at + digits]))
		digits++;
	return digits > 0 && at + digits < text.size ? strchr("/?#\"' ,;)", text.data[at + digits]) != NULL
						     : digits > 0;
}

/* A token in place of user and password. */
static bool is_token_user(struct span user)
{
	size_t digits = 0;

	for (size_t i = 0; i < user.size; i++)
		digits += isdigit((unsigned char)user.data[i]) != 0;
	return user.size >= 16 && digits >= 3 && !memchr(user.data, '.', user.size) &&
	       !memchr(user.data, '%', user.size);
}

/* Marks the password of ://user:password@host, or a token in place of the user; `begin` is after the slashes.
 * Returns the offset to continue from. */
static size_t url_scan(struct redaction *redaction, struct span text, size_t begin, bool in_code)
{
	size_t user = begin, end = begin, at;
	struct span secret;

	while (user < text.size && !is_space(text.data[user]) && !strchr(":@/?#\"'`<>", text.data[user]))
		user++;
	while (end < text.size && !is_space(text.data[end]) && !strchr("\"'`<>", text.data[end]))
		end++;
	if (user == text.size && redaction_is_cut(redaction, text) && !memchr(text.data + begin, '.', user - begin))
		redaction_mark(redaction, span_from(text, begin)); /* a token, or the beginning of a host */
	if (user == text.size || !strchr(":@", text.data[user]) || (text.data[user] == ':' && is_port(text, user + 1)))
		return begin;
	at = userinfo_end(text, user, end);
	if (!at && redaction_is_cut(redaction, text) && end == text.size)
		at = end; /* the rest, with the host, was cut */
	if (!at)
		return begin;
	secret = (struct span){text.data + begin, user - begin};
	if (secret_looks_random(secret) || (text.data[user] == '@' && is_token_user(secret)))
		redaction_mark(redaction, secret);
	if (text.data[user] == ':') {
		secret = (struct span){text.data + user + 1, at - user - 1};
		if (secret.size > 0 && !secret_is_variable(secret, !in_code) &&
		    !(secret.size == 13 && memcmp(secret.data, "x-oauth-basic", 13) == 0))
			redaction_mark(redaction, secret);
	}
	return at;
}

/* ---- tokens ---- */

static bool literal_is_at(const struct secret_expression *expression, struct span text, size_t at)
{
	if (text.size - at < expression->literal_size)
		return false;
	return expression->caseless ? strncasecmp(text.data + at, expression->literal, expression->literal_size) == 0
				    : memcmp(text.data + at, expression->literal, expression->literal_size) == 0;
}

/* Matches one expression at `at`. What a cut leaves of a match is secret too. */
static bool expression_scan(struct redaction *redaction, const struct secret_expression *expression, struct span text,
			    size_t at)
{
	const struct secrets *secrets = redaction->secrets;
	const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(secrets->match);
	uint32_t options = redaction_is_cut(redaction, text) ? PCRE2_PARTIAL_HARD : 0;
	int count;

	if (!literal_is_at(expression, text, at))
		return false;
	count = pcre2_match(expression->code, (PCRE2_SPTR)text.data, text.size, at, options, secrets->match,
			    secrets->context);
	if (count == PCRE2_ERROR_PARTIAL)
		redaction_mark(redaction, span_from(text, at + expression->literal_size));
	else if (count == 1)
		redaction_mark(redaction, (struct span){text.data + ends[0], ends[1] - ends[0]});
	else if ((count == 2 || count == 0) && ends[2] != PCRE2_UNSET && ends[3] > ends[2] &&
		 !secret_is_variable((struct span){text.data + ends[2], ends[3] - ends[2]}, false))
		redaction_mark(redaction, (struct span){text.data + ends[2], ends[3] - ends[2]});
	return count >= 0;
}

static void expressions_scan(struct redaction *redaction, struct span text, size_t at)
{
	const struct secret_starts *starts = &redaction->secrets->starts[(unsigned char)text.data[at]];

	if (starts->count == 0 ||
	    (at > 0 && isalnum((unsigned char)text.data[at]) && isalnum((unsigned char)text.data[at - 1])))
		return;
	for (size_t i = 0; i < starts->count; i++)
		expression_scan(redaction, starts->items[i], text, at);
}

/* The delimiter if sed's s/a/b/ begins before `at`. */
static char substitution(struct span text, size_t at)
{
	while (at > 0 && strchr("^(\\", text.data[at - 1]))
		at--;
	if (at < 2 || text.data[at - 2] != 's' || !strchr("/|#,@!", text.data[at - 1]) ||
	    (at > 2 && isalnum((unsigned char)text.data[at - 3])))
		return '\0';
	return text.data[at - 1];
}

void redaction_scan(struct redaction *redaction, struct span text, bool in_code)
{
	size_t next_key = 0;
	char delimiter = '\0';

	for (size_t i = 0; i < text.size; i++) {
		expressions_scan(redaction, text, i);
		if (i < next_key)
			continue;
		if (text.data[i] == ':' && is_at(text, i, "://"))
			next_key = url_scan(redaction, text, i + 3, in_code);
		else if (is_space(text.data[i]))
			delimiter = '\0';
		else if (is_key_char(text.data[i])) {
			size_t size = key_size(text, i), next;

			delimiter = delimiter ? delimiter : substitution(text, i);
			next = pair_scan(redaction, text, i, size, in_code, delimiter);
			next_key = next ? next : i + size;
		}
	}
}
