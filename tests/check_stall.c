/* Stalled processes and tasks. */
#include "tests/streams.h"

/* Runs a scan every 10 s for `seconds` over the processes of begin_step(). Process `blocked` is in
 * uninterruptible sleep; CPU time is taken from `cpu_ms`. */
static uint64_t cpu_ms[100], written_bytes[100];

static void stand(unsigned seconds, unsigned blocked)
{
	/* Pids that do not exist are ignored. */
	static const unsigned pids[] = {1, 2, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22};

	for (unsigned second = 0; second < seconds; second += 10) {
		uint64_t boot_ns = now += 10000 * MS;

		for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
			struct counters counters = cpu(cpu_ms[pids[i]] * MS);

			counters.valid |= COUNTER_VALID(uninterruptible_count) | COUNTER_VALID(write_bytes);
			counters.write_bytes = written_bytes[pids[i]];
			counters.uninterruptible_count = pids[i] == blocked;
			sample(pids[i], 0, NULL, counters);
		}
		scan(boot_ns);
		now = boot_ns;
	}
}

TEST(stuck_in_uninterruptible_sleep)
{
	begin_step();
	stand(120, 12);
	ck_assert_rows("SELECT count(*) FROM incidents", "0\n");
	stand(20, 12);
	ck_assert_rows("SELECT kind, sentence, end_boot_ns FROM incidents",
		       "stuck bwa mem (pid 12) is in uninterruptible sleep, without CPU or I/O, for more than "
		       "120 s -\n");
	stand(600, 12);
	cpu_ms[12] = 5000;
	stand(20, 0);
	ck_assert_rows("SELECT kind, sentence, (end_boot_ns - boot_ns) / 1000000000 FROM incidents",
		       "stuck bwa mem (pid 12) was in uninterruptible sleep, without CPU or I/O, for 740 s "
		       "740\n");
	tell("12 ends");
	ck_assert_rows("SELECT uninterruptible_ns / 1000000000 FROM processes WHERE pid = 12", "740\n");
	ck_assert_rows("SELECT uninterruptible_ns FROM processes WHERE pid = 13", "0\n");
}

/* Sleep that memory.high imposes is in no delay of the kernel's. */
TEST(sleep_for_memory_is_a_wait_for_memory)
{
	struct counters counters = cpu(10 * MS);

	counters.valid |= COUNTER_VALID(uninterruptible_count) | COUNTER_VALID(memory_delay_ns);
	counters.memory_delay_ns = 300 * MS;
	begin_step();
	for (unsigned i = 0; i < 10; i++) {
		uint64_t boot_ns = now += 10000 * MS;

		counters.uninterruptible_count = i > 0;
		sample_as(12, 0, NULL, counters, i > 4 ? RECORD_MEMORY_STALL : 0);
		scan(boot_ns);
		now = boot_ns;
	}
	tell("12 ends");
	ck_assert_rows(
		"SELECT uninterruptible_ns / 1000000000, memory_delay_ns / 1000000000 FROM processes WHERE pid = 12",
		"90 50\n");
}

/* Blocked at every sample but working in between: slow storage, not a fault. */
TEST(slow_storage_is_not_stuck)
{
	begin_step();
	for (int i = 0; i < 30; i++) {
		cpu_ms[12] += 700;
		stand(60, 12);
	}
	ck_assert_rows("SELECT count(*) FROM incidents", "0\n");
}

/* Two processes that write while using almost no CPU, and a tool that waits for one of them. */
TEST(a_process_that_writes_or_waits_is_not_idle)
{
	begin_step();
	tell("12>14 sort x");
	for (int i = 0; i < 191; i++) {
		for (int pid = 13; pid <= 14; pid++) {
			cpu_ms[pid]++;
			written_bytes[pid] += 512;
		}
		stand(10, 0);
	}
	ck_assert_rows("SELECT count(*) FROM incidents", "0\n");
}

/* 0.0091 of a processor, and no single minute with more. */
TEST(less_than_a_hundredth_of_a_core_is_idle)
{
	begin_step();
	for (int i = 0; i < 191; i++) {
		cpu_ms[12] += 91;
		stand(10, 0);
	}
	ck_assert_rows("SELECT count(*) FROM incidents i JOIN processes p ON p.id = i.process_id WHERE p.pid = 12",
		       "1\n");
}

TEST(a_task_without_progress_is_stuck)
{
	begin_step();
	stand(1810, 0);
	/* bash waits for its child, snakemake for bash; nano is the only process of another run */
	ck_assert_rows("SELECT i.kind, p.pid FROM incidents i JOIN processes p ON p.id = i.process_id "
		       "ORDER BY p.pid",
		       "stuck 12\nstuck 13\n");
	restart();
	stand(60, 0);
	ck_assert_rows("SELECT count(*), count(end_boot_ns) FROM incidents", "2 0\n");
	tell("12 ends");
	ck_assert_rows("SELECT count(*), count(end_boot_ns) FROM incidents", "2 1\n");
}

/* The incident is reported again when it is over, with the same beginning. */
TEST(a_clock_that_is_set_moves_no_beginning)
{
	static const char clock[] = "SELECT unix_ns - boot_ns FROM incidents WHERE end_boot_ns IS NOT NULL";

	begin_step();
	stand(140, 12);
	clock_offset_ns += 3600 * 1000 * MS;
	stand(20, 12);
	tell("restart; 12 ends");
	ck_assert_rows(clock, "1000000000\n");
}

TEST(one_of_a_task_is_idle)
{
	begin_step();
	tell("12>14 sort; " /* never sampled, but bwa now has a child and is not considered */
	     "ends");
	for (int i = 0; i < 31; i++) {
		cpu_ms[11] += 700; /* its parent is working */
		stand(60, 0);
	}
	ck_assert_rows("SELECT i.kind, p.pid, i.sentence FROM incidents i JOIN processes p ON "
		       "p.id = i.process_id WHERE p.pid < 13",
		       "idle 12 bwa mem (pid 12) is without CPU or I/O for more than 1800 s\n");
}

TEST(kernel_threads_do_not_stand_still)
{
	sample_as(14, 0, NULL, cpu(0), RECORD_KERNEL_THREAD);
	tell("scan; later 1; 2>40 true; restart");
	stand(300, 14);
	ck_assert_rows("SELECT count(*) FROM incidents", "0\n");
}

TEST(few_of_a_task_are_idle)
{
	begin_step();
	for (unsigned pid = 14; pid < 23; pid++)
		tell("11>%u sort x", pid);
	for (int i = 0; i < 64; i++) {
		cpu_ms[12] += 700;
		stand(60, 0);
		if (i == 31)
			restart();
	}
	ck_assert_rows("SELECT count(*) FROM incidents WHERE kind = 'idle'", "8\n");
}

int main(void)
{
	return streams_run("stall");
}
