/* Recognises secrets. See secret.h. */
#include "correlator/redact/secret.h"

#include <ctype.h>
#include <string.h>

#define KEY_MAX 64 /* bytes of a key's name; longer ones are text, not keys */
#define WORDS_MAX 8

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* The words of a key, in lower case: "dbPassword", "DB_PASSWORD" and "db-password" are
 * all {"db", "password"}. */
struct key_words {
	char text[2 * KEY_MAX];
	const char *words[WORDS_MAX];
	size_t count;
};

static bool is_one_of(const char *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(word, list[i]) == 0)
			return true;
	}
	return false;
}

static bool ends_with(const char *word, const char *end)
{
	size_t size = strlen(word), end_size = strlen(end);

	return size >= end_size && strcmp(word + size - end_size, end) == 0;
}

/* Returns false if there are no words, or more than WORDS_MAX. */
static bool key_split(const char *name, size_t size, struct key_words *ret_words)
{
	char *out = ret_words->text;
	bool inside = false;

	ret_words->count = 0;
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)name[i];
		bool hump = i > 0 && isupper(c) && islower((unsigned char)name[i - 1]);

		if (inside && (hump || !isalnum(c))) {
			*out++ = '\0';
			inside = false;
		}
		if (!isalnum(c))
			continue;
		if (!inside && ret_words->count == WORDS_MAX)
			return false;
		if (!inside)
			ret_words->words[ret_words->count++] = out;
		inside = true;
		*out++ = (char)tolower(c);
	}
	*out = '\0';
	return ret_words->count > 0;
}

/* --password-file, TOKEN_URL: about a secret, not the secret itself. */
static bool word_is_about(const char *word)
{
	static const char *const words[] = {
		"file",   "files",  "path",    "dir",   "directory", "name",       "names",     "id",
		"ids",    "env",    "type",    "types", "url",       "uri",        "host",      "length",
		"len",    "size",   "count",   "ttl",   "expiry",    "expires",    "timeout",   "format",
		"field",  "column", "arn",     "store", "manager",   "provider",   "helper",    "command",
		"cmd",    "prompt", "stdin",   "fd",    "policy",    "version",    "ref",       "var",
		"mode",   "only",   "index",   "idx",   "level",     "alias",      "server",    "endpoint",
		"from",   "limit",  "ratio",   "dim",   "embedding", "embeddings", "algorithm", "strategy",
		"method", "scope",  "budget",  "per",   "rate",      "mask",       "masks",     "classification",
		"bytes",  "char",   "lifetime"};

	return is_one_of(word, words, COUNT(words));
}

/* --no-password, --max-token, --pad-token. */
static bool word_negates(const char *word)
{
	static const char *const words[] = {
		"no",  "without", "ask",   "prompt", "require", "skip", "disable", "enable", "show",      "reset",
		"max", "min",     "num",   "n",      "pad",     "eos",  "bos",     "unk",    "mask",      "cls",
		"sep", "special", "stop",  "start",  "end",     "new",  "image",   "audio",  "video",     "text",
		"two", "multi",   "first", "second", "single",  "high", "low",     "band",   "additional"};

	return is_one_of(word, words, COUNT(words));
}

/* Words before "key" that make it a secret. */
static bool word_makes_key(const char *word)
{
	static const char *const words[] = {"api",        "access",       "secret",      "private", "auth",
					    "encryption", "encrypt",      "decryption",  "signing", "account",
					    "storage",    "shared",       "master",      "license", "service",
					    "app",        "subscription", "consumer",    "deploy",  "admin",
					    "session",    "app",          "integration", "ingest",  "write",
					    "openai",     "anthropic",    "datadog",     "wandb",   "hf"};

	return is_one_of(word, words, COUNT(words));
}

static bool word_is_secret(const char *word)
{
	static const char *const words[] = {
		"pass",       "pwd",         "passcode",  "userpass",  "dbpass",        "secret",  "secrets",
		"token",      "apikey",      "accesskey", "secretkey", "privatekey",    "authkey", "accountkey",
		"credential", "credentials", "jwt",       "otp",       "authorization", "cookie",  "bearer"};

	if (ends_with(word, "file") || ends_with(word, "path") || ends_with(word, "prompt"))
		return false;
	return is_one_of(word, words, COUNT(words)) || strstr(word, "password") || strstr(word, "passwd") ||
	       strstr(word, "passphrase") || ends_with(word, "secret") ||
	       (ends_with(word, "token") && strcmp(word, "detoken") != 0);
}

bool secret_is_key(const char *name, size_t size)
{
	struct key_words key;
	bool secret = false;
	const char *last;

	if (size == 0 || size > KEY_MAX || !key_split(name, size, &key))
		return false;
	if (size == 3 && memcmp(name, "PWD", 3) == 0)
		return false; /* the working directory, in every environment */
	last = key.words[key.count - 1];
	if (word_is_about(last) || word_negates(key.words[0]))
		return false;
	for (size_t i = 0; i < key.count; i++) {
		if (i > 0 && word_negates(key.words[i - 1]))
			continue;
		/* token and pass count only at the end: not token-type, pass-through */
		if (strcmp(key.words[i], "token") == 0 || strcmp(key.words[i], "pass") == 0)
			secret = secret || i + 1 == key.count;
		else
			secret = secret || word_is_secret(key.words[i]);
	}
	if (strcmp(last, "key") == 0 && key.count >= 2)
		secret = secret || word_makes_key(key.words[key.count - 2]);
	return secret;
}

