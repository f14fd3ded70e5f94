/* What follows a failed task: retried, tolerated, or fatal. */
#include "tests/streams.h"

/* Tasks in order: pid of the root, status, pid of the next attempt's root, whether the failure was fatal. */
#define ATTEMPTS \
	"SELECT p.pid, t.status, (SELECT p2.pid FROM tasks t2 JOIN processes p2 ON p2.id = " \
	"t2.root_process_id WHERE t2.id = t.retried_by_id), (SELECT fatal FROM incidents WHERE " \
	"task_id = t.id) FROM standing_tasks t JOIN processes p ON p.id = t.root_process_id WHERE " \
	"t.kind <> 'main' ORDER BY t.begin_boot_ns"

#define ENGINE "2>10 python3 /usr/bin/snakemake -j2; "

TEST(a_retry_that_succeeds_excuses_the_attempt)
{
	tell(ENGINE "10>11 bash -c flaky --attempt 1; ends 75");
	ck_assert_rows(ATTEMPTS, "11 failed - 1\n");
	tell("restart; 10>12 bash -c other; ends; 10>13 bash -c flaky --attempt 2");
	ck_assert_rows(ATTEMPTS, "11 failed 13 1\n12 succeeded - -\n13 running - -\n");
	tell("restart; 13 ends; 10 ends");
	ck_assert_rows(ATTEMPTS, "11 failed 13 0\n12 succeeded - -\n13 succeeded - -\n");
}

TEST(an_incident_that_is_rewritten_keeps_its_time)
{
	tell(ENGINE "10>11 bash -c flaky; ends 75; commit");
	clock_offset_ns += 3600 * 1000 * MS;
	tell("wait 1; 10>12 bash -c flaky; ends; 10 ends");
	ck_assert_rows("SELECT fatal, unix_ns - boot_ns FROM incidents WHERE kind <> 'clock'", "0 1000000000\n");
}

static const struct {
	const char *what, *story, *attempts;
} stories[] = {
	{"all fail", "10>11 flaky x; ends 81; 10>12 flaky x; ends 82; 10>13 flaky x; ends 83; 10 ends 1",
	 "11 failed 12 1\n12 failed 13 1\n13 failed - 1\n"},
	{"the third succeeds", "10>11 flaky x; ends 1; 10>12 flaky x; ends 1; 10>13 flaky x; ends",
	 "11 failed 12 0\n12 failed 13 0\n13 succeeded - -\n"},
	{"the same script elsewhere is other work",
	 "10>11 cwd=/work/a bash run.sh; ends 1; 10>12 cwd=/work/b bash run.sh; ends",
	 "11 failed - 1\n12 succeeded - -\n"},
	{"a copy of the script for each attempt",
	 "10>11 python3 /work/.snakemake/scripts/tmp1k3j5x7q.plot.py; ends 1; "
	 "10>12 python3 /work/.snakemake/scripts/tmp9z8y7x6_.plot.py; ends",
	 "11 failed 12 0\n12 succeeded - -\n"},
	{"another temporary file is other work",
	 "10>11 gzip /tmp/tmp1k3j5x7q.fq; ends 1; 10>12 gzip /tmp/tmp9z8y7x6_.fq; ends",
	 "11 failed - 1\n12 succeeded - -\n"},
	{"it is done again already", "10>11 flaky x; ends 1; 10>12 flaky x; 10>13 flaky x; ends",
	 "11 failed 12 1\n12 running - -\n13 succeeded - -\n"},
	{"it failed when the other was there already", "10>11 flaky x; 10>12; 11 ends 1; 12 flaky x; ends",
	 "11 failed - 1\n12 succeeded - -\n"},
	{"a part of another task does it, too",
	 "10>11 flaky x; ends 1; 10>12 bash -c y; 12>13 env z; 13 flaky x; ends; 12 ends",
	 "11 failed - 1\n12 succeeded - -\n"},
	{"another engine of the run does it",
	 "10>11 snakemake x; 11>12 flaky x; ends 1; 10>13 snakemake y; 13>14 flaky x; ends",
	 "11 running - -\n12 failed - 1\n13 running - -\n14 succeeded - -\n"},
	{"a shell fails of what its status came from, and tolerates the rest",
	 "2>20 bash driver.sh; 20>21 bwa index; ends 3; 20>22 bwa mem; ends 4; 20 ends 4",
	 "21 failed - 0\n22 failed - 1\n"},
	{"an engine ends one itself, because another failed",
	 "10>11 bash -c one; 10>12 bash -c two; ends 3; 11 gets 15 from 10; dies 15; 10 ends 1",
	 "11 killed - 0\n12 failed - 1\n"},
	{"a script tolerates the failure of a make, and fails by itself",
	 "2>20 bash driver.sh; 20>21 make; 21>22 bwa mem; ends 3; 21 ends 2; 20>23 sort; ends; "
	 "20 ends 9",
	 "21 failed - -\n22 failed - 0\n23 succeeded - -\n"},
	{"a script fails because a make does",
	 "2>20 bash driver.sh; 20>21 make; 21>22 bwa mem; ends 3; 21>23 sort; ends; 21 ends 2; 20 ends 2",
	 "22 failed - 1\n23 succeeded - -\n"},
	{"an engine tolerates one, and succeeds", "10>11 bash -c one; ends 3; 10 ends", "11 failed - 0\n"},
};

