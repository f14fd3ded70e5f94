/* Incidents: what went wrong and why, in factual sentences. */
#include "tests/streams.h"

TEST(an_incident_names_the_first_cause)
{
	tell("2>10 python3 /usr/bin/snakemake -j2; 10>11 bash -c x; 11>12 bwa mem x; ends 3; 11 ends 3");
	ck_assert_rows("SELECT kind, sentence FROM incidents",
		       "exit-code task bwa mem failed: bwa mem (pid 12) exited with code 3 after 2.00 ms\n");
}

static void kill_for_memory(unsigned pid, struct counters counters)
{
	struct record_exit *exit = &begin_record(RECORD_EXIT, key(pid))->exit;

	exit->counters = counters;
	exit->wait_status = 9;
	exit->flags = RECORD_EXIT_OOM;
	apply();
}

static const char oom_incidents[] = "SELECT i.kind, i.sentence, p.pid FROM incidents i JOIN processes p "
				    "ON p.id = i.process_id";
#define OOM_KILLED "bwa mem (pid 12) was killed by the kernel's OOM killer after 4.00 ms 12\n"

TEST(an_incident_names_the_oom_killer)
{
	tell("2>10 bwa mem x");
	kill_for_memory(10, cpu(5 * MS));
	ck_assert_rows("SELECT signal, oom_killed FROM processes WHERE pid = 10", "9 1\n");
	ck_assert_rows(oom_incidents, "oom-kill run bwa mem was killed: bwa mem (pid 10) was killed by "
				      "the kernel's OOM killer after 2.00 ms 10\n");
}

TEST(of_the_host_s_own_only_out_of_memory_is_reported)
{
	tell("1>10 cron -f; dies 11; 1>12 cron -f");
	kill_for_memory(12, cpu(5 * MS));
	ck_assert_rows(oom_incidents,
		       "oom-kill cron (pid 12) was killed by the kernel's OOM killer after 2.00 ms 12\n");
}

/* Reported immediately, and only once: when the task fails too, the same incident is updated. */
TEST(an_oom_kill_and_the_task_that_failed_by_it_are_one_incident)
{
	begin_step();
	kill_for_memory(12, cpu(5 * MS));
	ck_assert_rows(oom_incidents, "oom-kill " OOM_KILLED);
	tell("restart; 11 ends 137");
	ck_assert_rows(oom_incidents, "oom-kill task bwa mem failed: " OOM_KILLED);
}

TEST(an_oom_kill_that_the_task_survives_is_reported)
{
	begin_step();
	kill_for_memory(12, cpu(5 * MS));
	tell("11 ends");
	ck_assert_rows(oom_incidents, "oom-kill " OOM_KILLED);
}

static const struct {
	uint64_t limit, peak;
	const char *cause;
} out_of_memory[] = {
	{512 * MIB, 512 * MIB, "its cgroup /job reached its memory limit of 512.0 MiB (at most 512.0 MiB used)\n"},
	{512 * MIB, 512 * MIB - 65536,
	 "its cgroup /job reached its memory limit of 512.0 MiB (at most 511.9 MiB "
	 "used)\n"},
	{512 * MIB, 100 * MIB,
	 "a parent cgroup or the host ran out of memory; its own cgroup /job used at most 100.0 MiB of its "
	 "limit of 512.0 MiB\n"},
	{0, 100 * MIB, "the host ran out of memory: its cgroup /job has no limit and used at most 100.0 MiB\n"},
	{0, 0, "memory ran out; the memory limit of its cgroup is unknown\n"},
};

TEST_EACH(an_oom_kill_names_its_cgroup_and_limit, out_of_memory)
{
	tell("cgroup 300 /job; 2>10 cgroup=300 bwa mem x");
	kill_for_memory(10, out_of_memory[_i].peak ? in_cgroup(out_of_memory[_i].limit, out_of_memory[_i].peak, 0)
						   : cpu(5 * MS));
	ck_assert_rows("SELECT cause FROM incidents WHERE kind = 'oom-kill'", out_of_memory[_i].cause);
}

#define CPU_LIMIT "it reached its CPU time limit (RLIMIT_CPU)"
#define FILE_LIMIT "it reached its file size limit (RLIMIT_FSIZE)"

