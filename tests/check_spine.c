/* Tasks without an engine: subtrees of the outermost process that has several. */
#include "tests/streams.h"

TEST(one_subtree_after_another_opens_no_task)
{
	tell("2>10 bash driver.sh; 10>11 time bash inner.sh; 11>12 bwa mem x");
	ck_assert_tasks("main: bwa mem [driver.sh, time, bwa mem] running\n");
}

TEST(subtrees_of_the_outermost_orchestrator_are_tasks)
{
	tell("2>10 bash driver.sh; 10>11 mkdir out; ends; 10>12 bwa index x; ends; "
	     "10>13 samtools faidx x; ends; 10 ends");
	ck_assert_tasks("main: driver.sh [driver.sh, mkdir] succeeded\n"
			"generic: bwa index [bwa index] succeeded\n"
			"generic: samtools faidx [samtools faidx] succeeded\n");
}

TEST(an_orchestrator_found_further_out_takes_over)
{
	tell("2>10 bash outer.sh; 10>11 bash inner.sh; 11>12 mkdir out; ends; 11>13 bwa index x; ends; "
	     "11>14 samtools faidx x; ends");
	ck_assert_tasks("main: outer.sh + inner.sh [outer.sh, inner.sh, mkdir] running\n"
			"generic: bwa index [bwa index] succeeded\n"
			"generic: samtools faidx [samtools faidx] succeeded\n");
	tell("11 ends; wait 20000; " /* ended long ago, but can still be merged */
	     "commit");
	char rev[32];

	snprintf(rev, sizeof(rev), "%s", rows("SELECT rev FROM processes WHERE pid = 13"));
	tell("10>15 multiqc .; ends");
	/* Moved rows are sent again by readers of new revisions. */
	ck_assert_str_ne(rows("SELECT rev FROM processes WHERE pid = 13"), rev);
	ck_assert_tasks("main: outer.sh [outer.sh] running\n"
			"generic: inner.sh [inner.sh, mkdir, bwa index, samtools faidx] succeeded\n"
			"generic: multiqc [multiqc] succeeded\n");
	ck_assert_rows("SELECT count(*) FROM processes p LEFT JOIN standing_tasks t ON t.id = p.task_id "
		       "WHERE t.id IS NULL",
		       "0\n");
	/* outer and inner (2 ms at exec; inner to its end), four tools to their ends */
	ck_assert_rows("SELECT r.process_count, r.cpu_ns - sum(t.cpu_ns), sum(t.process_count) FROM "
		       "standing_tasks t JOIN runs r ON r.id = t.run_id WHERE r.kind = 'command'",
		       "6 0 6\n");
}

/* A process that a scan sees with this much memory, in a cgroup with a limit. */
static void sees(unsigned pid, unsigned parent, uint64_t bytes)
{
	struct counters held = in_cgroup(512 * MIB, 300 * MIB, 0);

	held.valid |= COUNTER_VALID(rss_anon_bytes);
	held.rss_anon_bytes = bytes;
	sample(pid, parent, NULL, held);
}

