/* Memory at one time: of processes that share pages, that end between two scans, and that write files in memory. */
#include "tests/streams.h"

#define PAGES(mib) ((uint64_t)(mib) << 8)

/* In MiB. Faults as many as it takes to write so much. */
struct held {
	unsigned anon, shared, faults, file, peak;
};

static void sees(unsigned pid, unsigned parent, struct held held)
{
	struct counters counters = cpu(2 * MS);

	counters.valid |= COUNTER_VALID(rss_anon_bytes) | COUNTER_VALID(rss_shmem_bytes) |
			  COUNTER_VALID(rss_file_bytes) | COUNTER_VALID(peak_rss_bytes) | COUNTER_VALID(minor_faults);
	counters.rss_anon_bytes = held.anon * MIB;
	counters.rss_shmem_bytes = held.shared * MIB;
	counters.rss_file_bytes = held.file * MIB;
	counters.minor_faults = PAGES(held.faults);
	counters.peak_rss_bytes = (held.peak ? held.peak : held.anon + held.shared + held.file) * MIB;
	sample(pid, parent, NULL, counters);
}

/* It ends, and its peak was so much, and that of its cgroup, if it is not 0. */
static void ends_in_cgroup(unsigned pid, struct held held, unsigned group_peak)
{
	struct counters counters = group_peak ? in_cgroup(0, group_peak * MIB, 0) : cpu(2 * MS);

	counters.valid |= COUNTER_VALID(rss_shmem_bytes) | COUNTER_VALID(rss_file_bytes) |
			  COUNTER_VALID(peak_rss_bytes) | COUNTER_VALID(minor_faults);
	counters.rss_shmem_bytes = held.shared * MIB;
	counters.rss_file_bytes = held.file * MIB;
	counters.minor_faults = PAGES(held.faults);
	counters.peak_rss_bytes = held.peak * MIB;
	end_as(RECORD_EXIT, pid, 0, counters);
	end_as(RECORD_FINAL, pid, 0, counters);
}

static void ends(unsigned pid, struct held held)
{
	ends_in_cgroup(pid, held, 0);
}

/* Forks a child that has so much at first. Its parent, which has one thread, has had so many faults. */
static void forks(unsigned parent, unsigned pid, unsigned anon, unsigned shared, unsigned faults)
{
	fork_holding(parent, pid,
		     &(struct record_fork){
			     .anon_kib = anon << 10,
			     .parent_shared_kib = shared << 10,
			     .parent_faults = (uint32_t)PAGES(faults),
			     .flags = RECORD_FORK_FAULTS,
		     });
}

static void scan_ends(void)
{
	scan(now);
	tell("later 1000");
}

#define FIGURES "concurrent_memory_bytes / 1048576, unattributed_memory_bytes / 1048576"
#define ck_assert_run(expected) ck_assert_rows("SELECT " FIGURES " FROM runs WHERE kind = 'command'", expected)
#define ck_assert_parts(of, expected) \
	ck_assert_rows("SELECT name, " FIGURES " FROM standing_" of \
		       " WHERE run_id <> (SELECT id FROM runs WHERE kind = 'system') " \
		       "ORDER BY begin_boot_ns", \
		       expected)

/* ---- what a scan sees */

TEST(programs_add_up)
{
	tell("2>10 bash x.sh; 10>11 bwa mem x; 10>12 gzip");
	sees(10, 2, (struct held){.anon = 2});
	sees(11, 10, (struct held){.anon = 100, .file = 50});
	sees(12, 10, (struct held){.anon = 30});
	scan_ends();
	ck_assert_run("132 -\n");
	ck_assert_parts("tools", "x.sh 2 -\nbwa mem 100 -\ngzip 30 -\n");
}

/* A pool of workers over what their parent has read. */
TEST(what_forks_only_read_counts_once)
{
	tell("2>10 python3 pool.py");
	for (unsigned pid = 11; pid < 17; pid++)
		forks(10, pid, 240, 0, 240);
	sees(10, 2, (struct held){.anon = 240, .faults = 240});
	for (unsigned pid = 11; pid < 17; pid++)
		sees(pid, 10, (struct held){.anon = 240, .faults = 1});
	tell("later 1000");
	scan_ends();
	ck_assert_run("246 -\n");
}

