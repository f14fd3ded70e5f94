/* Losses: reported repeatedly as they grow, counted once. */

#include "correlator/model/account.h"
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

static struct image_key crowd_key(unsigned number)
{
	return (struct image_key){.pid = 100000 + number, .start_boot_ns = (100000 + number) * MS};
}

static void crowd_add(unsigned number, uint32_t user_id)
{
	struct record_fork *fork = &begin_record(RECORD_FORK, crowd_key(number))->fork;

	fork->parent = key(10);
	fork->cgroup_id = CGROUP_BASE;
	fork->uid = user_id;
	apply();
}

static void crowd_see(unsigned number, uint32_t user_id)
{
	struct record *record = begin_record(RECORD_SAMPLE, crowd_key(number));

	record->exec.context.parent = key(10);
	record->exec.context.uid = user_id;
	record->path = bytes("/usr/bin/sleep");
	apply();
}

#define CROWD "SELECT count(*) FROM processes WHERE pid >= 100000"

/* Its processes do not take the memory for those of others. */
TEST(processes_of_a_user_with_too_many_are_counted)
{
	WITHOUT_RESTARTS();
	tell("2>10 uid=1000 bash x.sh; 2>11 uid=1001 bash y.sh");
	for (unsigned number = 0; number < PROCESSES_OF_USER_MAX + 9; number++)
		crowd_add(number, 1000);
	ck_assert_rows("SELECT kind, lost_count FROM losses", "unrecorded 9\n");
	ck_assert_rows("SELECT name, lost_count FROM runs WHERE user_id >= 1000 ORDER BY 1", "x.sh 9\ny.sh 0\n");
	restart();
	crowd_see(PROCESSES_OF_USER_MAX + 9, 1000); /* a scan finds no room either */
	tell("scan; later 1000; scan; 2>12 ls; ends");
	ck_assert_rows("SELECT kind, sum(lost_count) FROM losses", "unrecorded 10\n");
	ck_assert_rows(CROWD, "0\n");

	crowd_see(PROCESSES_OF_USER_MAX + 10, 1001);
	crowd_see(PROCESSES_OF_USER_MAX + 11, 0);
	tell("scan; later 1000; scan; 2>13 ls; ends");
	ck_assert_rows(CROWD, "2\n");
}

TEST(there_is_room_again_for_processes_of_a_user)
{
	WITHOUT_RESTARTS();
	tell("2>10 uid=1000 bash x.sh");
	for (unsigned number = 0; number < PROCESSES_OF_USER_MAX; number++)
		crowd_add(number, 1000);
	ck_assert_rows("SELECT kind, lost_count FROM losses", "");
	begin_record(RECORD_EXIT, crowd_key(1))->exit.flags = 0;
	apply();
	crowd_add(PROCESSES_OF_USER_MAX, 1000);
	ck_assert_rows("SELECT kind, lost_count FROM losses", "");
	crowd_add(PROCESSES_OF_USER_MAX + 1, 1000);
	ck_assert_rows("SELECT kind, lost_count FROM losses", "unrecorded 1\n");
}

int main(void)
{
	return streams_run("loss");
}
