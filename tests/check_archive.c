/* States to bytes and back. */
#include "correlator/rows/archive.h"

#include "tests/suite.h"

/* A state with all kinds of fields, in the layout of one release or the next. */
struct state {
	int64_t plain, negative, id;
	uint64_t large;
	uint32_t small;
	bool flag;
	char *text, name[8];
	struct {
		int64_t item[3];
		uint64_t count;
	} list;
	int64_t younger; /* only in the next release */
};

static void describe(struct archive *archive, struct state *state, bool is_next)
{
	archive_int(archive, "plain", &state->plain);
	if (is_next)
		archive_int_or(archive, "younger", &state->younger, 7);
	archive_int(archive, "negative", &state->negative);
	archive_id(archive, "id", &state->id);
	archive_int(archive, "large", &state->large);
	archive_enum(archive, "small", &state->small, 70000);
	if (!is_next)
		archive_int(archive, "flag", &state->flag);
	archive_text(archive, "text", &state->text);
	archive_fixed_text(archive, "name", state->name, sizeof(state->name));
	archive_open_list(archive, "list", &state->list.count);
	archive_require(archive, state->list.count <= 3);
	for (uint64_t i = 0; i < state->list.count && !archive->bad; i++) {
		archive_open_item(archive);
		archive_int(archive, "item", &state->list.item[i]);
		if (archive_open(archive, "part", is_next)) {
			archive_int(archive, "item", &state->list.item[i]);
			archive_close(archive);
		}
		archive_close(archive);
	}
	archive_close(archive);
}

static struct state sample(void)
{
	return (struct state){.plain = 300,
			      .negative = -40000,
			      .id = ROW_NULL,
			      .large = UINT64_MAX,
			      .small = 69999,
			      .flag = true,
			      .text = "a\nb",
			      .name = "seven77",
			      .list = {{1, 0, -3}, 3},
			      .younger = 9};
}

static size_t save(char *bytes, size_t capacity, bool is_next)
{
	struct state state = sample();
	struct archive archive;

	archive_init(&archive);
	archive_begin_saving(&archive);
	describe(&archive, &state, is_next);
	ck_assert(archive_end(&archive));
	ck_assert_uint_le(archive.buffer.size, capacity);
	memcpy(bytes, archive.buffer.data, archive.buffer.size);
	size_t size = archive.buffer.size;

	archive_deinit(&archive);
	return size;
}

static bool load(const char *bytes, size_t size, bool is_next, struct state *ret)
{
	struct archive archive;

	*ret = (struct state){0};
	archive_init(&archive);
	archive_begin_loading(&archive, bytes, size);
	describe(&archive, ret, is_next);
	bool good = archive_end(&archive);

	archive_deinit(&archive);
	return good;
}

/* Each release loads each release's bytes: missing fields get their default, unknown ones are skipped. */
TEST_TIMES(what_one_release_saved_the_next_and_the_last_load, 4)
{
	bool saved_by_next = _i & 1, loaded_by_next = _i & 2;
	struct state wanted = sample(), found;
	char bytes[512];
	size_t size = save(bytes, sizeof(bytes), saved_by_next);

	ck_assert(load(bytes, size, loaded_by_next, &found));
	ck_assert_int_eq(found.plain, wanted.plain);
	ck_assert_int_eq(found.negative, wanted.negative);
	ck_assert_int_eq(found.id, wanted.id);
	ck_assert_uint_eq(found.large, wanted.large);
	ck_assert_uint_eq(found.small, wanted.small);
	ck_assert_str_eq(found.text, wanted.text);
	ck_assert_str_eq(found.name, wanted.name);
	ck_assert_mem_eq(&found.list, &wanted.list, sizeof(found.list));
	ck_assert_int_eq(found.flag, !saved_by_next && !loaded_by_next);
	ck_assert_int_eq(found.younger, !loaded_by_next ? 0 : saved_by_next ? 9 : 7);
	free(found.text);
}

/* Truncated, or with one byte changed: refused, or decoded as another valid state. */
TEST(broken_bytes_are_refused_or_harmless)
{
	char bytes[512], broken[512];
	size_t size = save(bytes, sizeof(bytes), false);
	unsigned refused = 0;
	struct state found;

	for (size_t cut = 0; cut < size; cut++) {
		ck_assert(!load(bytes, cut, false, &found));
		free(found.text);
	}
	for (size_t at = 0; at < size; at++)
		for (int value = 0; value < 256; value++) {
			memcpy(broken, bytes, size);
			broken[at] = (char)value;
			refused += !load(broken, size, false, &found);
			ck_assert(found.small < 70000 || refused);
			ck_assert_uint_lt(strnlen(found.name, sizeof(found.name)), sizeof(found.name));
			free(found.text);
		}
	ck_assert_uint_gt(refused, 0);
}

/* Values out of range, of the wrong type, or with too many items. */
TEST(what_cannot_be_is_refused)
{
	static const struct {
		const char *bytes;
		size_t size;
	} cases[] = {
#define CASE(text) {text, sizeof(text) - 1}
		CASE("\x81\xa5small\xce\xff\xff\xff\xff"), /* beyond the field's range */
		CASE("\x81\xa5small\xcf\1\0\0\0\0\0\0\0"), /* beyond the field's type */
		CASE("\x81\xa4"
		     "flag\2"),
		CASE("\x81\xa5plain\xc4\1x"), /* bytes instead of a number */
		CASE("\x81\xa4text\1"),
		CASE("\x81\xa4name\xc4\x09"
		     "123456789"),
		CASE("\x81\xa4list\x94\x80\x80\x80\x80"),
		CASE("\x81\xa4list\x91\1"),
		CASE("\x81\1\1"), /* a number instead of a name */
		CASE("\x81\xa5plain\xca\0\0\0\0"),
		CASE("\x80\x80"),
		CASE("\x90"),
		CASE("\xdd\xff\xff\xff\xff"),
	};
	struct state found;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_msg(!load(cases[i].bytes, cases[i].size, false, &found), "case %zu", i);
		free(found.text);
	}
}

int main(void)
{
	return suite_run("archive", NULL, NULL);
}
