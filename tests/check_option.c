/* A daemon's command line, with values such as numbers and users. */
#include <errno.h>
#include <pwd.h>
#include <unistd.h>

#include "common/log.h"
#include "common/option.h"
#include "common/parse.h"
#include "tests/suite.h"

struct options {
	bool flag;
	const char *text;
	uint64_t number, bytes, period_ns;
	int fd;
	struct option_user user;
	gid_t group;
	enum log_level level;
};

static const char *take_parameter(void *field, const char *text, const struct option_rule *rule)
{
	*(const char **)field = rule->parameter;
	return strcmp(text, "bad") == 0 ? "that is bad" : NULL;
}

#define AT(field) offsetof(struct options, field)

static const struct option_program program = {
	.name = "daemon",
	.purpose = "Does nothing.",
	.exit_text = "Exit status: 0.",
	.rules = (const struct option_rule[]){{"flag", NULL, "a flag", option_take_flag, AT(flag)},
					      {"text", "TEXT", "a text", option_take_text, AT(text)},
					      {"number", "N", "a number", option_take_number, AT(number), 2, 10},
					      {"size", "SIZE", "bytes", option_take_size, AT(bytes), 0, INT64_MAX},
					      {"period", "SECONDS", "a time\nthat goes by", option_take_seconds,
					       AT(period_ns), 50000000, 10000000000},
					      {"fd", "N", "a descriptor", option_take_descriptor, AT(fd)},
					      {"user", "USER", "a user", option_take_user, AT(user)},
					      {"group", "GROUP", "a group", option_take_group, AT(group)},
					      {"log-level", "LEVEL", "a level", option_take_log_level, AT(level)},
					      {"a-very-long-name", "PARAMETER", "its own", take_parameter, AT(text),
					       .parameter = "given"},
					      {0}},
};

static struct options options;
static char said[4096]; /* standard output and error */

/* Returns option_parse() of these words, split at spaces. */
static int parse(const char *line)
{
	static char words[256]; /* static: the parsed texts point into it */
	char *argv[32] = {"daemon"}, *rest;
	int argc = 1, pipe_ends[2], kept[2] = {dup(1), dup(2)};

	snprintf(words, sizeof(words), "%s", line);
	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	ck_assert_int_eq(pipe(pipe_ends), 0);
	fflush(stdout);
	dup2(pipe_ends[1], 1);
	dup2(pipe_ends[1], 2);
	close(pipe_ends[1]);
	options = (struct options){.fd = -1};
	int result = option_parse(&program, &options, argc, argv, NULL);
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		dup2(kept[i], i + 1);
		close(kept[i]);
	}
	ssize_t size = read(pipe_ends[0], said, sizeof(said) - 1);
	said[size > 0 ? size : 0] = '\0';
	close(pipe_ends[0]);
	return result;
}

TEST(every_kind_goes_to_its_field)
{
	ck_assert_int_eq(parse("--flag --text=word --number 10 --size 3M --period 0.25 --fd 7 "
			       "--user root --group 0 --log-level debug"),
			 0);
	ck_assert(options.flag);
	ck_assert_uint_eq(options.number, 10);
	ck_assert_uint_eq(options.bytes, 3 << 20);
	ck_assert_uint_eq(options.period_ns, 250000000);
	ck_assert_int_eq(options.fd, 7);
	ck_assert_str_eq(options.user.name, "root");
	ck_assert_uint_eq(options.user.uid, 0);
	ck_assert_uint_eq(options.group, 0);
	ck_assert_int_eq(options.level, LOG_LEVEL_DEBUG);
	ck_assert_str_eq(said, "");
	ck_assert_int_eq(parse(""), 0);
	ck_assert(!options.flag && !options.user.name);
	ck_assert_int_eq(parse("--a-very-long-name x"), 0);
	ck_assert_str_eq(options.text, "given");
}

