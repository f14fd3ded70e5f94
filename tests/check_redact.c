/* Secrets are removed from command lines; everything else stays as it is, byte for byte.
 *
 * Most cases are in redact.txt and secrets.txt. In all tables arguments are separated by a vertical bar without a
 * blank beside it. */
#include <errno.h>

#include "common/redact/redact.h"
#include "common/rules/rules.h"
#include "tests/suite.h"

static const struct secrets *secrets;

static char *redact(enum redact_mode mode, const char *line, uint32_t *ret_count)
{
	size_t size = strlen(line) + 1, out_size;
	char *argv = strdup(line), *out, *text;

	for (size_t i = 0; i < size; i++) {
		if (line[i] == '|' && line[i + 1] != ' ' && (i == 0 || line[i - 1] != ' '))
			argv[i] = '\0';
	}
	if (!redact_is_needed(secrets, mode, argv, size, false))
		mode = REDACT_FULL;
	ck_assert_int_eq(redact_arguments(secrets, mode, argv, size, false, &out, &out_size, ret_count), 0);
	ck_assert_int_eq(out[out_size - 1], '\0');
	text = calloc(1, out_size);
	for (size_t i = 0; i + 1 < out_size; i++)
		text[i] = out[i] ? out[i] : '|';
	free(argv);
	free(out);
	return text;
}

#define MARK "[redacted]"
#define LINE_BYTES_MAX 2048

/* Options of programs; * stands for the secret. */
static const struct {
	const char *programs;
	char words[24]; /* an array: with sanitizers, the compiler takes a pointer for one that may be NULL */
} program_secrets[] = {
	{"mysql mysqldump mysqladmin mysqlimport mysqlcheck mariadb mariadb-dump mariadb-admin sshpass 7z 7za",
	 "|-p*|x"},
	{"mongo mongosh mongodump mongorestore sshpass", "|-p|*|x"},
	{"redis-cli", "|-a|*|x"},
	{"curl", "|-uada:*|x"},
	{"curl", "|-u|ada:*|x"},
	{"curl", "|--user|ada:*|x"},
	{"curl", "|-U|ada:*|x"},
	{"curl", "|--proxy-user|ada:*|x"},
	{"docker podman helm skopeo oc az apptainer singularity", "|login|-p|*|x"},
	{"ldapsearch ldapmodify ldapadd ldapwhoami", "|-w|*|x"},
	{"zip unzip sqlcmd bcp ipmitool", "|-P|*|x"},
	{"openssl", "|-k|*|x"},
	{"openssl", "|-K|*|x"},
	{"lftp", "|-u|ada,*|x"},
	{"smbclient smbmount", "|-U|ada%*|x"},
};

static void words_with(char *line, size_t size, const char *program, const char *words, const char *secret)
{
	size_t star = strcspn(words, "*");

	snprintf(line, size, "%s%.*s%s%s", program, (int)star, words, secret, words + star + 1);
}

TEST_EACH(secrets_of_programs, program_secrets)
{
	char programs[256], line[128], expected[128], *rest;
	uint32_t count;

	snprintf(programs, sizeof(programs), "%s", program_secrets[_i].programs);
	for (char *program = strtok_r(programs, " ", &rest); program; program = strtok_r(NULL, " ", &rest)) {
		words_with(line, sizeof(line), program, program_secrets[_i].words, "hunter2");
		words_with(expected, sizeof(expected), program, program_secrets[_i].words, MARK);
		char *text = redact(REDACT_SECRETS, line, &count);
		ck_assert_str_eq(text, expected);
		ck_assert_uint_eq(count, 1);
		free(text);
	}
	words_with(line, sizeof(line), "program", program_secrets[_i].words, "hunter2"); /* unaffected */
	free(redact(REDACT_SECRETS, line, &count));
	ck_assert_uint_eq(count, 0);
}

