/* Cgroups and containers that are let go when they are over, and found again. */
#include "tests/streams.h"

#define HOUR_MS (3600 * 1000)

static void live_and_die(unsigned pid)
{
	spawn(1, pid, "containerd-shim-runc-v2");
	spawn_in(pid, pid + 1, (struct where){.cgroup_id = 600}, "nginx");
	exit_process(pid + 1, 0);
	exit_process(pid, 0);
}

static void wait_committed(unsigned hours)
{
	for (unsigned hour = 0; hour < hours; hour++) {
		wait_ms(HOUR_MS + 1000);
		commit();
	}
}

TEST(nothing_of_what_is_over_is_kept_in_memory)
{
	static const char remembered[] = "SELECT count(*) FROM states";
	char before[16];

	snprintf(before, sizeof(before), "%s", rows(remembered));
	cgroup(600, "/docker/" HEX64);
	live_and_die(10);
	ck_assert_str_ne(rows(remembered), before);
	wait_committed(3);
	ck_assert_str_eq(rows(remembered), before);
	ck_assert_str_eq(rows("SELECT count(*), count(end_boot_ns) FROM containers"), "1 1\n");
}

/* The kernel side tells the path of a cgroup once. */
TEST(a_cgroup_that_was_let_go_is_known_when_somebody_comes)
{
	cgroup(600, "/docker/" HEX64);
	live_and_die(10);
	wait_committed(3);
	live_and_die(20);
	ck_assert_str_eq(rows("SELECT c.runtime, count(*) FROM processes p JOIN containers c "
			      "ON c.id = p.container_id WHERE p.pid IN (11, 21)"),
			 "docker 2\n");
	restart(); /* a correlator that was told of none */
	live_and_die(30);
	ck_assert_str_eq(rows("SELECT count(container_id) FROM processes WHERE pid = 31"), "1\n");
}

TEST(a_container_that_lives_is_kept)
{
	cgroup(600, "/docker/" HEX64);
	spawn(1, 10, "containerd-shim-runc-v2");
	spawn_in(10, 11, (struct where){.cgroup_id = 600}, "nginx");
	commit();
	for (int hour = 0; hour < 3; hour++) {
		now += HOUR_MS * MS;
		sample(1, 0, NULL, cpu(0));
		sample(2, 1, NULL, cpu(0));
		sample(10, 1, NULL, cpu(0));
		sample(11, 10, NULL, cpu((unsigned)hour * MS));
		pass(now);
		commit();
	}
	exit_process(11, 0);
	ck_assert_str_eq(rows("SELECT count(*), count(run_id), count(end_boot_ns) FROM containers"),
			 "1 1 1\n");
}

/* Retention takes the rows that were written longest ago. */
TEST(the_path_of_a_cgroup_in_use_is_written_anew)
{
	static const char revision[] = "SELECT max(rev) FROM cgroups";
	char before[16];

	cgroup(600, "/docker/" HEX64);
	live_and_die(10);
	wait_committed(3); /* it is let go */
	snprintf(before, sizeof(before), "%s", rows(revision));
	wait_committed(3);
	ck_assert_str_eq(rows(revision), before);
	spawn(1, 20, "containerd-shim-runc-v2");
	spawn_in(20, 21, (struct where){.cgroup_id = 600}, "nginx"); /* asked for */
	ck_assert_str_ne(rows(revision), before);
	snprintf(before, sizeof(before), "%s", rows(revision));
	for (int hour = 0; hour < 2; hour++) {
		now += (HOUR_MS + 1000) * MS;
		sample(1, 0, NULL, cpu(0));
		sample(2, 1, NULL, cpu(0));
		sample(20, 1, NULL, cpu(0));
		sample(21, 20, NULL, cpu(0));
		pass(now);
		commit();
	}
	ck_assert_str_ne(rows(revision), before);
}

int main(void)
{
	return streams_run("cgroup");
}
