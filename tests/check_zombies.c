/* Children that have ended and that their parent does not reap. */
#include "tests/streams.h"

#define FIRST_PID 1000

static const char incidents[] = "SELECT i.kind, p.pid, i.sentence, (i.end_boot_ns - i.boot_ns) / 1000000000 "
				"FROM incidents i JOIN processes p ON p.id = i.process_id";

/* Scans every 10 s for `seconds` that find bwa (12), its parent, and `count` zombies that are `parent`'s by now. */
static void hold(unsigned seconds, unsigned parent, unsigned count)
{
	for (unsigned second = 0; second < seconds; second += 10) {
		uint64_t boot_ns = now += 10000 * MS;

		for (unsigned pid = 1; pid <= 12; pid++)
			if (pid <= 2 || pid >= 10)
				sample(pid, 0, NULL, cpu(boot_ns / 2));
		for (unsigned i = 0; i < count; i++)
			sample_as(FIRST_PID + i, parent, NULL, cpu(0), RECORD_EXITING);
		scan(boot_ns);
		now = boot_ns;
	}
}

TEST(a_parent_that_does_not_reap)
{
	WITHOUT_RESTARTS();
	begin_step();
	hold(600, 12, 100);
	ck_assert_rows("SELECT count(*) FROM incidents", "0\n");
	hold(20, 12, 100);
	ck_assert_rows(incidents, "zombies 12 bwa mem (pid 12) has not reaped 100 children that ended -\n");
	hold(20, 12, 199); /* written again only when there are twice as many */
	ck_assert_rows("SELECT sentence FROM incidents", "bwa mem (pid 12) has not reaped 100 children that ended\n");
	hold(20, 12, 200);
	restart();
	hold(20, 12, 200);
	ck_assert_rows(incidents, "zombies 12 bwa mem (pid 12) has not reaped 200 children that ended -\n");
	hold(20, 12, 99);
	ck_assert_rows(incidents, "zombies 12 bwa mem (pid 12) had not reaped 200 children that ended 680\n");
}

TEST(it_ends_with_the_parent)
{
	WITHOUT_RESTARTS();
	begin_step();
	hold(620, 12, 100);
	tell("12 ends");
	ck_assert_rows("SELECT count(*), count(end_boot_ns) FROM incidents", "1 1\n");
}

/* Its own children and those it adopted, as the first process of a container does. */
TEST(orphans_are_those_of_who_adopted_them)
{
	WITHOUT_RESTARTS();
	begin_step();
	for (unsigned i = 0; i < 100; i++)
		tell("12>%u", FIRST_PID + i);
	for (unsigned i = 0; i < 100; i++)
		end_as(RECORD_EXIT, FIRST_PID + i, 0, cpu(0));
	hold(620, 11, 100);
	ck_assert_rows("SELECT p.pid FROM incidents i JOIN processes p ON p.id = i.process_id", "11\n");
}

/* Fewer, for less time, or reaped and held anew. */
TEST(a_parent_that_reaps_late)
{
	WITHOUT_RESTARTS();
	begin_step();
	hold(1200, 12, 99);
	for (int i = 0; i < 3; i++) {
		hold(590, 12, 100);
		hold(10, 12, 0);
	}
	hold(600, 3, 100); /* of one that is not known */
	ck_assert_rows("SELECT count(*) FROM incidents", "0\n");
}

int main(void)
{
	return streams_run("zombies");
}
