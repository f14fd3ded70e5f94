/* Records to events: every field survives, and hostile bytes are refused.
 *
 * Every test runs over every kind of events.h. tests/record_encode.c writes the records.
 */
#include <errno.h>
#include <limits.h>

#include "tests/record_encode.h"
#include "tests/suite.h"
#include "tests/wire_compare.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static const enum event_type all_types[] = {
#define E(NAME, name) EVENT_##NAME,
	EVENTS(E)
#undef E
};

static struct event made, received;
static _Alignas(8) char record[EVENT_RECORD_MAX + 8];
static uint64_t distinct;

/* A different value for every field; all fit 32 bits, as most fields of records do. */
static void fill_u64(uint64_t *value)
{
	*value = distinct = distinct % 99991 * 7 + 1;
}

static void fill_image(struct image_key *image)
{
	*image = (struct image_key){(uint32_t)++distinct, (uint32_t)++distinct, ++distinct << 32};
}

static void fill_counters(struct counters *counters)
{
	counters->valid = ((1ULL << COUNTER_COUNT) - 1) & ~COUNTER_VALID(swap_bytes);
#define X(name, source) fill_u64(&counters->name);
	RECORD_COUNTERS(X)
#undef X
}

static void fill_bytes(struct wire_bytes *bytes)
{
	static const char text[] = "/usr/bin/x\n\xff";

	*bytes = (struct wire_bytes){text, sizeof(text) - 1};
}

static void fill_arguments(struct event_strings *argv)
{
	static const char *const arguments[] = {"x", "", "two\nlines", "\xff\xfe", ""};

	for (argv->count = 0; argv->count < ARRAY_SIZE(arguments); argv->count++)
		argv->item[argv->count] =
			(struct wire_bytes){arguments[argv->count], (uint32_t)strlen(arguments[argv->count])};
}

/* Encodes `made` into `record`. Returns its size. */
static size_t make(enum event_type type)
{
	distinct = 5;
	memset(&made, 0, sizeof(made));
	memset(record, 0, sizeof(record));
	made.type = type;
#define U(name) fill_u64(&body->name);
#define S(name) body->name = -(int64_t)++distinct;
#define T(name) fill_bytes(&body->name);
#define A(name) fill_arguments(&body->name);
#define I(name) fill_image(&body->name);
#define C(name) fill_counters(&body->name);
	switch (type) {
#define E(NAME, name) \
	case EVENT_##NAME: { \
		struct event_##name *body = &made.name; \
		EVENT_HEADER_FIELDS(U, I) \
		EVENT_##NAME##_FIELDS(U, S, T, A, I, C) break; \
	}
		EVENTS(E)
#undef E
	}
#undef U
#undef S
#undef T
#undef A
#undef I
#undef C
	if (type == EVENT_EXEC || type == EVENT_SAMPLE)
		made.exec.flags |= RECORD_CORE_LIMIT;
	return record_encode(&made, record);
}

/* Decodes an exactly sized copy at an odd address, so that sanitizers detect reads past its end and
 * unaligned accesses. */
static int decode_copy(size_t size)
{
	char *copy = malloc(size + 1);

	memcpy(copy + 1, record, size);
	int r = event_decode(copy + 1, size, &received);
	bool same = r == 0 && event_equal(&made, &received); /* before the text is freed */

	free(copy);
	return same ? 1 : r;
}

TEST_EACH(round_trip, all_types)
{
	ck_assert_int_eq(decode_copy(make(all_types[_i])), 1);
	ck_assert_str_ne(event_type_name(all_types[_i]), "unknown");
}

/* Regardless of the size in the record. */
TEST_EACH(other_sizes, all_types)
{
	size_t size = make(all_types[_i]);
	struct record_header *header = (struct record_header *)record;

	for (size_t other = 0; other <= sizeof(record); other++) {
		if (other == size)
			continue;
		header->size = (uint32_t)size;
		ck_assert_int_eq(decode_copy(other), -EBADMSG);
		header->size = (uint32_t)other;
		ck_assert_int_eq(decode_copy(other), -EBADMSG);
	}
}

TEST_EACH(changed_bytes, all_types)
{
	size_t size = make(all_types[_i]);

	for (size_t position = 0; position < size; position++) {
		char kept = record[position];

		for (int value = 0; value <= UCHAR_MAX; value++) {
			record[position] = (char)value;
			int r = decode_copy(size);

			ck_assert(r == 0 || r == 1 || r == -EBADMSG);
		}
		record[position] = kept;
	}
}

TEST(unknown_types)
{
	static const uint32_t types[] = {0, 100, UINT32_MAX};
	size_t size = make(EVENT_FORK);

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		((struct record_header *)record)->type = types[i];
		ck_assert_int_eq(decode_copy(size), -EBADMSG);
	}
	ck_assert_str_eq(event_type_name((enum event_type)100), "unknown");
}

/* Records of earlier releases have a session id in its place. */
TEST(core_limit_that_is_not_one)
{
	static const enum event_type types[] = {EVENT_EXEC, EVENT_SAMPLE};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		size_t size = make(types[i]);

		((struct record_exec *)record)->context.core_limit_milli = 1500;
		ck_assert_int_eq(event_decode(record, size, &received), 0);
		ck_assert_uint_eq(received.exec.core_limit_milli, 1500);
		((struct record_exec *)record)->context.flags &= ~RECORD_CORE_LIMIT;
		ck_assert_int_eq(event_decode(record, size, &received), 0);
		ck_assert_uint_eq(received.exec.core_limit_milli, 0);
	}
}

