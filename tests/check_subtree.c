/* Pipes that make siblings one task. */
#include "tests/streams.h"

/* How many tasks stand, and what the first process of each is, in the order of their beginning. */
#define TASK_ROOTS                                                                            \
	"SELECT p.program FROM standing_tasks t JOIN processes p ON p.id = t.root_process_id "  \
	"WHERE t.kind = 'engine' ORDER BY t.begin_boot_ns"

/* An engine, and its children 11 to `last`, forked one behind the other. */
static void begin_engine(unsigned last)
{
	spawn(2, 10, "python3 /usr/bin/snakemake -j2");
	for (unsigned pid = 11; pid <= last; pid++)
		fork_process(10, pid);
}

TEST(a_pipe_beneath_an_engine_is_one_task)
{
	spawn(2, 10, "python3 /usr/bin/snakemake -j2");
	fork_process(10, 11);
	spawn_in(10, 12, (struct where){.stdin_pipe = 71}, "samtools sort");
	exec_in(11, (struct where){.stdout_pipe = 71}, "bwa mem x");
	run_process(10, 13, "multiqc .");
	exit_process(11, 1 << 8);
	exit_process(12, 0);
	ck_assert_tasks("main: snakemake [snakemake] running\n"
			"engine: bwa mem + samtools sort [bwa mem, samtools sort] failed\n"
			"engine: multiqc [multiqc] succeeded\n");
}

TEST(a_pipe_makes_siblings_one_task)
{
	spawn(2, 10, "bash driver.sh");
	run_process(10, 11, "bwa index x");
	fork_process(10, 12);
	fork_process(10, 13);
	fork_process(10, 14);
	/* The last of the three executes first, the middle one last. */
	exec_in(14, (struct where){.stdin_pipe = 72}, "gzip");
	exec_in(12, (struct where){.stdout_pipe = 71}, "bwa mem x");
	exec_in(13, (struct where){.stdin_pipe = 71, .stdout_pipe = 72}, "samtools sort");
	exit_process(12, 13); /* SIGPIPE: its reader had enough */
	exit_process(13, 0);
	exit_process(14, 0);
	ck_assert_tasks("main: driver.sh [driver.sh] running\n"
			"generic: bwa index [bwa index] succeeded\n"
			"generic: bwa mem + samtools sort + gzip [bwa mem, samtools sort, gzip] succeeded\n");
}

TEST(helpers_in_a_pipe_belong_to_it_whoever_came_first)
{
	spawn(2, 10, "bash driver.sh");
	run_process(10, 11, "bwa index x");
	fork_process(10, 12);
	fork_process(10, 13);
	fork_process(10, 14);
	fork_process(10, 15);
	exec_in(12, (struct where){.stdout_pipe = 71}, "cat x");
	exec_in(13, (struct where){.stdin_pipe = 71, .stdout_pipe = 72}, "tr a b");
	exec_in(14, (struct where){.stdin_pipe = 72, .stdout_pipe = 73}, "sort");
	exec_in(15, (struct where){.stdin_pipe = 73}, "head");
	run_process(10, 16, "cat y");
	ck_assert_tasks("main: driver.sh [driver.sh, cat] running\n"
			"generic: bwa index [bwa index] succeeded\n"
			"generic: sort [cat, tr, sort, head] running\n");
	ck_assert_str_eq(rows("SELECT sum(t.process_count), max(r.process_count) FROM standing_tasks t JOIN "
			      "(SELECT id, process_count FROM runs WHERE kind = 'command') r ON r.id = "
			      "t.run_id"),
			 "7 7\n");
}

TEST(who_writes_one_pipe_and_reads_another_stands_between)
{
	begin_engine(14);
	exec_in(11, (struct where){.stdout_pipe = 71}, "bwa mem x");
	exec_in(13, (struct where){.stdin_pipe = 72}, "gzip");
	exec_in(14, (struct where){.stdin_pipe = 73}, "multiqc .");
	ck_assert_str_eq(rows(TASK_ROOTS), "bwa\ngzip\nmultiqc\n");
	exec_in(12, (struct where){.stdin_pipe = 71, .stdout_pipe = 72}, "samtools sort");
	ck_assert_str_eq(rows(TASK_ROOTS), "bwa\nmultiqc\n");
}

