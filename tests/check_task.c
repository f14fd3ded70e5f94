/* Tasks below an engine, and without one. */
#include "tests/streams.h"

TEST(direct_subtrees_of_an_engine_are_tasks)
{
	tell("2>10 bash wrapper.sh; 10>11 python3 /usr/bin/snakemake --cores 2; 11>12 bash -c true;bwa; "
	     "12>13 bwa mem x; ends; 12>14 samtools sort x; ends; 12 ends; 11>15 bash -c make; "
	     "15>16 make -j2; 16>17 gcc -c a.c; ends; 16>18 gcc -c b.c; ends");
	ck_assert_rows("SELECT t.kind, t.process_count, t.status FROM standing_tasks t JOIN runs r ON "
		       "r.id = t.run_id WHERE r.kind = 'command' ORDER BY t.begin_boot_ns",
		       "main 2 running\nengine 3 succeeded\nengine 4 running\n");
	ck_assert_rows("SELECT engine, task_count FROM runs WHERE kind = 'command'", "snakemake 2\n");
}

TEST(a_worker_that_an_engine_forked_is_the_engine)
{
	tell("2>10 python3 /usr/bin/snakemake -j2; 10>11; 11>12 bwa index x; ends; "
	     "11>13 samtools faidx x; ends; 11 ends");
	ck_assert_tasks("main: snakemake [snakemake] running\n"
			"engine: bwa index [bwa index] succeeded\n"
			"engine: samtools faidx [samtools faidx] succeeded\n");
	ck_assert_rows("SELECT process_count FROM tools WHERE name = 'snakemake'", "2\n");
}

TEST(a_workflow_engine_inside_make_outranks_it)
{
	tell("2>10 make all; 10>11 python3 /usr/bin/snakemake -j1; 11>12 bwa mem x; ends; "
	     "11>13 samtools sort x; ends");
	ck_assert_rows("SELECT t.kind, t.process_count, p.name FROM standing_tasks t LEFT JOIN tasks p "
		       "ON p.id = t.parent_task_id JOIN runs r ON r.id = t.run_id WHERE "
		       "r.kind = 'command' ORDER BY t.begin_boot_ns",
		       "main 1 -\nengine 1 make\nengine 1 snakemake\nengine 1 snakemake\n");
}

TEST(background_jobs_are_tasks_of_their_own)
{
	tell("2>10 bash driver.sh; 10>11 bwa index x; 10>12 samtools faidx x; 11 ends 1; 12 dies 9");
	ck_assert_tasks("main: driver.sh [driver.sh] running\n"
			"generic: bwa index [bwa index] failed\n"
			"generic: samtools faidx [samtools faidx] killed\n");
	ck_assert_rows("SELECT kind FROM incidents ORDER BY boot_ns", "exit-code\nsignal\n");
}

/* In a pipeline a reader may stop early. */
TEST(a_broken_pipe_of_one_program_is_a_failure)
{
	tell("2>10 bash driver.sh; 10>11 bwa index x; ends; 10>12 samtools faidx x; dies 13");
	ck_assert_rows("SELECT status, signal FROM tasks WHERE kind = 'generic' ORDER BY begin_boot_ns",
		       "succeeded -\nkilled 13\n");
}

/* Scripts with ever new names, all in one group. */
TEST(tools_of_a_group_are_bounded)
{
	begin_step();
	for (unsigned i = 0; i < 600; i++)
		tell("11>%u tool%u; ends", 20 + i, i);
	/* bash, bwa and 498 of them have a tool of their own */
	ck_assert_rows("SELECT count(*), max(process_count), sum(process_count) FROM standing_tools t "
		       "WHERE task_id IN (SELECT id FROM tasks WHERE kind = 'engine')",
		       "501 102 602\n");
	ck_assert_rows("SELECT t.name FROM processes p JOIN tools t ON t.id = p.tool_id WHERE "
		       "p.program = 'tool599'",
		       "(others)\n");
}

/* So a commit writes them to few pages, however many the store has. Ids of processes count microseconds, times 2^23. */
TEST(ids_of_tasks_and_tools_of_one_time_are_adjacent)
{
	tell("2>10 make all; 10>11 bwa index x; ends; 10>12 samtools faidx x; ends; 10>13 bwa mem x; ends");
	ck_assert_rows("SELECT count(*), max(id) - min(id) < 1000000 * 8388608 FROM tasks WHERE kind = 'engine'",
		       "3 1\n");
	ck_assert_rows("SELECT count(*), max(id) - min(id) < 1000000 * 8388608 FROM tools WHERE role = 'tool'",
		       "3 1\n");
}

int main(void)
{
	return streams_run("task");
}
