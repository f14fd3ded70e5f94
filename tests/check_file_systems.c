/* What is said of file systems, round by round; the server of some does not answer. */

#include "correlator/host/file_systems.h"
#include "tests/suite.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define S INT64_C(1000000000)
#define TOTAL 1000000

static struct file_systems *file_systems;
static int64_t now_ns, said_ns;
static char said[4096];

/* The figures of each mount point, and whether its server answers. */
static struct server {
	const char *point;
	_Atomic int64_t available;
	atomic_bool hangs;
	atomic_int asked_count;
} servers[] = {{"/"}, {"/a"}, {"/b"}, {"/h"}}; /* the last for all that begin with it */

static struct server *server_of(const char *point)
{
	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
		if (strcmp(servers[i].point, point) == 0)
			return &servers[i];
	return &servers[3];
}

static void wait_a_little(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static int ask(const struct mount *mount, int64_t *ret_total_bytes, int64_t *ret_available_bytes)
{
	struct server *server = server_of(mount->point);

	atomic_fetch_add(&server->asked_count, 1);
	while (atomic_load(&server->hangs))
		wait_a_little();
	*ret_total_bytes = TOTAL;
	*ret_available_bytes = atomic_load(&server->available);
	return *ret_available_bytes < 0 ? -1 : 0;
}

static void take(const struct row_file_system_sample *sample, void *data)
{
	char text[128];

	if (sample->available_bytes == ROW_NULL)
		snprintf(text, sizeof(text), "%s ? ", sample->mount_point);
	else
		snprintf(text, sizeof(text), "%s %jd ", sample->mount_point, (intmax_t)sample->available_bytes);
	strcat(said, text);
	said_ns = sample->unix_ns;
	ck_assert_int_eq(sample->total_bytes, sample->available_bytes == ROW_NULL ? ROW_NULL : TOTAL);
	ck_assert_str_eq(sample->type, "ext4");
}

static void setup(void)
{
	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
		servers[i].available = 500000;
		servers[i].hangs = false;
		servers[i].asked_count = 0;
	}
	now_ns = 1000 * S;
	file_systems = file_systems_new(ask);
}

static void teardown(void)
{
	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
		servers[i].hangs = false;
	file_systems_free(file_systems);
}

/* What is said when a round with these mounts begins, ten seconds after the previous one. */
static const char *step(const char *points)
{
	char text[4096] = "", *at = text;
	struct mounts mounts;

	for (int id = 10; *points; id++) {
		size_t size = strcspn(points, " ");

		at += sprintf(at, "%d 10 8:%d / ", id, id);
		at = mempcpy(at, points, size);
		at += sprintf(at, " rw - ext4 /dev/sda rw\n");
		points += size + (points[size] == ' ');
	}
	ck_assert_int_eq(mounts_parse(text, &mounts), 0);
	said[0] = '\0';
	ck_assert_int_eq(file_systems_step(file_systems, &mounts, now_ns, take, NULL), 0);
	mounts_deinit(&mounts);
	now_ns += 10 * S;
	return said;
}

static void await_asked(int number, int count)
{
	while (atomic_load(&servers[number].asked_count) < count)
		wait_a_little();
}

/* Until the thread of the last round has asked about the last of these. */
static const char *round_of(const char *points, int last)
{
	const int before = servers[last].asked_count;
	const char *text = step(points);

	await_asked(last, before + 1);
	for (int i = 0; i < 20; i++) /* the answer is noted after it is given */
		wait_a_little();
	return text;
}

TEST(a_round_says_what_the_one_before_found)
{
	ck_assert_str_eq(round_of("/ /a", 1), "");
	ck_assert_str_eq(round_of("/ /a", 1), "/ 500000 /a 500000 ");
}

TEST(only_what_changed_by_a_hundredth_is_said)
{
	round_of("/ /a", 1);
	round_of("/ /a", 1);
	ck_assert_str_eq(round_of("/ /a", 1), "");
	servers[0].available = 495001; /* less than a hundredth */
	servers[1].available = 495000;
	round_of("/ /a", 1);
	ck_assert_str_eq(round_of("/ /a", 1), "/a 495000 ");
	servers[0].available = 494000; /* compared with what was said */
	servers[1].available = 0;
	round_of("/ /a", 1);
	ck_assert_str_eq(round_of("/ /a", 1), "/ 494000 /a 0 ");
	ck_assert_str_eq(round_of("/ /a", 1), "");
}