TEST(errors_are_one_line)
{
	static const char *const wrong[][2] = {
		{"--number 1", "--number 1: not a number in the valid range"},
		{"--number 11", "not a number in the valid range"},
		{"--number -3", "not a number in the valid range"},
		{"--number 3x", "not a number in the valid range"},
		{"--number 99999999999999999999", "not a number in the valid range"},
		{"--size 1T", "--size 1T: not a size"},
		{"--size 99999999999G", "not a size"},
		{"--size K", "not a size"},
		{"--period 0.01", "--period 0.01: not a number of seconds"},
		{"--period 11", "not a number of seconds"},
		{"--period nan", "not a number of seconds"},
		{"--period -1", "not a number of seconds"},
		{"--period 1s", "not a number of seconds"},
		{"--fd -1", "--fd -1: not a file descriptor"},
		{"--fd 65536", "not a file descriptor"},
		{"--user no-such-user", "no such user"},
		{"--user -1", "no such user"},
		{"--user 4294967295", "no such user"},
		{"--group no-such-group", "no such group"},
		{"--log-level loud", "expected error, warning, info or debug"},
		{"--a-very-long-name bad", "that is bad"},
		{"--unknown", "--unknown: unknown option"},
		{"--flag=1", "unknown option, or it takes no value"},
		{"--text", "--text: a value is missing"},
		{"-x", "unknown option"},
		{"word", "word: unexpected argument"},
		{"--user root\nroot", "--user root\\nroot: no such user"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_int_eq(parse(wrong[i][0]), -EINVAL);
		ck_assert_msg(strstr(said, wrong[i][1]), "%s: said %s", wrong[i][0], said);
		ck_assert_msg(strstr(said, "; see daemon --help\n"), "said %s", said);
		ck_assert_ptr_eq(strchr(said, '\n') + 1, said + strlen(said));
	}
}

TEST(help_has_every_option)
{
	ck_assert_int_eq(parse("--help"), -ECANCELED);
	ck_assert_str_eq(said, "Usage: daemon [OPTION...]\n"
			       "Does nothing.\n"
			       "\n"
			       "  --flag              a flag\n"
			       "  --text TEXT         a text\n"
			       "  --number N          a number\n"
			       "  --size SIZE         bytes\n"
			       "  --period SECONDS    a time\n"
			       "                      that goes by\n"
			       "  --fd N              a descriptor\n"
			       "  --user USER         a user\n"
			       "  --group GROUP       a group\n"
			       "  --log-level LEVEL   a level\n"
			       "  --a-very-long-name PARAMETER\n"
			       "                      its own\n"
			       "  --help, --version\n"
			       "\n"
			       "Exit status: 0.\n");
	ck_assert_int_eq(parse("--version"), -ECANCELED);
	ck_assert_str_eq(said, "daemon " TRACER_VERSION "\n");
}

TEST(numbers_are_what_they_say)
{
	uint64_t number = 77;

	ck_assert_int_eq(parse_number("0", parse_counts, 0, 0, &number), 0);
	ck_assert_uint_eq(number, 0);
	ck_assert_int_eq(parse_number("18446744073709551615", parse_counts, 0, UINT64_MAX, &number), 0);
	ck_assert_uint_eq(number, UINT64_MAX);
	ck_assert_int_eq(parse_number("18446744073709551616", parse_counts, 0, UINT64_MAX, &number), -ERANGE);
	ck_assert_int_eq(parse_number("17179869184G", parse_sizes, 0, UINT64_MAX, &number), -ERANGE);
	ck_assert_int_eq(parse_number("2d", parse_durations, 0, UINT64_MAX, &number), 0);
	ck_assert_uint_eq(number, 172800);
	for (const char *const *bad = (const char *const[]){"", " 1", "+1", "0x1", "1 ", "1mm", "m", NULL}; *bad; bad++)
		ck_assert_int_eq(parse_number(*bad, parse_durations, 0, UINT64_MAX, &number), -EINVAL);
	ck_assert_uint_eq(number, 172800);
}

TEST(users_go_by_name_or_number)
{
	const struct passwd *nobody = getpwnam("nobody");
	uid_t uid = 1;
	gid_t gid = 1;

	ck_assert_int_eq(parse_user("nobody", &uid, &gid), 0);
	ck_assert_uint_eq(uid, nobody->pw_uid);
	ck_assert_uint_eq(gid, nobody->pw_gid);
	ck_assert_int_eq(parse_user("0", &uid, &gid), 0);
	ck_assert_uint_eq(uid, 0);
	ck_assert_int_eq(parse_user("3999999999", &uid, &gid), 0);
	ck_assert_uint_eq(uid, 3999999999);
	ck_assert_uint_eq(gid, 3999999999);
	ck_assert_int_lt(parse_user("", &uid, &gid), 0);
	ck_assert_uint_eq(uid, 3999999999);
}

int main(void)
{
	log_init("check_option", LOG_LEVEL_INFO);
	return suite_run("option", NULL, NULL);
}
