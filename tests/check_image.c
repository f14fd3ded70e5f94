/* Figures of exec images and their sums; limits, network, devices. */
#include "tests/streams.h"

TEST(every_exec_is_an_image_of_its_own)
{
	tell("2>10 bash driver.sh; 10 samtools view x; ends");
	ck_assert_rows("SELECT program, began, ended, totals, exit_code, cpu_ns, spawn_cpu_ns FROM "
		       "processes WHERE pid = 10 ORDER BY exec_id",
		       "bash exec exec exec - 2000000 2000000\n"
		       "samtools exec exit final 0 4000000 -\n");
}

/* So that processes running at the same time are adjacent in the store. */
TEST(ids_are_in_the_order_of_starts)
{
	tell("2>20 third; " /* pids are in the order of starts here */
	     "2>10 first; 10 second");
	ck_assert_rows("SELECT program FROM processes WHERE pid >= 10 ORDER BY id", "first\nsecond\nthird\n");
	ck_assert_rows("SELECT max(id) - min(id) FROM processes WHERE pid = 10", "1\n");
}

TEST(how_a_process_ended_is_reported_as_by_wait)
{
	tell("2>10 a; 2>11 b; 2>12 c; 10 ends 255; 11 dies 64");
	tell("12 dies %u", 0x80 | 6);
	ck_assert_rows("SELECT exit_code, signal, core_dumped FROM processes WHERE pid >= 10 "
		       "ORDER BY pid",
		       "255 - 0\n- 64 0\n- 6 1\n");
}

TEST(the_final_record_stands_and_keeps_what_the_exit_knew)
{
	struct counters final = cpu(8 * MS);

	final.valid &= ~COUNTER_VALID(read_bytes);
	tell("2>10 bwa mem x");
	end_as(RECORD_EXIT, 10, 0, cpu(5 * MS));
	end_as(RECORD_FINAL, 10, 0, final);
	end_as(RECORD_EXIT, 10, 0, cpu(5 * MS));
	ck_assert_rows("SELECT totals, cpu_ns, read_bytes FROM processes WHERE pid = 10", "final 8000000 4096\n");
}

/* signal.maxrss is the maximum over all images of the process, including the one at the fork. */
TEST(a_maximum_that_did_not_grow_is_not_the_image_s)
{
	struct counters fat = cpu(5 * MS);
	struct record *exec;

	fat.valid |= COUNTER_VALID(maxrss_bytes);
	fat.maxrss_bytes = 4096;
	tell("2>10");
	exec_ids[10]++;
	exec = begin_record(RECORD_EXEC, key(10));
	exec->exec.counters = fat;
	exec->path = bytes("/usr/bin/true");
	exec->argv.item[exec->argv.count++] = bytes("true");
	apply();
	end_as(RECORD_EXIT, 10, 0, fat);
	ck_assert_rows("SELECT peak_rss_bytes FROM processes WHERE pid = 10", "-\n");
	fat.maxrss_bytes++;
	end_as(RECORD_FINAL, 10, 0, fat);
	ck_assert_rows("SELECT peak_rss_bytes FROM processes WHERE pid = 10", "4097\n");
}

/* The exit record of an older kernel has no memory map any more, and what a scan saw is not a maximum. */
TEST(the_maximum_at_the_end_is_above_what_scans_saw)
{
	struct counters held = cpu(5 * MS);

	held.valid |= COUNTER_VALID(peak_rss_bytes);
	held.peak_rss_bytes = 3000;
	tell("2>10 bwa mem x; 10>11; later 1000"); /* 11: its worker */
	sample(10, 2, NULL, held);
	sample(11, 10, NULL, held);
	held.valid = (held.valid & ~COUNTER_VALID(peak_rss_bytes)) | COUNTER_VALID(maxrss_bytes);
	held.maxrss_bytes = 9000;
	end_as(RECORD_EXIT, 11, 0, held);
	end_as(RECORD_FINAL, 11, 0, held);
	end_as(RECORD_EXIT, 10, 0, held);
	ck_assert_rows("SELECT pid, peak_rss_bytes FROM processes WHERE pid >= 10 ORDER BY pid", "10 9000\n11 9000\n");
}

TEST(user_and_system_time_are_split_as_the_kernel_does)
{
	tell("2>10 bwa mem; ends");
	ck_assert_rows("SELECT cpu_ns, user_ns, system_ns, rchar_bytes FROM processes WHERE pid = 10",
		       "6000000 4500000 1500000 -\n");
}

