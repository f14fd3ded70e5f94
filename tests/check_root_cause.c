/* Why a process failed: the chain of failures is followed down; tolerated failures are not causes. */
#include "tests/streams.h"

#define CAUSES "SELECT p.pid FROM incidents i JOIN processes p ON p.id = i.process_id WHERE i.fatal = 1"

/* A step: snakemake 10 and its shell 11. */
#define STEP(shell) "2>10 python3 /usr/bin/snakemake -j2; 10>11 " shell "; "

/* What happens below a shell, how the shell ends, and which process is the cause. */
static const struct {
	const char *what, *story;
	unsigned code;
	const char *cause;
} shells[] = {
	{"a code that is passed on", "11>20 bwa; ends 3", 3, "20\n"},
	{"one that was tolerated", "11>20 bwa; ends 3; 11>21 sort; ends 4", 4, "21\n"},
	{"grep, tolerated", "11>20 grep x; ends 1; 11>21 bwa; ends 1", 1, "21\n"},
	{"grep afterwards", "11>20 bwa; ends 1; 11>21 grep x; ends 1", 1, "20\n"},
	{"grep alone", "11>20 grep x; ends 1", 1, "20\n"},
	{"grep, and exit 2", "11>20 grep x; ends 1", 2, "11\n"},
	{"grep that cannot read", "11>20 grep x; ends 2", 2, "20\n"},
	{"clean-up afterwards", "11>20 bwa; ends 1; 11>21 rm x; ends", 1, "20\n"},
	{"work afterwards", "11>20 bwa; ends 1; 11>21 sort; ends", 1, "11\n"},
	{"work afterwards, and a code that says more", "11>20 bwa; ends 7; 11>21 sort; ends", 7, "20\n"},
	{"killed", "11>20 bwa; dies 9", 137, "20\n"},
	{"killed, and an exit of its own", "11>20 bwa; dies 9", 1, "20\n"},
	{"killed long ago", "11>20 bwa; dies 9; 11>21 sort; ends", 1, "11\n"},
	{"a pipe that was left", "11>20 bwa; dies 13", 141, "20\n"},
	{"a pipe that was left, and its reader", "11>20 bwa; dies 13; 11>21 sort; ends 1", 1, "21\n"},
	{"killed again and again", "11>20 bwa; dies 11; 11>21 bwa; dies 11", 1, "11\n"},
	{"killed beside another that failed", "11>20 bwa; 11>21 sort; 20 dies 9; 21 ends 1", 5, "20\n"},
	{"killed by a signal to all", "11>20 bwa; 11 gets 15 from 2; 20 gets 15 from 2; dies 15", 143, "20\n"},
	{"nothing but itself", "11>20 sort; ends", 1, "11\n"},
};

TEST_EACH(what_a_shell_passes_on, shells)
{
	tell(STEP("bash -c x") "%s; restart; 11 ends %u", shells[_i].story, shells[_i].code);
	ck_assert_msg(strcmp(rows(CAUSES), shells[_i].cause) == 0, "%s: %s", shells[_i].what, rows(CAUSES));
}

TEST(subshells_and_wrappers_are_seen_through)
{
	tell(STEP("bash -c x") "11>20; 20>21 timeout 5 bwa; 21>22 bwa mem; 22 gets 15 from 21; dies 15; 21 ends 124; "
			       "20 ends 124; 11 ends 124");
	ck_assert_rows("SELECT sentence FROM incidents",
		       "task bwa mem failed: bwa mem (pid 22) was killed by SIGTERM from timeout (pid 21, user "
		       "root) after 3.00 ms\n");
}

/* Regardless of which of the two ends first. */
TEST(a_wrapper_that_dies_with_its_command)
{
	WITHOUT_RESTARTS(); /* assessed at commit */
	tell(STEP("bash -c x") "11>20 timeout -s KILL 5 bwa; 20>21 bwa mem; 20 gets 9 from 20; 21 gets 9 from 20; "
			       "20 dies 9; 11 ends 137; 21 dies 9");
	ck_assert_rows("SELECT i.sentence, p.pid FROM incidents i JOIN processes p ON p.id = i.process_id",
		       "task bwa mem failed: bwa mem (pid 21) was killed by SIGKILL from timeout (pid 20, user "
		       "root) after 8.00 ms 21\n");
}