/* Copies `line` without the marks, replacing its secrets by `replacement` (NULL: unchanged). Returns their number. */
static uint32_t line_with(char *text, const char *line, const char *replacement)
{
	uint32_t count = 0;

	for (bool in_secret = false; *line; line++) {
		if (strncmp(line, "«", strlen("«")) == 0 || strncmp(line, "»", strlen("»")) == 0) {
			in_secret = !in_secret;
			line += strlen("«") - 1;
			count += in_secret;
			if (in_secret && replacement)
				text = stpcpy(text, replacement);
		} else if (!in_secret || !replacement) {
			*text++ = *line;
		}
	}
	*text = '\0';
	return count;
}

/* Whether a word of any secret of the line is still in the text. */
static bool line_leaks(const char *line, const char *text)
{
	static const char between[] = " ,;:/@#?&=\"'\\";

	for (const char *word = strstr(line, "«"); word;) {
		const char *end = strstr(word, "»");
		size_t size;

		word += strncmp(word, "«", strlen("«")) == 0 ? strlen("«") : strspn(word, between);
		size = strcspn(word, between);
		if (word >= end) {
			word = strstr(end, "«");
			continue;
		}
		size = word + size > end ? (size_t)(end - word) : size;
		if (size >= 3 && memmem(text, strlen(text), word, size))
			return true;
		word += size;
	}
	return false;
}

/* Redaction is idempotent: a replayed command line does not change. */
static bool line_holds(unsigned number, char *line)
{
	char given[LINE_BYTES_MAX], expected[LINE_BYTES_MAX], *text, *again;
	uint32_t count, count_again, secret_count = line_with(given, line, NULL);
	bool holds;

	line_with(expected, line, MARK);
	text = redact(REDACT_SECRETS, given, &count);
	again = redact(REDACT_SECRETS, text, &count_again);
	holds = strcmp(text, expected) == 0 && count == secret_count && strcmp(again, text) == 0 && count_again == 0;
	if (!holds)
		printf("line %u: %s\n  %u secrets: %s\n  %u more: %s\n", number, expected, count, text, count_again,
		       again);
	free(again);
	free(text);
	return holds;
}

/* Writes a line of secrets.txt in full: <36> as 36 letters and digits, <h40>, <d9>, and newlines. */
static void line_expand(char *text, const char *line)
{
	static const char any[] = "Zk3Qw9Xe1Rt7Yu5Io2Pa8Sd4Fg6Hj0Lz", hex[] = "3fa9c07be1d8264b",
			  digit[] = "7301948562";

	while (*line) {
		unsigned count;
		int size = 0;
		char kind = line[1] == 'h' || line[1] == 'd' ? line[1] : 'a';

		if (*line == '<' && sscanf(line + (kind == 'a' ? 1 : 2), "%2u>%n", &count, &size) == 1 && size > 0) {
			const char *characters = kind == 'h' ? hex : kind == 'd' ? digit : any;

			for (size_t i = 0; i < count; i++)
				*text++ = characters[i % strlen(characters)];
			line += size + (kind == 'a' ? 1 : 2);
		} else if (strncmp(line, "⏎", strlen("⏎")) == 0) {
			*text++ = '\n';
			line += strlen("⏎");
		} else {
			*text++ = *line++;
		}
	}
	*text = '\0';
}

/* Figures of secrets.txt. */
static unsigned secret_lines, leaking_lines, inexact_lines, innocent_lines, changed_lines;

static bool secrets_hold(unsigned number, char *line)
{
	char full[LINE_BYTES_MAX], given[LINE_BYTES_MAX], expected[LINE_BYTES_MAX], *text;
	bool marked = *line == '?' || *line == '!', exact;
	uint32_t count, secret_count;

	line_expand(full, line + marked);
	secret_count = line_with(given, full, NULL);
	line_with(expected, full, MARK);
	text = redact(REDACT_SECRETS, given, &count);
	exact = strcmp(text, expected) == 0;
	secret_lines += secret_count > 0;
	innocent_lines += secret_count == 0;
	leaking_lines += secret_count > 0 && !exact && line_leaks(full, text);
	inexact_lines += secret_count > 0 && !exact && !line_leaks(full, text);
	changed_lines += secret_count == 0 && !exact;
	free(text);
	if (marked && exact)
		printf("line %u: the mark is not needed: %s\n", number, full);
	return marked ? !exact : line_holds(number, full);
}

