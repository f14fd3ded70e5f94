/* Asks how full the mounted file systems are. See file_systems.h. */
#include "correlator/host/file_systems.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define HUNG_MAX 16 /* threads that wait; if there are more, no file system is asked about */
#define STACK_SIZE (256 * 1024)
#define REPEAT_NS (10 * 60 * INT64_C(1000000000))

struct answer {
	int64_t total_bytes, available_bytes; /* ROW_NULL unknown */
};

/* Shared with the thread that asks. It has answered for mounts[0 .. done_count - 1]. */
struct round {
	atomic_int owner_count; /* the last one frees it */
	struct mounts mounts;
	struct answer *answers;
	int64_t unix_ns;
	file_systems_ask *ask;
	atomic_size_t done_count;
	atomic_bool is_given_up; /* the others need no answer any more */
};

/* What was last said of a mount. */
struct told {
	struct mount mount; /* owns its point */
	struct answer answer;
	int64_t unix_ns;
};

struct file_systems {
	file_systems_ask *ask;
	struct round *round; /* NULL: none yet */
	struct round *hung[HUNG_MAX];
	size_t hung_count;
	struct told *told;
	size_t told_count;
};

static const struct answer unknown = {ROW_NULL, ROW_NULL};

/* Whether its mount point leads to it: a mount at a directory above, made later, hides it. */
static bool is_seen(const struct mount *mount)
{
	struct statx found;

	return statx(AT_FDCWD, mount->point, AT_NO_AUTOMOUNT, STATX_MNT_ID, &found) == 0 &&
	       found.stx_mask & STATX_MNT_ID && found.stx_mnt_id == mount->id;
}

int file_systems_ask_kernel(const struct mount *mount, int64_t *ret_total_bytes, int64_t *ret_available_bytes)
{
	struct statvfs found;
	uint64_t total, available;

	if (!is_seen(mount) || statvfs(mount->point, &found) < 0 || found.f_blocks == 0 ||
	    __builtin_mul_overflow(found.f_blocks, found.f_frsize, &total) || total > INT64_MAX)
		return -1;
	/* Some report a negative number once the reserve is used. */
	available = found.f_bavail > found.f_blocks ? 0 : found.f_bavail * found.f_frsize;
	*ret_total_bytes = (int64_t)total;
	*ret_available_bytes = (int64_t)available;
	return 0;
}

/* ---- a round ----------------------------------------------------------------------- */

static void round_free(struct round *round)
{
	if (round) {
		mounts_deinit(&round->mounts);
		free(round->answers);
	}
	free(round);
}

static void round_release(struct round *round)
{
	if (round && atomic_fetch_sub(&round->owner_count, 1) == 1)
		round_free(round);
}

static bool round_is_done(const struct round *round)
{
	return atomic_load(&round->done_count) == round->mounts.count;
}

static void *round_run(void *data)
{
	struct round *round = data;
	size_t count = round->mounts.count;

	for (size_t i = 0; i < count; i++) {
		struct answer *answer = &round->answers[i];

		if (round->mounts.items[i].is_askable && !atomic_load(&round->is_given_up) &&
		    round->ask(&round->mounts.items[i], &answer->total_bytes, &answer->available_bytes) < 0)
			*answer = unknown;
		atomic_store(&round->done_count, i + 1);
	}
	round_release(round);
	return NULL;
}

static struct round *round_new(struct mounts *mounts, int64_t unix_ns, file_systems_ask *ask)
{
	struct round *round = calloc(1, sizeof(*round));
	struct answer *answers = calloc(mounts->count + 1, sizeof(*answers));

	if (!round || !answers) {
		free(round);
		free(answers);
		return NULL;
	}
	for (size_t i = 0; i < mounts->count; i++)
		answers[i] = unknown;
	round->owner_count = 1;
	round->mounts = *mounts;
	round->answers = answers;
	round->unix_ns = unix_ns;
	round->ask = ask;
	*mounts = (struct mounts){0};
	return round;
}

static bool has_askable(const struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++)
		if (mounts->items[i].is_askable)
			return true;
	return false;
}

static int round_start(struct round *round)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	if (!has_askable(&round->mounts)) {
		atomic_store(&round->done_count, round->mounts.count);
		return 0;
	}
	error = pthread_attr_init(&attributes);
	if (error)
		return -error;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	round->owner_count++;
	error = pthread_create(&thread, &attributes, round_run, round);
	if (error)
		round->owner_count--;
	pthread_attr_destroy(&attributes);
	return -error;
}

/* ---- what is new -------------------------------------------------------------------- */

static bool is_news(const struct answer *answer, const struct told *told, int64_t unix_ns)
{
	int64_t change = answer->available_bytes - told->answer.available_bytes;

	if (answer->total_bytes != told->answer.total_bytes || unix_ns - told->unix_ns >= REPEAT_NS ||
	    unix_ns < told->unix_ns)
		return true;
	return change != 0 && (change < 0 ? -change : change) >= told->answer.available_bytes / 100;
}

