/* Passes over the living: who is found, who is gone, memory and clock of a moment. */
#include "tests/streams.h"

START_TEST(found_processes_are_placed_whatever_their_order)
{
	sample(30, 20, "bwa mem x", cpu(9 * MS));
	sample(20, 2, "bash driver.sh", cpu(MS));
	pass(now);
	now += MS;
	run_process(20, 31, "samtools sort");
	ck_assert_tasks("main: driver.sh [driver.sh] running\n"
			"generic: bwa mem [bwa mem] running\n"
			"generic: samtools sort [samtools sort] succeeded\n");
	ck_assert_str_eq(rows("SELECT began, totals, cpu_ns FROM processes WHERE pid = 30"),
			 "found sample 9000000\n");
}
END_TEST

static const char command_of_30[] = "SELECT began, program, path, hex(arguments) FROM processes "
				    "WHERE pid = 30";
#define BWA_MEM_X "bwa /usr/bin/bwa 627761006D656D007800\n"

START_TEST(a_look_without_text_takes_none_away)
{
	sample(30, 2, "bwa mem x", cpu(9 * MS));
	pass(now - MS);
	sample(30, 2, NULL, cpu(10 * MS)); /* and nothing has happened since */
	pass(now - MS);
	now += MS;
	run_process(2, 31, "ls");
	ck_assert_str_eq(rows(command_of_30), "found " BWA_MEM_X);
}
END_TEST

START_TEST(a_later_look_tells_the_text)
{
	sample(30, 2, NULL, cpu(9 * MS)); /* its fork and exec were lost */
	pass(now - MS);
	run_process(2, 31, "ls");
	ck_assert_str_eq(rows(command_of_30), "found comm - \n");
	sample(30, 2, "bwa mem x", cpu(10 * MS));
	pass(now - MS);
	sample(30, 2, "bwa mem y", cpu(10 * MS)); /* as who overwrites its arguments */
	pass(now - MS);
	ck_assert_str_eq(rows(command_of_30), "found " BWA_MEM_X);
}
END_TEST

/* Its exec shows before it is told: on a busy machine long before. */
START_TEST(who_was_found_in_the_middle_of_an_exec_has_what_its_record_says)
{
	exec_ids[30] = 1;
	sample(30, 2, NULL, cpu(9 * MS));
	pass(now - MS);
	now += 500 * MS;
	run_process(2, 31, "ls");
	ck_assert_str_eq(rows(command_of_30), "found comm - \n");
	exec_ids[30] = 0;
	exec_process(30, "bwa mem x");
	ck_assert_str_eq(rows(command_of_30), "found " BWA_MEM_X);
	exec_process(30, "samtools sort");
	ck_assert_str_eq(rows(command_of_30), "found " BWA_MEM_X
					      "exec samtools /usr/bin/samtools 73616D746F6F6C7300736F727400\n");
}
END_TEST

START_TEST(a_zombie_is_not_found_anew)
{
	run_process(2, 10, "bwa mem x");
	wait_ms(20000);
	commit(); /* forgotten */
	sample_as(10, 2, "bwa mem x", cpu(9 * MS), RECORD_EXITING);
	wait_ms(1000);
	run_process(2, 11, "gzip x");
	ck_assert_str_eq(rows("SELECT began, ended, totals, cpu_ns FROM processes WHERE pid = 10"),
			 "exec exit final 6000000\n");
}
END_TEST

START_TEST(memory_at_one_moment_is_the_sum_of_those_who_live)
{
	struct counters held = cpu(2 * MS);

	held.valid |= COUNTER_VALID(rss_anon_bytes) | COUNTER_VALID(peak_rss_bytes);
	held.rss_anon_bytes = 1000;
	held.peak_rss_bytes = 3000;
	spawn(2, 10, "bwa mem x");
	fork_process(10, 11); /* its worker */
	now += 1000 * MS;
	sample(10, 2, NULL, held);
	sample(11, 10, NULL, held);
	ck_assert_str_eq(rows("SELECT concurrent_memory_bytes FROM runs WHERE kind = 'command'"), "-\n");
	pass(now); /* changes nothing else */
	ck_assert_str_eq(rows("SELECT r.concurrent_memory_bytes, t.concurrent_memory_bytes, "
			      "l.concurrent_memory_bytes FROM runs r JOIN tasks t ON t.run_id = r.id JOIN "
			      "tools l ON l.task_id = t.id WHERE r.kind = 'command'"),
			 "2000 2000 2000\n");
	held.cpu_ns = 3 * MS;
	sample(10, 2, NULL, held);
	ck_assert_str_eq(rows("SELECT r.peak_rss_bytes, t.peak_rss_bytes, l.peak_rss_bytes FROM runs r JOIN "
			      "tasks t ON t.run_id = r.id JOIN tools l ON l.task_id = t.id "
			      "WHERE r.kind = 'command'"),
			 "3000 3000 3000\n");
}
END_TEST

