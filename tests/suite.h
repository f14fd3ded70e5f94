/* What every test program is made of: tests, which are run where they are written, and suite_run(). */
#pragma once

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* A test of this program: TEST(what_it_shows) { ... }; with TEST_TIMES its body is run with `_i`
 * from 0 to times - 1, with TEST_EACH for each index of an array. */
#define TEST_TIMES(name, times) \
	static void name##_fn(int _i CK_ATTRIBUTE_UNUSED); \
	__attribute__((constructor)) static void name##_add(void) \
	{ \
		static const TTest test = {#name, name##_fn, __FILE__, __LINE__}; \
		suite_add(&test, times); \
	} \
	static void name##_fn(int _i CK_ATTRIBUTE_UNUSED)
#define TEST_EACH(name, array) TEST_TIMES(name, sizeof(array) / sizeof((array)[0]))
#define TEST(name) TEST_TIMES(name, 1)

void suite_add(const TTest *test, size_t times);

/* Runs them all, `begin` and `end` around each, NULL: nothing. The program's exit status. */
int suite_run(const char *name, SFun begin, SFun end);

/* Every line of a table but empty ones and those that begin with #: `holds` prints what is not as the
 * line says. Fails where one does not hold. */
void suite_table(const char *path, bool (*holds)(unsigned number, char *line));

/* A new directory in TMPDIR. */
void suite_directory(char *path, size_t size);
void suite_directory_remove(const char *path);
