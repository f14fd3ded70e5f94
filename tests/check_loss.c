/* Losses: reported repeatedly as they grow, counted once. */

#include "tests/streams.h"

static void lose(int index, enum record_type type, uint64_t cgroup_id, uint64_t count)
{
	struct loss_slot *slot = &loss_counts[index];

	slot->type = type;
	slot->cgroup_id = cgroup_id;
	slot->count += count;
	slot->last_boot_ns = now;
	if (!slot->first_boot_ns)
		slot->first_boot_ns = now;
}

static void tell_losses(void)
{
	begin(WIRE_LOSSES)->losses.slots =
		(struct wire_bytes){.data = (const char *)loss_counts, .size = sizeof(loss_counts)};
	apply();
}

#define LOST_OF_RUNS "SELECT lost_count FROM runs WHERE kind <> 'system' ORDER BY begin_boot_ns"
#define LOST "SELECT kind, lost_count FROM losses ORDER BY 1, 2"

TEST(losses_make_what_ran_there_incomplete)
{
	tell("2>10 bwa mem x; cgroup 300 /elsewhere; 2>11 cgroup=300 bwa mem y");
	lose(3, RECORD_EXEC, CGROUP_BASE, 5);
	lose(7, RECORD_FINAL, CGROUP_BASE, 3); /* the figures of the exit are used instead */
	tell_losses();
	ck_assert_rows(LOST_OF_RUNS, "5\n0\n");
	ck_assert_rows(LOST, "exec 5\nfinal 3\n");
}

TEST(of_losses_what_is_new_counts)
{
	tell("2>10 bwa mem x");
	lose(3, RECORD_EXEC, CGROUP_BASE, 5);
	tell_losses();
	end_as(RECORD_EXIT, 10, 0, cpu(5 * MS));
	tell("restart; wait 1000; restart");
	lose(3, RECORD_EXEC, CGROUP_BASE, 1); /* may still affect the first process */
	tell_losses();
	tell("2>11 bwa mem y");
	tell_losses();                        /* no change */
	lose(3, RECORD_EXEC, CGROUP_BASE, 2); /* cannot affect the first process */
	tell_losses();
	tell_losses();
	ck_assert_rows(LOST_OF_RUNS, "6\n2\n");
	ck_assert_rows(LOST, "exec 8\n");
	memset(loss_counts, 0, sizeof(loss_counts)); /* counts of another ring */
	now += MS;
	lose(3, RECORD_EXEC, CGROUP_BASE, 1);
	tell_losses();
	ck_assert_rows(LOST_OF_RUNS, "6\n3\n");
	ck_assert_rows(LOST, "exec 1\nexec 8\n");
}

TEST(losses_concern_what_ran_at_their_first_or_last_moment)
{
	tell("2>10 bwa mem x");
	end_as(RECORD_EXIT, 10, 0, cpu(5 * MS));
	lose(3, RECORD_EXEC, CGROUP_BASE, (uint64_t)1 << 40);
	tell("2>11");
	loss_counts[3].last_boot_ns = now;
	tell("11 bwa mem y");
	tell_losses();
	ck_assert_rows(LOST_OF_RUNS, "1099511627776\n1099511627776\n");
}

TEST(losses_are_remembered_with_their_rows)
{
	tell("2>10 bwa mem x");
	lose(3, RECORD_EXEC, CGROUP_BASE, 5);
	tell_losses();
	commit();
	lose(4, RECORD_FORK, CGROUP_BASE, 1);
	tell_losses();
	close_model(); /* killed before committing it */
	open_model();
	hello("boot-1");
	tell_losses();
	ck_assert_rows(LOST_OF_RUNS, "6\n");
	ck_assert_rows(LOST, "exec 5\nfork 1\n");
}

/* The path is sent once per connection, if at all. */
TEST(losses_know_the_path_of_their_cgroup_after_a_restart)
{
	tell("cgroup 300 /job; restart");
	lose(3, RECORD_EXEC, 300, 5);
	lose(4, RECORD_EXEC, 301, 1);
	tell_losses();
	ck_assert_rows("SELECT cgroup_path, lost_count FROM losses ORDER BY 2", "- 1\n/job 5\n");
}

TEST(losses_of_a_boot_before_end_nothing)
{
	lose(3, RECORD_EXEC, CGROUP_BASE, 5);
	tell_losses();
	commit();
	boot("boot-2");
	tell("2>10 bwa mem x; commit");
	close_model();
	open_model();
	hello("boot-2");
	ck_assert_rows("SELECT ended FROM processes WHERE pid = 10", "-\n");
}

TEST(losses_that_cannot_be_are_passed_over)
{
	tell("2>10 bwa mem x");
	lose(3, RECORD_EXEC, CGROUP_BASE, UINT64_MAX);
	lose(4, (enum record_type)77, CGROUP_BASE, 2);
	loss_counts[4].last_boot_ns = 0; /* not yet updated by the kernel */
	tell_losses();
	ck_assert_rows(LOST, "unknown 2\n");
	ck_assert_rows("SELECT last_boot_ns - first_boot_ns FROM losses", "0\n");
}

int main(void)
{
	return streams_run("loss");
}
