/* What every test program ends with: its list of tests, run. */
#ifndef TRACER_TESTS_SUITE_H
#define TRACER_TESTS_SUITE_H

#include <check.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define TEST_TIMEOUT_S 60 /* sanitizers, and a processor that others use too */

struct suite_test {
	const TTest *test;
	int count; /* how many times, with _i from 0 on; 0: once */
};

/* A new directory in TMPDIR. */
static inline void suite_directory(char *path, size_t size)
{
	const char *parent = getenv("TMPDIR");

	snprintf(path, size, "%s/tracer-check-XXXXXX", parent ? parent : "/tmp");
	if (!mkdtemp(path))
		err(EXIT_FAILURE, "%s", path);
}

static inline void suite_directory_remove(const char *path)
{
	char command[192];

	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	if (system(command) != 0)
		errx(EXIT_FAILURE, "cannot remove %s", path);
}

/* All that the tests make goes with this: also of those that fail, and clean up nothing. */
static inline void suite_run_all(SRunner *runner)
{
	char directory[128];

	suite_directory(directory, sizeof(directory));
	chmod(directory, 0755); /* another user reads some */
	setenv("TMPDIR", directory, 1);
	srunner_run_all(runner, CK_ENV);
	suite_directory_remove(directory);
}

/* `tests` ends with {0}; `begin` and `end` around each, NULL: nothing. The exit status. */
static inline int suite_run(const char *name, SFun begin, SFun end, const struct suite_test *tests)
{
	Suite *suite = suite_create(name);
	TCase *all = tcase_create(name);
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(all, TEST_TIMEOUT_S);
	tcase_add_checked_fixture(all, begin, end);
	for (; tests->test; tests++)
		tcase_add_loop_test(all, tests->test, 0, tests->count ? tests->count : 1);
	suite_add_tcase(suite, all);
	suite_run_all(runner);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
