/* Process scans: processes found and gone, memory and clock at one moment. */
#include "tests/streams.h"

#include "correlator/model/model.h"
#include "correlator/model/process.h"

TEST(found_processes_are_placed_whatever_their_order)
{
	tell("30<20 seen 9 bwa mem x; 20<2 seen 1 bash driver.sh; scan; later 1; "
	     "20>31 samtools sort; ends");
	ck_assert_tasks("main: driver.sh [driver.sh] running\n"
			"generic: bwa mem [bwa mem] running\n"
			"generic: samtools sort [samtools sort] succeeded\n");
	ck_assert_rows("SELECT began, totals, cpu_ns FROM processes WHERE pid = 30", "found sample 9000000\n");
}

TEST(on_a_silent_host_two_passes_place_the_found)
{
	for (int second = 0; second < 2; second++)
		tell("later 1000; 30<2 seen 9 bwa mem x; scan");
	ck_assert_rows("SELECT began, program FROM processes WHERE pid = 30", "found bwa\n");
}

static const struct command *command_of(unsigned pid)
{
	return process_find(model, (struct process_key){.pid = pid, .start_boot_ns = pid * MS})->command;
}

TEST(children_found_alike_share_the_text_of_their_command)
{
	WITHOUT_RESTARTS(); /* it is read back for each */
	tell("20<2 seen 1 bash driver.sh; 30<20 seen 9 bwa mem x; 31<20 seen 9 bwa mem x; 32<20 seen 9 bwa mem y; "
	     "33<32 seen 9 bwa mem y; scan -1; 2>41 ls; ends");
	ck_assert_ptr_eq(command_of(30), command_of(31));
	ck_assert_ptr_ne(command_of(31), command_of(32));
	ck_assert_ptr_ne(command_of(32), command_of(33)); /* not with an ancestor: the rules look at both */
	ck_assert_rows("SELECT pid, hex(arguments) FROM processes WHERE pid IN (30, 31)",
		       "30 627761006D656D007800\n31 627761006D656D007800\n");
}

static const char command_of_30[] = "SELECT began, program, path, hex(arguments) FROM processes "
				    "WHERE pid = 30";
#define BWA_MEM_X "bwa /usr/bin/bwa 627761006D656D007800\n"

TEST(a_sample_without_text_removes_none)
{
	tell("30<2 seen 9 bwa mem x; scan -1; 30<2 seen 10; " /* nothing else has happened since */
	     "scan -1; later 1; 2>31 ls; ends");
	ck_assert_rows(command_of_30, "found " BWA_MEM_X);
}

TEST(a_later_sample_has_the_text)
{
	tell("30<2 seen 9; " /* its fork and exec were lost */
	     "scan -1; 2>31 ls; ends");
	ck_assert_rows(command_of_30, "found comm - \n");
	tell("30<2 seen 10 bwa mem x; scan -1; "
	     "30<2 seen 10 bwa mem y; " /* like a process that overwrites its arguments */
	     "scan -1");
	ck_assert_rows(command_of_30, "found " BWA_MEM_X);
}

/* The arguments could not be read, or there was no time to. */
TEST(a_later_scan_has_the_arguments)
{
	static const char truncated[] = "SELECT arguments IS NULL, arguments_truncated FROM processes WHERE pid = 30";

	sample_as(30, 2, "bwa", cpu(9 * MS), RECORD_ARGV_UNKNOWN);
	tell("scan -1; 2>31 ls; ends");
	ck_assert_rows(command_of_30, "found bwa /usr/bin/bwa \n");
	ck_assert_rows(truncated, "1 1\n");
	sample_as(30, 2, "bwa", cpu(10 * MS), RECORD_ARGV_UNKNOWN);
	tell("30<2 seen 10 bwa mem x; scan -1");
	sample_as(30, 2, "bwa", cpu(11 * MS), RECORD_ARGV_UNKNOWN);
	scan(now - MS);
	ck_assert_rows(command_of_30, "found " BWA_MEM_X);
	ck_assert_rows(truncated, "0 0\n");
}

/* Its base name is in the part that was not recorded. */
TEST(a_program_whose_path_is_cut_has_the_name_of_its_process)
{
	tell("2>30 folder/na" RECORD_PATH_MARK " x; ends");
	ck_assert_rows("SELECT program, path FROM processes WHERE pid = 30",
		       "comm /usr/bin/folder/na" RECORD_PATH_MARK "\n");
}

