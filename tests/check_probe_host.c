/* The name and the processors of the host, as the probe reads them again. */
#include "probe/forward/host.h"
#include "tests/suite.h"

static char directory[128], name[160], processors[160];
static struct host host;

static void setup(void)
{
	suite_directory(directory, sizeof(directory));
	snprintf(name, sizeof(name), "%s/hostname", directory);
	snprintf(processors, sizeof(processors), "%s/online", directory);
	suite_file(directory, "hostname", "node-1\n");
	suite_file(directory, "online", "0-3,6\n");
	host_open(&host, name, processors);
}

static void teardown(void)
{
	suite_directory_remove(directory);
}

TEST(it_is_renamed)
{
	ck_assert_str_eq(host.name, "node-1");
	ck_assert(!host_read(&host));
	suite_file(directory, "hostname", "node-2.example\n");
	ck_assert(host_read(&host));
	ck_assert_str_eq(host.name, "node-2.example");
	ck_assert(!host_read(&host));
}

TEST(its_processors_change)
{
	static const struct {
		const char *list;
		uint64_t count;
	} lists[] = {{"0\n", 1}, {"0-1\n", 2}, {"0-7,16-23\n", 16}, {"1,3,5-6\n", 4}};

	ck_assert_uint_eq(host.processor_count, 5);
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		suite_file(directory, "online", lists[i].list);
		ck_assert_msg(host_read(&host) && host.processor_count == lists[i].count, "%s: %lu", lists[i].list,
			      (unsigned long)host.processor_count);
	}
}

TEST(what_cannot_be_read_stays)
{
	static const char *const lists[] = {"", "\n", "x\n", "3-1\n", "0-\n", "0,\n", "0-3 5\n"};

	suite_file(directory, "hostname", "\n");
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		suite_file(directory, "online", lists[i]);
		ck_assert_msg(!host_read(&host) && host.processor_count == 5, "'%s': %lu", lists[i],
			      (unsigned long)host.processor_count);
	}
	ck_assert_str_eq(host.name, "node-1");
	host_open(&host, "/nonexistent", "/nonexistent");
	ck_assert(*host.name && host.processor_count && !host_read(&host));
}

int main(void)
{
	return suite_run("probe_host", setup, teardown);
}