TEST(limits_and_use_are_of_the_cgroup_that_used_most)
{
	struct counters counters = in_cgroup(512 * MIB, 300 * MIB, 70 * MS);

	tell("cgroup 300 /docker/" HEX64 "; cgroup 301 /other; 2>10 bash driver.sh; "
	     "10>11 cgroup=300 bwa mem x; 10>12 cgroup=301 bwa mem y; "
	     "cgroup 302 /docker/" HEX64 "/inner; 11>13 cgroup=302 sort y");
	sample(11, 10, NULL, counters);
	counters = in_cgroup(512 * MIB, 400 * MIB, 90 * MS);
	end_as(RECORD_EXIT, 11, 0, counters);
	end_as(RECORD_EXIT, 12, 0, in_cgroup(64 * MIB, 60 * MIB, 0)); /* another cgroup, with a lower peak */
	end_as(RECORD_EXIT, 13, 0, in_cgroup(32 * MIB, 30 * MIB, 0));
	ck_assert_rows("SELECT memory_limit_bytes / 1048576, cgroup_peak_bytes / 1048576, throttled_ns / "
		       "1000000 FROM runs WHERE kind = 'command'",
		       "512 400 20\n");
	ck_assert_rows("SELECT memory_limit_bytes / 1048576, cgroup_peak_bytes / 1048576, throttled_ns / 1000000 "
		       "FROM tasks WHERE kind = 'generic' ORDER BY begin_boot_ns",
		       "512 400 20\n64 60 0\n");
	ck_assert_rows("SELECT memory_limit_bytes / 1048576, cgroup_peak_bytes / 1048576, throttled_ns / 1000000 "
		       "FROM containers",
		       "512 400 20\n");
}

static void executes_in(unsigned pid, unsigned cgroup, uint64_t throttled_ns)
{
	struct record *exec;

	exec_ids[pid]++;
	exec = begin_record(RECORD_EXEC, key(pid));
	exec->exec.context = (struct record_context){.cgroup_id = cgroup, .pgid = pid};
	exec->exec.counters = cpu(2 * MS);
	exec->exec.counters.valid |= COUNTER_VALID(cgroup_throttled_ns);
	exec->exec.counters.cgroup_throttled_ns = throttled_ns;
	exec->path = bytes("/usr/bin/bwa");
	exec->argv.item[exec->argv.count++] = bytes("bwa");
	apply();
}

#define ck_assert_throttled(of, expected) \
	ck_assert_rows("SELECT cgroup_peak_bytes / 1048576, throttled_ns / 1000000 FROM " of, expected)

/* Its exec says what the cgroup had before. */
TEST(time_held_back_of_a_task_that_no_scan_saw)
{
	tell("cgroup 300 /docker/" HEX64 "; 2>10 bash driver.sh; 10>11");
	executes_in(11, 300, 70 * MS);
	end_as(RECORD_EXIT, 11, 0, in_cgroup(512 * MIB, 400 * MIB, 90 * MS));
	ck_assert_throttled("runs WHERE kind = 'command'", "400 20\n");
	ck_assert_throttled("containers", "400 20\n");
}

TEST(time_held_back_in_a_second_cgroup)
{
	WITHOUT_RESTARTS(); /* what an exec says of its cgroup is not stored */
	tell("cgroup 300 /a; cgroup 301 /b; 2>10 bash driver.sh; 10>11; 10>12");
	executes_in(11, 300, 70 * MS);
	end_as(RECORD_EXIT, 11, 0, in_cgroup(512 * MIB, 40 * MIB, 70 * MS));
	executes_in(12, 301, 10 * MS);
	end_as(RECORD_EXIT, 12, 0, in_cgroup(512 * MIB, 400 * MIB, 90 * MS));
	ck_assert_throttled("runs WHERE kind = 'command'", "400 80\n");
}

/* cgrulesengd, LXC's tools and others move a process after its exec. */
TEST(a_process_that_is_moved_has_the_new_cgroup)
{
	tell("cgroup 300 /docker/" HEX64 "; 2>10 align x; 10<2 seen 5 cgroup=300; scan");
	end_as(RECORD_EXIT, 10, 0, in_cgroup(512 * MIB, 400 * MIB, 90 * MS));
	ck_assert_rows("SELECT p.program, c.runtime_id = '" HEX64
		       "', c.memory_limit_bytes / 1048576, c.end_boot_ns IS NULL FROM "
		       "processes p JOIN containers c ON c.id = p.container_id",
		       "align 1 512 0\n");
}

