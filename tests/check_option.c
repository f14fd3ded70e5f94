/* A daemon's command line, with values such as numbers and users. */
#include <errno.h>
#include <pwd.h>
#include <unistd.h>

#include "common/log.h"
#include "common/option.h"
#include "common/parse.h"
#include "tests/suite.h"

static struct options {
	bool flag;
	const char *text;
	int64_t number, bytes, period_ns, age_ns;
	int fd, level;
	struct option_user user;
	gid_t group;
} options;

static const char *parse_parameter(const struct option_spec *spec, const char *text)
{
	options.text = spec->parameter;
	return strcmp(text, "bad") == 0 ? "what is good" : NULL;
}

static const struct option_program program = {
	.name = "daemon",
	.purpose = "Does nothing.",
	.exit_text = "Exit status: 0.",
	/* clang-format off */
	.specs = (const struct option_spec[]){
		{"flag", 0, NULL, NULL, "a flag", .flag = &options.flag},
		{"text", 't', "TEXT", NULL, "a text", .text = &options.text},
		{"number", 0, "N", NULL, "a number", .number = &options.number, .least = 2, .most = 10},
		{"size", 0, "SIZE", NULL, "bytes", .bytes = &options.bytes},
		{"period", 0, "TIME", NULL, "a time that goes by so slowly that it needs more than a line of the help",
		 .duration_ns = &options.period_ns, .least = 50000000, .most = 10000000000, .initial = "1s"},
		{"age", 0, "TIME", NULL, "a time without bounds", .duration_ns = &options.age_ns},
		{"fd", 0, "N", NULL, "a descriptor", .descriptor = &options.fd, .most = 65535},
		{"user", 0, "USER", NULL, "a user", .user = &options.user},
		{"group", 0, "GROUP", NULL, "a group", .group = &options.group},
		{"log-level", 0, "LEVEL", LOG_LEVEL_WORDS, "a level", .choice = &options.level},
		{"a-very-long-name", 0, "PARAMETER", NULL, "its own", .parse = parse_parameter, .parameter = "given"},
		OPTION_SPECS_OF_DAEMON},
	/* clang-format on */
};

static char said[4096]; /* standard output and error */

/* Returns option_parse_program() of these words, split at spaces. */
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
	int result = option_parse_program(&program, argc, argv, NULL, NULL);
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
	ck_assert_int_eq(parse("--flag --text=word --number 10 --size 3M --period 0.25 --age 1.5h --fd 7 "
			       "--user root --group 0 --log-level debug"),
			 0);
	ck_assert(options.flag);
	ck_assert_int_eq(options.number, 10);
	ck_assert_int_eq(options.bytes, 3 << 20);
	ck_assert_int_eq(options.period_ns, 250000000);
	ck_assert_int_eq(options.age_ns, 5400 * 1000000000LL);
	ck_assert_int_eq(options.fd, 7);
	ck_assert_str_eq(options.user.name, "root");
	ck_assert_uint_eq(options.user.uid, 0);
	ck_assert_uint_eq(options.group, 0);
	ck_assert_int_eq(options.level, LOG_LEVEL_DEBUG);
	ck_assert_str_eq(said, "");
	ck_assert_int_eq(parse(""), 0);
	ck_assert(!options.flag && !options.user.name);
	ck_assert_int_eq(parse("--user 3999999999"), 0);
	ck_assert_uint_eq(options.user.uid, 3999999999);
	ck_assert_uint_eq(options.user.gid, 3999999999);
	ck_assert_int_eq(parse("--user nobody"), 0);
	ck_assert_uint_eq(options.user.gid, getpwnam("nobody")->pw_gid);
	ck_assert_int_eq(parse("--a-very-long-name x"), 0);
	ck_assert_str_eq(options.text, "given");
}

TEST(errors_are_one_line)
{
	static const char *const wrong[][2] = {
		{"--number 1", "--number takes 2 to 10, not '1'"},
		{"--number 11", "not '11'"},
		{"--number -3", "not '-3'"},
		{"--number 3x", "not '3x'"},
		{"--number 99999999999999999999", "2 to 10, not"},
		{"--size 1T", "--size takes bytes, or 500M or 10G, not '1T'"},
		{"--size 99999999999G", "--size takes bytes"},
		{"--size K", "--size takes bytes"},
		{"--period 0.01", "--period takes 0.05s to 10s, not '0.01'"},
		{"--period 1m", "to 10s, not '1m'"},
		{"--period nan", "not 'nan'"},
		{"--period -1", "not '-1'"},
		{"--period 1y", "not '1y'"},
		{"--age 99999999999d", "--age takes 90s, 15m, 2h or 3d, not '99999999999d'"},
		{"--fd -1", "--fd takes 0 to 65535, not '-1'"},
		{"--fd 65536", "not '65536'"},
		{"--user no-such-user", "--user takes a user's name or number, not 'no-such-user'"},
		{"--user=", "not ''"},
		{"--user -1", "not '-1'"},
		{"--user 4294967295", "not '4294967295'"},
		{"--group no-such-group", "--group takes a group's name or number, not 'no-such-group'"},
		{"--log-level loud", "--log-level takes one of error warning info debug, not 'loud'"},
		{"--a-very-long-name bad", "takes what is good, not 'bad'"},
		{"--unknown", "unknown option --unknown;"},
		{"--unknown=1", "unknown option --unknown=1;"},
		{"--flag=1", "--flag takes no value;"},
		{"--text", "--text needs a value: --text TEXT;"},
		{"-t", "--text needs a value: --text TEXT;"},
		{"-x", "unknown option -x;"},
		{"word", "unexpected argument 'word';"},
		{"--user root\nroot", "not 'root\\nroot'"},
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
			       "Options:\n"
			       "      --flag              a flag\n"
			       "  -t, --text TEXT         a text\n"
			       "      --number N          a number\n"
			       "      --size SIZE         bytes\n"
			       "      --period TIME       a time that goes by so slowly that it needs more than\n"
			       "                          a line of the help (default 1s)\n"
			       "      --age TIME          a time without bounds\n"
			       "      --fd N              a descriptor\n"
			       "      --user USER         a user\n"
			       "      --group GROUP       a group\n"
			       "      --log-level LEVEL   a level\n"
			       "      --a-very-long-name PARAMETER\n"
			       "                          its own\n"
			       "      --help              print this help\n"
			       "      --version           print the version\n"
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

int main(void)
{
	log_init("check_option", LOG_LEVEL_INFO);
	return suite_run("option", NULL, NULL);
}
