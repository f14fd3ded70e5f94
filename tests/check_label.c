/* Names that group tasks, and labels that tell them apart. */
#include "tests/streams.h"

#define WORK "/data/work/"
#define HASH "0123456789abcdef01234567"

static const char tasks_sql[] = "SELECT name || ': ' || coalesce(label, '-') FROM standing_tasks "
				"WHERE kind IN ('engine', 'generic', 'batch') ORDER BY begin_boot_ns";

/* `make` and what it starts. */
static void begin_make(void)
{
	spawn(2, 10, "make -j4 all");
}

TEST(make_says_which_object)
{
	begin_make();
	run_process(10, 11, "gcc -c -o obj/a.o a.c");
	run_process(10, 12, "gcc -c -o obj/b.o b.c");
	run_process(10, 13, "gcc -o hello obj/a.o obj/b.o");
	ck_assert_str_eq(rows(tasks_sql), "gcc: a.o\ngcc: b.o\ngcc: hello\n");
}

TEST(parallel_says_which_input)
{
	spawn(2, 10, "perl /usr/bin/parallel -j2 crunch.py {} conf.yaml ::: liver kidney");
	for (unsigned i = 0; i < 2; i++) {
		spawn(10, 11 + i, i ? "bash -c crunch.py~kidney~conf.yaml" : "bash -c crunch.py~liver~conf.yaml");
		exec_process(11 + i, i ? "crunch.py kidney conf.yaml" : "crunch.py liver conf.yaml");
	}
	ck_assert_str_eq(rows(tasks_sql), "crunch.py: liver\ncrunch.py: kidney\n");
}

/* The first is labelled anew when the second shows what differs. */
TEST(the_first_learns_from_the_second)
{
	begin_make();
	spawn(10, 11, "work.sh liver conf.yaml");
	ck_assert_str_eq(rows(tasks_sql), "work.sh: conf.yaml\n");
	spawn(10, 12, "work.sh kidney conf.yaml");
	ck_assert_str_eq(rows(tasks_sql), "work.sh: liver\nwork.sh: kidney\n");
}

TEST(labels_survive_a_restart)
{
	begin_make();
	spawn(10, 11, "work.sh liver conf.yaml");
	spawn(10, 12, "work.sh kidney conf.yaml");
	ck_assert_str_eq(rows(tasks_sql), "work.sh: liver\nwork.sh: kidney\n");
	restart();
	spawn(10, 13, "work.sh heart conf.yaml");
	ck_assert_str_eq(rows(tasks_sql), "work.sh: liver\nwork.sh: kidney\nwork.sh: heart\n");
	/* What all had in common until then is known, too. */
	spawn(10, 14, "work.sh heart other.yaml");
	ck_assert_str_eq(rows(tasks_sql), "work.sh: liver conf.yaml\nwork.sh: kidney conf.yaml\n"
					  "work.sh: heart conf.yaml\nwork.sh: heart other.yaml\n");
}

TEST(a_stem_that_several_share_is_none)
{
	begin_make();
	spawn(10, 11, "merge sample_1.fq sample_2.fq");
	spawn(10, 12, "merge sample_3.fq sample_4.fq");
	ck_assert_str_eq(rows(tasks_sql),
			 "merge: sample_1.fq sample_2.fq\nmerge: sample_3.fq sample_4.fq\n");
}

TEST(program_only_keeps_arguments_out)
{
	close_model();
	arguments = REDACT_PROGRAM_ONLY;
	open_model();
	hello("boot");
	sample(1, 0, "init", cpu(1));
	sample(2, 1, "sshd", cpu(1));
	pass(now);
	begin_make();
	run_process(10, 11, "gcc -c -o obj/a.o a.c");
	run_process(10, 12, "gcc -c -o obj/b.o b.c");
	arguments = REDACT_SECRETS;
	ck_assert_str_eq(rows(tasks_sql), "gcc: -\ngcc: -\n");
}

