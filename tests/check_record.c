/* Reading records: every field survives, and hostile bytes are refused. tests/record_encode.c writes them. */
#include <errno.h>
#include <limits.h>

#include "tests/record_encode.h"
#include "tests/suite.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static const enum record_type all_types[] = {
	RECORD_FORK,    RECORD_EXEC,   RECORD_EXIT,   RECORD_FINAL, RECORD_CGROUP, RECORD_SAMPLE,
	RECORD_IGNORED, RECORD_SIGNAL, RECORD_DEVICE, RECORD_FILE,  RECORD_MEMORY,
};

static struct record made, received;
static _Alignas(8) char record[RECORD_SIZE_MAX + 8];

static struct wire_bytes bytes(const char *text)
{
	return (struct wire_bytes){text, (uint32_t)strlen(text)};
}

static struct counters *counters_of(struct record *of)
{
	switch (of->header.type) {
	case RECORD_EXEC:
	case RECORD_SAMPLE: return &of->exec.counters;
	case RECORD_EXIT:
	case RECORD_FINAL: return &of->exit.counters;
	default: return NULL;
	}
}

static void fill_texts(void)
{
	static const char *const arguments[] = {"x", "", "two\nlines", "\xff\xfe", ""};

	made.path = made.cwd = bytes("/usr/bin/x\n\xff");
	made.comm = bytes("x\n\xff");
	for (size_t i = 0; i < ARRAY_SIZE(arguments); i++)
		made.argv.item[made.argv.count++] = bytes(arguments[i]);
}

/* Encodes `made`, with a different value in every field, into `record`. Returns its size. */
static size_t make(enum record_type type)
{
	memset(&made, 0, sizeof(made));
	memset(record, 0, sizeof(record));
	for (size_t i = 0; i < record_fixed_size(type); i++)
		((unsigned char *)&made)[i] = (unsigned char)(i * 7 + 1);
	made.header.type = type;
	if (counters_of(&made))
		counters_of(&made)->valid = (1ULL << COUNTER_COUNT) - 1;
	if (type == RECORD_EXEC || type == RECORD_SAMPLE) {
		made.exec.context.flags = RECORD_CORE_LIMIT;
		fill_texts();
	} else if (type == RECORD_CGROUP) {
		made.cgroup.flags = 0;
		made.path = bytes("/a\n/\xff");
	}
	return record_encode(&made, record);
}

static bool bytes_equal(const struct wire_bytes *a, const struct wire_bytes *b)
{
	return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

/* Whether what was received is what is in `record`, with the texts in `made`. */
static bool is_same(void)
{
	bool same = memcmp(&received, record, record_fixed_size(made.header.type)) == 0;

	if (made.path.size)
		same = same && bytes_equal(&received.path, &made.path);
	if (made.argv.count == 0)
		return same;
	same = same && bytes_equal(&received.comm, &made.comm) && bytes_equal(&received.cwd, &made.cwd) &&
	       received.argv.count == made.argv.count;
	for (uint32_t i = 0; same && i < made.argv.count; i++)
		same = bytes_equal(&received.argv.item[i], &made.argv.item[i]);
	return same;
}

/* Reads an exactly sized copy at an odd address, so that sanitizers detect reads past its end and
 * unaligned accesses. */
static int read_copy(size_t size)
{
	char *copy = malloc(size + 1);

	memcpy(copy + 1, record, size);
	int r = record_read(copy + 1, size, &received);
	bool same = r == 0 && is_same(); /* before the text is freed */

	free(copy);
	return same ? 1 : r;
}

TEST_EACH(round_trip, all_types)
{
	ck_assert_int_eq(read_copy(make(all_types[_i])), 1);
}

/* A probe that still runs may be of an earlier release. */
TEST(a_fork_without_memory)
{
	static const size_t size = offsetof(struct record_fork, anon_kib);

	make(RECORD_FORK);
	((struct record_header *)record)->size = size;
	read_copy(size);
	ck_assert_mem_eq(&received.fork.parent, &made.fork.parent, sizeof(made.fork.parent));
	ck_assert_uint_eq(received.fork.anon_kib, RECORD_KIB_UNKNOWN);
	ck_assert_uint_eq(received.fork.flags & RECORD_FORK_FAULTS, 0);
}

/* Regardless of the size in the record. */
TEST_EACH(other_sizes, all_types)
{
	size_t size = make(all_types[_i]);
	struct record_header *header = (struct record_header *)record;

	for (size_t other = 0; other <= sizeof(record); other++) {
		/* Of an earlier release. */
		if (other == size || (header->type == RECORD_FORK && other == offsetof(struct record_fork, anon_kib)))
			continue;
		header->size = (uint32_t)size;
		ck_assert_int_eq(read_copy(other), -EBADMSG);
		header->size = (uint32_t)other;
		ck_assert_int_eq(read_copy(other), -EBADMSG);
	}
}

TEST_EACH(changed_bytes, all_types)
{
	size_t size = make(all_types[_i]);

	for (size_t position = 0; position < size; position++) {
		char kept = record[position];

		for (int value = 0; value <= UCHAR_MAX; value++) {
			record[position] = (char)value;
			int r = read_copy(size);

			ck_assert(r == 0 || r == 1 || r == -EBADMSG);
		}
		record[position] = kept;
	}
}

TEST(unknown_types)
{
	static const uint32_t types[] = {0, 100, UINT32_MAX};
	size_t size = make(RECORD_FORK);

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		((struct record_header *)record)->type = types[i];
		ck_assert_int_eq(read_copy(size), -EBADMSG);
	}
}

