/* Senders of fatal signals. */
#include "tests/streams.h"

enum { KERNEL_SENT = 128 }; /* SI_KERNEL */

#define INCIDENT "SELECT kind, sentence, cause, sender_program, sender_user_id IS NOT NULL FROM incidents"

static const struct {
	unsigned sender, number;
	int code;
	const char *incident, *ended; /* NULL: killed */
} senders[] = {
	{0, 2, KERNEL_SENT, "SIGINT from the terminal (^C) after 5.00 ms it was interrupted at its terminal - 0\n",
	 "interrupted task bwa mem was interrupted"},
	{0, 1, KERNEL_SENT, "SIGHUP from the terminal after 5.00 ms its terminal was closed - 0\n",
	 "interrupted task bwa mem was interrupted"},
	{0, 24, KERNEL_SENT,
	 "SIGXCPU from the kernel after 5.00 ms it reached its CPU time limit "
	 "(RLIMIT_CPU) - 0\n"},
	{0, 9, KERNEL_SENT, "SIGKILL from the kernel after 5.00 ms - - 0\n"},
	{12, 15, 0, "SIGTERM from itself after 5.00 ms it sent the signal to itself bwa mem 1\n"},
	{11, 15, 0,
	 "SIGTERM from bash -c (pid 11, user root) after 5.00 ms its parent bash -c ended it "
	 "bash -c 1\n"},
	{10, 9, 0,
	 "SIGKILL from snakemake (pid 10, user root) after 5.00 ms its ancestor "
	 "snakemake ended it snakemake 1\n"},
	{13, 9, 0,
	 "SIGKILL from nano (pid 13, user root) after 5.00 ms nano, which is not part of its "
	 "run, ended it nano 1\n"},
	{2, 15, 0,
	 "SIGTERM from sshd (pid 2, user root) after 5.00 ms sshd, which starts services and "
	 "sessions, ended it sshd 1\n"},
	{77, 9, -6, "SIGKILL from a process (pid 77, user root) after 5.00 ms - - 1\n"},
};

TEST_EACH(sender_of_a_fatal_signal, senders)
{
	char expected[512];

	begin_step();
	send_signal(12, senders[_i].sender, senders[_i].number, senders[_i].code);
	end_step(senders[_i].number);
	snprintf(expected, sizeof(expected), "%s: bwa mem (pid 12) was killed by %s",
		 senders[_i].ended ? senders[_i].ended : "signal task bwa mem failed", senders[_i].incident);
	ck_assert_rows(INCIDENT, expected);
}

static const struct {
	const char *program, *name;
} same_run[] = {{"sort x", "sort"}, {"kill 12", "kill"}};

TEST_EACH(a_sender_of_the_same_run, same_run)
{
	char expected[64];

	begin_step();
	tell("10>14 %s; 12 gets 9 from 14", same_run[_i].program);
	end_step(9);
	snprintf(expected, sizeof(expected), "%s of the same run ended it\n", same_run[_i].name);
	ck_assert_rows("SELECT cause FROM incidents", expected);
}

static void begin_job(void)
{
	tell("cgroup 300 /slurm_host/uid_0/job_7/step_batch; 1>19 slurmd; 19>20 slurmstepd; "
	     "20>21 cgroup=300 bash /var/spool/slurmd/job7/slurm_script");
}

static void end_job(void)
{
	tell("21 gets 18 from 20; " /* SIGCONT comes first and is not fatal */
	     "21 gets 15 from 20; 21 dies 15");
}

#define JOB_ENDED "slurmstepd, the batch system's daemon, ended the job: "
#define LIMIT_OR_CANCELLED JOB_ENDED "its time limit or another limit was reached, or it was cancelled"

TEST(a_batch_daemon_is_distinguished_from_a_user)
{
	begin_job();
	end_job();
	ck_assert_rows("SELECT kind, cause, sender_program FROM incidents",
		       "signal " LIMIT_OR_CANCELLED " slurmstepd\n");
}

/* Anyone's program may be called slurmstepd and end the user's own job. */
TEST(a_batch_daemon_is_roots)
{
	begin_job();
	tell("20>22 cgroup=300 uid=1600 slurmstepd; 22>23 cgroup=300 uid=1600 align x; 23 gets 15 from 22; 23 dies 15; "
	     "22 ends 1; 21 ends 143; wait 20000");
	ck_assert_rows("SELECT count(*) FROM incidents WHERE cause LIKE '%batch system%'", "0\n");
}

