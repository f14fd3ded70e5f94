/* Names that group tasks, and labels that distinguish them: by rules, or from the command lines that are stored. */
#include <inttypes.h>
#include <string.h>

#include "analysis/query/labels.h"
#include "tests/streams.h"

#define WORK "/data/work/"
#define HASH "0123456789abcdef01234567"

static const char tasks_sql[] = "SELECT name || ': ' || coalesce(label, '-') FROM standing_tasks "
				"WHERE kind IN ('engine', 'generic', 'batch') ORDER BY begin_boot_ns";

/* The tasks of the only run beside the system's, with labels that are made of their command lines. */
static const char *labelled_tasks(void)
{
	static char text[4096];
	struct row_part part = {0};
	const struct rows parts = {.items = &part, .count = 1};
	struct labels labels;
	struct store *reader;
	struct store_error problem;
	char *path = rows("SELECT file FROM pragma_database_list WHERE name = 'main'");
	size_t size = 0;

	path[strcspn(path, "\n")] = '\0';
	ck_assert_int_eq(store_open_reader(path, &reader, &problem), 0);
	sscanf(rows("SELECT id, host_id FROM standing_runs WHERE kind <> 'system'"), "%" PRId64 " %" PRId64,
	       &part.run.id, &part.run.host_id);
	ck_assert_int_eq(labels_load(reader, &parts, &labels), 0);
	for (char *line = strtok(
		     rows("SELECT id, name FROM standing_tasks WHERE kind <> 'main' ORDER BY begin_boot_ns"), "\n");
	     line; line = strtok(NULL, "\n")) {
		const char *label = labels_find(&labels, strtoll(line, &line, 10));

		size += (size_t)snprintf(text + size, sizeof(text) - size, "%s: %s\n", line + 1, label ? label : "-");
	}
	labels_free(&labels);
	store_close(reader);
	return text;
}

#define MAKE "2>10 make -j4 all; "

TEST(make_and_parallel)
{
	tell(MAKE "10>11 gcc -c -o obj/a.o a.c; ends; 10>12 gcc -c -o obj/b.o b.c; ends; "
		  "10>13 gcc -o hello obj/a.o obj/b.o; ends");
	ck_assert_str_eq(labelled_tasks(), "gcc: a.o\ngcc: b.o\ngcc: hello\n");
	begin_again();
	tell("2>10 perl /usr/bin/parallel -j2 crunch.py {} conf.yaml ::: liver kidney; "
	     "10>11 bash -c crunch.py~liver~conf.yaml; 11 crunch.py liver conf.yaml; "
	     "10>12 bash -c crunch.py~kidney~conf.yaml; 12 crunch.py kidney conf.yaml");
	ck_assert_str_eq(labelled_tasks(), "crunch.py: liver\ncrunch.py: kidney\n");
}

TEST(program_only_keeps_arguments_out)
{
	keep_arguments_of(NULL);
	tell(MAKE "10>11 gcc -c -o obj/a.o a.c; ends; 10>12 gcc -c -o obj/b.o b.c; ends");
	ck_assert_str_eq(labelled_tasks(), "gcc: -\ngcc: -\n");
}

/* A background pipeline: its parts are one task, labelled by the first part. */
TEST(background_pipelines_are_distinguished)
{
	tell("2>10 bash driver.sh; 10>11; 10>12; 11 >70 bwa mem r.fa s1.fq; 12 <70 samtools sort -; "
	     "10>21; 10>22; 21 >71 bwa mem r.fa s2.fq; 22 <71 samtools sort -");
	ck_assert_str_eq(labelled_tasks(), "bwa mem + samtools sort: s1.fq\nbwa mem + samtools sort: s2.fq\n");
}

/* Workers that only fork run one command after another, and are labelled by the first. */
TEST(forked_workers_are_distinguished)
{
	tell("2>10 bash driver.sh config.yaml; 10>11; 11>12 mkdir out; ends; 11>13 bwa index a.fa; ends; "
	     "10>21; 21>22 mkdir out; ends; 21>23 bwa index b.fa; ends");
	ck_assert_str_eq(labelled_tasks(), "bwa index: a.fa\nbwa index: b.fa\n");
}