/* Its other threads continue. */
TEST(a_process_without_its_main_thread_has_samples)
{
	struct counters counters = cpu(0);

	counters.valid |= COUNTER_VALID(thread_count);
	tell("2>31 ls; ends; 2>30 bwa mem x");
	for (unsigned threads = 3; threads > 0; threads--) {
		now += 1000 * MS;
		counters.thread_count = threads;
		counters.cpu_ns += 100 * MS;
		sample_as(30, 2, NULL, counters, threads < 3 ? RECORD_EXITING : 0);
		scan(now);
	}
	ck_assert_rows("SELECT s.cpu_ns, thread_count FROM samples s JOIN processes p ON "
		       "p.id = process_id WHERE pid = 30 ORDER BY s.boot_ns",
		       "100000000 3\n200000000 2\n");
}

/* The scan sees its exec before the record arrives, on a busy machine long before. */
TEST(a_process_found_during_an_exec_has_its_record_s_text)
{
	exec_ids[30] = 1;
	tell("30<2 seen 9; scan -1; later 500; 2>31 ls; ends");
	ck_assert_rows(command_of_30, "found comm - \n");
	exec_ids[30] = 0;
	tell("30 bwa mem x");
	ck_assert_rows(command_of_30, "found " BWA_MEM_X);
	tell("30 samtools sort");
	ck_assert_rows(command_of_30,
		       "found " BWA_MEM_X "exec samtools /usr/bin/samtools 73616D746F6F6C7300736F727400\n");
}

/* Its fork was lost, and both execs are in the ring during the scan. */
TEST(a_process_found_after_two_execs_is_one_process)
{
	exec_ids[30] = 2;
	tell("30<2 seen 9 samtools sort; scan -1");
	exec_ids[30] = 0;
	tell("30 bash step.sh; 30 samtools sort; ends");
	ck_assert_rows("SELECT began, program, ended, cpu_ns, parent_id = id FROM processes WHERE "
		       "pid = 30",
		       "found samtools exit 6000000 0\n");
	ck_assert_rows("SELECT process_count, cpu_ns FROM runs WHERE kind <> 'system'", "1 6000000\n");
}

/* The ring holds more than the probe forwards between two scans. */
TEST(a_fork_after_two_passes_overrides_a_sample)
{
	tell("30<2 seen 1");
	scan_behind(now - MS, 1000);
	scan_behind(now + 1000 * MS, 1000);
	ck_assert_rows("SELECT began FROM processes WHERE pid = 30", "");
	now -= 10 * MS; /* it was in the ring until now */
	tell("2>30; ends");
	ck_assert_rows("SELECT began, ended FROM processes WHERE pid = 30", "fork exit\n");
}

TEST(a_found_process_is_placed_once_the_ring_is_read)
{
	tell("30<2 seen 1"); /* its fork was lost */
	scan_behind(now - MS, 1000);
	scan_behind(now + 1000 * MS, 1000);
	scan(now + 2000 * MS);
	ck_assert_rows("SELECT began FROM processes WHERE pid = 30", "found\n");
}

TEST(a_zombie_is_not_found_again)
{
	tell("2>10 bwa mem x; ends; wait 20000; commit"); /* no longer remembered */
	sample_as(10, 2, "bwa mem x", cpu(9 * MS), RECORD_EXITING);
	tell("wait 1000; 2>11 gzip x; ends");
	ck_assert_rows("SELECT began, ended, totals, cpu_ns FROM processes WHERE pid = 10",
		       "exec exit final 6000000\n");
}

TEST(a_peak_follows_with_the_figures)
{
	struct counters held = cpu(2 * MS);

	held.valid |= COUNTER_VALID(peak_rss_bytes);
	held.peak_rss_bytes = 3000;
	tell("2>10 bwa mem x; later 1000");
	sample(10, 2, NULL, held);
	scan(now);
	held.cpu_ns = 3 * MS;
	sample(10, 2, NULL, held);
	ck_assert_rows("SELECT r.peak_rss_bytes, t.peak_rss_bytes, l.peak_rss_bytes FROM runs r JOIN "
		       "tasks t ON t.run_id = r.id JOIN tools l ON l.task_id = t.id WHERE "
		       "r.kind = 'command'",
		       "3000 3000 3000\n");
}

