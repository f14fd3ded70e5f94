/* Pipes that merge siblings into one task. */
#include "tests/streams.h"

/* Number of current tasks, and the first process of each, in the order of their beginning. */
#define TASK_ROOTS \
	"SELECT p.program FROM standing_tasks t JOIN processes p ON p.id = t.root_process_id " \
	"WHERE t.kind = 'engine' ORDER BY t.begin_boot_ns"

/* An engine and its children 11 to `last`, forked in a row. */
static void begin_engine(unsigned last)
{
	tell("2>10 python3 /usr/bin/snakemake -j2");
	for (unsigned pid = 11; pid <= last; pid++)
		tell("10>%u", pid);
}

TEST(a_pipe_beneath_an_engine_is_one_task)
{
	tell("2>10 python3 /usr/bin/snakemake -j2; 10>11; 10>12 <71 samtools sort; 11 >71 bwa mem x; "
	     "10>13 multiqc .; ends; 11 ends 1; 12 ends");
	ck_assert_tasks("main: snakemake [snakemake] running\n"
			"engine: bwa mem + samtools sort [bwa mem, samtools sort] failed\n"
			"engine: multiqc [multiqc] succeeded\n");
}

TEST(a_pipe_makes_siblings_one_task)
{
	tell("2>10 bash driver.sh; 10>11 bwa index x; ends; 10>12; 10>13; 10>14");
	/* The last of the three executes first, the middle one last. */
	tell("14 <72 gzip; 12 >71 bwa mem x; 13 <71 >72 samtools sort; "
	     "12 dies 13; " /* SIGPIPE: its reader stopped early */
	     "13 ends; 14 ends");
	ck_assert_tasks("main: driver.sh [driver.sh] running\n"
			"generic: bwa index [bwa index] succeeded\n"
			"generic: bwa mem + samtools sort + gzip [bwa mem, samtools sort, gzip] succeeded\n");
}

/* Two pipelines until the program between them executes: the failure counts, not the pipe that was left. */
TEST(a_failure_decides_a_merged_task)
{
	tell("2>10 bash driver.sh; 10>11; 10>12; 10>13; 10>14; 10>15; 11 >71 bwa mem x; 12 <71 >72 samtools view; "
	     "14 <73 >74 gzip; 15 <74 sort; 11 dies 13; 15 ends 3; 13 <72 >73 samtools sort; 12 ends; 13 ends; 14 ends");
	ck_assert_rows("SELECT status, exit_code, signal FROM tasks WHERE kind = 'generic' AND merged_into_id IS NULL",
		       "failed 3 -\n");
}

TEST(a_tool_on_both_ends_of_a_pipe_is_named_once)
{
	tell("2>10 bash driver.sh; 10>11 bwa index x; ends; 10>12; 10>13; 10>14");
	tell("12 >71 sort a; 14 <72 sort -u; 13 <71 >72 gzip; 12 ends; 13 ends; 14 ends");
	ck_assert_rows("SELECT name FROM standing_tasks WHERE kind = 'generic' ORDER BY begin_boot_ns",
		       "bwa index\nsort + gzip\n");
}

TEST(helpers_in_a_pipe_belong_to_it_in_any_order)
{
	tell("2>10 bash driver.sh; 10>11 bwa index x; ends; 10>12; 10>13; 10>14; 10>15; 12 >71 cat x; "
	     "13 <71 >72 tr a b; 14 <72 >73 sort; 15 <73 head; 10>16 cat y; ends");
	ck_assert_tasks("main: driver.sh [driver.sh, cat] running\n"
			"generic: bwa index [bwa index] succeeded\n"
			"generic: sort [cat, tr, sort, head] running\n");
	ck_assert_rows("SELECT sum(t.process_count), max(r.process_count) FROM standing_tasks t JOIN "
		       "(SELECT id, process_count FROM runs WHERE kind = 'command') r ON r.id = t.run_id",
		       "7 7\n");
}

TEST(a_writer_of_one_pipe_that_reads_another_is_between)
{
	begin_engine(14);
	tell("11 >71 bwa mem x; 13 <72 gzip; 14 <73 multiqc .");
	ck_assert_rows(TASK_ROOTS, "bwa\ngzip\nmultiqc\n");
	tell("12 <71 >72 samtools sort");
	ck_assert_rows(TASK_ROOTS, "bwa\nmultiqc\n");
}

