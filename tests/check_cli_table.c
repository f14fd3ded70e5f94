/* Tables: alignment by columns of text, fitting to a width, nothing raw. */
#include <locale.h>

#include "cli/table.h"
#include "common/text.h"
#include "tests/suite.h"

static const struct table_column columns[] = {
	{"name", TABLE_LEFT, 60, 0},
	{"wall", TABLE_RIGHT, 0, 0},
	{"waited", TABLE_RIGHT, 0, 2},
	{"read", TABLE_RIGHT, 0, 1},
	{"", TABLE_BAR, 0, 0},
};

static void row_add(struct table *table, const char *name, const char *wall)
{
	table_add_name(table, STYLE_PLAIN, "", name);
	table_add(table, STYLE_PLAIN, wall);
	table_add(table, STYLE_PLAIN, "3 ms");
	table_add(table, STYLE_PLAIN, "12 B");
	table_add_bar(table, STYLE_BAR, 0.5, 1);
}

/* What the table prints at that width, to free. */
static char *print(struct table *table, size_t width, bool unicode, size_t *ret_dropped)
{
	struct output output = {.width = width, .unicode = unicode};
	char *text = NULL;
	size_t size;

	output.file = open_memstream(&text, &size);
	ck_assert_int_eq(table_print(table, &output, true, ret_dropped), 0);
	fclose(output.file);
	return text;
}

static size_t widest(const char *text)
{
	size_t most = 0;

	while (*text) {
		size_t size = strcspn(text, "\n");
		char *line = strndup(text, size);

		most = text_width(line) > most ? text_width(line) : most;
		free(line);
		text += size + (text[size] == '\n');
	}
	return most;
}

TEST(columns_align_by_width_not_bytes)
{
	struct table *table = table_new(columns, 5);
	char *text;

	row_add(table, "日本", "1 s");
	row_add(table, "abcdef", "12 s");
	text = print(table, 0, true, NULL);
	ck_assert_str_eq(text, "name    wall  waited  read\n"
			       "日本     1 s    3 ms  12 B\n"
			       "abcdef  12 s    3 ms  12 B\n");
	free(text);
	table_free(table);
}

TEST(optional_columns_need_something)
{
	static const struct table_column sparse[] = {
		{"name", TABLE_LEFT, 60, 0, false},
		{"sent", TABLE_RIGHT, 0, 0, true},
		{"limit", TABLE_LEFT, 0, 0, true},
		{"wall", TABLE_RIGHT, 0, 0, false},
	};
	struct table *table = table_new(sparse, 4);
	const char *const cells[] = {"a", "0 B", "-", "-", "b", "-", "", "0 s"};
	char *text;

	for (size_t i = 0; i < 8; i++)
		table_add(table, STYLE_PLAIN, cells[i]);
	text = print(table, 0, true, NULL);
	ck_assert_str_eq(text, "name  wall\na        -\nb      0 s\n");
	free(text);
	table_add(table, STYLE_PLAIN, "c");
	table_add(table, STYLE_PLAIN, "12 B");
	table_add(table, STYLE_PLAIN, "");
	table_add(table, STYLE_PLAIN, "1 s");
	text = print(table, 0, true, NULL);
	ck_assert_str_eq(text, "name  sent  wall\na      0 B     -\nb        -   0 s\nc     12 B   1 s\n");
	free(text);
	table_free(table);
}

TEST(without_width_nothing_is_cut)
{
	struct table *table = table_new(columns, 5);
	char name[5001], *text;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	row_add(table, name, "1 s");
	text = print(table, 0, true, NULL);
	ck_assert_ptr_nonnull(strstr(text, name));
	free(text);
	table_free(table);
}

TEST(narrow_drops_then_cuts)
{
	struct table *table = table_new(columns, 5);
	size_t dropped;
	char *text;

	row_add(table, "a name of thirty-two characters.", "1 s");
	for (size_t width = 30; width < 120; width++) {
		text = print(table, width, true, &dropped);
		ck_assert_msg(widest(text) <= width, "%zu columns:\n%s", width, text);
		ck_assert_msg(!strstr(text, "waited") || strstr(text, "read"), "%s", text);
		free(text);
	}
	text = print(table, 27, true, &dropped);
	ck_assert_uint_eq(dropped, 2);
	ck_assert_str_eq(text, "name                   wall\na name of thirty-two…   1 s\n");
	free(text);
	text = print(table, 27, false, &dropped);
	ck_assert_str_eq(text, "name                   wall\na name of thirty-t...   1 s\n");
	free(text);
	table_free(table);
}

TEST(bar_takes_what_is_left)
{
	struct table *table = table_new(columns, 5);
	char *text;

	row_add(table, "x", "1 s");
	text = print(table, 24 + 2 + 20, false, NULL);
	ck_assert_ptr_nonnull(strstr(text, "12 B            ==========\n"));
	free(text);
	text = print(table, 24 + 2 + 11, false, NULL);
	ck_assert_ptr_null(strchr(text, '='));
	free(text);
	table_free(table);
}

TEST(names_are_made_safe)
{
	struct table *table = table_new(columns, 5);
	char *text;

	row_add(table, "a\nb\033[2J\x80\xe2\x80\xae", "1 s");
	text = print(table, 0, true, NULL);
	ck_assert_ptr_nonnull(strstr(text, "a\\nb\\e[2J\\x80\\u{202e}   1 s"));
	ck_assert_ptr_null(strchr(text, '\033'));
	free(text);
	table_free(table);
}

/* More than a buffer of the table's file holds; rows go on behind what was printed. */
#define LONG_ROWS 40000
TEST(a_long_table_is_whole)
{
	struct table *table = table_new(columns, 5);
	char name[200], *text, *line;

	for (size_t turn = 1; turn <= 2; turn++) {
		for (int i = 0; i < LONG_ROWS; i++) {
			snprintf(name, sizeof(name), "%0180d", i);
			row_add(table, name, "1 s");
		}
		text = line = print(table, 0, true, NULL);
		for (size_t i = 0; i < turn * (LONG_ROWS); i++) {
			line = strchr(line, '\n') + 1;
			ck_assert_int_eq(atoi(line + 170), (int)(i % (LONG_ROWS)));
		}
		ck_assert_str_eq(strchr(line, '\n'), "\n");
		free(text);
	}
	table_free(table);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	return suite_run("cli_table", NULL, NULL);
}