TEST(what_forks_write_counts)
{
	tell("2>10 python3 pool.py");
	forks(10, 11, 100, 0, 100);
	forks(10, 12, 100, 0, 100);
	sees(10, 2, (struct held){.anon = 100, .faults = 100});
	sees(11, 10, (struct held){.anon = 100, .faults = 30}); /* copied in part */
	sees(12, 10, (struct held){.anon = 150, .faults = 1});  /* in huge pages, each a single fault */
	scan_ends();
	ck_assert_run("180 -\n");
}

/* The fork of one is still in the ring: it has 100, too, of which the cgroup holds nothing more. */
TEST(what_forks_write_counts_beside_one_that_is_not_known_yet)
{
	tell("2>10 python3 pool.py");
	forks(10, 11, 100, 0, 100);
	memory_cgroup(7, 130 * MIB);
	sees(10, 2, (struct held){.anon = 100, .faults = 100});
	sees(11, 10, (struct held){.anon = 100, .faults = 30});
	sees(12, 10, (struct held){.anon = 100, .faults = 0});
	scan_ends();
	ends(11, (struct held){.peak = 100, .faults = 60});
	ck_assert_run("160 0\n");
}

/* What it had counts once in its children, also if it was never seen again. */
TEST(what_a_parent_that_ended_left_counts_once)
{
	WITHOUT_RESTARTS(); /* what those that have ended held is not stored */
	tell("2>9 bash x.sh; 9>10 python3 pool.py");
	forks(10, 11, 100, 0, 100);
	forks(10, 12, 100, 0, 100);
	ends(10, (struct held){.peak = 100, .faults = 100});
	sees(9, 2, (struct held){.anon = 2});
	sees(11, 1, (struct held){.anon = 100, .faults = 5});
	sees(12, 1, (struct held){.anon = 100, .faults = 5});
	scan_ends();
	ck_assert_run("112 -\n");
}

TEST(what_a_parent_wrote_again_counts_twice)
{
	tell("2>10 python3 pool.py");
	forks(10, 11, 100, 0, 100);
	sees(10, 2, (struct held){.anon = 100, .faults = 160});
	sees(11, 10, (struct held){.anon = 100, .faults = 0});
	scan_ends();
	ck_assert_run("160 -\n");
}

/* ---- shared memory */

TEST(an_inherited_mapping_counts_once)
{
	tell("2>10 python3 pool.py");
	forks(10, 11, 2, 80, 82);
	forks(10, 12, 2, 80, 82);
	sees(10, 2, (struct held){.anon = 2, .shared = 80, .faults = 82});
	sees(11, 10, (struct held){.anon = 2, .shared = 80});
	sees(12, 10, (struct held){.anon = 2, .shared = 90}); /* and some that the parent has not */
	scan_ends();
	ck_assert_run("92 -\n");
}

/* Programs that map the same: only their cgroup tells. */
static const struct {
	unsigned group; /* 0: unknown */
	const char *figures;
} groups[] = {{86, "86 0\n"}, {166, "166 0\n"}, {0, "164 -\n"}};

TEST_EACH(what_programs_share_counts_as_often_as_its_cgroup_says, groups)
{
	tell("2>10 bash x.sh; 10>11 loader; 10>12 reader");
	if (groups[_i].group)
		memory_cgroup(7, groups[_i].group * MIB);
	sees(10, 2, (struct held){.anon = 2});
	sees(11, 10, (struct held){.anon = 1, .shared = 80});
	sees(12, 10, (struct held){.anon = 1, .shared = 80});
	scan_ends();
	ck_assert_run(groups[_i].figures);
}

/* ---- files in memory */

TEST(files_in_memory_belong_to_who_is_alone_in_the_cgroup)
{
	tell("2>10 bwa mem x");
	memory_cgroup(7, (10) * MIB);
	sees(10, 2, (struct held){.anon = 10});
	scan_ends();
	memory_cgroup(7, (310) * MIB);
	sees(10, 2, (struct held){.anon = 10});
	scan_ends();
	ck_assert_run("310 0\n");
}

