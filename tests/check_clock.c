/* The wall clock of the host is set, or was wrong: what is stored of it. */
#include "tests/streams.h"

#define S (1000 * MS)
#define HOUR (3600 * S)
#define NOW (UINT64_C(1795277914) * S) /* wall clock when the boot clock was 0, in 2026 */

/* A minute of scans, of init, the ssh daemon and what was told. */
static void pass(void)
{
	for (int i = 0; i < 40; i++)
		wait_ms(1000);
}

static const struct step {
	const char *what;
	int64_t from_ns, to_ns; /* how far the wall clock is off, at first and then */
	const char *sentence;
} steps[] = {
	{"right", 0, 0, ""},
	{"an hour ahead, set right", HOUR, 0,
	 "the wall clock was set back by 1h00m: times from before are that much too late\n"},
	{"an hour behind, set right", -(int64_t)HOUR, 0,
	 "the wall clock was set forward by 1h00m: times from before are that much too early\n"},
	{"in 1970, set right", -(int64_t)NOW, 0,
	 "the wall clock was set forward by 20778d16h: times from before are that much too early\n"},
	{"in 2036, set right", 10 * 365 * 24 * (int64_t)HOUR, 0,
	 "the wall clock was set back by 3650d00h: times from before are that much too late\n"},
	{"right, set ahead", 0, HOUR,
	 "the wall clock was set forward by 1h00m: times from before are that much too early\n"},
	{"adjusted", 0, 2 * (int64_t)S, ""},
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

static int64_t integer(const char *sql)
{
	return strtoll(rows(sql), NULL, 10);
}

static void check_host(const char *what, int64_t off_ns)
{
	int64_t last = integer("SELECT last_seen_unix_ns FROM hosts");
	int64_t due = (int64_t)(NOW + now) + off_ns;

	ck_assert_msg(last <= due && last >= due - 31 * (int64_t)S, "%s: last seen %lld s late", what,
		      (long long)(last - due) / (long long)S);
	ck_assert_msg(integer("SELECT first_seen_unix_ns FROM hosts") <= last, "%s: first seen after last", what);
	ck_assert_msg(integer("SELECT boot_unix_ns FROM hosts") == (int64_t)NOW + off_ns, "%s: boot", what);
}

/* An empty store, and a host whose clock is off by so much. */
static void begin_with_clock(int64_t off_ns)
{
	begin_again();
	close_model();
	change_store(
		"DELETE FROM hosts; DELETE FROM runs; DELETE FROM tasks; DELETE FROM tools; DELETE FROM process_rows; "
		"DELETE FROM states; DELETE FROM stream");
	clock_offset_ns = NOW + (uint64_t)off_ns;
	open_model();
	boot("boot-1");
}

/* In the middle of a boot, while the correlator runs or does not: the host was last seen now, by the clock as it is. The
 * step is reported once. */
TEST(the_clock_is_set)
{
	for (size_t i = 0; i < 2 * STEPS; i++) {
		const struct step *step = &steps[i / 2];

		begin_with_clock(step->from_ns);
		pass();
		check_host(step->what, step->from_ns);
		clock_offset_ns = NOW + (uint64_t)step->to_ns;
		if (i % 2)
			restart();
		pass();
		check_host(step->what, step->to_ns);
		pass();
		ck_assert_rows("SELECT sentence FROM incidents", step->sentence);
	}
}

/* A later boot shows that the clock had been ahead. A clock that was behind is like time in which the host was off. */
TEST(the_clock_is_right_after_a_boot)
{
	for (size_t i = 0; i < STEPS; i++) {
		const struct step *step = &steps[i];

		begin_with_clock(step->from_ns);
		pass();
		now += 100 * S;
		clock_offset_ns = NOW + (uint64_t)step->to_ns;
		boot("boot-2");
		pass();
		check_host(step->what, step->to_ns);
		ck_assert_rows("SELECT kind, count(*) FROM incidents GROUP BY kind",
			       step->from_ns > step->to_ns ? "clock 1\n" : "");
	}
}

/* Its time as the system's run counts from the right clock, also when that has ended. */
TEST(what_was_watched_is_placed_by_the_clock_that_was_set)
{
	begin_with_clock(10 * 365 * 24 * (int64_t)HOUR);
	pass();
	clock_offset_ns = NOW;
	pass();
	ck_assert_rows("SELECT (unix_ns - boot_ns) / 1000000000 FROM incidents JOIN runs r ON r.id = run_id "
		       "WHERE r.kind = 'system'",
		       "1795277914\n");
}

int main(void)
{
	return streams_run("clock");
}