START_TEST(who_is_in_no_pass_is_lost)
{
	spawn(2, 10, "bwa mem x");
	for (int i = 0; i < 3; i++)
		wait_ms(1000);
	ck_assert_str_eq(rows("SELECT ended, totals, exit_code FROM processes WHERE pid = 10"),
			 "lost sample -\n");
	ck_assert_str_eq(rows("SELECT status FROM runs WHERE kind <> 'system'"), "ended\n");
}
END_TEST

/* How far the wall clock of the starts is from their boot clock, in seconds. */
static const char clocks[] =
	"SELECT DISTINCT (started_unix_ns - begin_boot_ns) / 1000000000 FROM (SELECT started_unix_ns, "
	"begin_boot_ns FROM runs UNION ALL SELECT started_unix_ns, begin_boot_ns FROM tasks UNION ALL "
	"SELECT started_unix_ns, begin_boot_ns FROM tools UNION ALL SELECT started_unix_ns, begin_boot_ns "
	"FROM processes UNION ALL SELECT started_unix_ns, begin_boot_ns FROM containers) ORDER BY 1";

START_TEST(a_start_once_told_stays_when_the_clock_is_set)
{
	static const unsigned pids[] = {1, 2, 10, 11, 12};

	cgroup(600, "/docker/" HEX64);
	spawn(2, 10, "bash driver.sh");
	spawn(10, 11, "bash inner.sh");
	fork_process(11, 12);
	exec_in(12, (struct where){.cgroup_id = 600}, "bwa mem x");
	ck_assert_str_eq(rows(clocks), "1\n");
	clock_offset_ns += 3600 * 1000 * MS;
	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++)
		sample(pids[i], 0, NULL, cpu(9 * MS));
	pass(now += MS);
	exit_process(12, 0);
	ck_assert_str_eq(rows(clocks), "1\n");
	restart();
	exit_process(11, 0);
	ck_assert_str_eq(rows(clocks), "1\n");
	spawn(10, 13, "sort y"); /* and what ran before becomes a task */
	ck_assert_str_eq(rows(clocks), "1\n3601\n");
	ck_assert_str_eq(rows("SELECT name, (started_unix_ns - begin_boot_ns) / 1000000000 FROM standing_tasks "
			      "WHERE kind = 'generic' ORDER BY begin_boot_ns"),
			 "inner.sh 1\nsort 3601\n");
}
END_TEST

START_TEST(a_look_between_fork_and_exec_makes_no_row)
{
	spawn(2, 10, "bash driver.sh");
	fork_process(10, 11);
	now += 500 * MS; /* on a busy machine */
	sample(11, 10, NULL, cpu(MS));
	pass(now);
	exec_process(11, "bwa mem x");
	ck_assert_str_eq(rows("SELECT began, program FROM processes WHERE pid = 11"), "exec bwa\n");
	fork_process(10, 12);
	now += 1000 * MS;
	sample(12, 10, NULL, cpu(MS));
	pass(now);
	ck_assert_str_eq(rows("SELECT began, program FROM processes WHERE pid = 12"), "fork bash\n");
	exec_process(12, "gzip x");
	ck_assert_str_eq(rows("SELECT began, program FROM processes WHERE pid = 12 ORDER BY exec_id"),
			 "fork bash\nexec gzip\n");
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{.test = found_processes_are_placed_whatever_their_order},
		{.test = a_look_without_text_takes_none_away},
		{.test = a_later_look_tells_the_text},
		{.test = who_was_found_in_the_middle_of_an_exec_has_what_its_record_says},
		{.test = a_zombie_is_not_found_anew},
		{.test = memory_at_one_moment_is_the_sum_of_those_who_live},
		{.test = a_look_between_fork_and_exec_makes_no_row},
		{.test = who_is_in_no_pass_is_lost},
		{.test = a_start_once_told_stays_when_the_clock_is_set},
		{0},
	};

	return streams_run("pass", tests);
}
