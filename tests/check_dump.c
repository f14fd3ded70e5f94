/* The dump: equal content gives equal text. */
#include "tests/stores.h"

#include <unistd.h>

static char *dump(size_t *ret_size)
{
	FILE *file = tmpfile();
	char *text;
	long size;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(store_dump(store, fileno(file)), 0);
	size = lseek(fileno(file), 0, SEEK_END);
	text = calloc(1, (size_t)size + 1);
	ck_assert_int_eq(pread(fileno(file), text, (size_t)size, 0), size);
	fclose(file);
	*ret_size = (size_t)size;
	return text;
}

TEST(same_content_same_dump)
{
	size_t sizes[3];
	char *dumps[3];

	put_everything(1);
	put_everything(2);
	commit(9);
	dumps[0] = dump(&sizes[0]);
	remove_directory();
	make_directory();
	/* In another order, partly repeated, in more commits. */
	open_store();
	put_everything(2);
	commit(3);
	put_everything(1);
	struct row_run run = fill_run(2, "text");

	put_run(&run);
	commit(9);
	dumps[1] = dump(&sizes[1]);
	ck_assert(strcmp(dumps[0], dumps[1]) == 0);
	put_everything(3);
	commit(9);
	dumps[2] = dump(&sizes[2]);
	ck_assert(strcmp(dumps[1], dumps[2]) != 0);
	ck_assert_ptr_nonnull(strstr(dumps[0], "table processes: id host_id"));
	ck_assert_ptr_null(strstr(dumps[0], " rev"));
	for (size_t i = 0; i < 3; i++)
		free(dumps[i]);
}

TEST(dump_is_plain_text)
{
	struct row_cgroup row = fill_cgroup(1, HOSTILE);
	size_t size;
	char *text;

	put_cgroup(&row);
	commit(1);
	text = dump(&size);
	ck_assert_ptr_nonnull(strstr(text, "1 1 \"a\\x0a\\x1b[31m\\xff\\xfe\\xc3(\\x5c'\\x22\"\n"));
	for (size_t i = 0; i < size; i++)
		ck_assert(text[i] == '\n' || (text[i] >= ' ' && text[i] < 0x7f));
	free(text);
}

int main(void)
{
	return stores_run("dump");
}
