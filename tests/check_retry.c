/* What becomes of a task that failed: done again, tolerated, or fatal. */
#include "tests/streams.h"

#define CODE(number) ((number) << 8)

/* Tasks in order: pid of the root, status, pid of the next attempt's root, whether it was fatal. */
#define ATTEMPTS                                                                              \
	"SELECT p.pid, t.status, (SELECT p2.pid FROM tasks t2 JOIN processes p2 ON p2.id = "   \
	"t2.root_process_id WHERE t2.id = t.retried_by_id), (SELECT fatal FROM incidents WHERE " \
	"task_id = t.id) FROM standing_tasks t JOIN processes p ON p.id = t.root_process_id WHERE " \
	"t.kind <> 'main' ORDER BY t.begin_boot_ns"

static void run_as(unsigned parent, unsigned pid, const char *directory, const char *command, unsigned status)
{
	spawn_in(parent, pid, (struct where){.cwd = directory}, command);
	exit_process(pid, status);
}

static void begin_engine(void)
{
	spawn(2, 10, "python3 /usr/bin/snakemake -j2");
}

TEST(a_retry_that_succeeds_excuses_the_attempt)
{
	begin_engine();
	run_as(10, 11, "/work", "bash -c flaky --attempt 1", CODE(75));
	ck_assert_str_eq(rows(ATTEMPTS), "11 failed - 1\n");
	restart();
	run_as(10, 12, "/work", "bash -c other", 0);
	spawn(10, 13, "bash -c flaky --attempt 2");
	ck_assert_str_eq(rows(ATTEMPTS), "11 failed 13 1\n12 succeeded - -\n13 running - -\n");
	restart();
	exit_process(13, 0);
	exit_process(10, 0);
	ck_assert_str_eq(rows(ATTEMPTS), "11 failed 13 0\n12 succeeded - -\n13 succeeded - -\n");
}

/* The engine failed of the last attempt, and of no earlier one. */
TEST(retries_that_all_fail)
{
	begin_engine();
	for (unsigned pid = 11; pid < 14; pid++)
		run_as(10, pid, "/work", "bash -c flaky", CODE(70 + pid));
	exit_process(10, CODE(1));
	ck_assert_str_eq(rows(ATTEMPTS), "11 failed 12 1\n12 failed 13 1\n13 failed - 1\n");
	ck_assert_str_eq(rows("SELECT status FROM tasks WHERE kind = 'main' AND status = 'failed'"), "failed\n");
}

TEST(three_attempts_of_which_the_last_succeeds)
{
	begin_engine();
	run_as(10, 11, "/work", "bash -c flaky", CODE(1));
	run_as(10, 12, "/work", "bash -c flaky", CODE(1));
	run_as(10, 13, "/work", "bash -c flaky", 0);
	ck_assert_str_eq(rows(ATTEMPTS), "11 failed 12 0\n12 failed 13 0\n13 succeeded - -\n");
}

/* The same script elsewhere is other work. */
TEST(another_directory_is_no_retry)
{
	begin_engine();
	run_as(10, 11, "/work/a", "bash run.sh", CODE(1));
	run_as(10, 12, "/work/b", "bash run.sh", 0);
	ck_assert_str_eq(rows(ATTEMPTS), "11 failed - 1\n12 succeeded - -\n");
}

/* As Nextflow has it: a directory for each attempt, and the same command in it. */
static void run_hashed(unsigned pid, const char *hash, const char *tool, unsigned status)
{
	char directory[128];

	snprintf(directory, sizeof(directory), "/work/%s/%s0123456789abcdef01234567", hash, "cdef01");
	spawn_in(10, pid, (struct where){.cwd = directory}, "bash .command.run");
	spawn_in(pid, pid + 1, (struct where){.cwd = directory}, tool);
	exit_process(pid + 1, status);
	exit_process(pid, status);
}

TEST(an_attempt_with_a_directory_of_its_own)
{
	spawn(2, 10, "java nextflow.cli.Launcher run x.nf");
	run_hashed(20, "aa", "bwa mem s1.fq", CODE(137));
	run_hashed(30, "bb", "bwa mem s2.fq", 0);
	run_hashed(40, "cc", "bwa mem s1.fq", 0);
	ck_assert_str_eq(rows(ATTEMPTS), "20 failed 40 0\n30 succeeded - -\n40 succeeded - -\n");
}

/* A shell failed of what its status came from; the rest it tolerated. */
TEST(what_a_script_tolerated_is_not_fatal)
{
	spawn(2, 10, "bash driver.sh");
	run_as(10, 11, "/work", "bwa index", CODE(3));
	run_as(10, 12, "/work", "bwa mem", CODE(4));
	exit_process(10, CODE(4));
	ck_assert_str_eq(rows(ATTEMPTS), "11 failed - 0\n12 failed - 1\n");
	ck_assert_str_eq(rows("SELECT count(*) FROM incidents"), "2\n");
}

/* What it ended itself, because another task failed. */
TEST(what_an_engine_ended_is_not_fatal)
{
	begin_engine();
	spawn(10, 11, "bash -c one");
	spawn(10, 12, "bash -c two");
	exit_process(12, CODE(3));
	send_signal(11, 10, 15, 0);
	exit_process(11, 15);
	exit_process(10, CODE(1));
	ck_assert_str_eq(rows(ATTEMPTS), "11 killed - 0\n12 failed - 1\n");
}

TEST(what_an_engine_that_succeeds_tolerated_is_not_fatal)
{
	begin_engine();
	run_as(10, 11, "/work", "bash -c one", CODE(3));
	exit_process(10, 0);
	ck_assert_str_eq(rows(ATTEMPTS), "11 failed - 0\n");
}

/* No matter how many fail, few are remembered; the rest stays as it is. */
TEST(few_failed_tasks_are_remembered)
{
	char command[32];

	begin_engine();
	for (unsigned pid = 11; pid < 111; pid++) {
		snprintf(command, sizeof(command), "bash -c job %u", pid);
		run_as(10, pid, "/work", command, CODE(1));
	}
	run_as(10, 200, "/work", "bash -c job 11", 0);
	run_as(10, 201, "/work", "bash -c job 110", 0);
	ck_assert_str_eq(rows("SELECT count(*) FROM tasks WHERE retried_by_id IS NOT NULL"), "1\n");
	exit_process(10, CODE(1));
	wait_ms(20000);
	commit();
	commit();
	ck_assert_str_eq(rows("SELECT count(*) FROM states"), "4\n"); /* nothing of it is kept */
}

int main(void)
{
	return streams_run("retry");
}