/* A pipeline in the background: its parts are one task, the first of them tells which. */
TEST(background_pipelines_are_told_apart)
{
	spawn(2, 10, "bash driver.sh");
	for (unsigned i = 0; i < 2; i++) {
		fork_process(10, 11 + 10 * i);
		fork_process(10, 12 + 10 * i);
		exec_in(11 + 10 * i, (struct where){.stdout_pipe = 70 + i}, i ? "bwa mem r.fa s2.fq" : "bwa mem r.fa s1.fq");
		exec_in(12 + 10 * i, (struct where){.stdin_pipe = 70 + i}, "samtools sort -");
	}
	ck_assert_str_eq(rows(tasks_sql), "bwa mem + samtools sort: s1.fq\nbwa mem + samtools sort: s2.fq\n");
}

/* Workers that only fork run one command after the other: the first tells which. */
TEST(forked_workers_are_told_apart)
{
	spawn(2, 10, "bash driver.sh config.yaml");
	for (unsigned i = 0; i < 2; i++) {
		fork_process(10, 11 + 10 * i);
		run_process(11 + 10 * i, 12 + 10 * i, "mkdir out");
		run_process(11 + 10 * i, 13 + 10 * i, i ? "bwa index b.fa" : "bwa index a.fa");
	}
	ck_assert_str_eq(rows(tasks_sql), "bwa index: a.fa\nbwa index: b.fa\n");
}

/* ---- engines */

/* The head job, and one task of it as .command.run sets it up; pids from `pid` on, 10 of them. */
static void nextflow_task(unsigned pid, const char *folder, const char *script_interpreter, bool starter)
{
	const struct where where = {.cwd = folder};
	char command[256];

	fork_process(10, pid);
	if (starter)
		exec_in(pid, (struct where){0}, "jspawnhelper 23:25");
	exec_in(pid, where, "bash -ue .command.run");
	spawn_in(pid, pid + 1, where, "tee .command.out");
	spawn_in(pid, pid + 2, where, "bash .command.run nxf_trace");
	spawn_in(pid + 2, pid + 3, where, "awk {print~$1}");
	exit_process(pid + 3, 0);
	spawn_in(pid + 2, pid + 4, where, "ps -o pid,state -p 1");
	exit_process(pid + 4, 0);
	fork_process(pid + 2, pid + 5);
	snprintf(command, sizeof(command), "%s .command.sh", script_interpreter);
	exec_in(pid + 5, where, command);
}

static void nextflow_task_end(unsigned pid)
{
	exit_process(pid + 5, 0);
	exit_process(pid + 2, 0);
	exit_process(pid + 1, 0);
	exit_process(pid, 0);
}

static void begin_nextflow(void)
{
	spawn(2, 10, "java -cp x nextflow.cli.Launcher run main.nf");
}

static void fastqc_task(unsigned pid, const char *folder, bool starter)
{
	const struct where where = {.cwd = folder};

	nextflow_task(pid, folder, "bash -euo pipefail", starter);
	spawn_in(pid + 5, pid + 6, where, "perl /usr/bin/fastqc -t 2 s.fq");
	exec_in(pid + 6, where, "java -Xmx1g uk.ac.babraham.FastQC.FastQCApplication s.fq");
	exit_process(pid + 6, 0);
	spawn_in(pid + 5, pid + 7, where, "samtools --version");
	exit_process(pid + 7, 0);
	nextflow_task_end(pid);
}

static const char tools_sql[] = "SELECT DISTINCT t.name, t.role FROM standing_tools t JOIN tasks k ON "
				"k.id = t.task_id WHERE k.kind = 'engine' ORDER BY 2, 1";

TEST_TIMES(nextflow_tasks_group_by_tools, 2)
{
	begin_nextflow();
	fastqc_task(20, WORK "ab/cdef01" HASH, _i);
	fastqc_task(30, WORK "cd/ef0123" HASH, _i);
	ck_assert_str_eq(rows(tasks_sql), "fastqc: ab/cdef01\nfastqc: cd/ef0123\n");
	ck_assert_str_eq(rows(tools_sql), "samtools helper\nfastqc tool\n.command.run wrapper\n.command.sh wrapper\n"
					  "fastqc wrapper\n");
	ck_assert_str_eq(rows("SELECT count(*) FROM tools WHERE name LIKE '%jspawnhelper%'"), "0\n");
}