bool secret_is_value(const char *value, size_t size)
{
	static const char *const words[] = {"true",     "false",    "yes",           "no",     "none",  "null",
					    "auto",     "prompt",   "stdin",         "bearer", "basic", "string",
					    "required", "optional", "required=True", "ask",    "-"};
	size_t digits = 0;

	if (size == 0)
		return false;
	for (size_t i = 0; i < COUNT(words); i++) {
		if (strlen(words[i]) == size && strncasecmp(words[i], value, size) == 0)
			return false;
	}
	if (value[0] == '/' || (size > 1 && (memcmp(value, "./", 2) == 0 || memcmp(value, "~/", 2) == 0)))
		return false;
	if (value[0] == '$') /* $VARIABLE or $(command): at most the name of a secret */
		return false;
	while (digits < size && isdigit((unsigned char)value[digits]))
		digits++;
	return digits < size || size > 3;
}

static bool is_token_char(unsigned char c)
{
	return isalnum(c) || c == '_' || c == '-';
}

static size_t token_run(const char *text, size_t size)
{
	size_t count = 0;

	while (count < size && is_token_char((unsigned char)text[count]))
		count++;
	return count;
}

/* header.payload.signature, each base64url; the header is JSON, so it begins with eyJ. */
static size_t jwt_size(const char *text, size_t size)
{
	size_t total = token_run(text, size), parts = 1;

	if (total < 12)
		return 0;
	while (parts < 3 && total < size && text[total] == '.') {
		total += 1 + token_run(text + total + 1, size - total - 1);
		parts++;
	}
	return parts >= 2 ? total : 0;
}

size_t secret_token_size(const char *text, size_t size)
{
	static const struct {
		const char *prefix;
		size_t size_min; /* of the whole token */
	} shapes[] = {{"AKIA", 20},      {"ASIA", 20},     {"AROA", 20},     {"AIza", 35},     {"ghp_", 20},
		      {"gho_", 20},      {"ghu_", 20},     {"ghs_", 20},     {"ghr_", 20},     {"github_pat_", 30},
		      {"glpat-", 20},    {"gldt-", 20},    {"glrt-", 20},    {"xoxb-", 16},    {"xoxp-", 16},
		      {"xoxa-", 16},     {"xoxs-", 16},    {"xoxr-", 16},    {"xapp-", 16},    {"hf_", 20},
		      {"sk-", 20},       {"sk_live_", 16}, {"sk_test_", 16}, {"rk_live_", 16}, {"npm_", 30},
		      {"dckr_pat_", 20}, {"pypi-", 40},    {"dop_v1_", 30},  {"shpat_", 20},   {"ya29.", 20},
		      {"hvs.", 20},      {"nvapi-", 30},   {"dapi", 36}};
	size_t run;

	if (size >= 3 && memcmp(text, "eyJ", 3) == 0)
		return jwt_size(text, size);
	for (size_t i = 0; i < COUNT(shapes); i++) {
		size_t prefix;

		/* Compare the first byte first: this runs for every word. */
		if (size < shapes[i].size_min || text[0] != shapes[i].prefix[0])
			continue;
		prefix = strlen(shapes[i].prefix);
		if (memcmp(text, shapes[i].prefix, prefix) != 0)
			continue;
		run = prefix + token_run(text + prefix, size - prefix);
		if (run >= shapes[i].size_min)
			return run;
	}
	return 0;
}

/* In lower case, indexed by first byte, so that most bytes of a command line cost one test. */
static const char *const hints[256][9] = {
	[':'] = {"://"},
	['7'] = {"7z"},
	['a'] = {"auth", "akia", "asia", "aroa", "aiza"},
	['b'] = {"bearer", "bcp"},
	['c'] = {"credential", "cookie", "curl"},
	['d'] = {"dckr_", "dop_v1", "dapi"},
	['e'] = {"eyj"},
	['g'] = {"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat", "gldt-", "glpat-"},
	['h'] = {"hf_", "htpasswd", "hvs."},
	['i'] = {"ipmitool"},
	['j'] = {"jwt"},
	['k'] = {"key"},
	['l'] = {"login", "ldap", "lftp"},
	['m'] = {"mysql", "maria", "mongo"},
	['n'] = {"npm_", "nvapi-"},
	['o'] = {"otp", "openssl"},
	['p'] = {"pass", "pwd", "pypi-"},
	['r'] = {"redis-cli", "rk_live"},
	['s'] = {"secret", "sig=", "signature", "sk-", "sk_", "smb", "sqlcmd", "shpat_"},
	['t'] = {"token"},
	['u'] = {"userpass"},
	['x'] = {"xox", "xapp-"},
	['y'] = {"ya29."},
	['z'] = {"zip"},
};

/* tolower() of the C locale, without the call. */
static unsigned char lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/* Every hint has at least two bytes. */
bool secret_is_suspected(const char *data, size_t size)
{
	for (size_t i = 0; i + 1 < size; i++) {
		const char *const *list = hints[lower(data[i])];

		for (; *list; list++) {
			size_t hint_size;

			if ((*list)[1] != (char)lower(data[i + 1]))
				continue;
			hint_size = strlen(*list);
			if (size - i >= hint_size && strncasecmp(data + i, *list, hint_size) == 0)
				return true;
		}
	}
	return false;
}