/* On a busy machine, a scan may come before the events of what it finds. */
TEST(files_that_a_process_wrote_before_its_exec_was_read_are_its_own)
{
	tell("2>9 tracer run -- bwa mem x");
	memory_cgroup(7, 30 * MIB);
	sees(9, 2, (struct held){0});
	sees(10, 9, (struct held){.anon = 10});
	scan_behind(now, 1000);
	tell("9>10 bwa mem x");
	memory_cgroup(7, 90 * MIB);
	sees(9, 2, (struct held){0});
	sees(10, 9, (struct held){.anon = 10});
	scan_ends();
	ck_assert_run("90 0\n");
}

TEST(files_from_before_are_not_its_own_however_busy_the_cgroup_is)
{
	WITHOUT_RESTARTS(); /* what the scan before saw is not stored */
	tell("2>20 gzip");
	for (unsigned i = 0; i < 6; i++) {
		if (i == 3)
			tell("2>10 bwa mem x");
		memory_cgroup(7, (i < 3 ? 310 : 320) * MIB);
		sees(20, 2, (struct held){.anon = 10});
		if (i >= 3)
			sees(10, 2, (struct held){.anon = 10});
		sees(900 + i, 20, (struct held){0}); /* another one each time */
		scan_ends();
	}
	ck_assert_rows("SELECT " FIGURES " FROM runs WHERE name LIKE 'bwa%'", "10 0\n");
}

TEST(otherwise_a_figure_says_by_how_much_it_may_be_too_low)
{
	tell("2>10 bwa mem x; 2>20 gzip");
	for (unsigned held = 20; held <= 320; held += 300) {
		memory_cgroup(7, (held)*MIB);
		sees(10, 2, (struct held){.anon = 10});
		sees(20, 2, (struct held){.anon = 10});
		scan_ends();
	}
	ck_assert_rows("SELECT " FIGURES " FROM runs WHERE kind = 'command'", "10 300\n10 300\n");
}

/* ---- between two scans */

TEST(peaks_of_those_that_ran_at_one_time_add_up)
{
	WITHOUT_RESTARTS(); /* the same */
	tell("2>10 bash x.sh; 10>11 bwa mem a; 10>12 bwa mem b");
	ends(11, (struct held){.peak = 100});
	ends(12, (struct held){.peak = 50});
	tell("10>13 bwa mem c");
	ends(13, (struct held){.peak = 120});
	ck_assert_run("150 -\n");
}

/* Only the cgroup can tell that it is not what their parent has mapped. */
TEST(what_forks_share_with_nobody_counts)
{
	tell("2>9 bash x.sh; 9>8 gzip; 9>10 python3 pool.py");
	forks(10, 11, 0, 20, 0);
	forks(10, 12, 0, 20, 0);
	memory_cgroup(7, 61 * MIB);
	sees(9, 2, (struct held){0});
	sees(8, 9, (struct held){.anon = 1});
	sees(10, 9, (struct held){.shared = 20});
	sees(11, 10, (struct held){.shared = 20});
	sees(12, 10, (struct held){.shared = 20});
	scan_ends();
	ck_assert_parts("tools", "x.sh - 0\ngzip 1 0\npool.py 60 0\n");
}

TEST(a_peak_counts_beside_shared_memory)
{
	WITHOUT_RESTARTS(); /* the same */
	tell("2>10 bash x.sh; 10>11 bwa mem a; 10>12 bwa mem b; 10>13 gzip");
	ends(13, (struct held){.peak = 40});
	tell("10>14 sort");
	memory_cgroup(7, 80 * MIB);
	sees(11, 10, (struct held){.shared = 50});
	sees(12, 10, (struct held){.shared = 30});
	memory_cgroup(8, 35 * MIB);
	sees(14, 10, (struct held){.shared = 35}); /* only since then */
	scan_ends();
	ck_assert_run("120 0\n");
}