/* Each line is redacted exactly, except the few that are marked. */
TEST(test_secrets)
{
	suite_table(SECRETS_TABLE, secrets_hold);
	printf("secrets: %u of %u lines leak, %u lose more than the secret; innocents: %u of %u changed\n",
	       leaking_lines, secret_lines, inexact_lines, changed_lines, innocent_lines);
	fflush(stdout);
}

TEST(test_table)
{
	char lines[] = "bash|-c|set -euo pipefail\nwget https://a:«b»@h/x\nbwa mem x";
	char bytes[] = "prog|\xff\xfe\x1b[31m";

	suite_table(REDACT_TABLE, line_holds);
	ck_assert(line_holds(0, lines) && line_holds(0, bytes));
}

TEST(test_modes)
{
	uint32_t count;
	char *text = redact(REDACT_FULL, "p|--password=a|x", &count);

	ck_assert_str_eq(text, "p|--password=a|x");
	ck_assert_uint_eq(count, 0);
	free(text);
	text = redact(REDACT_PROGRAM_ONLY, "p|--password=a|x", &count);
	ck_assert_str_eq(text, "p");
	ck_assert_uint_eq(count, 2);
	free(text);
}

TEST(test_needed)
{
	static const char plain[] = "tool\0--threads=4", secret[] = "tool\0--password=hunter22",
			  url[] = "tool\0see://x";

	ck_assert(!redact_is_needed(secrets, REDACT_FULL, secret, sizeof(secret), false));
	ck_assert(!redact_is_needed(secrets, REDACT_SECRETS, plain, sizeof(plain), false));
	ck_assert(redact_is_needed(secrets, REDACT_SECRETS, secret, sizeof(secret), false));
	ck_assert(redact_is_needed(secrets, REDACT_PROGRAM_ONLY, plain, sizeof(plain), false));
	ck_assert(!redact_is_needed(secrets, REDACT_PROGRAM_ONLY, plain, 0, false));
	/* A cut makes only what it is in a suspect. */
	ck_assert(!redact_is_needed(secrets, REDACT_SECRETS, plain, sizeof(plain), true));
	ck_assert(redact_is_needed(secrets, REDACT_SECRETS, url, sizeof(url), true));
	ck_assert(!redact_is_needed(secrets, REDACT_SECRETS, url, sizeof(url), false));
}

/* A truncated command line may end anywhere, with or without NUL: at most three bytes of a secret are kept, and
 * of a token what all such tokens begin with. */
static const struct {
	const char *line, *secret;
} cuts[] = {
	{"prog\n--password=hunter2\n--x", "hunter2"},
	{"prog\nhttps://ada:Hunter2word@x.org/path", "Hunter2word"},
	{"curl\n-H\nAuthorization: Bearer Abcdef0123456789", "Abcdef0123456789"},
	{"prog\nghp_Zk3Qw9Xe1Rt7Yu5Io2Pa8Sd4Fg6Hj0Lz1234", "Zk3Qw9Xe1Rt7Yu5Io2Pa8Sd4Fg6Hj0Lz1234"},
	{"prog\n{\"password\": \"hunter two\"}", "hunter two"},
	{"prog\n-----BEGIN PRIVATE KEY-----MIIEpAIBAAKCAQEA-----END", "MIIEpAIBAAKCAQEA"},
	{"bash\n-c\nmysql -e \"CREATE USER a IDENTIFIED BY 'Hunter2'\"", "Hunter2"},
	{"curl\n-d\nx\nhttps://hooks.slack.com/services/T01/B01/abcdefgh", "T01/B01/abcdefgh"},
};