TEST(time_held_back_stays_when_another_cgroup_uses_more)
{
	const char *throttled_ms = "SELECT throttled_ns / 1000000 FROM runs WHERE kind = 'command'";

	tell("cgroup 300 /docker/" HEX64 "; cgroup 301 /other; 2>10 bash driver.sh; "
	     "10>11 cgroup=300 bwa mem x; 10>12 cgroup=301 bwa mem y");
	sample(11, 10, NULL, in_cgroup(0, 300 * MIB, 70 * MS));
	sample(12, 10, NULL, in_cgroup(0, 200 * MIB, 500 * MS));
	end_as(RECORD_EXIT, 11, 0, in_cgroup(0, 300 * MIB, 90 * MS));
	ck_assert_rows(throttled_ms, "20\n");
	struct counters counters = in_cgroup(0, 400 * MIB, 510 * MS);
	counters.cpu_ns += 100 * MS;
	sample(12, 10, NULL, counters);
	ck_assert_rows(throttled_ms, "20\n");
	end_as(RECORD_EXIT, 12, 0, in_cgroup(0, 400 * MIB, 540 * MS));
	ck_assert_rows(throttled_ms, "50\n");
}

static const char partial_sql[] = "SELECT pid, partial FROM processes WHERE pid >= 10 ORDER BY pid, exec_id";

/* The flag stays with an image, and does not carry over to the next one. */
TEST(incomplete_figures_are_marked)
{
	struct counters whole = cpu(5 * MS), partial = cpu(6 * MS);

	partial.valid |= COUNTERS_PARTIAL;
	tell("2>10 bash driver.sh; 10>11 bwa mem x; 10>12 bwa mem y");
	end_as(RECORD_EXIT, 11, 0, partial);
	end_as(RECORD_FINAL, 11, 0, whole);
	sample(12, 10, NULL, partial);
	tell("12 samtools sort");
	end_as(RECORD_EXIT, 12, 0, whole);
	ck_assert_rows(partial_sql, "10 0\n11 1\n12 1\n12 0\n");
	ck_assert_rows("SELECT partial_count FROM runs WHERE kind = 'command'", "2\n");
	ck_assert_rows("SELECT name, partial_count FROM tools WHERE partial_count ORDER BY 1",
		       "bwa mem 1\nbwa mem 1\n");
	tell("restart; 10>13 bwa mem z; ends");
	ck_assert_rows("SELECT partial_count FROM runs WHERE kind = 'command'", "2\n");
}

/* Without a probe. */
TEST(an_end_whose_status_is_unknown_has_the_last_figures)
{
	tell("2>10 bash driver.sh; 10>11 bwa mem x; 10>12 bwa mem y");
	end_unknown(11, cpu(7 * MS));
	end_as(RECORD_EXIT, 12, 0, cpu(5 * MS));
	ck_assert_rows("SELECT ended, totals, exit_code, failed, cpu_ns / 1000000 FROM processes WHERE pid = 11",
		       "lost sample - - 7\n");
	ck_assert_rows("SELECT status FROM tasks WHERE kind = 'generic' ORDER BY begin_boot_ns", "ended\nsucceeded\n");
}

static const char threads_sql[] = "SELECT name, requested_thread_count FROM tools WHERE name = 'pigz' OR "
				  "name IN ('bwa mem', 'samtools index', 'samtools sort', 'samtools view') "
				  "UNION ALL SELECT 'task', requested_thread_count FROM tasks "
				  "WHERE kind = 'generic' AND merged_into_id IS NULL ORDER BY 1, 2";

/* Of a tool the most of its processes, of a task the most of its tools; a pipeline is one task. */
TEST(requested_threads_are_the_most_of_any_process)
{
	tell("2>10 bash driver.sh; 10>11 >71 bwa mem -t 4 x; 10>12 <71 samtools sort -@ 7; 10>13 samtools index x; "
	     "10>14 bash -c run; 14>15 pigz -p2 a; ends; 14>16 pigz -p6 b; ends; 14>17 pigz -p3 c; ends; 14 ends");
	ck_assert_rows(threads_sql, "bwa mem 4\npigz 6\nsamtools index -\nsamtools sort 8\ntask -\ntask 6\ntask 8\n");
	tell("13 samtools view -@ auto x; 13 ends; 11 ends; 12 ends; 10 ends");
	ck_assert_rows(threads_sql, "bwa mem 4\npigz 6\nsamtools index -\nsamtools sort 8\nsamtools view -\n"
				    "task -\ntask 6\ntask 8\n");
}

