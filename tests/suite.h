/* Framework of every test program: tests are registered where they are defined, and run by suite_run(). */
#pragma once

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Defines a test: TEST(what_it_shows) { ... }. TEST_TIMES runs the body with `_i` from 0 to times - 1,
 * TEST_EACH once for each index of an array. */
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

/* Runs all tests with the fixtures `begin` and `end` (NULL for none). Returns the program's exit status. */
int suite_run(const char *name, SFun begin, SFun end);

/* Calls `holds` for every line of a table, except empty lines and those beginning with #. `holds`
 * prints the deviation and returns false if the line does not hold; the test then fails. */
void suite_table(const char *path, bool (*holds)(unsigned number, char *line));

/* Creates a new directory in TMPDIR; what a test leaves there is removed with all tests of the program. */
void suite_directory(char *path, size_t size);
void suite_directory_remove(const char *path);

/* Writes a file in that directory, or in TMPDIR if it is NULL. Returns its path, valid until the next call. */
const char *suite_file(const char *directory, const char *name, const char *text);

/* Returns the rows of a query of a SQLite file, one a line, columns separated by a space, NULL as "-". Without the
 * column `but`. Valid until the next call. */
char *suite_rows(const char *path, const char *sql, const char *but);
