/* Lists of cost centres: which centre a run belongs to, and errors in a list. */
#include "analysis/cost/centres.h"

#include <errno.h>
#include <string.h>

#include "tests/suite.h"

#define HEADER "Centre,User,Cgroup,Run\n"

static const char *path;
static struct centres *centres;
static struct tree_error error;

static void end(void)
{
	centres_free(centres);
	centres = NULL;
}

static int load(const char *text)
{
	path = suite_file(NULL, "centres.csv", text);
	memset(&error, 0, sizeof(error));
	return centres_load(path, &centres, &error);
}

/* The centre of a run "nightly-7" of user 1000, in a container; NULL: none. */
static const struct {
	const char *rows, *centre;
} cases[] = {
	{"", NULL},
	{"a,1000\n", "a"},
	{"a,1001\n", NULL},
	{"a,root\n", NULL},
	{"a,*\n", "a"},
	{"a\n", "a"},
	{"a,1000\nb,1000\n", "a"},
	{"a,1001\nb,1000\n", "b"},
	{"a,,*/docker/*\n", "a"},
	{"a,,/system.slice/*\n", NULL},
	{"a,,,nightly-*\n", "a"},
	{"a,,,nightly\n", NULL},
	{"a,1001,,nightly-*\nb,1000,*docker*,nightly-7\n", "b"},
	{"a,1000,/other,nightly-7\n", NULL},
	{"\"a, b\",1000\n", "a, b"},
};

TEST_EACH(the_first_row_that_matches_applies, cases)
{
	char text[512];
	const char *found;

	snprintf(text, sizeof(text), HEADER "%s", cases[_i].rows);
	ck_assert_msg(load(text) == 0, "%s", error.reason);
	found = centres_find(centres, 1000, "/machine/docker/0123", "nightly-7");
	ck_assert_pstr_eq(found, cases[_i].centre);
}

TEST(what_is_unknown_matches_only_anything)
{
	ck_assert_int_eq(load("Run,Centre,Cgroup,User\n,a,*,1000\n,b,/docker/*\nx,c\n"), 0);
	ck_assert_pstr_eq(centres_find(centres, INT64_MIN, NULL, "x"), "c");
	ck_assert_pstr_eq(centres_find(centres, INT64_MIN, NULL, "y"), NULL);
}

static const struct {
	const char *text;
	unsigned line;
	const char *reason;
} wrong[] = {
	{"", 0, "no header line"},
	{HEADER "a,1000\n,1001\n", 3, "Centre: is empty"},
	{HEADER "a,-5\n", 2, "no user '-5'"},
};

TEST_EACH(an_error_has_file_line_and_reason, wrong)
{
	ck_assert_int_eq(load(wrong[_i].text), -EINVAL);
	ck_assert_str_eq(error.file, path);
	ck_assert_uint_eq(error.line, wrong[_i].line);
	ck_assert_msg(strstr(error.reason, wrong[_i].reason), "%s", error.reason);
}

TEST(a_list_must_exist)
{
	ck_assert_int_eq(centres_load("/nonexistent/centres.csv", &centres, &error), -ENOENT);
	ck_assert_str_eq(error.file, "/nonexistent/centres.csv");
}

int main(void)
{
	return suite_run("centres", NULL, end);
}