/* ---- engines */

#define NEXTFLOW "2>10 java -cp x nextflow.cli.Launcher run main.nf; "

/* One Nextflow task as .command.run sets it up, with 10 pids from `pid`. */
static void nextflow_task(unsigned pid, const char *folder, const char *script_interpreter, bool starter)
{
	tell("10>%u%s; %u cwd=%s bash -ue .command.run", pid, starter ? " jspawnhelper 23:25" : "", pid, folder);
	tell("%u>%u cwd=%s tee .command.out", pid, pid + 1, folder);
	tell("%u>%u cwd=%s bash .command.run nxf_trace", pid, pid + 2, folder);
	tell("%u>%u cwd=%s awk {print~$1}; ends", pid + 2, pid + 3, folder);
	tell("%u>%u cwd=%s ps -o pid,state -p 1; ends", pid + 2, pid + 4, folder);
	tell("%u>%u cwd=%s %s .command.sh", pid + 2, pid + 5, folder, script_interpreter);
}

static void nextflow_task_end(unsigned pid)
{
	tell("%u ends; %u ends; %u ends; %u ends", pid + 5, pid + 2, pid + 1, pid);
}

static void fastqc_task(unsigned pid, const char *folder, bool starter)
{
	nextflow_task(pid, folder, "bash -euo pipefail", starter);
	tell("%u>%u cwd=%s perl /usr/bin/fastqc -t 2 s.fq", pid + 5, pid + 6, folder);
	tell("%u cwd=%s java -Xmx1g uk.ac.babraham.FastQC.FastQCApplication s.fq; ends", pid + 6, folder);
	tell("%u>%u cwd=%s samtools --version; ends", pid + 5, pid + 7, folder);
	nextflow_task_end(pid);
}

static const char tools_sql[] = "SELECT DISTINCT t.name, t.role FROM standing_tools t JOIN tasks k ON "
				"k.id = t.task_id WHERE k.kind = 'engine' ORDER BY 2, 1";

TEST_TIMES(nextflow_tasks_group_by_tools, 2)
{
	tell(NEXTFLOW);
	fastqc_task(20, WORK "ab/cdef01" HASH, _i);
	fastqc_task(30, WORK "cd/ef0123" HASH, _i);
	ck_assert_rows(tasks_sql, "fastqc: ab/cdef01\nfastqc: cd/ef0123\n");
	ck_assert_rows(tools_sql, "samtools helper\nfastqc tool\n.command.run wrapper\n.command.sh wrapper\n"
				  "fastqc wrapper\n");
	ck_assert_rows("SELECT count(*) FROM tools WHERE name LIKE '%jspawnhelper%'", "0\n");
}

/* A script that is .command.sh itself is a tool; the wrapping by .command.run is not. */
TEST(nextflow_templates_are_tools)
{
	tell(NEXTFLOW);
	nextflow_task(20, WORK "ab/cdef01" HASH, "Rscript", true);
	tell("25 cwd=" WORK "ab/cdef01" HASH " R --no-echo --no-restore --file=.command.sh");
	nextflow_task_end(20);
	nextflow_task(30, WORK "cd/ef0123" HASH, "python3", true);
	nextflow_task_end(30);
	ck_assert_rows(tasks_sql, "Rscript: ab/cdef01\npython: cd/ef0123\n");
	ck_assert_rows(tools_sql, "Rscript tool\npython tool\n.command.run wrapper\n");
}

/* A task consisting only of helpers is named after them, not after the engine's wrapper. */
TEST(nextflow_tasks_of_helpers_are_named_after_them)
{
	tell(NEXTFLOW);
	nextflow_task(20, WORK "ab/cdef01" HASH, "bash -euo pipefail", true);
	tell("25>26 cwd=" WORK "ab/cdef01" HASH " cat a.fq.gz b.fq.gz; ends");
	nextflow_task_end(20);
	ck_assert_rows(tasks_sql, "cat: ab/cdef01\n");
}