/* Until its second subtree begins, a script has no tasks: what the first one used then is its own. */
TEST(the_first_step_keeps_its_figures)
{
	static struct loss_slot losses[LOSS_SLOTS];

	tell("cgroup 300 /job; 2>10 cgroup=300 bash outer.sh; 10>11 cgroup=300 bash step1.sh; "
	     "11>12 cgroup=300 bwa mem a; 11>13 cgroup=300 bwa mem b; later 1000");
	sees(10, 2, 1 * MIB);
	sees(11, 10, 2 * MIB);
	sees(12, 11, 100 * MIB); /* never as much memory as 13 at the same time */
	sees(13, 11, 150 * MIB);
	scan(now);
	losses[3] = (struct loss_slot){.type = RECORD_EXEC, .cgroup_id = 300, .count = 5};
	losses[3].first_boot_ns = losses[3].last_boot_ns = now;
	begin(WIRE_LOSSES)->losses.slots = (struct wire_bytes){.data = (const char *)losses, .size = sizeof(losses)};
	apply();
	tell("later 1000");
	sees(10, 2, 4 * MIB);
	sees(11, 10, 2 * MIB);
	sees(12, 11, 120 * MIB);
	sees(13, 11, 10 * MIB);
	scan(now);
	tell("12 ends; 13 ends; 11 ends; 10>14 cgroup=300 bwa index x; later 1000");
	sees(10, 2, 3 * MIB);
	sees(14, 10, 30 * MIB);
	scan(now);
	tell("14 ends; 10 ends");
	ck_assert_rows("SELECT name, concurrent_memory_bytes / 1048576, memory_limit_bytes / 1048576, lost_count "
		       "FROM standing_tasks WHERE name <> 'systemd + sshd' ORDER BY begin_boot_ns",
		       "outer.sh 4 512 5\n"
		       "step1.sh 252 512 5\n"
		       "bwa index 30 512 0\n");
	ck_assert_rows("SELECT concurrent_memory_bytes / 1048576, lost_count FROM runs WHERE kind <> 'system'",
		       "253 5\n");
}

/* A ends long after inner.sh, which did not wait for it: A's code does not count for inner.sh. */
TEST(roots_of_merged_tasks_decide_no_more)
{
	tell("2>10 bash outer.sh; 10>11 bash inner.sh; 11>12 bwa index x; 11>13 samtools faidx x; "
	     "10>14 multiqc .; " /* inner.sh is now one task */
	     "13 ends; 11 ends; restart; 12 ends 1; 14 ends; 10 ends");
	ck_assert_rows("SELECT name, status, exit_code FROM standing_tasks WHERE kind = 'generic' "
		       "ORDER BY name",
		       "inner.sh succeeded 0\nmultiqc succeeded 0\n");
	ck_assert_rows("SELECT sentence FROM incidents", "");
}

/* The merged task has its root's outcome, and the cause of an inner failure is dropped. */
TEST(a_merged_task_that_had_failed_within)
{
	tell("2>10 bash outer.sh; 10>11 bash inner.sh; 11>12 bwa index x; ends 3; 11>13 samtools faidx x; ends; "
	     "11 ends; 10>14 multiqc .");
	ck_assert_rows("SELECT name, status FROM standing_tasks WHERE kind = 'generic' ORDER BY name",
		       "inner.sh succeeded\nmultiqc running\n");
}

/* Its groups are: there is a tool of that name in each. */
TEST(a_spine_is_bounded)
{
	tell("2>10 bash inner.sh");
	for (unsigned pid = 11; pid < 110; pid++)
		tell("%u>%u bash inner.sh", pid - 1, pid);
	ck_assert_rows("SELECT count(*), max(process_count) FROM tools WHERE name = 'inner.sh'", "64 37\n");
}

/* They could still be merged into one task, but a run keeps only a limited number of them. */
TEST(a_long_loop_further_in_is_not_kept_whole)
{
	tell("2>10 bash outer.sh; 10>11 bash inner.sh");
	for (unsigned pid = 12; pid < 2000; pid++)
		tell("11>%u bwa index x; ends", pid);
	ck_assert_rows("SELECT count(*) FROM standing_tasks WHERE kind = 'generic'", "1988\n");
	tell("wait 20000; 11>2000 bwa index x; ends; commit; "
	     "commit"); /* released entries are deleted with the next commit */
	ck_assert_int_lt(atoi(rows("SELECT count(*) FROM states")), 20);
	tell("restart; 10>2001 multiqc .; ends");
	ck_assert_rows("SELECT count(*) FROM standing_tasks WHERE kind = 'generic'", "1989\n");
	ck_assert_rows("SELECT sum(t.process_count) - r.process_count FROM tasks t JOIN runs r ON "
		       "r.id = t.run_id WHERE r.kind = 'command'",
		       "0\n");
}

int main(void)
{
	return streams_run("spine");
}