/* Its parent reaps it only then: the final record follows. */
TEST(an_ended_process_waits_for_its_parent)
{
	tell("2>10 bwa mem x");
	end_as(RECORD_EXIT, 10, 0, cpu(5 * MS));
	for (unsigned i = 0; i < 8; i++) {
		tell("later 1000; commit");
		sample_as(10, 2, NULL, cpu(5 * MS), RECORD_EXITING);
		sample(1, 0, NULL, cpu(0));
		sample(2, 1, NULL, cpu(0));
		scan(now);
	}
	end_as(RECORD_FINAL, 10, 0, cpu(7 * MS));
	ck_assert_rows("SELECT totals, cpu_ns FROM processes WHERE pid = 10", "final 7000000\n");
	tell("wait 1000; wait 1000; wait 1000; wait 1000; commit; commit");
	ck_assert_rows("SELECT count(*) FROM states WHERE entity = 'process'", "2\n");
}

/* As of Apache, Postfix or Samba: forked by root, then another user's. */
TEST(a_worker_has_the_user_that_it_changed_to)
{
	tell("2>10 httpd; 10>11; later 1000; 11<10 seen 9 uid=33; scan");
	ck_assert_rows("SELECT user_id FROM processes WHERE pid = 11", "33\n");
}

TEST(a_process_in_no_pass_is_lost)
{
	tell("2>10 bwa mem x; wait 1000; wait 1000; wait 1000");
	ck_assert_rows("SELECT ended, totals, exit_code FROM processes WHERE pid = 10", "lost sample -\n");
	ck_assert_rows("SELECT status FROM runs WHERE kind <> 'system'", "ended\n");
}

#define INITIAL "pidns=4026531836 " /* PROC_PID_INIT_INO */

/* 20 and 21 run outside the PID namespace of the probe, 30 and 31 inside. */
TEST(what_a_scan_cannot_see_is_not_lost)
{
	static const char lost[] = "SELECT pid FROM processes WHERE ended = 'lost' ORDER BY pid";
	static const char scans[] = "later 1000; 31<30 seen 9 pidns=77 sort y; %sscan; later 1; 30>32 true; ends";

	WITHOUT_RESTARTS(); /* which forget what a scan has seen */
	tell("2>20 " INITIAL "bwa mem x; 20>21; 2>30 pidns=77 bash x.sh; 30>31 pidns=77 sort y; "
	     "later 1; 30<2 seen 1 pidns=77; 31<30 seen 1 pidns=77; scan");
	tell(scans, "");
	tell(scans, "");
	ck_assert_rows(lost, "30\n"); /* seen before, and missing now */
	tell("21 ends; 20 ends 3");
	ck_assert_rows("SELECT ended, exit_code, cpu_ns FROM processes WHERE pid = 20", "exit 3 6000000\n");
	tell("2>22 " INITIAL "bwa mem z");
	for (int i = 0; i < 3; i++)
		tell(scans, "1<0 seen 9 " INITIAL "init; 2<1 seen 9; "); /* a probe that sees the host */
	ck_assert_rows(lost, "22\n30\n");
}

/* Offset of the starts' wall clock from their boot clock, in seconds. */
static const char clocks[] =
	"SELECT DISTINCT (started_unix_ns - begin_boot_ns) / 1000000000 FROM (SELECT started_unix_ns, "
	"begin_boot_ns FROM runs UNION ALL SELECT started_unix_ns, begin_boot_ns FROM tasks UNION ALL "
	"SELECT started_unix_ns, begin_boot_ns FROM tools UNION ALL SELECT started_unix_ns, begin_boot_ns "
	"FROM processes UNION ALL SELECT started_unix_ns, begin_boot_ns FROM containers) ORDER BY 1";