static void tell(const struct mount *mount, const struct answer *answer, int64_t unix_ns, file_systems_take *take,
		 void *data)
{
	take(&(struct row_file_system_sample){.unix_ns = unix_ns,
					      .mount_point = mount->point,
					      .type = mount->type,
					      .total_bytes = answer->total_bytes,
					      .available_bytes = answer->available_bytes},
	     data);
}

static const struct told *told_of(const struct file_systems *file_systems, const struct mount *mount)
{
	for (size_t i = 0; i < file_systems->told_count; i++)
		if (strcmp(file_systems->told[i].mount.point, mount->point) == 0)
			return &file_systems->told[i];
	return NULL;
}

static bool has_mount(const struct told *told, size_t count, const char *point)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(told[i].mount.point, point) == 0)
			return true;
	return false;
}

static void told_free(struct told *told, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(told[i].mount.point);
	free(told);
}

/* Takes the mounts of the round, of which `done_count` have their answer. */
static int round_take(struct file_systems *file_systems, struct round *round, size_t done_count,
		      file_systems_take *take, void *data)
{
	size_t count = round->mounts.count;
	struct told *now = calloc(count + 1, sizeof(*now));

	if (!now)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct mount *mount = &round->mounts.items[i];
		const struct told *before = told_of(file_systems, mount);
		const struct answer *answer = i < done_count ? &round->answers[i] : &unknown;

		now[i].mount = *mount;
		now[i].mount.point = strdup(mount->point);
		if (!now[i].mount.point) {
			told_free(now, i);
			return -ENOMEM;
		}
		if (before && !is_news(answer, before, round->unix_ns)) {
			now[i].answer = before->answer;
			now[i].unix_ns = before->unix_ns;
			continue;
		}
		now[i].answer = *answer;
		now[i].unix_ns = round->unix_ns;
		tell(mount, answer, round->unix_ns, take, data);
	}
	for (size_t i = 0; i < file_systems->told_count; i++)
		if (!has_mount(now, count, file_systems->told[i].mount.point))
			tell(&file_systems->told[i].mount, &unknown, round->unix_ns, take, data);
	told_free(file_systems->told, file_systems->told_count);
	file_systems->told = now;
	file_systems->told_count = count;
	return 0;
}

/* ---- rounds ------------------------------------------------------------------------- */

static void hung_free(struct file_systems *file_systems)
{
	size_t kept = 0;

	for (size_t i = 0; i < file_systems->hung_count; i++)
		if (round_is_done(file_systems->hung[i]))
			round_release(file_systems->hung[i]);
		else
			file_systems->hung[kept++] = file_systems->hung[i];
	file_systems->hung_count = kept;
}

static bool is_asked_for(const struct round *round, const char *point)
{
	size_t done_count = atomic_load(&round->done_count);

	return done_count < round->mounts.count && strcmp(round->mounts.items[done_count].point, point) == 0;
}

/* What others still wait for is not asked again; nothing is, if as many as can be kept wait. */
static void hung_leave_out(const struct file_systems *file_systems, struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		struct mount *mount = &mounts->items[i];

		if (file_systems->hung_count == HUNG_MAX)
			mount->is_askable = false;
		for (size_t j = 0; j < file_systems->hung_count; j++)
			if (is_asked_for(file_systems->hung[j], mount->point))
				mount->is_askable = false;
	}
}

static int round_end(struct file_systems *file_systems, file_systems_take *take, void *data)
{
	struct round *round = file_systems->round;
	size_t done_count;
	int error;

	if (!round)
		return 0;
	done_count = atomic_load(&round->done_count);
	error = round_take(file_systems, round, done_count, take, data);
	if (error < 0)
		return error;
	file_systems->round = NULL;
	if (done_count == round->mounts.count) {
		round_release(round);
	} else {
		atomic_store(&round->is_given_up, true);
		file_systems->hung[file_systems->hung_count++] = round; /* there is room: hung_leave_out() */
	}
	return 0;
}

int file_systems_step(struct file_systems *file_systems, struct mounts *mounts, int64_t unix_ns,
		      file_systems_take *take, void *data)
{
	int error;

	hung_free(file_systems);
	error = round_end(file_systems, take, data);
	if (error < 0)
		return error;
	hung_leave_out(file_systems, mounts);
	file_systems->round = round_new(mounts, unix_ns, file_systems->ask);
	error = file_systems->round ? round_start(file_systems->round) : -ENOMEM;
	if (error < 0) {
		round_release(file_systems->round);
		file_systems->round = NULL;
	}
	return error;
}

/* ---- all ------------------------------------------------------------------------------ */

struct file_systems *file_systems_new(file_systems_ask *ask)
{
	struct file_systems *file_systems = calloc(1, sizeof(*file_systems));

	if (file_systems)
		file_systems->ask = ask;
	return file_systems;
}

void file_systems_free(struct file_systems *file_systems)
{
	if (!file_systems)
		return;
	for (size_t i = 0; i < file_systems->hung_count; i++)
		round_release(file_systems->hung[i]);
	if (file_systems->round)
		atomic_store(&file_systems->round->is_given_up, true);
	round_release(file_systems->round);
	told_free(file_systems->told, file_systems->told_count);
	free(file_systems);
}