/* It has mapped a little more of the same than the one before. */
TEST(shared_memory_of_a_newcomer_is_not_new)
{
	tell("2>10 bash x.sh; 10>11 loader");
	memory_cgroup(7, 83 * MIB);
	sees(10, 2, (struct held){.anon = 2});
	sees(11, 10, (struct held){.anon = 1, .shared = 80});
	scan_ends();
	tell("10>12 reader");
	memory_cgroup(7, 85 * MIB);
	sees(10, 2, (struct held){.anon = 2});
	sees(12, 10, (struct held){.anon = 1, .shared = 81});
	sees(11, 10, (struct held){.anon = 1, .shared = 80});
	scan_ends();
	ck_assert_run("85 0\n");
}

/* On a busy machine, the end of what a scan did not find may be reported later. */
TEST(peaks_add_up_if_a_scan_came_before_the_reports_of_their_ends)
{
	WITHOUT_RESTARTS(); /* the same */
	tell("2>10 bash x.sh; 10>11 bwa mem a");
	sees(10, 2, (struct held){.anon = 2});
	sees(11, 10, (struct held){.anon = 30});
	scan_ends();
	tell("10>12 gzip");
	ends(12, (struct held){.peak = 40});
	uint64_t before = now;

	tell("later 1000");
	sees(10, 2, (struct held){.anon = 2});
	scan_behind(now, 0);
	now = before;
	ends(11, (struct held){.peak = 100});
	ck_assert_run("142 -\n");
}

TEST(a_peak_counts_beside_what_forks_inherited)
{
	WITHOUT_RESTARTS(); /* the same */
	tell("2>10 bash x.sh; 10>11 bwa mem x");
	forks(11, 12, 30, 0, 30);
	sees(11, 10, (struct held){.anon = 30, .faults = 60}); /* written again since */
	sees(12, 11, (struct held){.anon = 30});
	tell("10>13 gzip");
	ends(13, (struct held){.peak = 40});
	scan_ends();
	ck_assert_run("100 -\n");
	tell("10>14 gzip");
	ends(14, (struct held){.peak = 50});
	sees(11, 10, (struct held){.anon = 30, .faults = 60});
	sees(12, 11, (struct held){.anon = 30});
	scan_ends();
	ck_assert_run("110 -\n");
}

TEST(what_a_parent_freed_is_what_its_forks_hold)
{
	tell("2>10 bash x.sh; 10>11 bwa mem x");
	forks(11, 12, 80, 0, 80);
	sees(11, 10, (struct held){.peak = 80, .faults = 80});
	sees(12, 11, (struct held){.anon = 80});
	scan_ends();
	ck_assert_run("80 -\n");
}

/* A daemon goes on with what the program that started it had read. */
TEST(what_forks_inherited_lasts_longer_than_their_parent)
{
	WITHOUT_RESTARTS(); /* the same */
	tell("2>10 bash x.sh; 10>11 bwa mem x");
	forks(11, 12, 160, 0, 160);
	ends(11, (struct held){.peak = 160, .faults = 160});
	forks(12, 13, 160, 0, 0);
	ends(12, (struct held){.peak = 160});
	tell("10>14 gzip");
	ends(14, (struct held){.peak = 40});
	ends(13, (struct held){.peak = 160, .faults = 5});
	ck_assert_run("205 -\n");
}

TEST(what_forks_inherited_is_not_all_that_their_parent_held)
{
	WITHOUT_RESTARTS(); /* the same */
	tell("2>10 bash x.sh; 10>11 bwa mem x");
	forks(11, 12, 5, 0, 1000);
	ends(11, (struct held){.peak = 1000, .faults = 1000});
	sees(10, 2, (struct held){.anon = 2});
	sees(12, 1, (struct held){.anon = 5});
	scan_ends();
	tell("10>14 gzip");
	for (int i = 0; i < 2; i++) {
		sees(10, 2, (struct held){.anon = 2});
		sees(12, 1, (struct held){.anon = 5});
		sees(14, 10, (struct held){.anon = 900});
		scan_ends();
	}
	ck_assert_run("1002 -\n");
}