TEST(two_that_talk_both_ways_are_one)
{
	begin_engine(13);
	exec_in(11, (struct where){.stdin_pipe = 71, .stdout_pipe = 72}, "bwa mem x");
	exec_in(12, (struct where){.stdin_pipe = 72, .stdout_pipe = 71}, "samtools sort");
	exec_in(13, (struct where){.stdin_pipe = 73, .stdout_pipe = 74}, "multiqc .");
	ck_assert_str_eq(rows(TASK_ROOTS), "bwa\nmultiqc\n");
}

/* { bwa & samtools & } | gzip: the one that was forked first gives the task its name, whoever
 * executes first. */
TEST(all_who_write_what_one_reads_are_one)
{
	begin_engine(14);
	exec_in(13, (struct where){.stdout_pipe = 71}, "multiqc .");
	exec_in(11, (struct where){.stdout_pipe = 71}, "bwa mem x");
	exec_in(12, (struct where){.stdout_pipe = 71}, "samtools sort");
	ck_assert_str_eq(rows(TASK_ROOTS), "bwa\nsamtools\nmultiqc\n");
	exec_in(14, (struct where){.stdin_pipe = 71}, "gzip");
	ck_assert_str_eq(rows(TASK_ROOTS), "bwa\n");
	ck_assert_str_eq(rows("SELECT process_count FROM standing_tasks WHERE kind = 'engine'"), "4\n");
}

TEST(who_has_ended_is_in_its_pipe_until_it_is_let_go)
{
	begin_engine(15);
	exec_in(11, (struct where){.stdout_pipe = 71}, "bwa mem x");
	exec_in(12, (struct where){.stdout_pipe = 72}, "samtools sort");
	spawn(12, 16, "sleep 100"); /* so that the task is kept */
	exit_process(11, 0);
	exit_process(12, 0);
	exec_in(13, (struct where){.stdin_pipe = 71}, "gzip");
	ck_assert_str_eq(rows(TASK_ROOTS), "bwa\nsamtools\n");
	exec_in(14, (struct where){.stdin_pipe = 72}, "multiqc .");
	ck_assert_str_eq(rows(TASK_ROOTS), "bwa\nsamtools\nmultiqc\n");
}

TEST(a_pipe_whose_number_is_used_again_is_another)
{
	begin_engine(14);
	exec_in(11, (struct where){.stdout_pipe = 71}, "bwa mem x");
	exec_in(12, (struct where){.stdin_pipe = 71}, "samtools sort");
	exit_process(11, 0);
	exit_process(12, 0);
	exec_in(13, (struct where){.stdout_pipe = 71}, "multiqc .");
	exec_in(14, (struct where){.stdin_pipe = 71}, "gzip");
	ck_assert_str_eq(rows(TASK_ROOTS), "bwa\nmultiqc\n");
}

/* The pipe to which all of a job write is in everybody's hands. */
TEST(a_pipe_joins_no_more_than_siblings)
{
	begin_engine(12);
	exec_in(11, (struct where){.stdout_pipe = 71}, "bwa mem x");
	spawn(2, 20, "python3 /usr/bin/snakemake -j2");
	spawn_in(20, 21, (struct where){.stdin_pipe = 71}, "samtools sort");
	exec_in(12, (struct where){.stdout_pipe = 71}, "multiqc .");
	ck_assert_str_eq(rows(TASK_ROOTS), "bwa\nmultiqc\nsamtools\n");
}

TEST(pipes_outlive_a_restart)
{
	begin_engine(16);
	exec_in(11, (struct where){.stdout_pipe = 71}, "bwa mem x");
	exec_in(13, (struct where){.stdin_pipe = 81, .stdout_pipe = 82}, "cat x");
	exec_in(14, (struct where){.stdin_pipe = 82, .stdout_pipe = 83}, "tr a b");
	restart();
	exec_in(12, (struct where){.stdin_pipe = 71}, "samtools sort");
	exec_in(15, (struct where){.stdin_pipe = 83}, "sort");
	exec_in(16, (struct where){.stdout_pipe = 81}, "gzip");
	ck_assert_tasks("main: snakemake [snakemake] running\n"
			"engine: bwa mem + samtools sort [bwa mem, samtools sort] running\n"
			"engine: sort + gzip [cat, tr, sort, gzip] running\n");
}

int main(void)
{
	return streams_run("subtree");
}
