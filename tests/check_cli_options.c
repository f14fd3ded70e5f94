/* Options: what the table of a verb accepts, and numbers from the command line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "tests/suite.h"

enum { OPTION_LIMIT = 1, OPTION_ALL };

static const struct option_spec specs[] = {
	{OPTION_LIMIT, "limit", 'n', "N", NULL, "a number"},
	{OPTION_ALL, "all", 'a', NULL, NULL, "everything"},
	OPTION_SPEC_JSON,
	OPTION_SPEC_STORE,
	OPTION_SPEC_COLOR,
	OPTION_SPEC_END,
};

static struct verb verb = {.name = "test", .operands = "[RUN]", .options = specs};

#define PARSE(options, ...)                                                                  \
	static char *arguments[] = {"test", __VA_ARGS__, NULL};                               \
	options_init(options, &verb, (int)(sizeof(arguments) / sizeof(arguments[0])) - 1, arguments)

TEST(own_and_common_options)
{
	struct options options;
	const char *value = NULL;

	PARSE(&options, "x", "--limit=3", "-a", "--json", "--store", "f", "--color", "never", "y");
	ck_assert_int_eq(options_next(&options, &value), OPTION_LIMIT);
	ck_assert_str_eq(value, "3");
	ck_assert_int_eq(options_next(&options, &value), OPTION_ALL);
	ck_assert_int_eq(options_next(&options, &value), 0);
	ck_assert(options.json && options.color == OUTPUT_COLOR_NEVER);
	ck_assert_str_eq(options_store_path(&options), "f");
	ck_assert_uint_eq(options.operand_count, 2);
	ck_assert_str_eq(options.operands[1], "y");
}

TEST(a_command_keeps_its_options)
{
	struct options options;
	const char *value;

	verb.takes_command = true;
	PARSE(&options, "-a", "cmd", "-a", "--json");
	ck_assert_int_eq(options_next(&options, &value), OPTION_ALL);
	ck_assert_int_eq(options_next(&options, &value), 0);
	ck_assert_uint_eq(options.operand_count, 3);
	ck_assert(!options.json);
	verb.takes_command = false;
}

TEST(wrong_ones_are_refused)
{
	struct options options;
	const char *value;

	close(STDERR_FILENO);
	{
		PARSE(&options, "--nope");
		ck_assert_int_eq(options_next(&options, &value), -EINVAL);
	}
	{
		PARSE(&options, "--limit");
		ck_assert_int_eq(options_next(&options, &value), -EINVAL);
	}
	{
		PARSE(&options, "--all=3");
		ck_assert_int_eq(options_next(&options, &value), -EINVAL);
	}
	{
		PARSE(&options, "--color", "red");
		ck_assert_int_eq(options_next(&options, &value), -EINVAL);
	}
}

TEST(store_comes_from_the_environment)
{
	struct options options = {0};

	setenv("TRACER_STORE", "e", 1);
	ck_assert_str_eq(options_store_path(&options), "e");
	setenv("TRACER_STORE", "", 1);
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
