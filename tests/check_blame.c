/* Why a process failed: the chain is followed down, and what was tolerated is not blamed. */
#include "tests/streams.h"

#define CODE(number) ((number) << 8)
#define BLAMED "SELECT p.pid FROM incidents i JOIN processes p ON p.id = i.process_id WHERE i.fatal = 1"

/* A step (snakemake 10, its shell 11) in which things happen. */
static void begin_shell(const char *shell)
{
	spawn(2, 10, "python3 /usr/bin/snakemake -j2");
	spawn(10, 11, shell);
}

static void run_failing(unsigned parent, unsigned pid, const char *command, unsigned status)
{
	spawn(parent, pid, command);
	exit_process(pid, status);
}

/* What happens in order beneath a shell, how it ends, and who is to blame. */
static const struct {
	const char *what;
	struct {
		const char *command;
		unsigned status;
	} children[4];
	unsigned status;
	const char *blamed;
} shells[] = {
	{"a code that is passed on", {{"bwa", CODE(3)}}, CODE(3), "20\n"},
	{"one that was tolerated", {{"bwa", CODE(3)}, {"sort", CODE(4)}}, CODE(4), "21\n"},
	{"grep, tolerated", {{"grep x", CODE(1)}, {"bwa", CODE(1)}}, CODE(1), "21\n"},
	{"grep afterwards", {{"bwa", CODE(1)}, {"grep x", CODE(1)}}, CODE(1), "20\n"},
	{"grep alone", {{"grep x", CODE(1)}}, CODE(1), "20\n"},
	{"grep, and exit 2", {{"grep x", CODE(1)}}, CODE(2), "11\n"},
	{"grep that cannot read", {{"grep x", CODE(2)}}, CODE(2), "20\n"},
	{"clean-up afterwards", {{"bwa", CODE(1)}, {"rm x", 0}}, CODE(1), "20\n"},
	{"work afterwards", {{"bwa", CODE(1)}, {"sort", 0}}, CODE(1), "11\n"},
	{"work afterwards, and a code that says more", {{"bwa", CODE(7)}, {"sort", 0}}, CODE(7), "20\n"},
	{"killed", {{"bwa", 9}}, CODE(137), "20\n"},
	{"killed, and an exit of its own", {{"bwa", 9}}, CODE(1), "20\n"},
	{"killed long ago", {{"bwa", 9}, {"sort", 0}}, CODE(1), "11\n"},
	{"a pipe that was left", {{"bwa", 13}}, CODE(141), "20\n"},
	{"a pipe that was left, and its reader", {{"bwa", 13}, {"sort", CODE(1)}}, CODE(1), "21\n"},
	{"nothing but itself", {{"sort", 0}}, CODE(1), "11\n"},
};

TEST_EACH(what_a_shell_passes_on, shells)
{
	begin_shell("bash -c x");
	for (unsigned i = 0; i < 4 && shells[_i].children[i].command; i++)
		run_failing(11, 20 + i, shells[_i].children[i].command, shells[_i].children[i].status);
	restart();
	exit_process(11, shells[_i].status);
	ck_assert_msg(strcmp(rows(BLAMED), shells[_i].blamed) == 0, "%s: %s", shells[_i].what, rows(BLAMED));
}

TEST(subshells_and_wrappers_are_seen_through)
{
	begin_shell("bash -c x");
	fork_process(11, 20);
	spawn(20, 21, "timeout 5 bwa");
	spawn(21, 22, "bwa mem");
	send_signal(22, 21, 15, 0);
	exit_process(22, 15);
	exit_process(21, CODE(124));
	exit_process(20, CODE(124));
	exit_process(11, CODE(124));
	ck_assert_str_eq(rows("SELECT sentence FROM incidents"),
			 "task bwa mem failed: bwa mem (pid 22) was killed by SIGTERM from timeout (pid 21, user "
			 "root) after 3.00 ms\n");
}

/* Whichever of the two is gone first. */
TEST(a_wrapper_that_dies_with_its_command)
{
	begin_shell("bash -c x");
	spawn(11, 20, "timeout -s KILL 5 bwa");
	spawn(20, 21, "bwa mem");
	send_signal(20, 20, 9, 0);
	send_signal(21, 20, 9, 0);
	exit_process(20, 9);
	exit_process(11, CODE(137));
	exit_process(21, 9);
	ck_assert_str_eq(rows("SELECT i.sentence, p.pid FROM incidents i JOIN processes p ON p.id = i.process_id"),
			 "task bwa mem failed: bwa mem (pid 21) was killed by SIGKILL from timeout (pid 20, user "
			 "root) after 8.00 ms 21\n");
}

/* In a pipe the last counts, whichever ended last. */
TEST(the_last_of_a_pipe_is_to_blame)
{
	begin_shell("bash -c x");
	spawn(11, 20, "bwa mem");
	spawn(11, 21, "samtools sort");
	exit_process(21, CODE(1));
	exit_process(20, CODE(1));
	exit_process(11, CODE(1));
	ck_assert_str_eq(rows(BLAMED), "21\n");
}