static const struct {
	const char *story;
	uint32_t wait_status, flags;
	const char *cause;
} reasons[] = {
	{"timeout 5 bwa mem; 10 gets 15 from 10", 15, 0,
	 "its time limit was reached, and it terminated its command and itself"},
	{"timeout 5 bwa mem", 124 << 8, 0, "its time limit was reached"},
	{"bwa mem x; 10 gets 3", 3, 0, "it was quit at its terminal"},
	{"bwa mem x; 10 gets 14", 14, 0, "its own timer expired"},
	{"bwa mem x; 10 gets 25", 153 << 8, 0, FILE_LIMIT},
	{"bwa mem x; 10 gets 24", 152 << 8, 0, CPU_LIMIT}, /* handled */
	{"bwa mem x; 10 gets 9", 9, RECORD_EXIT_CPU_LIMIT, CPU_LIMIT},
	{"bwa mem x", 24, 0, CPU_LIMIT},
	{"bwa mem x", 25, 0, FILE_LIMIT},
	{"bwa mem x", 7, 0, "invalid memory access"},
	{"bwa mem x", 4, 0, "invalid instruction for this processor"},
	{"bwa mem x", 8, 0, "arithmetic error, such as a division by zero"},
	{"bwa mem x", 6, 0, "it called abort(3), as programs do when they detect an internal error"},
	{"bwa mem x", 13, 0, "it wrote to a pipe or socket whose reader had closed it"},
	{"bwa mem x", 15, 0, "-"},
	{"python3 main.py; 10>11 bwa mem; ends 3", 15, 0, "-"},
	{"bash x.sh", 127 << 8, 0, "shells exit with 127 if a command does not exist"},
	{"bash x.sh", 126 << 8, 0, "shells exit with 126 if a command cannot be executed"},
	{"bash x.sh", 139 << 8, 0, "shells exit with 139 if SIGSEGV killed a command"},
	{"bwa mem x", 139 << 8, 0, "-"},
	{"python3 main.py; 10>11 bwa mem; ends 3", 1 << 8, RECORD_EXIT_MEMORY_LIMIT,
	 "possibly because bwa mem (pid 11) exited with code 3 after 2.00 ms"},
	{"python3 main.py; 10>11 bwa mem; ends 3; 10>12 sort x; ends", 1 << 8, RECORD_EXIT_MEMORY_LIMIT,
	 "possibly because its address space was limited (RLIMIT_AS, ulimit -v)"},
	{"python3 main.py", 1 << 8, RECORD_EXIT_FILE_LIMIT,
	 "possibly because the size of its files was limited (RLIMIT_FSIZE, ulimit -f)"},
	{"python3 main.py; 10>11 bwa mem; ends 3; 10>12 sort x; ends", 1 << 8, 0,
	 "its last failed command: bwa mem (pid 11) exited with code 3 after 2.00 ms"},
	{"python3 main.py", 1 << 8, 0, "-"},
};

/* From the most specific one to the most general. */
TEST_EACH(an_incident_says_why, reasons)
{
	struct record_exit *exit;
	char expected[256];

	tell("2>10 %s", reasons[_i].story);
	exit = &begin_record(RECORD_EXIT, key(10))->exit;
	exit->wait_status = reasons[_i].wait_status;
	exit->flags = reasons[_i].flags;
	apply();
	snprintf(expected, sizeof(expected), "%s\n", reasons[_i].cause);
	ck_assert_rows("SELECT i.cause FROM incidents i JOIN processes p ON p.id = i.process_id WHERE p.pid = 10",
		       expected);
}

/* Only the driver's second subtree shows that the first one, already over, was a task. */
TEST(a_task_that_is_recognised_late_is_reported_too)
{
	tell("2>10 bash driver.sh; 10>11 timeout 1 bwa mem x; 11>12 bwa mem x; "
	     "12 gets 15 from 11; dies 15; 11 ends 124; 10>13 sort y; ends; 10 ends");
	ck_assert_rows("SELECT t.name, t.status, i.sender_program FROM incidents i JOIN tasks t ON "
		       "t.id = i.task_id",
		       "bwa mem failed timeout\n");
}

/* The writer of a pipe is killed by its reader's failure. */
TEST(a_pipe_that_broke_explains_nothing)
{
	begin_step();
	tell("11>14 samtools sort; ends 1; 12 dies 13; 11 ends 1");
	ck_assert_rows("SELECT p.pid FROM incidents i JOIN processes p ON p.id = i.process_id", "14\n");
}

TEST(a_command_that_fails_its_task_is_reported_once)
{
	begin_step();
	tell("11>20; ends 127; 12 ends; 11 ends 127");
	ck_assert_rows("SELECT kind, sentence, cause FROM incidents",
		       "failed-command task bwa mem failed: bash -c (pid 20) could not execute a command (code "
		       "127) the command does not exist\n");
}

/* A later root changes the task's status: the incident agrees with the task's row. */
TEST(a_task_that_fails_because_of_a_later_root_is_reported)
{
	tell("cgroup 501 /slurm_host/uid_0/job_9/step_0; 1>10 slurmd; 10>20 slurmstepd; "
	     "20>30 cgroup=501 bwa mem x; dies 13; 20>31 cgroup=501 bwa mem y; ends 3");
	ck_assert_rows("SELECT t.exit_code, p.pid FROM incidents i JOIN tasks t ON t.id = i.task_id JOIN processes p "
		       "ON p.id = i.process_id WHERE t.kind = 'batch'",
		       "3 31\n");
}

TEST(of_many_crashes_the_first_are_reported)
{
	begin_step();
	for (unsigned pid = 20; pid < 40; pid++)
		tell("11>%u sort x; dies 11", pid);
	ck_assert_rows("SELECT count(*), max(pid) FROM incidents i JOIN processes p ON p.id = i.process_id", "16 35\n");
}

TEST(a_command_that_could_not_be_executed)
{
	begin_step();
	tell("11>25 sort x; ends 127"); /* this one was executed */
	for (unsigned pid = 20; pid < 24; pid++) {
		tell("11>%u; ends %u", pid, pid == 23 ? 126u : 127u);
	}
	tell("11>24; ends 1"); /* a failed subshell, not a command */
	ck_assert_rows("SELECT kind, sentence, cause FROM incidents ORDER BY boot_ns",
		       "failed-command bash -c (pid 20) could not execute a command (code 127) the command "
		       "does not exist\n"
		       "failed-command bash -c (pid 23) could not execute a command (code 126) the command "
		       "exists but cannot be executed\n");
}

int main(void)
{
	return streams_run("incident");
}
