/* Tasks beneath an engine, and without one. */
#include "tests/streams.h"

TEST(direct_subtrees_of_an_engine_are_tasks)
{
	spawn(2, 10, "bash wrapper.sh");
	spawn(10, 11, "python3 /usr/bin/snakemake --cores 2");
	spawn(11, 12, "bash -c true;bwa");
	run_process(12, 13, "bwa mem x");
	run_process(12, 14, "samtools sort x");
	exit_process(12, 0);
	spawn(11, 15, "bash -c make");
	spawn(15, 16, "make -j2");
	run_process(16, 17, "gcc -c a.c");
	run_process(16, 18, "gcc -c b.c");
	ck_assert_str_eq(rows("SELECT t.kind, t.process_count, t.status FROM standing_tasks t JOIN runs r ON "
			      "r.id = t.run_id WHERE r.kind = 'command' ORDER BY t.begin_boot_ns"),
			 "main 2 running\nengine 3 succeeded\nengine 4 running\n");
	ck_assert_str_eq(rows("SELECT engine, task_count FROM runs WHERE kind = 'command'"), "snakemake 2\n");
}

TEST(a_worker_that_an_engine_forked_is_the_engine)
{
	spawn(2, 10, "python3 /usr/bin/snakemake -j2");
	fork_process(10, 11);
	run_process(11, 12, "bwa index x");
	run_process(11, 13, "samtools faidx x");
	exit_process(11, 0);
	ck_assert_tasks("main: snakemake [snakemake] running\n"
			"engine: bwa index [bwa index] succeeded\n"
			"engine: samtools faidx [samtools faidx] succeeded\n");
	ck_assert_str_eq(rows("SELECT process_count FROM tools WHERE name = 'snakemake'"), "2\n");
}

TEST(a_workflow_engine_inside_make_outranks_it)
{
	spawn(2, 10, "make all");
	spawn(10, 11, "python3 /usr/bin/snakemake -j1");
	run_process(11, 12, "bwa mem x");
	run_process(11, 13, "samtools sort x");
	ck_assert_str_eq(rows("SELECT t.kind, t.process_count, p.name FROM standing_tasks t LEFT JOIN tasks p "
			      "ON p.id = t.parent_task_id JOIN runs r ON r.id = t.run_id WHERE r.kind = "
			      "'command' ORDER BY t.begin_boot_ns"),
			 "main 1 -\nengine 1 make\nengine 1 snakemake\nengine 1 snakemake\n");
}

TEST(background_jobs_are_tasks_of_their_own)
{
	spawn(2, 10, "bash driver.sh");
	spawn(10, 11, "bwa index x");
	spawn(10, 12, "samtools faidx x");
	exit_process(11, 1 << 8);
	exit_process(12, 9);
	ck_assert_tasks("main: driver.sh [driver.sh] running\n"
			"generic: bwa index [bwa index] failed\n"
			"generic: samtools faidx [samtools faidx] killed\n");
	ck_assert_str_eq(rows("SELECT kind FROM incidents ORDER BY boot_ns"), "exit-code\nsignal\n");
}

/* Scripts of ever new names, all in one group. */
TEST(tools_of_a_group_are_bounded)
{
	char name[32];

	begin_step();
	for (unsigned i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "tool%u", i);
		run_process(11, 20 + i, name);
	}
	ck_assert_str_eq(rows("SELECT count(*), max(process_count), sum(process_count) FROM standing_tools t "
			      "WHERE task_id IN (SELECT id FROM tasks WHERE kind = 'engine')"),
			 "501 102 602\n"); /* bash, bwa and 498 of them have their own */
	ck_assert_str_eq(rows("SELECT t.name FROM processes p JOIN tools t ON t.id = p.tool_id WHERE p.program = "
			      "'tool599'"),
			 "(others)\n");
}

int main(void)
{
	return streams_run("task");
}
