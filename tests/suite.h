/* What every test program ends with: its list of tests, run. */
#ifndef TRACER_TESTS_SUITE_H
#define TRACER_TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

#define TEST_TIMEOUT_S 60 /* sanitizers, and a processor that others use too */

struct suite_test {
	const TTest *test;
	int count; /* how many times, with _i from 0 on; 0: once */
};

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
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
