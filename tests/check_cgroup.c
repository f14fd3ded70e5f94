/* Cgroups and containers are released when they are over, and found again. */
#include "tests/streams.h"

#define HOUR_MS (3600 * 1000)

static void live_and_die(unsigned pid)
{
	tell("1>%u containerd-shim-runc-v2; %u>%u cgroup=600 nginx; ends; %u ends", pid, pid, pid + 1, pid);
}

static void wait_committed(unsigned hours)
{
	for (unsigned hour = 0; hour < hours; hour++)
		tell("wait %u; commit", HOUR_MS + 1000);
}

TEST(nothing_of_what_is_over_is_kept_in_memory)
{
	static const char remembered[] = "SELECT count(*) FROM states";
	char before[16];

	snprintf(before, sizeof(before), "%s", rows(remembered));
	tell("cgroup 600 /docker/" HEX64);
	live_and_die(10);
	ck_assert_str_ne(rows(remembered), before);
	wait_committed(3);
	ck_assert_rows(remembered, before);
	ck_assert_rows("SELECT count(*), count(end_boot_ns) FROM containers", "1 1\n");
}

/* The kernel side reports the path of a cgroup only once. */
TEST(a_freed_cgroup_is_known_again_to_a_new_process)
{
	tell("cgroup 600 /docker/" HEX64);
	live_and_die(10);
	wait_committed(3);
	live_and_die(20);
	ck_assert_rows("SELECT c.runtime, count(*) FROM processes p JOIN containers c ON "
		       "c.id = p.container_id WHERE p.pid IN (11, 21)",
		       "docker 2\n");
	restart(); /* this correlator has received no cgroup */
	live_and_die(30);
	ck_assert_rows("SELECT count(container_id) FROM processes WHERE pid = 31", "1\n");
}

TEST(a_container_that_lives_is_kept)
{
	tell("cgroup 600 /docker/" HEX64 "; 1>10 containerd-shim-runc-v2; 10>11 cgroup=600 nginx; "
	     "commit");
	for (unsigned hour = 0; hour < 3; hour++)
		tell("later %u; 1<0 seen 0; 2<1 seen 0; 10<1 seen 0; 11<10 seen %u; scan; commit", HOUR_MS, hour);
	tell("11 ends");
	ck_assert_rows("SELECT count(*), count(run_id), count(end_boot_ns) FROM containers", "1 1 1\n");
}

/* Retention deletes the rows that were written longest ago. */
TEST(the_path_of_a_cgroup_in_use_is_rewritten)
{
	static const char revision[] = "SELECT max(rev) FROM cgroups";
	char before[16];

	tell("cgroup 600 /docker/" HEX64);
	live_and_die(10);
	wait_committed(3); /* until it is released */
	snprintf(before, sizeof(before), "%s", rows(revision));
	wait_committed(3);
	ck_assert_rows(revision, before);
	tell("1>20 containerd-shim-runc-v2; 20>21 cgroup=600 nginx"); /* looked up again */
	ck_assert_str_ne(rows(revision), before);
	snprintf(before, sizeof(before), "%s", rows(revision));
	for (int hour = 0; hour < 2; hour++)
		tell("later %u; 1<0 seen 0; 2<1 seen 0; 20<1 seen 0; 21<20 seen 0; scan; commit", HOUR_MS + 1000);
	ck_assert_str_ne(rows(revision), before);
}

int main(void)
{
	return streams_run("cgroup");
}
