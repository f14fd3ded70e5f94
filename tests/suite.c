#include "tests/suite.h"

#include <err.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#define TEST_TIMEOUT_S 60 /* allows for sanitizers and a shared processor */
#define TESTS_MAX 64

static struct {
	const TTest *test;
	size_t times;
} tests[TESTS_MAX];
static unsigned test_count;

/* Read by builds with sanitizers. With the default, 256 MB, new pages for what was freed take most of the time; with 8
 * it is still a sixth. A damaged state may declare a size for which there is no memory: then the allocation fails, as
 * without sanitizers. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=1:thread_local_quarantine_size_kb=64:allocator_may_return_null=1";
}

void suite_add(const TTest *test, size_t times)
{
	if (test_count == TESTS_MAX)
		errx(EXIT_FAILURE, "more than %d tests", TESTS_MAX);
	tests[test_count].test = test;
	tests[test_count++].times = times;
}

void suite_table(const char *path, bool (*holds)(unsigned number, char *line))
{
	FILE *file = fopen(path, "r");
	unsigned number = 0, tried = 0, wrong = 0;
	char *line = NULL;
	size_t size = 0;

	ck_assert_msg(file != NULL, "%s", path);
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		number++;
		if (!*line || *line == '#')
			continue;
		tried++;
		wrong += !holds(number, line);
	}
	free(line);
	fclose(file);
	ck_assert_msg(tried > 0 && wrong == 0, "%s: %u of %u lines do not hold", path, wrong, tried);
}

void suite_directory(char *path, size_t size)
{
	const char *parent = getenv("TMPDIR");

	snprintf(path, size, "%s/tracer-check-XXXXXX", parent ? parent : "/tmp");
	if (!mkdtemp(path))
		err(EXIT_FAILURE, "%s", path);
}

void suite_directory_remove(const char *path)
{
	char command[192];

	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	if (system(command) != 0)
		errx(EXIT_FAILURE, "cannot remove %s", path);
}

const char *suite_file(const char *in_directory, const char *name, const char *text)
{
	static char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", in_directory ? in_directory : getenv("TMPDIR"), name);
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		err(EXIT_FAILURE, "%s", path);
	return path;
}

char *suite_rows(const char *path, const char *sql, const char *but)
{
	static char text[1 << 16];
	sqlite3 *database;
	sqlite3_stmt *statement;
	size_t size = 0;

	ck_assert_int_eq(sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_msg(sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
		      sqlite3_errmsg(database));
	text[0] = '\0';
	while (sqlite3_step(statement) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			if (strcmp(sqlite3_column_name(statement, i), but) == 0)
				continue;
			const char *value = (const char *)sqlite3_column_text(statement, i);

			size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%s", i ? " " : "",
						 value ? value : "-");
		}
		size += (size_t)snprintf(text + size, sizeof(text) - size, "\n");
	}
	sqlite3_finalize(statement);
	sqlite3_close(database);
	return text;
}

/* Runs the tests in a temporary directory, which also removes the files of failed tests. */
static void run_all(SRunner *runner)
{
	char directory[128];

	suite_directory(directory, sizeof(directory));
	chmod(directory, 0755); /* some tests read it as another user */
	setenv("TMPDIR", directory, 1);
	srunner_run_all(runner, CK_ENV);
	suite_directory_remove(directory);
}

int suite_run(const char *name, SFun begin, SFun end)
{
	Suite *suite = suite_create(name);
	TCase *all = tcase_create(name);
	SRunner *runner = srunner_create(suite);
	size_t planned = 0;
	int ran, failed;

	/* In one process: with sanitizers, a fork for each test takes several times longer than the tests. */
	setenv("CK_FORK", "no", 0);
	tcase_set_timeout(all, TEST_TIMEOUT_S);
	tcase_add_checked_fixture(all, begin, end);
	for (unsigned i = 0; i < test_count; i++) {
		tcase_add_loop_test(all, tests[i].test, 0, (int)tests[i].times);
		planned += tests[i].times;
	}
	suite_add_tcase(suite, all);
	run_all(runner);
	failed = srunner_ntests_failed(runner);
	ran = srunner_ntests_run(runner);
	srunner_free(runner);
	if (planned == 0 || (size_t)ran != planned)
		errx(EXIT_FAILURE, "%d of %zu tests ran", ran, planned);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
