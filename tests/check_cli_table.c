/* Tables: column alignment, fitting to a width, no raw bytes. */
#include <errno.h>
#include <locale.h>

#include "cli/screen/table.h"
#include "common/text.h"
#include "tests/suite.h"

static const struct table_column columns[] = {
	{"name", TABLE_LEFT, 60, 0}, {"wall", TABLE_RIGHT, 0, 0}, {"waited", TABLE_RIGHT, 0, 2},
	{"read", TABLE_RIGHT, 0, 1}, {"", TABLE_BAR, 0, 0},
};

static struct table *table;
static char *text; /* last output */

static void setup(void)
{
	table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
}

static void teardown(void)
{
	table_free(table);
	free(text);
	text = NULL;
}

static void row_add(const char *name, const char *wall)
{
	table_add_name(table, STYLE_PLAIN, "", name);
	table_add(table, STYLE_PLAIN, wall);
	table_add(table, STYLE_PLAIN, "3 ms");
	table_add(table, STYLE_PLAIN, "12 B");
	table_add_bar(table, STYLE_BAR, 0.5, 1);
}

static void print(size_t width, bool unicode, size_t *ret_dropped)
{
	struct output output = {.width = width, .unicode = unicode};
	size_t size;

	free(text);
	output.file = open_memstream(&text, &size);
	ck_assert_int_eq(table_print(table, &output, ret_dropped), 0);
	fclose(output.file);
}

static size_t widest(void)
{
	size_t most = 0;

	for (const char *at = text; *at;) {
		size_t size = strcspn(at, "\n");
		char *line = strndup(at, size);

		most = text_width(line) > most ? text_width(line) : most;
		free(line);
		at += size + (at[size] == '\n');
	}
	return most;
}

TEST(columns_align_by_width_not_bytes)
{
	row_add("日本", "1 s");
	row_add("abcdef", "12 s");
	print(0, true, NULL);
	ck_assert_str_eq(text, "name    wall  waited  read\n"
			       "日本     1 s    3 ms  12 B\n"
			       "abcdef  12 s    3 ms  12 B\n");
}

TEST(optional_columns_need_something)
{
	static const struct table_column sparse[] = {
		{"name", TABLE_LEFT, 60, 0, false},
		{"sent", TABLE_RIGHT, 0, 0, true},
		{"limit", TABLE_LEFT, 0, 0, true},
		{"wall", TABLE_RIGHT, 0, 0, false},
	};
	const char *const cells[] = {"a", "0 B", "-", "-", "b", "-", "", "0 s"};

	table_free(table);
	table = table_new(sparse, 4);
	for (size_t i = 0; i < 8; i++)
		table_add(table, STYLE_PLAIN, cells[i]);
	print(0, true, NULL);
	ck_assert_str_eq(text, "name  wall\na        -\nb      0 s\n");
	table_add(table, STYLE_PLAIN, "c");
	table_add(table, STYLE_PLAIN, "12 B");
	table_add(table, STYLE_PLAIN, "");
	table_add(table, STYLE_PLAIN, "1 s");
	print(0, true, NULL);
	ck_assert_str_eq(text, "name  sent  wall\na      0 B     -\nb        -   0 s\nc     12 B   1 s\n");
}

TEST(narrow_drops_then_cuts)
{
	size_t dropped;

	row_add("a name of thirty-two characters.", "1 s");
	for (size_t width = 30; width < 120; width++) {
		print(width, true, &dropped);
		ck_assert_msg(widest() <= width, "%zu columns:\n%s", width, text);
		ck_assert_msg(!strstr(text, "waited") || strstr(text, "read"), "%s", text);
	}
	print(27, true, &dropped);
	ck_assert_uint_eq(dropped, 2);
	ck_assert_str_eq(text, "name                   wall\na name of thirty-two…   1 s\n");
	print(27, false, &dropped);
	ck_assert_str_eq(text, "name                   wall\na name of thirty-t...   1 s\n");
}

TEST(each_column_may_have_its_own_rank)
{
	struct table_column many[20] = {{"name", TABLE_LEFT, 60, 0}};
	size_t dropped;

	table_free(table);
	for (unsigned i = 1; i < 20; i++)
		many[i] = (struct table_column){"c", TABLE_RIGHT, 0, i};
	table = table_new(many, 20);
	for (size_t i = 0; i < 20; i++)
		table_add(table, STYLE_PLAIN, i ? "123" : "name");
	print(40, true, &dropped);
	ck_assert_uint_eq(dropped, 12);
	ck_assert_uint_eq(widest(), 39);
	print(0, true, &dropped);
	ck_assert_uint_eq(dropped, 0);
}

TEST(bar_takes_what_is_left)
{
	row_add("x", "1 s");
	print(24 + 2 + 20, false, NULL);
	ck_assert_ptr_nonnull(strstr(text, "12 B            ==========\n"));
	print(24 + 2 + 11, false, NULL);
	ck_assert_ptr_null(strchr(text, '='));
}

TEST(no_memory_is_an_error_of_print)
{
	static const struct table_column too_many[100];

	ck_assert_ptr_null(table_new(too_many, 100));
	table_add_all(NULL, "a", "b", NULL);
	table_add_name(NULL, STYLE_PLAIN, "", "a");
	table_add_bar(NULL, STYLE_BAR, 0, 1);
	ck_assert_int_eq(table_finish(NULL, &(struct output){.file = stdout}), -ENOMEM);
}

/* More than the buffer of the table's stream holds; rows continue after what was printed. */
#define LONG_ROWS 40000
TEST(a_long_table_is_whole)
{
	char name[200], *line;

	for (size_t turn = 1; turn <= 2; turn++) {
		for (int i = 0; i < LONG_ROWS; i++) {
			snprintf(name, sizeof(name), "%0180d", i);
			row_add(name, "1 s");
		}
		print(0, true, NULL);
		line = text;
		for (size_t i = 0; i < turn * (LONG_ROWS); i++) {
			line = strchr(line, '\n') + 1;
			ck_assert_int_eq(atoi(line + 170), (int)(i % (LONG_ROWS)));
		}
		ck_assert_str_eq(strchr(line, '\n'), "\n");
	}
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	return suite_run("cli_table", setup, teardown);
}