/* The ends of a script 10, its timeout 11, the shell 12 and the command 14, in any order. */
/* clang-format off */
static const char *const ends_of_timeout[] = {
	"11 dies 9; 12 dies 9; 14 dies 9; 10 ends 137",
	"11 dies 9; 12 dies 9; 10 ends 137; 14 dies 9",
	"11 dies 9; 14 dies 9; 12 dies 9; 10 ends 137",
	"11 dies 9; 14 dies 9; 10 ends 137; 12 dies 9",
	"11 dies 9; 10 ends 137; 12 dies 9; 14 dies 9",
	"11 dies 9; 10 ends 137; 14 dies 9; 12 dies 9",
	"12 dies 9; 11 dies 9; 14 dies 9; 10 ends 137",
	"12 dies 9; 11 dies 9; 10 ends 137; 14 dies 9",
	"12 dies 9; 14 dies 9; 11 dies 9; 10 ends 137",
	"14 dies 9; 11 dies 9; 12 dies 9; 10 ends 137",
	"14 dies 9; 11 dies 9; 10 ends 137; 12 dies 9",
	"14 dies 9; 12 dies 9; 11 dies 9; 10 ends 137",
};
/* clang-format on */

TEST_EACH(a_time_limit_is_reported_once, ends_of_timeout)
{
	WITHOUT_RESTARTS(); /* an ended process is forgotten */
	tell("2>10 bash x.sh; 10>11 timeout -s KILL 5 bash -c y; 11>12 bash -c y; 12>13 sort; ends; 12>14 bwa mem; "
	     "11 gets 9 from 11; 12 gets 9 from 11; 14 gets 9 from 11; %s",
	     ends_of_timeout[_i]);
	ck_assert_msg(strcmp(rows(CAUSES), "14\n") == 0, "%s: %s", ends_of_timeout[_i], rows(CAUSES));
}

TEST(what_is_killed_before_its_command)
{
	WITHOUT_RESTARTS(); /* an ended process is forgotten */
	tell(STEP("bash -c x") "11>20 timeout 5 bash -c y; 20>21 bash -c y; 21>22 bwa mem; 21 gets 15 from 20; "
			       "22 gets 15 from 20; 21 dies 15; 20 ends 124; 11 ends 124; 22 dies 15");
	ck_assert_rows(CAUSES, "22\n");
}

/* In a pipe the last process counts, whichever ended last. */
TEST(the_last_of_a_pipe_is_the_cause)
{
	tell(STEP("bash -c x") "11>20 bwa mem; 11>21 samtools sort; ends 1; 20 ends 1; 11 ends 1");
	ck_assert_rows(CAUSES, "21\n");
}

/* The children that the previous program waited for mean nothing to the next one. */
TEST(an_exec_forgets)
{
	tell(STEP("bash launcher.sh") "11>20 bwa index; ends 1; 11 python3 main.py; ends 1");
	ck_assert_rows(CAUSES, "11\n");
}

static const struct {
	const char *what, *story, *cause;
} programs[] = {
	{"fails at once", "ends 3; later 20; 11 ends 1", "11\n"},
	{"fails as a part of it has", "ends; 11>21; ends 3; later 20; 11 ends 1", "21\n"},
	{"fails later, by itself", "ends 3; later 20000; 11 ends 1", "11\n"},
	{"goes on first", "ends 3; 11>21 sort; ends; later 20; 11 ends 1", "11\n"},
	{"passes it on", "ends 3; 11>21 sort; ends; later 20000; 11 ends 3", "20\n"},
	{"dies of what killed a child", "dies 6; 11>21 sort; ends 1; later 20000; 11 dies 6", "20\n"},
	{"dies as it ended another", "dies 9; 11>21 sort; 21 gets 9 from 11; dies 9; later 20000; 11 dies 9", "20\n"},
	{"dies of something else", "dies 9; 11 dies 6", "11\n"},
	{"a command crashed", "dies 11; 11>21 sort; ends; later 20; 11 ends 1", "11\n"},
	{"its worker crashed", "ends; 11>21; dies 11; 11>22 sort; ends; later 20000; 11 ends 1", "21\n"},
};

TEST_EACH(what_other_programs_pass_on, programs)
{
	tell("later 100000; " STEP("python3 main.py") "11>20 bwa mem; %s", programs[_i].story);
	ck_assert_msg(strcmp(rows(CAUSES), programs[_i].cause) == 0, "%s: %s", programs[_i].what, rows(CAUSES));
}

static const struct {
	const char *what, *story;
	unsigned code;
	const char *cause;
} wrappers[] = {
	{"the code of one of two", "11>20 bwa mem; 11>21 bwa mem; 20 ends 3; 21 ends 4", 3, "20\n"},
	{"a code of its own", "11>20 bwa mem; ends 3; 11>21 sort; ends", 1, "20\n"},
	{"a code of its own, after an answer", "11>20 grep x; ends 1", 3, "20\n"},
};