/* A script that is .command.sh itself is a tool; what .command.run does around it is none. */
TEST(nextflow_templates_are_tools)
{
	begin_nextflow();
	nextflow_task(20, WORK "ab/cdef01" HASH, "Rscript", true);
	exec_in(25, (struct where){.cwd = WORK "ab/cdef01" HASH}, "R --no-echo --no-restore --file=.command.sh");
	nextflow_task_end(20);
	nextflow_task(30, WORK "cd/ef0123" HASH, "python3", true);
	nextflow_task_end(30);
	ck_assert_str_eq(rows(tasks_sql), "Rscript: ab/cdef01\npython: cd/ef0123\n");
	ck_assert_str_eq(rows(tools_sql), "Rscript tool\npython tool\n.command.run wrapper\n");
}

/* A task of helpers alone is named after them, not after what the engine wraps around them. */
TEST(nextflow_tasks_of_helpers_are_named_after_them)
{
	const struct where where = {.cwd = WORK "ab/cdef01" HASH};

	begin_nextflow();
	nextflow_task(20, where.cwd, "bash -euo pipefail", true);
	spawn_in(25, 26, where, "cat a.fq.gz b.fq.gz");
	exit_process(26, 0);
	nextflow_task_end(20);
	ck_assert_str_eq(rows(tasks_sql), "cat: ab/cdef01\n");
}

/* What a JVM's starter used belongs to what it starts, and one that starts nothing is the JVM's. */
TEST(a_starter_is_its_parent_until_it_execs)
{
	begin_nextflow();
	spawn(10, 20, "jspawnhelper 23:25");
	exec_process(20, "bash -c sleep~1;true");
	exit_process(20, 0);
	spawn(10, 30, "jspawnhelper 23:25");
	exit_process(30, 1 << 8);
	ck_assert_str_eq(rows("SELECT p.program, p.began, t.name FROM processes p JOIN tools t ON t.id = p.tool_id "
			      "JOIN runs r ON r.id = p.run_id WHERE r.kind = 'command' ORDER BY p.begin_boot_ns"),
			 "java exec nextflow\nbash exec bash -c\njspawnhelper fork nextflow\n");
}

/* Snakemake says rule and wildcards on the command line of the jobs that it runs itself for. */
TEST(snakemake_jobs_have_rule_and_wildcards)
{
	spawn(2, 10, "python3 /usr/bin/snakemake -j2");
	for (unsigned i = 0; i < 2; i++) {
		spawn(10, 11 + 10 * i, "sh -c cd~/w~&&~python3~-m~snakemake");
		spawn(11 + 10 * i, 12 + 10 * i,
		      i ? "python3 -m snakemake --target-jobs stats:s=s4 --allowed-rules stats --mode 1"
			: "python3 -m snakemake --target-jobs stats:s=s3 --allowed-rules stats --mode 1");
	}
	ck_assert_str_eq(rows(tasks_sql), "stats: s=s3\nstats: s=s4\n");
	ck_assert_str_eq(rows("SELECT t.name, t.role FROM standing_tools t JOIN tasks k ON k.id = t.task_id "
			      "WHERE k.kind = 'engine' AND k.label = 's=s3' ORDER BY 2 DESC"),
			 "snakemake stats tool\nsh -c shell\n");
}

/* Scripts that a step writes for its sample are one tool. */
TEST(scripts_of_a_sample_are_one_tool)
{
	begin_make();
	for (unsigned i = 0; i < 2; i++) {
		unsigned pid = 11 + 10 * i;

		spawn(10, pid, i ? "python3 read_duplication.py -i s2_T1.bam -o s2_T1"
				 : "python3 read_duplication.py -i s1_T1.bam -o s1_T1");
		spawn(pid, pid + 1, "sh -c Rscript~x");
		spawn(pid + 1, pid + 2, i ? "Rscript s2_T1.DupRate_plot.r" : "Rscript s1_T1.DupRate_plot.r");
		spawn(pid, pid + 3, "python3 other.step.py");
	}
	ck_assert_str_eq(rows("SELECT t.name, count(*) FROM standing_tools t JOIN tasks k ON k.id = t.task_id WHERE "
			      "k.kind = 'engine' AND t.role = 'tool' GROUP BY t.name ORDER BY t.name"),
			 "*.DupRate_plot.r 2\nother.step.py 2\nread_duplication.py 2\n");
}

int main(void)
{
	return streams_run("label");
}