TEST(unknown_counters)
{
	size_t size = make(EVENT_EXIT);

	((struct record_exit *)record)->counters.valid |= 1ULL << COUNTER_COUNT;
	ck_assert_int_eq(decode_copy(size), -EBADMSG);
	size = make(EVENT_SAMPLE);
	((struct record_exec *)record)->counters.valid |= 1ULL << 62;
	ck_assert_int_eq(decode_copy(size), -EBADMSG);
	size = make(EVENT_EXIT);
	((struct record_exit *)record)->counters.valid |= COUNTERS_PARTIAL;
	ck_assert_int_eq(decode_copy(size), 0);
}

/* Text sizes that add up to the record's size, yet are too large or wrap around. */
TEST(text_sizes)
{
	static const struct {
		uint16_t filename, cwd;
		uint32_t argv;
	} sizes[] = {
		{0xffff, 0, 0},
		{0, 0xffff, 0},
		{0, 0, UINT32_MAX},
		{8, 8, UINT32_MAX - 15},
		{RECORD_FILENAME_MAX + 1, 0, 0},
		{0, RECORD_CWD_MAX + 1, 0},
		{0, 0, RECORD_ARGV_MAX + 1},
	};
	struct record_exec *exec = (struct record_exec *)record;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		make(EVENT_EXEC);
		memset(exec + 1, 0, sizeof(record) - sizeof(*exec));
		exec->filename_size = sizes[i].filename;
		exec->cwd_size = sizes[i].cwd;
		exec->argv_size = sizes[i].argv;
		uint32_t size = (uint32_t)sizeof(*exec) + sizes[i].filename + sizes[i].cwd + sizes[i].argv;
		exec->header.size = size;
		if (size <= sizeof(record))
			ck_assert_int_eq(decode_copy(size), -EBADMSG);
	}
}

TEST(text_without_end)
{
	size_t size = make(EVENT_CGROUP);

	record[size - 1] = 'x';
	ck_assert_int_eq(decode_copy(size), -EBADMSG);
	size = make(EVENT_EXEC);
	record[sizeof(struct record_exec) + ((struct record_exec *)record)->filename_size - 1] = 'x';
	ck_assert_int_eq(decode_copy(size), -EBADMSG);
}

/* The root has no names, and a path that lacks those next to it is marked. */
TEST(cgroup_paths)
{
	static const char names[] = "leaf\0above";
	static const struct {
		uint32_t size, flags;
		const char *path;
	} rows[] = {
		{0, 0, "/"},
		{sizeof(names), 0, "/above/leaf"},
		{sizeof(names), RECORD_CGROUP_TRUNCATED, EVENT_PATH_MARK "/above/leaf"},
	};
	struct record_cgroup *cgroup = (struct record_cgroup *)record;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		make(EVENT_CGROUP);
		cgroup->path_size = rows[i].size;
		cgroup->flags = rows[i].flags;
		cgroup->header.size = (uint32_t)sizeof(*cgroup) + rows[i].size;
		memcpy(cgroup + 1, names, rows[i].size);
		ck_assert_int_eq(event_decode(record, cgroup->header.size, &received), 0);
		ck_assert_uint_eq(received.cgroup.path.size, strlen(rows[i].path));
		ck_assert_mem_eq(received.cgroup.path.data, rows[i].path, strlen(rows[i].path));
	}
}

/* Of a program's path an exec lacks the end, a sample the names next to the root, as a working directory does. */
TEST(cut_paths)
{
	static const char mark[] = EVENT_PATH_MARK;
	struct record_exec *exec = (struct record_exec *)record;

	for (int i = 0; i < 2; i++) {
		make(i ? EVENT_SAMPLE : EVENT_EXEC);
		exec->context.flags |= RECORD_PATH_TRUNCATED | RECORD_CWD_TRUNCATED;
		ck_assert_int_eq(event_decode(record, exec->header.size, &received), 0);
		const struct wire_bytes *path = &received.exec.filename, *cwd = &received.exec.cwd;

		ck_assert_mem_eq(path->data + (i ? 0 : path->size - strlen(mark)), mark, strlen(mark));
		ck_assert_mem_eq(cwd->data, mark, strlen(mark));
		ck_assert_int_eq(cwd->data[strlen(mark)], '/');
	}
}

/* More arguments than an event holds are cut, and that is said. */
TEST(many_arguments)
{
	struct record_exec *exec = (struct record_exec *)record;

	make(EVENT_EXEC);
	exec->filename_size = exec->cwd_size = 0;
	exec->argv_size = RECORD_ARGV_MAX;
	exec->header.size = sizeof(*exec) + RECORD_ARGV_MAX;
	exec->context.flags = 0;
	memset(exec + 1, 0, RECORD_ARGV_MAX);
	ck_assert_int_eq(event_decode(record, exec->header.size, &received), 0);
	ck_assert_uint_eq(received.exec.argv.count, EVENT_ARGV_MAX);
	ck_assert_uint_eq(received.exec.flags, RECORD_ARGV_TRUNCATED);
}

int main(void)
{
	return suite_run("record", NULL, NULL);
}