TEST_EACH(what_is_done_again, stories)
{
	tell(ENGINE "%s", stories[_i].story);
	ck_assert_msg(strcmp(rows(ATTEMPTS), stories[_i].attempts) == 0, "%s: %s", stories[_i].what, rows(ATTEMPTS));
}

/* As in Nextflow: a directory for each attempt, with the same command. */
static void run_hashed(unsigned pid, const char *hash, const char *tool, unsigned code)
{
	char directory[128];

	snprintf(directory, sizeof(directory), "/work/%s/cdef010123456789abcdef01234567", hash);
	tell("10>%u cwd=%s bash .command.run; %u>%u cwd=%s %s; ends %u; %u ends %u", pid, directory, pid, pid + 1,
	     directory, tool, code, pid, code);
}

TEST(an_attempt_with_a_directory_of_its_own)
{
	tell("2>10 java nextflow.cli.Launcher run x.nf");
	run_hashed(20, "aa", "bwa mem s1.fq", 137);
	run_hashed(30, "bb", "bwa mem s2.fq", 0);
	run_hashed(40, "cc", "bwa mem s1.fq", 0);
	ck_assert_rows(ATTEMPTS, "20 failed 40 0\n30 succeeded - -\n40 succeeded - -\n");
}

/* Few failed tasks are remembered, however many there are; the others stay as they are. */
TEST(few_failed_tasks_are_remembered)
{
	tell(ENGINE);
	for (unsigned pid = 11; pid < 111; pid++)
		tell("10>%u bash -c job %u; ends 1", pid, pid);
	tell("10>200 bash -c job 11; ends; 10>201 bash -c job 110; ends");
	ck_assert_rows("SELECT count(*) FROM tasks WHERE retried_by_id IS NOT NULL", "1\n");
	tell("10 ends 1; wait 20000; commit; commit");
	ck_assert_rows("SELECT count(*) FROM states", "4\n"); /* none of them is kept */
}

/* The run goes on without them. */
TEST(failed_tasks_are_freed_when_their_engine_ends)
{
	static const char remembered[] =
		"SELECT count(*) FROM states s JOIN standing_tasks t ON t.id = s.id WHERE t.status = 'failed'";

	tell("2>5 bash driver.sh; 5>10 python3 /usr/bin/snakemake -j2; 10>11 bash -c job 11; ends 1; wait 20000");
	ck_assert_rows(remembered, "1\n");
	tell("10 ends; wait 20000; commit; commit");
	ck_assert_rows(remembered, "0\n");
}

int main(void)
{
	return streams_run("retry");
}