/* A task keeps the request of a tool that moves with another group only if another tool has it, too. */
TEST(requested_threads_move_with_their_group)
{
	tell("2>10 bash driver.sh; 10>11 bwa mem -t 4 x; 10>12 >71 samtools sort -@ 7; 10>13 <71 samtools view -@ 1; "
	     "13 ends; 12 ends; 11 ends; 10 ends");
	ck_assert_rows(threads_sql, "bwa mem 4\nsamtools sort 8\nsamtools view 2\ntask 4\ntask 8\n");
}

/* The host has two processors. */
static const struct {
	const char *story, *expected;
} allowed[] = {
	{"2>10 make all; 10>11 sort x; ends; 10 ends", "- main -\n- engine -\n"},
	{"2>10 cores=500 make all; 10>11 cores=500 sort x; ends; 10 ends", "500 main 500\n500 engine 500\n"},
	{"2>10 cores=1500 make all; 10>11 cores=64000 sort x; ends; 10 ends", "2000 main 1500\n2000 engine 2000\n"},
	/* replaced before it used anything */
	{"2>10 cores=1500 make all; 10>11 cores=2000 taskset 1 sort x; 11 cores=1000 sort x; ends; 10 ends",
	 "1500 main 1500\n1500 engine 1000\n"},
	/* a fork has its parent's, whatever it binds itself to */
	{"2>10 cores=1500 make all; 10>11 cores=1000 sort x; 11>12; ends", "1000 main -\n1000 engine 1000\n"},
	/* not the shell that starts it, unless there is nothing else */
	{"2>10 cores=2000 bash a.sh; 10>11 cores=1000 sort x; ends; 10 ends", "2000 main 1000\n"},
	{"2>10 cores=2000 make all; 10>11 cores=2000 bash -c x; 11>12 cores=1000 sort x; ends; 11 ends; 10 ends",
	 "2000 main 2000\n2000 engine 1000\n"},
	{"2>10 cores=2000 make all; 10>11 cores=1500 bash -c x; ends; 10 ends", "2000 main 2000\n2000 engine 1500\n"},
	/* a running program: at its first scan; what it binds itself to later does not count */
	{"2>10 cores=1500 make all; 10>11 cores=1000 sort x", "- main -\n- engine -\n"},
	{"2>10 cores=1500 make all; 10>11 cores=1000 sort x; 11<10 seen 5; scan 1", "1000 main -\n1000 engine 1000\n"},
	{"2>10 cores=1500 make all; 10>11 cores=1500 sort x; 11<10 seen 5 cores=500; scan 1; 11 ends; 10 ends",
	 "1500 main 1500\n1500 engine 1500\n"},
	{"10<2 seen 5 cores=1500 make all; 11<10 seen 5 cores=1000 sort x; scan 1; 11 ends; 10 ends",
	 "1500 main 1500\n1500 engine 1000\n"},
	/* a restart in between */
	{"2>10 cores=1500 make all; 10>11 cores=1000 sort x; restart; 11 ends; restart; 10 ends",
	 "1500 main 1500\n1500 engine 1000\n"},
	/* and a helper that joins the task of its pipeline */
	{"2>10 make all; 10>11 >71 cores=1000 cat x; 11<10 seen 5; scan 1; restart; 10>12 <71 cores=500 sort; ends",
	 "1000 main 1000\n1000 engine 1000\n"},
	/* of a task in a container what that allows, not what starts it */
	{"cgroup 600 /docker/" HEX64 "; 1>9 containerd-shim-runc-v2; 2>10 cores=2000 make all; "
	 "10>11 cores=2000 bash b.sh; 11>12 cores=2000 docker run image sort x; 9>13 cgroup=600 cores=500 sort x; "
	 "ends; 12 ends; 11 ends; 10 ends",
	 "2000 main 2000\n2000 engine 500\n"},
	{"cgroup 600 /docker/" HEX64 "; 1>9 containerd-shim-runc-v2; 2>10 cores=2000 docker run image sort x; "
	 "9>12 cgroup=600 cores=500 sort x; restart; 12 ends; restart; 10 ends",
	 "500 main 500\n"},
};