/* What the program before waited for means nothing to the one that takes its place. */
TEST(an_exec_forgets)
{
	begin_shell("bash launcher.sh");
	run_failing(11, 20, "bwa index", CODE(1));
	exec_process(11, "python3 main.py");
	exit_process(11, CODE(1));
	ck_assert_str_eq(rows(BLAMED), "11\n");
}

static const struct {
	const char *what;
	unsigned child, wait_ms, status;
	bool goes_on;
	const char *blamed;
} programs[] = {
	{"fails at once", CODE(3), 20, CODE(1), false, "20\n"},
	{"fails later, by itself", CODE(3), 20000, CODE(1), false, "11\n"},
	{"goes on first", CODE(3), 20, CODE(1), true, "11\n"},
	{"passes it on", CODE(3), 20000, CODE(3), true, "20\n"},
	{"its worker crashed", 11, 20000, CODE(1), true, "20\n"},
};

TEST_EACH(what_other_programs_pass_on, programs)
{
	begin_shell("python3 main.py");
	run_failing(11, 20, "bwa mem", programs[_i].child);
	if (programs[_i].goes_on)
		run_failing(11, 21, "sort", 0);
	now += programs[_i].wait_ms * MS;
	exit_process(11, programs[_i].status);
	ck_assert_msg(strcmp(rows(BLAMED), programs[_i].blamed) == 0, "%s: %s", programs[_i].what, rows(BLAMED));
}

/* The first task after which nothing was begun any more; where all went on, the first. */
TEST(an_engine_fails_of_a_task)
{
	spawn(2, 10, "make -j2");
	run_failing(10, 11, "bwa index", CODE(3)); /* the makefile ignores it */
	spawn(10, 12, "bwa mem");
	spawn(10, 13, "sort");
	exit_process(12, CODE(4));
	exit_process(13, CODE(5));
	exit_process(10, CODE(2));
	ck_assert_str_eq(rows("SELECT p.pid, i.fatal FROM incidents i JOIN processes p ON p.id = i.process_id "
			      "ORDER BY p.pid"), "11 0\n12 1\n13 1\n");
	ck_assert_str_eq(rows("SELECT name, status FROM standing_tasks WHERE kind = 'engine' ORDER BY "
			      "begin_boot_ns"),
			 "bwa index failed\nbwa mem failed\nsort failed\n");
}

/* A pool ends its workers; that counts as nothing, whatever the pool's end is. */
TEST(what_its_parent_ended_has_not_failed)
{
	spawn(2, 10, "python3 main.py");
	fork_process(10, 11);
	send_signal(11, 10, 15, 0);
	exit_process(11, 15);
	exit_process(10, CODE(1));
	ck_assert_str_eq(rows("SELECT pid, failed FROM processes WHERE pid >= 10 ORDER BY pid"), "10 1\n11 0\n");
	ck_assert_str_eq(rows("SELECT failed_count FROM runs WHERE kind = 'command'"), "1\n");
	ck_assert_str_eq(rows(BLAMED), "10\n");
}

/* Bash and Python get the ^C, and send it to themselves to die of it. */
TEST(who_was_interrupted_says_so)
{
	spawn(2, 10, "python3 main.py");
	send_signal(10, 0, 2, 128);
	send_signal(10, 10, 2, 0);
	exit_process(10, 2);
	ck_assert_str_eq(rows("SELECT kind, sentence FROM incidents"),
			 "interrupted run main.py was interrupted: main.py (pid 10) was killed by SIGINT from "
			 "the terminal (^C) after 4.00 ms\n");
	ck_assert_str_eq(rows("SELECT failed FROM processes WHERE pid = 10"), "0\n");
}

TEST(a_crash_that_a_pipe_hid_is_told)
{
	spawn(2, 10, "bash -c x");
	spawn_in(10, 11, (struct where){.stdout_pipe = 7}, "bwa mem");
	spawn_in(10, 12, (struct where){.stdin_pipe = 7}, "gzip");
	exit_process(11, 128 + 11);
	exit_process(12, 0);
	exit_process(10, 0);
	ck_assert_str_eq(rows("SELECT kind, sentence, cause, fatal FROM incidents"),
			 "crash bwa mem (pid 11) was killed by SIGSEGV and dumped core after 4.00 ms invalid "
			 "memory access 0\n");
}

/* However many children fail in however many ways, few are remembered. */
TEST(few_endings_are_remembered)
{
	begin_shell("bash -c x");
	for (unsigned i = 0; i < 300; i++)
		run_failing(11, 20 + i, "bwa mem", CODE(3 + i % 200));
	restart();
	exit_process(11, CODE(102)); /* the latest of all */
	ck_assert_str_eq(rows(BLAMED), "319\n");
}

int main(void)
{
	return streams_run("blame");
}