TEST(the_same_is_said_again_after_ten_minutes)
{
	round_of("/", 0);
	round_of("/", 0);
	now_ns += 570 * S;
	round_of("/", 0);
	ck_assert_str_eq(round_of("/", 0), "");
	ck_assert_str_eq(round_of("/", 0), "/ 500000 ");
}

TEST(what_is_gone_or_refused_is_unknown_once)
{
	round_of("/ /a /b", 2);
	round_of("/ /b", 2);
	ck_assert_str_eq(round_of("/ /b", 2), "/a ? ");
	servers[2].available = -1;
	round_of("/ /b", 2);
	ck_assert_str_eq(round_of("/ /b", 2), "/b ? ");
	ck_assert_str_eq(round_of("/ /b", 2), "");
}

/* Time and mount point are the key of a row. */
TEST(what_comes_back_is_not_said_of_the_same_time)
{
	round_of("/ /a", 1);
	round_of("/ /a", 1);
	round_of("/", 0);
	ck_assert_str_eq(round_of("/ /a", 1), "/a ? ");
	ck_assert_int_eq(said_ns, now_ns - 20 * S);
	ck_assert_str_eq(round_of("/ /a", 1), "/a 500000 ");
	ck_assert_int_eq(said_ns, now_ns - 20 * S);
}

/* The others are asked by another thread, and it is not asked again before it has answered. */
TEST(a_server_that_does_not_answer_holds_nothing_up)
{
	servers[1].hangs = true;
	step("/ /a /b");
	await_asked(1, 1);
	ck_assert_str_eq(round_of("/ /a /b", 2), "/ 500000 /a ? /b ? ");
	ck_assert_str_eq(round_of("/ /a /b", 2), "/b 500000 ");
	for (int i = 0; i < 20; i++)
		ck_assert_str_eq(round_of("/ /a /b", 2), "");
	ck_assert_int_eq(servers[1].asked_count, 1);
	servers[1].hangs = false;
	while (servers[1].asked_count == 1) {
		step("/ /a /b");
		wait_a_little();
	}
	round_of("/ /a /b", 2);
	ck_assert_int_ge(servers[1].asked_count, 2);
}

/* Each costs a thread, up to a number of them; then all are unknown until some have answered. */
TEST(threads_that_hang_are_few)
{
	char points[1024] = "/";

	for (int i = 0; i < 40; i++)
		sprintf(points + strlen(points), " /h%d", i);
	servers[3].hangs = true;
	for (int i = 1; i <= 16; i++) {
		step(points);
		await_asked(3, i);
	}
	step(points);
	ck_assert_str_eq(step(points), "/ ? ");
	for (int i = 0; i < 20; i++)
		step(points);
	ck_assert_int_eq(servers[3].asked_count, 16);
	servers[3].hangs = false;
	while (!strstr(step(points), "/ 500000 "))
		wait_a_little();
}

TEST(the_end_waits_for_no_server)
{
	servers[0].hangs = true;
	step("/");
	await_asked(0, 1);
	file_systems_free(file_systems);
	file_systems = NULL;
}

/* Else a hidden mount would be as full as what hides it. */
TEST(the_kernel_says_what_a_mount_point_leads_to)
{
	struct mount root = {.point = (char[]){"/"}};
	int64_t total, available;
	struct statx found;

	ck_assert_int_eq(statx(AT_FDCWD, root.point, 0, STATX_MNT_ID, &found), 0);
	root.id = found.stx_mnt_id;
	ck_assert_int_eq(file_systems_ask_kernel(&root, &total, &available), 0);
	ck_assert_int_gt(total, 0);
	root.id++;
	ck_assert_int_eq(file_systems_ask_kernel(&root, &total, &available), -1);
}

int main(void)
{
	return suite_run("file_systems", setup, teardown);
}