/* Records of earlier releases have a session id in its place. */
TEST(core_limit_that_is_not_one)
{
	static const enum record_type types[] = {RECORD_EXEC, RECORD_SAMPLE};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		size_t size = make(types[i]);

		((struct record_exec *)record)->context.core_limit_milli = 1500;
		ck_assert_int_eq(record_read(record, size, &received), 0);
		ck_assert_uint_eq(received.exec.context.core_limit_milli, 1500);
		((struct record_exec *)record)->context.flags &= ~RECORD_CORE_LIMIT;
		ck_assert_int_eq(record_read(record, size, &received), 0);
		ck_assert_uint_eq(received.exec.context.core_limit_milli, 0);
	}
}

TEST(unknown_counters)
{
	size_t size = make(RECORD_EXIT);

	((struct record_exit *)record)->counters.valid |= 1ULL << COUNTER_COUNT;
	ck_assert_int_eq(read_copy(size), -EBADMSG);
	size = make(RECORD_SAMPLE);
	((struct record_exec *)record)->counters.valid |= 1ULL << 62;
	ck_assert_int_eq(read_copy(size), -EBADMSG);
	size = make(RECORD_EXIT);
	((struct record_exit *)record)->counters.valid |= COUNTERS_PARTIAL;
	ck_assert_int_eq(read_copy(size), 1);
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
		make(RECORD_EXEC);
		memset(exec + 1, 0, sizeof(record) - sizeof(*exec));
		exec->filename_size = sizes[i].filename;
		exec->cwd_size = sizes[i].cwd;
		exec->argv_size = sizes[i].argv;
		uint32_t size = (uint32_t)sizeof(*exec) + sizes[i].filename + sizes[i].cwd + sizes[i].argv;
		exec->header.size = size;
		if (size <= sizeof(record))
			ck_assert_int_eq(read_copy(size), -EBADMSG);
	}
}

TEST(text_without_end)
{
	size_t size = make(RECORD_CGROUP);

	record[size - 1] = 'x';
	ck_assert_int_eq(read_copy(size), -EBADMSG);
	size = make(RECORD_EXEC);
	record[sizeof(struct record_exec) + ((struct record_exec *)record)->filename_size - 1] = 'x';
	ck_assert_int_eq(read_copy(size), -EBADMSG);
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
		{sizeof(names), RECORD_CGROUP_TRUNCATED, RECORD_PATH_MARK "/above/leaf"},
	};
	struct record_cgroup *cgroup = (struct record_cgroup *)record;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		make(RECORD_CGROUP);
		cgroup->path_size = rows[i].size;
		cgroup->flags = rows[i].flags;
		cgroup->header.size = (uint32_t)sizeof(*cgroup) + rows[i].size;
		memcpy(cgroup + 1, names, rows[i].size);
		ck_assert_int_eq(record_read(record, cgroup->header.size, &received), 0);
		ck_assert_uint_eq(received.path.size, strlen(rows[i].path));
		ck_assert_mem_eq(received.path.data, rows[i].path, strlen(rows[i].path));
	}
}

/* Of a program's path an exec lacks the end, a sample the names next to the root, as a working directory does. */
TEST(cut_paths)
{
	static const char mark[] = RECORD_PATH_MARK;
	struct record_exec *exec = (struct record_exec *)record;

	for (int i = 0; i < 2; i++) {
		make(i ? RECORD_SAMPLE : RECORD_EXEC);
		exec->context.flags |= RECORD_PATH_TRUNCATED | RECORD_CWD_TRUNCATED;
		ck_assert_int_eq(record_read(record, exec->header.size, &received), 0);
		const struct wire_bytes *path = &received.path, *cwd = &received.cwd;

		ck_assert_mem_eq(path->data + (i ? 0 : path->size - strlen(mark)), mark, strlen(mark));
		ck_assert_mem_eq(cwd->data, mark, strlen(mark));
		ck_assert_int_eq(cwd->data[strlen(mark)], '/');
	}
}

/* More arguments than a record holds are cut, and that is said. */
TEST(many_arguments)
{
	struct record_exec *exec = (struct record_exec *)record;

	make(RECORD_EXEC);
	exec->filename_size = exec->cwd_size = 0;
	exec->argv_size = RECORD_ARGV_MAX;
	exec->header.size = sizeof(*exec) + RECORD_ARGV_MAX;
	exec->context.flags = 0;
	memset(exec + 1, 0, RECORD_ARGV_MAX);
	ck_assert_int_eq(record_read(record, exec->header.size, &received), 0);
	ck_assert_uint_eq(received.argv.count, RECORD_ARGUMENTS_MAX);
	ck_assert_uint_eq(received.exec.context.flags, RECORD_ARGV_TRUNCATED);
}

int main(void)
{
	return suite_run("record", NULL, NULL);
}