#define CANCELLED JOB_ENDED "scancel (pid 30, user root) cancelled it"

static const struct {
	const char *command, *cause;
	unsigned later_ms;
} cancels[] = {
	{"scancel 7", CANCELLED, 0},
	{"scancel --quiet 6 7.0 8", CANCELLED, 0},
	{"scancel --user=me 7_1", CANCELLED, 0},
	{"scancel 77", LIMIT_OR_CANCELLED, 0},
	{"scancel 6 8", LIMIT_OR_CANCELLED, 0},
	{"scancel -n 7", LIMIT_OR_CANCELLED, 0}, /* a job of that name, not number */
	{"scancel --signal=USR1 7", LIMIT_OR_CANCELLED, 0},
	{"scancel -s USR1 7", LIMIT_OR_CANCELLED, 0},
	{"jobkill 7", JOB_ENDED "jobkill (pid 30, user root) cancelled it", 0}, /* by a rule of the site */
	{"qdel 7", JOB_ENDED "qdel (pid 30, user root) cancelled it", 0},       /* Slurm has one */
	{"scancel 7", LIMIT_OR_CANCELLED, 61000},
	{"uid=1000 scancel 7", LIMIT_OR_CANCELLED, 0},           /* not permitted: the job is root's */
	{"cgroup=600 mntns=6 scancel 7", LIMIT_OR_CANCELLED, 0}, /* root of a container only */
};

/* A cancellation is a command that was observed, names the job, and ran shortly before. */
TEST_EACH(a_cancelled_job_is_distinguished_from_a_time_limit, cancels)
{
	WITHOUT_RESTARTS(); /* the command would be forgotten */
	char expected[256];

	begin_job();
	tell("cgroup 600 /docker/" HEX64 "; 2>30 %s; ends; later %u", cancels[_i].command, cancels[_i].later_ms);
	end_job();
	snprintf(expected, sizeof(expected), "%s\n", cancels[_i].cause);
	ck_assert_rows("SELECT cause FROM incidents", expected);
}

/* A process that handles a signal and then ends shows it by its exit code, or by ending soon. */
TEST(a_handled_signal_is_reported_too)
{
	begin_step();
	tell("12 gets 10 from 10; 12 gets 15 from 13; 12 gets 12 from 10");
	end_step((128 + 15) << 8);
	ck_assert_rows("SELECT sentence FROM incidents",
		       "task bwa mem failed: bwa mem (pid 12) exited with code 143 after 7.00 ms, 2.00 "
		       "ms after SIGTERM from nano (pid 13, user root)\n");
}

/* Records of two processors do not arrive in the order of their timestamps. */
TEST(a_signal_that_is_younger_than_the_exit_came_with_it)
{
	begin_step();
	tell("12 gets 15 from 13; later -5; 12 ends 143; 11 ends 143");
	ck_assert_rows("SELECT substr(sentence, instr(sentence, ', ')) FROM incidents",
		       ", 0 s after SIGTERM from nano (pid 13, user root)\n");
}

/* The oldest is dropped. */
TEST_TIMES(four_signals_are_kept, 2)
{
	begin_step();
	for (unsigned number = 1; number <= 5; number++)
		tell("12 gets %u from 13", number);
	end_step(_i ? 2 : 1);
	ck_assert_rows("SELECT sender_program FROM incidents", _i ? "nano\n" : "-\n");
}

/* However many arrive, few are kept: the latest of each number. */
TEST(many_signals_before_the_last)
{
	begin_step();
	for (unsigned i = 0; i < 100; i++)
		tell("12 gets %u from 13", 1 + i % 7);
	tell("12 gets 15 from 13; 12 gets 15 from 10");
	end_step(15);
	ck_assert_rows("SELECT sender_program FROM incidents", "snakemake\n");
}

TEST(an_earlier_signal_is_not_the_cause)
{
	begin_step();
	tell("12 gets 10 from 13");
	end_step(11);
	ck_assert_rows(INCIDENT, "crash task bwa mem failed: bwa mem (pid 12) was killed by SIGSEGV after 5.00 ms "
				 "invalid memory access - 0\n");
}

TEST(a_restart_remembers_who_sent_it)
{
	begin_step();
	tell("12 gets 9 from 13; restart");
	end_step(9);
	ck_assert_rows("SELECT sender_program FROM incidents", "nano\n");
}

int main(void)
{
	return streams_run("sender");
}