/* What ends before a process joins the two others of its pipeline, and what afterwards. */
static const struct {
	const char *before, *after, *expected;
} joined[] = {
	{"11 ends 3", "13 ends; 12 ends", "failed 3\n"},   {"13 ends 3", "11 ends; 12 ends", "failed 3\n"},
	{"13 ends", "11 ends; 12 ends", "succeeded 0\n"},  {"11 ends; 13 ends 3", "12 ends", "failed 3\n"},
	{"11 dies 9; 13 ends", "12 ends", "killed -\n"},   {"11 ends 3; 13 ends 4", "12 ends", "failed 3\n"},
	{"11 ends 3", "13 ends; 12 ends 4", "failed 3\n"},
};

TEST_EACH(joined_tasks_have_failed_if_one_of_them_has, joined)
{
	WITHOUT_RESTARTS(); /* a commit releases ended tasks */
	begin_engine(14);
	tell("11 >71 bwa mem x; 13 <72 gzip; %s; 12 <71 >72 samtools sort; %s", joined[_i].before, joined[_i].after);
	ck_assert_rows("SELECT status, exit_code FROM standing_tasks WHERE kind = 'engine'", joined[_i].expected);
}

TEST(two_that_talk_both_ways_are_one)
{
	begin_engine(13);
	tell("11 <71 >72 bwa mem x; 12 <72 >71 samtools sort; 13 <73 >74 multiqc .");
	ck_assert_rows(TASK_ROOTS, "bwa\nmultiqc\n");
}

/* { bwa & samtools & } | gzip: the task is named after the process forked first, whichever executes
 * first. */
TEST(all_who_write_what_one_reads_are_one)
{
	begin_engine(14);
	tell("13 >71 multiqc .; 11 >71 bwa mem x; 12 >71 samtools sort");
	ck_assert_rows(TASK_ROOTS, "bwa\nsamtools\nmultiqc\n");
	tell("14 <71 gzip");
	ck_assert_rows(TASK_ROOTS, "bwa\n");
	ck_assert_rows("SELECT process_count FROM standing_tasks WHERE kind = 'engine'", "4\n");
}

TEST(an_ended_process_is_in_its_pipe_until_it_is_freed)
{
	WITHOUT_RESTARTS(); /* a commit releases ended tasks */
	begin_engine(15);
	tell("11 >71 bwa mem x; 12 >72 samtools sort; 12>16 sleep 100; " /* keeps the task */
	     "11 ends; 12 ends; 13 <71 gzip");
	ck_assert_rows(TASK_ROOTS, "bwa\nsamtools\n");
	tell("14 <72 multiqc .");
	ck_assert_rows(TASK_ROOTS, "bwa\nsamtools\nmultiqc\n");
}

TEST(a_pipe_whose_number_is_used_again_is_another)
{
	begin_engine(14);
	tell("11 >71 bwa mem x; 12 <71 samtools sort; 11 ends; 12 ends; 13 >71 multiqc .; 14 <71 gzip");
	ck_assert_rows(TASK_ROOTS, "bwa\nmultiqc\n");
}

/* exec > >(tee log) */
TEST(what_all_steps_write_joins_one_of_them)
{
	begin_engine(14);
	tell("11 <71 tee log; 12 >71 bwa mem x; 13 >71 samtools sort; 14 >71 multiqc .");
	ck_assert_rows(TASK_ROOTS, "bwa\nsamtools\nmultiqc\n");
	ck_assert_rows("SELECT count(DISTINCT task_id) FROM processes WHERE pid IN (11, 12)", "1\n");
}

/* A pipe to which all parts of a job write is open in many processes. */
TEST(a_pipe_joins_no_more_than_siblings)
{
	begin_engine(12);
	tell("11 >71 bwa mem x; 2>20 python3 /usr/bin/snakemake -j2; 20>21 <71 samtools sort; "
	     "12 >71 multiqc .");
	ck_assert_rows(TASK_ROOTS, "bwa\nmultiqc\nsamtools\n");
}

TEST(pipes_outlive_a_restart)
{
	begin_engine(16);
	tell("11 >71 bwa mem x; 13 <81 >82 cat x; 14 <82 >83 tr a b; restart; 12 <71 samtools sort; "
	     "15 <83 sort; 16 >81 gzip");
	ck_assert_tasks("main: snakemake [snakemake] running\n"
			"engine: bwa mem + samtools sort [bwa mem, samtools sort] running\n"
			"engine: sort + gzip [cat, tr, sort, gzip] running\n");
}

int main(void)
{
	return streams_run("subtree");
}
