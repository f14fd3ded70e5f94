/* What went wrong, and why: sentences of facts. */
#include "tests/streams.h"

TEST(an_incident_names_the_first_cause)
{
	spawn(2, 10, "python3 /usr/bin/snakemake -j2");
	spawn(10, 11, "bash -c x");
	spawn(11, 12, "bwa mem x");
	exit_process(12, 3 << 8);
	exit_process(11, 3 << 8);
	ck_assert_str_eq(rows("SELECT kind, sentence FROM incidents"),
			 "exit-code task bwa mem failed: bwa mem (pid 12) exited with code 3 after 2.00 ms\n");
}

static void kill_for_memory(unsigned pid, struct counters counters)
{
	struct event_exit *exit = &begin_event(EVENT_EXIT)->exit;

	exit->boot_ns = now;
	exit->image = key(pid);
	exit->counters = counters;
	exit->wait_status = 9;
	exit->flags = RECORD_EXIT_OOM;
	apply();
}

static const char oom_incidents[] = "SELECT i.kind, i.sentence, p.pid FROM incidents i JOIN processes p "
				    "ON p.id = i.process_id";
#define OOM_KILLED "bwa mem (pid 12) was killed by the kernel's OOM killer after 4.00 ms 12\n"

TEST(an_incident_tells_of_the_oom_killer)
{
	spawn(2, 10, "bwa mem x");
	kill_for_memory(10, cpu(5 * MS));
	ck_assert_str_eq(rows("SELECT signal, oom_killed FROM processes WHERE pid = 10"), "9 1\n");
	ck_assert_str_eq(rows(oom_incidents), "oom-kill run bwa mem was killed: bwa mem (pid 10) was killed by "
					      "the kernel's OOM killer after 2.00 ms 10\n");
}

/* At once, and once: when the task has failed too, the same incident says so. */
TEST(an_oom_kill_and_the_task_that_failed_by_it_are_one_incident)
{
	begin_step();
	kill_for_memory(12, cpu(5 * MS));
	ck_assert_str_eq(rows(oom_incidents), "oom-kill " OOM_KILLED);
	restart();
	exit_process(11, 137 << 8);
	ck_assert_str_eq(rows(oom_incidents), "oom-kill task bwa mem failed: " OOM_KILLED);
}

TEST(an_oom_kill_that_the_task_outlives_is_told)
{
	begin_step();
	kill_for_memory(12, cpu(5 * MS));
	exit_process(11, 0);
	ck_assert_str_eq(rows(oom_incidents), "oom-kill " OOM_KILLED);
}

static const struct {
	uint64_t limit, peak;
	const char *cause;
} out_of_memory[] = {
	{512 * MIB, 512 * MIB, "its cgroup /job reached its memory limit of 512.0 MiB (at most 512.0 MiB used)\n"},
	{512 * MIB, 512 * MIB - 65536, "its cgroup /job reached its memory limit of 512.0 MiB (at most 511.9 MiB "
				       "used)\n"},
	{512 * MIB, 100 * MIB, "memory ran out above its cgroup /job, which used 100.0 MiB at most of the "
			       "512.0 MiB that it may\n"},
	{0, 100 * MIB, "the host ran out of memory: its cgroup /job has no limit and used 100.0 MiB at most\n"},
	{0, 0, "memory ran out; what its cgroup may use is not known\n"},
};

TEST_EACH(an_oom_kill_names_its_cgroup_and_limit, out_of_memory)
{
	cgroup(300, "/job");
	spawn_in(2, 10, (struct where){.cgroup_id = 300}, "bwa mem x");
	kill_for_memory(10, out_of_memory[_i].peak
				    ? in_cgroup(out_of_memory[_i].limit, out_of_memory[_i].peak, 0)
				    : cpu(5 * MS));
	ck_assert_str_eq(rows("SELECT cause FROM incidents WHERE kind = 'oom-kill'"), out_of_memory[_i].cause);
}

/* Only the second subtree of the driver shows that the first, which is over, was a task. */
TEST(a_task_that_shows_itself_late_is_told_too)
{
	spawn(2, 10, "bash driver.sh");
	spawn(10, 11, "timeout 1 bwa mem x");
	spawn(11, 12, "bwa mem x");
	send_signal(12, 11, 15, 0);
	exit_process(12, 15);
	exit_process(11, 124 << 8);
	spawn(10, 13, "sort y");
	exit_process(13, 0);
	exit_process(10, 0);
	ck_assert_str_eq(rows("SELECT t.name, t.status, i.sender_program FROM incidents i JOIN tasks t ON t.id = "
			      "i.task_id"),
			 "bwa mem failed timeout\n");
}

/* The writer of a pipe dies of its reader's failure. */
TEST(a_pipe_that_broke_explains_nothing)
{
	begin_step();
	spawn(11, 14, "samtools sort");
	exit_process(14, 1 << 8);
	exit_process(12, 13);
	exit_process(11, 1 << 8);
	ck_assert_str_eq(rows("SELECT p.pid FROM incidents i JOIN processes p ON p.id = i.process_id"), "14\n");
}

TEST(a_command_that_fails_its_task_is_told_once)
{
	begin_step();
	fork_process(11, 20);
	exit_process(20, 127 << 8);
	exit_process(12, 0);
	exit_process(11, 127 << 8);
	ck_assert_str_eq(rows("SELECT kind, sentence, cause FROM incidents"),
			 "failed-command task bwa mem failed: bash -c (pid 20) could not execute a command (code "
			 "127) there is no such command\n");
}

TEST(a_command_that_could_not_be_executed)
{
	begin_step();
	spawn(11, 25, "sort x");
	exit_process(25, 127 << 8); /* it was executed */
	for (unsigned pid = 20; pid < 24; pid++) {
		fork_process(11, pid);
		exit_process(pid, (pid == 23 ? 126u : 127u) << 8);
	}
	fork_process(11, 24);
	exit_process(24, 1 << 8); /* a subshell that failed: no command */
	ck_assert_str_eq(rows("SELECT kind, sentence, cause FROM incidents ORDER BY boot_ns"),
			 "failed-command bash -c (pid 20) could not execute a command (code 127) there is no "
			 "such command\n"
			 "failed-command bash -c (pid 23) could not execute a command (code 126) the command "
			 "is there but cannot be executed\n");
}

int main(void)
{
	return streams_run("incident");
}