TEST(what_forks_inherited_counts_since_the_first_of_them)
{
	WITHOUT_RESTARTS(); /* the same */
	tell("2>10 bash x.sh; 10>11 bwa mem x");
	forks(11, 12, 30, 0, 30);
	tell("10>13 gzip");
	ends(13, (struct held){.peak = 40});
	forks(11, 14, 30, 0, 30);
	sees(11, 10, (struct held){.anon = 30, .faults = 60});
	sees(12, 11, (struct held){.anon = 30});
	sees(14, 11, (struct held){.anon = 30});
	scan_ends();
	ck_assert_run("100 -\n");
}

TEST(what_a_parent_wrote_again_and_freed_was_its_own)
{
	tell("2>10 bash x.sh; 10>11 bwa mem x");
	forks(11, 12, 30, 0, 30);
	sees(11, 10, (struct held){.anon = 30, .faults = 230, .peak = 200});
	sees(12, 11, (struct held){.anon = 30});
	scan_ends();
	ck_assert_run("230 -\n");
}

/* Its page cache does not count. */
TEST(a_peak_counts_without_files)
{
	tell("2>10 bash x.sh; 10>11 bwa mem a");
	ends(11, (struct held){.peak = 100, .file = 60});
	ck_assert_run("40 -\n");
}

TEST(a_peak_counts_beside_what_the_scan_before_saw)
{
	WITHOUT_RESTARTS(); /* the same of what a scan saw */
	tell("2>10 bash x.sh; 10>11 bwa mem a");
	sees(10, 2, (struct held){.anon = 2});
	sees(11, 10, (struct held){.anon = 60});
	scan_ends();
	tell("10>12 gzip");
	ends(12, (struct held){.peak = 30});
	ck_assert_run("92 -\n");
}

/* What mapped the same shared memory between two scans, and is gone. */
TEST(it_is_not_more_than_the_peak_of_the_cgroup)
{
	WITHOUT_RESTARTS(); /* what those that have ended held is not stored */
	tell("cgroup 300 /job; cgroup 301 /job/other; 2>10 cgroup=300 bash x.sh; 10>11 cgroup=300 loader; 10>12 cgroup=300 reader");
	ends_in_cgroup(11, (struct held){.shared = 80, .peak = 80}, 100);
	ends_in_cgroup(12, (struct held){.shared = 80, .peak = 80}, 100);
	ck_assert_run("100 -\n");
	tell("10>13 cgroup=301 reader");
	ends_in_cgroup(13, (struct held){.peak = 10}, 10);
	ck_assert_run("160 -\n"); /* some of them were in another cgroup */
}

TEST(reserved_huge_pages_are_beyond_that)
{
	tell("cgroup 300 /job; 2>10 cgroup=300 bwa mem x");
	struct record_memory *memory = &begin_record(RECORD_MEMORY, (struct image_key){0})->memory;

	memory->cgroup_id = 300;
	memory->held_bytes = 10 * MIB;
	memory->huge_bytes = 200 * MIB;
	apply();
	sees(10, 2, (struct held){.anon = 10});
	scan_ends();
	ends_in_cgroup(10, (struct held){.peak = 10}, 12);
	ck_assert_run("210 0\n");
}

/* ---- samples */

TEST(samples_add_up_to_the_run)
{
	tell("2>10 python3 pool.py");
	forks(10, 11, 240, 0, 240);
	tell("later 1000");
	sees(10, 2, (struct held){.anon = 240, .faults = 240});
	sees(11, 10, (struct held){.anon = 240, .faults = 3});
	scan_ends();
	ck_assert_rows("SELECT sum(memory_bytes) / 1048576 FROM samples", "243\n");
}

/* Of a release that did not report what a fork has. */
TEST(a_fork_of_an_older_probe_counts_by_its_faults)
{
	tell("2>10 python3 pool.py");
	fork_holding(10, 11, &(struct record_fork){.anon_kib = RECORD_KIB_UNKNOWN});
	sees(10, 2, (struct held){.anon = 240, .faults = 240});
	sees(11, 10, (struct held){.anon = 240, .faults = 3});
	scan_ends();
	ck_assert_run("243 -\n");
}

int main(void)
{
	return streams_run("memory");
}