TEST_EACH(test_cut, cuts)
{
	size_t length = strlen(cuts[_i].line);
	const char *secret = cuts[_i].secret;

	for (size_t size = 0; size <= length; size++) {
		for (size_t nul = 0; nul < 2; nul++) {
			uint32_t count;
			size_t out_size;
			char *copy = calloc(1, size + nul + 1), *out;

			for (size_t i = 0; i < size; i++)
				copy[i] = (char)(cuts[_i].line[i] == '\n' ? '\0' : cuts[_i].line[i]);
			ck_assert_int_eq(redact_arguments(secrets, REDACT_SECRETS, copy, size + nul, true, &out,
							  &out_size, &count),
					 0);
			ck_assert_msg(!memmem(out, out_size, secret, 4), "cut at %zu: %.*s", size, (int)out_size, out);
			ck_assert(count == 0 || redact_is_needed(secrets, REDACT_SECRETS, copy, size + nul, true));
			free(out);
			free(copy);
		}
	}
}

/* Whether it is only what all tokens of a kind begin with. */
static bool begins_alike(const char *token, size_t size)
{
	static const char *const beginnings[] = {
		"github_pat_", "dckr_pat_", "tskey-auth-", "vercel_blob_rw_", "pat-na1-", "pypi-AgE", "sk-ant-api03-",
		"sk-proj-",    "hf_oauth_", "SWMTKN-1-",   "eyJhbGci",        "eyJraWQi", "sk_live_", "sk_test_",
		"rk_live_",    "sha256~",   "lin_api_",    "GOCSPX-",         "dop_v1_",  "sq0csp-"};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (strncmp(token, beginnings[i], size < strlen(beginnings[i]) ? size : strlen(beginnings[i])) == 0 &&
		    size < strlen(beginnings[i]) + 5)
			return true;
	return false;
}

/* Cuts a line of secrets.txt within each of its secrets, after seven bytes or more. */
static bool cut_holds(unsigned number, char *line)
{
	char full[LINE_BYTES_MAX], *argv = full;
	bool holds = true;

	if (*line == '?' || *line == '!')
		return true;
	line_expand(full, line);
	for (char *p = full, *begin = NULL; *p;) {
		if (strncmp(p, "«", strlen("«")) == 0 || strncmp(p, "»", strlen("»")) == 0) {
			begin = strncmp(p, "«", strlen("«")) == 0 ? argv : NULL;
			p += strlen("«");
			continue;
		}
		*argv++ = *p == '|' && p[1] != ' ' && p[-1] != ' ' ? '\0' : *p;
		p++;
		if (begin && argv - begin >= 7) {
			char copy[LINE_BYTES_MAX] = "", *out;
			size_t size = (size_t)(argv - full), out_size;
			uint32_t count;

			memcpy(copy, full, size);
			ck_assert_int_eq(redact_arguments(secrets, REDACT_SECRETS, copy, size + 1, true, &out,
							  &out_size, &count),
					 0);
			ck_assert(count == 0 || redact_is_needed(secrets, REDACT_SECRETS, copy, size + 1, true));
			if (memmem(out, out_size, begin, (size_t)(argv - begin)) &&
			    !begins_alike(begin, (size_t)(argv - begin))) {
				printf("line %u, cut after %.*s\n", number, (int)(argv - begin), begin);
				holds = false;
			}
			free(out);
		}
	}
	return holds;
}

TEST(test_cut_list)
{
	suite_table(SECRETS_TABLE, cut_holds);
}

int main(void)
{
	struct tree_error error;
	struct rules *rules;
	int r = rules_load(NULL, &rules, &error);

	if (r < 0) {
		printf("%s:%u: %s\n", error.file, error.line, error.reason);
		return EXIT_FAILURE;
	}
	secrets = rules_secrets(rules);
	r = suite_run("redact", NULL, NULL);
	rules_free(rules);
	return r;
}