TEST_EACH(what_a_wrapper_passes_on, wrappers)
{
	tell(STEP("mpirun -n 2 bwa mem") "%s; restart; 11 ends %u", wrappers[_i].story, wrappers[_i].code);
	ck_assert_msg(strcmp(rows(CAUSES), wrappers[_i].cause) == 0, "%s: %s", wrappers[_i].what, rows(CAUSES));
}

static const struct {
	const char *what, *story, *cause;
} engines[] = {
	{"a task, rather than a program of its own", "10>11 bwa index; ends 3; 10>12 sort; ends; 10>13 cat x; ends 4",
	 "11\n"},
	{"a program of its own", "10>11; ends 3; 10>12 sort; ends", "11\n"},
	{"an answer", "10>11 grep x; ends 1", "11\n"},
};

TEST_EACH(what_an_engine_passes_on, engines)
{
	tell("2>10 make -kj2; %s; restart; 10 ends 2", engines[_i].story);
	ck_assert_msg(strcmp(rows(CAUSES), engines[_i].cause) == 0, "%s: %s", engines[_i].what, rows(CAUSES));
}

/* Fatal is the first failed task after which no other began; if others always did, the first failure. */
TEST(an_engine_fails_of_a_task)
{
	tell("2>10 make -j2; 10>11 bwa index; ends 3; " /* ignored by the makefile */
	     "10>12 bwa mem; 10>13 sort; 12 ends 4; 13 ends 5; 10 ends 2");
	ck_assert_rows("SELECT p.pid, i.fatal FROM incidents i JOIN processes p ON p.id = i.process_id "
		       "ORDER BY p.pid",
		       "11 0\n12 1\n13 1\n");
	ck_assert_rows("SELECT name, status FROM standing_tasks WHERE kind = 'engine' "
		       "ORDER BY begin_boot_ns",
		       "bwa index failed\nbwa mem failed\nsort failed\n");
}

/* Workers terminated by their pool do not count as failures, however the pool ends. */
TEST(what_its_parent_ended_has_not_failed)
{
	tell("2>10 python3 main.py; 10>11; 11 gets 15 from 10; dies 15; 10 ends 1");
	ck_assert_rows("SELECT pid, failed FROM processes WHERE pid >= 10 ORDER BY pid", "10 1\n11 0\n");
	ck_assert_rows("SELECT failed_count FROM runs WHERE kind = 'command'", "1\n");
	ck_assert_rows(CAUSES, "10\n");
}

/* The last command that failed is one whose output make reads: $(shell ...). */
TEST(make_does_not_mind_a_command_that_it_reads)
{
	tell("2>10 make -j2; 10>11 >7 git describe; 10>12 bwa mem; ends 3; 10>13 sort; ends; 11 ends 1; 10 ends 2");
	ck_assert_rows(CAUSES, "12\n");
}

/* Bash and Python handle ^C, then die by sending the signal to themselves. */
TEST(an_interrupted_task_is_reported_as_such)
{
	tell("2>10 python3 main.py; 10 gets 2; 10 gets 2 from 10; 10 dies 2");
	ck_assert_rows("SELECT kind, sentence FROM incidents",
		       "interrupted run main.py was interrupted: main.py (pid 10) was killed by SIGINT from "
		       "the terminal (^C) after 4.00 ms\n");
	ck_assert_rows("SELECT failed FROM processes WHERE pid = 10", "0\n");
}

TEST(a_crash_hidden_by_a_pipe_is_reported)
{
	tell("2>10 bash -c x; 10>11 >7 bwa mem; 10>12 <7 gzip; 11 dies %u; 12 ends; 10 ends", 128 + 11);
	ck_assert_rows("SELECT kind, sentence, cause, fatal FROM incidents",
		       "crash bwa mem (pid 11) was killed by SIGSEGV and dumped core after 4.00 ms invalid "
		       "memory access 0\n");
}

/* Few endings are remembered, however many children fail in however many ways. */
TEST(few_endings_are_remembered)
{
	tell(STEP("bash -c x"));
	for (unsigned i = 0; i < 300; i++)
		tell("11>%u bwa mem; ends %u", 20 + i, 3 + i % 200);
	tell("restart; 11 ends 102"); /* the most recent of all */
	ck_assert_rows(CAUSES, "319\n");
}

/* Of identical endings only the latest is kept, so that they do not displace a different one. */
TEST(endings_of_each_kind_are_remembered)
{
	tell(STEP("bash -c x") "11>20 bwa mem; ends 5; 11>21 bwa mem; ends 7");
	for (unsigned i = 0; i < 100; i++)
		tell("11>%u bwa mem; ends 3", 22 + i);
	tell("11 ends 7");
	ck_assert_rows(CAUSES, "21\n");
}

int main(void)
{
	return streams_run("root_cause");
}
