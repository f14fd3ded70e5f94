/* Options: what a verb's option table accepts, and numbers on the command line. */
#include <errno.h>
#include <unistd.h>

#include "cli/options.h"
#include "tests/suite.h"

static const char *limit;
static bool all;
static int shape;
static int64_t since_ns;

static int three_take(const struct options *options, const char *value)
{
	return strcmp(value, "3") == 0 ? 0 : options_misuse(options, "'%s' is not three", value);
}

static const struct option_spec specs[] = {
	{"limit", 'n', "N", NULL, "a number", .text = &limit},
	{"all", 'a', NULL, NULL, "everything", .flag = &all},
	{"round", 0, NULL, NULL, "one of some", .choice = &shape, .chosen = 7},
	{"since", 's', "TIME", NULL, "how long", .duration_ns = &since_ns},
	{"three", 0, "N", NULL, "three", .take = three_take},
	OPTION_SPEC_JSON,
	OPTION_SPEC_STORE,
	OPTION_SPEC_COLOR,
	OPTION_SPEC_END,
};

static struct verb verb = {.name = "test", .operands = "[RUN]", .operands_most = 3, .options = specs};

static int status;

#define READ(options, ...) \
	options_read(options, &verb, (int)(sizeof((char *[]){"test", __VA_ARGS__}) / sizeof(char *)), \
		     (char *[]){"test", __VA_ARGS__, NULL}, &status)

TEST(own_and_common_options)
{
	struct options options;

	ck_assert(READ(&options, "x", "--limit=3", "-a", "--json", "--store", "f", "--color", "never", "y", "--round",
		       "-s", "2m", "--three", "3"));
	ck_assert_str_eq(limit, "3");
	ck_assert(all);
	ck_assert_int_eq(shape, 7);
	ck_assert_int_eq(since_ns, 120000000000);
	ck_assert(options.json && options.color == OUTPUT_COLOR_NEVER);
	ck_assert_str_eq(options_store_path(&options), "f");
	ck_assert_uint_eq(options.operand_count, 2);
	ck_assert_str_eq(options.operands[1], "y");
}

TEST(a_command_keeps_its_options)
{
	struct options options;

	verb.takes_command = true;
	all = false;
	ck_assert(READ(&options, "-a", "cmd", "-a", "--json"));
	ck_assert(all);
	ck_assert_uint_eq(options.operand_count, 3);
	ck_assert(!options.json);
	verb.takes_command = false;
}

static void refused(bool is_read)
{
	ck_assert(!is_read);
	ck_assert_int_eq(status, VERB_USAGE);
}

TEST(wrong_ones_are_refused)
{
	struct options options;

	close(STDERR_FILENO);
	refused(READ(&options, "--nope"));
	refused(READ(&options, "--limit"));
	refused(READ(&options, "--all=3"));
	refused(READ(&options, "--color", "red"));
	refused(READ(&options, "--since", "3y"));
	refused(READ(&options, "--three", "4"));
	refused(READ(&options, "a", "b", "c", "d"));
	verb.operands_least = 1;
	refused(READ(&options, "-a"));
	verb.operands_least = 0;
}

TEST(store_comes_from_the_environment)
{
	struct options options = {0};

	setenv("TRACER_STORE", "e", 1);
	ck_assert_str_eq(options_store_path(&options), "e");
	setenv("TRACER_STORE", "", 1);
	unsetenv("SUDO_UID");
	setenv("HOME", "/nonexistent", 1); /* no store of the user's own */
	ck_assert_str_eq(options_store_path(&options), OPTIONS_STORE_DEFAULT);
}

TEST(numbers_and_durations)
{
	uint64_t number = 7;

	ck_assert_int_eq(options_parse_number("10", 10, &number), 0);
	ck_assert_uint_eq(number, 10);
	ck_assert_int_eq(options_parse_number("11", 10, &number), -EINVAL);
	ck_assert_int_eq(options_parse_number("", 10, &number), -EINVAL);
	ck_assert_int_eq(options_parse_number("-1", 10, &number), -EINVAL);
	ck_assert_int_eq(options_parse_number("1x", 10, &number), -EINVAL);
	ck_assert_int_eq(options_parse_number("99999999999999999999", UINT64_MAX, &number), -EINVAL);
	ck_assert_uint_eq(number, 10);
	ck_assert_int_eq(options_parse_duration("90", &number), 0);
	ck_assert_uint_eq(number, 90000000000);
	ck_assert_int_eq(options_parse_duration("2h", &number), 0);
	ck_assert_uint_eq(number, 7200000000000);
	ck_assert_int_eq(options_parse_duration("h", &number), -EINVAL);
	ck_assert_int_eq(options_parse_duration("99999999999d", &number), -EINVAL);
}

int main(void)
{
	return suite_run("cli_options", NULL, NULL);
}