TEST(a_written_start_stays_when_the_clock_is_set)
{
	tell("cgroup 600 /docker/" HEX64 "; 2>10 bash driver.sh; 10>11 bash inner.sh; "
	     "11>12 cgroup=600 bwa mem x");
	ck_assert_rows(clocks, "1\n");
	clock_offset_ns += 3600 * 1000 * MS;
	tell("1<0 seen 9; 2<0 seen 9; 10<0 seen 9; 11<0 seen 9; 12<0 seen 9; later 1; scan; 12 ends");
	ck_assert_rows(clocks, "1\n");
	tell("restart; 11 ends");
	ck_assert_rows(clocks, "1\n");
	tell("10>13 sort y"); /* processes that ran before become tasks */
	ck_assert_rows(clocks, "1\n3601\n");
	ck_assert_rows("SELECT name, (started_unix_ns - begin_boot_ns) / 1000000000 FROM standing_tasks "
		       "WHERE kind = 'generic' ORDER BY begin_boot_ns",
		       "inner.sh 1\nsort 3601\n");
}

TEST(a_sample_between_fork_and_exec_makes_no_row)
{
	tell("2>10 bash driver.sh; 10>11; later 500; " /* on a busy machine */
	     "11<10 seen 1; scan; 11 bwa mem x");
	ck_assert_rows("SELECT began, program FROM processes WHERE pid = 11", "exec bwa\n");
	tell("10>12; later 1000; 12<10 seen 1; scan");
	ck_assert_rows("SELECT began, program FROM processes WHERE pid = 12", "fork bash\n");
	tell("12 gzip x");
	ck_assert_rows("SELECT began, program FROM processes WHERE pid = 12 ORDER BY exec_id",
		       "fork bash\nexec gzip\n");
}

/* ---- what is written */

static const char last_written[] = "SELECT max(rev) FROM (SELECT rev FROM runs UNION ALL SELECT rev FROM tasks "
				   "UNION ALL SELECT rev FROM tools UNION ALL SELECT rev FROM processes "
				   "UNION ALL SELECT rev FROM samples UNION ALL SELECT 1000 * count(*) "
				   "FROM written)";

/* From now on, each write of a state adds a row. */
static void watch_states(void)
{
	change_store("CREATE TABLE written (entity, size);"
		     "CREATE TRIGGER state_made AFTER INSERT ON states BEGIN "
		     "INSERT INTO written VALUES (NEW.entity, length(NEW.state)); END;"
		     "CREATE TRIGGER state_changed AFTER UPDATE ON states BEGIN "
		     "INSERT INTO written VALUES (NEW.entity, length(NEW.state)); END");
}

static void pass_with(unsigned pid, struct counters counters)
{
	now += 999 * MS;
	sample(pid, 2, NULL, counters);
	wait_ms(1);
}

/* Its counters cover the whole process, its figures only the second program. */
TEST(a_pass_that_finds_nothing_new_writes_nothing)
{
	char *before;

	watch_states();
	tell("2>10 bash driver.sh; 10 bwa mem x");
	pass_with(10, cpu(9 * MS));
	before = strdup(rows(last_written));
	for (int i = 0; i < 3; i++)
		pass_with(10, cpu(9 * MS));
	ck_assert_rows(last_written, before);
	free(before);
}

TEST(a_process_that_wakes_up_now_and_then_is_written_every_five_minutes)
{
	uint64_t used = 900 * MS;

	tell("2>10 bwa mem x");
	pass_with(10, cpu(used));
	ck_assert_rows("SELECT count(*) FROM samples", "1\n");
	for (int second = 0; second < 600; second++) {
		pass_with(10, cpu(used += MS));
		commit();
	}
	ck_assert_rows("SELECT count(*) FROM samples", "3\n");
	ck_assert_rows("SELECT (SELECT cpu_ns FROM processes WHERE pid = 10) = max(cpu_ns) FROM samples", "1\n");
	tell("10 ends");
	ck_assert_rows("SELECT r.cpu_ns = p.cpu_ns AND t.cpu_ns = p.cpu_ns FROM processes p JOIN runs r "
		       "ON r.id = p.run_id JOIN tools t ON t.id = p.tool_id WHERE p.pid = 10",
		       "1\n");
}

static const char *cpu_written(void)
{
	return rows("SELECT p.cpu_ns / 1000000, p.cpu_ns = r.cpu_ns FROM processes p JOIN runs r ON r.id = p.run_id "
		    "WHERE p.pid = 10");
}