/* Usage of a JVM's process starter belongs to what it starts, or to the JVM if it starts nothing. */
TEST(a_starter_is_its_parent_until_it_execs)
{
	tell(NEXTFLOW "10>20 jspawnhelper 23:25; 20 bash -c sleep~1;true; ends; 10>30 jspawnhelper 23:25; ends 1");
	ck_assert_rows("SELECT p.program, p.began, t.name FROM processes p JOIN tools t ON t.id = p.tool_id "
		       "JOIN runs r ON r.id = p.run_id WHERE r.kind = 'command' ORDER BY p.begin_boot_ns",
		       "java exec nextflow\nbash exec bash -c\njspawnhelper fork nextflow\n");
}

/* Snakemake passes rule and wildcards on the command line of the jobs for which it runs itself. */
TEST(snakemake_jobs_have_rule_and_wildcards)
{
	tell("2>10 python3 /usr/bin/snakemake -j2; 10>11 sh -c cd~/w~&&~python3~-m~snakemake; "
	     "11>12 python3 -m snakemake --target-jobs stats:s=s3 --allowed-rules stats --mode 1; "
	     "10>21 sh -c cd~/w~&&~python3~-m~snakemake; "
	     "21>22 python3 -m snakemake --target-jobs stats:s=s4 --allowed-rules stats --mode 1");
	ck_assert_rows(tasks_sql, "stats: s=s3\nstats: s=s4\n");
	ck_assert_rows("SELECT t.name, t.role FROM standing_tools t JOIN tasks k ON k.id = t.task_id "
		       "WHERE k.kind = 'engine' AND k.label = 's=s3' ORDER BY 2 DESC",
		       "snakemake stats tool\nsh -c shell\n");
}

/* Code is not a label: not what differs in it, but the arguments after it, or what it starts first. A helper
 * labels only a task without anything else. */
TEST(labels_do_not_come_from_code)
{
	tell("2>10 bash driver.sh; 10>11 python3 -c import~os;os.path.exists('ok1') step 1; ends; "
	     "10>12 python3 -c import~os;os.path.exists('ok1') step 2; ends; "
	     "10>13 Rscript -e x=read.csv('A.csv'); ends; 10>14 Rscript -e x=read.csv('B.csv'); ends; "
	     "10>15 bash -c mkdir~-p~o;~cat~x.fq~|~bwa~mem~r.fa~-~>~o/z.sam; 15>16 mkdir -p o; ends; 15>17; "
	     "15>18 >70 bwa mem r.fa s1.fq; 17 <70 cat -; 17 ends; 18 ends; 15 ends; "
	     "10>20 bash -c cat~a~>~b; 20>21 cat a1.txt; ends; 20 ends; 10>25 bash -c cat~a~>~b; 25>26 cat a2.txt");
	ck_assert_str_eq(labelled_tasks(),
			 "python -c: step 1\npython -c: step 2\nRscript -e: -\nRscript -e: -\nbwa mem: s1.fq\n"
			 "cat: a1.txt\ncat: a2.txt\n");
}

/* Scripts that a step generates for each sample are one tool. */
TEST(scripts_of_a_sample_are_one_tool)
{
	tell(MAKE
	     "10>11 python3 read_duplication.py -i s1_T1.bam -o s1_T1; 11>12 sh -c Rscript~x; "
	     "12>13 Rscript s1_T1.DupRate_plot.r; 11>14 python3 other.step.py; "
	     "10>21 python3 read_duplication.py -i s2_T1.bam -o s2_T1; 21>22 sh -c Rscript~x; "
	     "22>23 Rscript s2_T1.DupRate_plot.r; 21>24 python3 other.step.py; "
	     "10>30 bash run.sh data.csv; 30>31 python3 data.clean.py; 10>32 bash run.sh y; 32>33 python3 data.clean.py");
	ck_assert_rows("SELECT t.name, count(*) FROM standing_tools t JOIN tasks k ON k.id = t.task_id "
		       "WHERE k.kind = 'engine' AND t.role = 'tool' GROUP BY t.name ORDER BY t.name",
		       "*.DupRate_plot.r 2\ndata.clean.py 2\nother.step.py 2\nread_duplication.py 2\n");
}

int main(void)
{
	return streams_run("label");
}
