/* Where runs begin, what belongs to them and what they are called. */
#include "tests/streams.h"

START_TEST(a_command_beneath_an_origin_is_a_run)
{
	run_process(2, 10, "bwa mem ref reads");
	ck_assert_tasks("main: bwa mem [bwa mem] succeeded\n");
	ck_assert_str_eq(rows("SELECT kind, name, status, process_count, living_count, exit_code, cpu_ns "
			      "FROM runs WHERE kind <> 'system'"),
			 "command bwa mem succeeded 1 0 0 6000000\n");
}
END_TEST

START_TEST(tracer_run_marks_a_run_wherever_it_is)
{
	spawn(2, 10, "bash outer.sh");
	spawn(10, 11, "tracer run -- samtools sort x");
	spawn(11, 12, "samtools sort x");
	exit_process(12, 3 << 8);
	ck_assert_str_eq(rows("SELECT name, kind, status, exit_code FROM runs WHERE kind <> 'system' "
			      "ORDER BY begin_boot_ns"),
			 "outer.sh command running -\nsamtools sort command failed 3\n");
}
END_TEST

START_TEST(what_cron_starts_is_a_run_of_kind_cron)
{
	spawn(1, 10, "cron -f");
	run_process(10, 11, "backup.sh");
	ck_assert_str_eq(rows("SELECT kind, name, reason FROM runs WHERE kind <> 'system'"),
			 "cron backup.sh child of an origin\n");
}
END_TEST

START_TEST(jobs_of_an_interactive_shell_are_runs)
{
	fork_process(2, 10);
	exec_in(10, (struct where){.tty = 5}, "-bash");
	fork_process(10, 11);
	exec_in(11, (struct where){.tty = 5, .pgid = 11, .stdout_pipe = 77}, "gzip -dc a");
	fork_process(10, 12);
	exec_in(12, (struct where){.tty = 5, .pgid = 11, .stdin_pipe = 77}, "sort");
	fork_process(10, 13);
	exec_in(13, (struct where){.tty = 5, .pgid = 13}, "make all");
	ck_assert_str_eq(rows("SELECT kind, name, process_count FROM runs WHERE kind <> 'system' "
			      "ORDER BY begin_boot_ns"),
			 "job gzip 2\njob make work 1\n");
}
END_TEST

START_TEST(a_process_without_a_known_parent_has_a_run_of_its_own)
{
	fork_process(90, 10); /* 90 was never told of */
	exec_process(10, "stray");
	ck_assert_str_eq(rows("SELECT kind, name FROM runs WHERE kind <> 'system'"), "found stray\n");
}
END_TEST

START_TEST(a_slurm_job_is_a_run_and_its_steps_are_tasks)
{
	cgroup(500, "/slurm_host/uid_0/job_9/step_batch");
	cgroup(501, "/slurm_host/uid_0/job_9/step_0");
	spawn(1, 10, "slurmd");
	for (unsigned i = 0; i < 2; i++) {
		fork_process(10, 20 + i);
		exec_in(20 + i, (struct where){0}, "slurmstepd");
		fork_process(20 + i, 30 + i);
		exec_in(30 + i, (struct where){.cgroup_id = 500 + i}, i ? "samtools index x" : "bash job.sh");
	}
	fork_process(21, 32); /* srun -n 2 */
	exec_in(32, (struct where){.cgroup_id = 501}, "samtools index y");
	run_process(30, 40, "gzip x");
	run_process(30, 41, "bwa index x");
	ck_assert_str_eq(rows("SELECT kind, count(*) FROM runs WHERE kind <> 'system'"), "batch 1\n");
	ck_assert_str_eq(rows("SELECT t.kind, t.process_count FROM standing_tasks t JOIN runs r ON r.id = "
			      "t.run_id WHERE r.kind = 'batch' ORDER BY t.begin_boot_ns"),
			 "batch 3\nbatch 2\n");
}
END_TEST

START_TEST(a_daemon_stays_in_the_run_that_began_it)
{
	spawn(2, 10, "bash driver.sh");
	fork_process(10, 11);
	fork_process(11, 12);
	exit_process(11, 0); /* the first fork leaves, the second goes on */
	exit_process(10, 0);
	wait_ms(20000);
	commit();
	exec_process(12, "cached");
	ck_assert_str_eq(rows("SELECT kind, status, living_count FROM runs WHERE kind <> 'system'"),
			 "command succeeded 1\n");
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{.test = a_command_beneath_an_origin_is_a_run},
		{.test = tracer_run_marks_a_run_wherever_it_is},
		{.test = what_cron_starts_is_a_run_of_kind_cron},
		{.test = jobs_of_an_interactive_shell_are_runs},
		{.test = a_process_without_a_known_parent_has_a_run_of_its_own},
		{.test = a_slurm_job_is_a_run_and_its_steps_are_tasks},
		{.test = a_daemon_stays_in_the_run_that_began_it},
		{0},
	};

	return streams_run("run", tests);
}