TEST(a_busy_process_has_a_sample_of_each_pass_and_its_rows_follow)
{
	struct counters busy = cpu(0);

	tell("2>10 bwa mem x");
	for (int second = 1; second <= 20; second++) {
		busy.cpu_ns += 200 * MS;
		pass_with(10, busy);
		if (second == 1)
			ck_assert_str_eq(cpu_written(), "200 1\n");
		else if (second == 5) /* doubled at 400 and 800 */
			ck_assert_str_eq(cpu_written(), "800 1\n");
	}
	ck_assert_rows("SELECT count(*), max(cpu_ns) / 1000000 FROM samples", "20 4000\n");
	ck_assert_rows("SELECT cpu_ns < 4000000000 AND cpu_ns >= 2000000000 FROM processes WHERE "
		       "pid = 10",
		       "1\n");
}

TEST(rows_that_are_behind_follow_where_it_stands_still)
{
	WITHOUT_RESTARTS(); /* a restart would also write rows */
	struct counters busy = cpu(2000 * MS);

	tell("2>10 bwa mem x");
	pass_with(10, busy);
	busy.cpu_ns += 900 * MS;
	pass_with(10, busy);
	ck_assert_str_eq(cpu_written(), "2000 1\n");
	for (int second = 0; second < 300; second++)
		pass_with(10, busy);
	ck_assert_str_eq(cpu_written(), "2900 1\n");
}

TEST(rows_that_are_a_second_behind_follow_within_ten)
{
	static const uint64_t used_ms[] = {2000, 2999, 3000};
	static const char *const written[] = {"2000 1\n", "2000 1\n", "3000 1\n"};

	WITHOUT_RESTARTS(); /* a restart would also write rows */
	tell("2>10 bwa mem x");
	for (size_t i = 0; i < sizeof(used_ms) / sizeof(used_ms[0]); i++) {
		for (int second = 0; second < 11; second++)
			pass_with(10, cpu(used_ms[i] * MS));
		ck_assert_str_eq(cpu_written(), written[i]);
	}
}

/* Memory held for a number of seconds, and the maximum stored then, in KiB. */
static const struct {
	unsigned held, seconds, stored;
} maxima[] = {
	{4096, 1, 4096}, {6144, 1, 4096}, {6144, 10, 6144}, {7167, 11, 6144}, {7168, 11, 7168},
};

TEST(a_maximum_of_memory_follows_with_the_rows)
{
	struct counters held = cpu(0);

	WITHOUT_RESTARTS(); /* a restart would also write rows */
	held.valid |= COUNTER_VALID(rss_anon_bytes);
	tell("2>10 bwa mem x");
	for (size_t i = 0; i < sizeof(maxima) / sizeof(maxima[0]); i++) {
		char stored[32];

		held.rss_anon_bytes = maxima[i].held * 1024;
		for (unsigned second = 0; second < maxima[i].seconds; second++)
			pass_with(10, held);
		snprintf(stored, sizeof(stored), "%u\n", maxima[i].stored);
		ck_assert_rows("SELECT concurrent_memory_bytes / 1024 FROM runs WHERE kind = 'command'", stored);
	}
}

TEST(a_change_of_figures_writes_no_state)
{
	char *before;

	watch_states();
	tell("2>10 bash driver.sh; 10>11 bash one.sh; 10>12 bash other.sh");
	for (unsigned pid = 20; pid < 120; pid++)
		tell("11>%u tool%u x", pid, pid);
	pass_with(119, cpu(9 * MS));
	before = strdup(rows("SELECT count(*) FROM written"));
	pass_with(119, cpu(90 * MS));
	ck_assert_rows("SELECT count(*) FROM written", before);
	free(before);
	restart();
	for (unsigned pid = 20; pid < 120; pid++)
		tell("%u ends", pid);
	tell("11>120 tool20 y");
	ck_assert_rows("SELECT count(*), sum(process_count), sum(living_count) FROM standing_tools WHERE "
		       "name LIKE 'tool%'",
		       "100 101 1\n");
	ck_assert_rows("SELECT count(*) FROM tools t WHERE cpu_ns <> (SELECT total(cpu_ns) FROM "
		       "processes p WHERE p.tool_id = t.id)",
		       "0\n");
}

int main(void)
{
	return streams_run("scan");
}