TEST_EACH(allowed_cores_are_the_most_of_any_program, allowed)
{
	tell("%s", allowed[_i].story);
	ck_assert_rows("SELECT DISTINCT r.core_limit_milli, t.kind, t.core_limit_milli FROM processes p JOIN runs r ON "
		       "r.id = p.run_id JOIN tasks t ON t.run_id = r.id WHERE p.pid = 10 AND t.merged_into_id IS NULL "
		       "ORDER BY t.kind DESC",
		       allowed[_i].expected);
}

TEST(no_limit_is_unknown)
{
	tell("2>10 bwa mem x");
	end_as(RECORD_EXIT, 10, 0, in_cgroup(0, 60 * MIB, 0));
	ck_assert_rows("SELECT memory_limit_bytes, cgroup_peak_bytes / 1048576 FROM runs WHERE "
		       "kind = 'command'",
		       "- 60\n");
	ck_assert_rows("SELECT count(*) FROM processes WHERE sent_bytes IS NOT NULL OR memory_delay_ns "
		       "IS NOT NULL OR uninterruptible_ns IS NOT NULL OR gpu IS NOT NULL",
		       "0\n");
	ck_assert_rows("SELECT count(*) FROM runs WHERE sent_bytes IS NOT NULL", "0\n");
}

TEST(network_and_memory_delay_add_up)
{
	struct counters counters = cpu(5 * MS);

	counters.valid |= COUNTER_VALID(sent_bytes) | COUNTER_VALID(received_bytes) | COUNTER_VALID(memory_delay_ns);
	counters.sent_bytes = 1000;
	counters.received_bytes = 500;
	counters.memory_delay_ns = 7 * MS;
	tell("2>10 bash driver.sh; 10>11 curl a; 10>12 curl b");
	end_as(RECORD_EXIT, 11, 0, counters);
	counters.sent_bytes = 10;
	end_as(RECORD_EXIT, 12, 0, counters);
	ck_assert_rows("SELECT sent_bytes, received_bytes, memory_delay_ns / 1000000 FROM runs WHERE "
		       "kind = 'command'",
		       "1010 1000 14\n");
	ck_assert_rows("SELECT pid, sent_bytes FROM processes WHERE pid > 10 ORDER BY pid", "11 1000\n12 10\n");
}

static void device(unsigned pid, unsigned major, unsigned minor)
{
	struct record_device *d = &begin_record(RECORD_DEVICE, key(pid))->device;

	d->major = major;
	d->minor = minor;
	apply();
}

TEST(gpu_devices_that_it_holds)
{
	tell("2>10 python3 train.py");
	device(10, 195, 0);
	device(10, 195, 255);
	device(10, 195, 0);
	device(10, 226, 128);
	device(10, 226, 1);
	device(10, 511, 3);
	device(77, 195, 0); /* an unknown device */
	restart();          /* a restart forgets none of them */
	device(10, 195, 10);
	tell("10 ends");
	ck_assert_rows("SELECT gpu FROM processes WHERE pid = 10",
		       "nvidia0,nvidiactl,dri/renderD128,dri/card1,511:3,nvidia10\n");
}

static void file(unsigned pid, uint64_t position_bytes, uint64_t size_bytes)
{
	struct record_file *f = &begin_record(RECORD_FILE, key(pid))->file;

	f->position_bytes = position_bytes;
	f->size_bytes = size_bytes;
	apply();
}

TEST(largest_file_that_it_reads)
{
	static const uint64_t mib = 1024 * 1024;

	WITHOUT_RESTARTS(); /* which forget the latest reading */
	tell("2>10 gzip a.gz");
	file(10, 5 * mib, 50 * mib);
	file(10, 30 * mib, 40 * mib);      /* a smaller one */
	file(10, 60 * mib, 50 * mib);      /* beyond its end */
	file(10, 1, UINT64_MAX);           /* none can be that large */
	sample(10, 2, NULL, cpu(50 * MS)); /* of the same scan: too early */
	scan(now);
	tell("later 1000");
	sample(10, 2, NULL, cpu(51 * MS)); /* used no more, but has read on */
	scan(now);
	tell("later 1000");
	sample(10, 2, NULL, cpu(100 * MS)); /* not looked for */
	file(10, 5 * mib, 50 * mib);
	scan(now);
	tell("later 1000");
	sample(10, 2, NULL, cpu(100 * MS)); /* has not read on */
	scan(now);
	commit();
	ck_assert_rows("SELECT cpu_ns / 1000000, file_position_bytes / 1048576, file_size_bytes / 1048576 FROM samples "
		       "ORDER BY boot_ns",
		       "50 - -\n51 5 50\n100 - -\n");
}

int main(void)
{
	return streams_run("image");
}
