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
#define REPEAT_NS (10 * 60 * INT64_C(1000000000))

struct answer {
	int64_t total_bytes, available_bytes; /* ROW_NULL unknown */
};

struct told {
	struct answer answer;
	int64_t unix_ns;
};

/* Shared with the thread that asks. It has answered for mounts[0 .. done_count - 1]. */
struct round {
	atomic_int owner_count; /* the last one frees it */
	struct mounts mounts;
	struct answer *answers;
	struct told *told; /* what was last said of each, once the answers are taken */
	int64_t unix_ns;
	file_systems_ask *ask;
	atomic_size_t done_count;
	atomic_bool is_given_up; /* the others need no answer any more */
};

struct file_systems {
	file_systems_ask *ask;
	struct round *round;  /* NULL: none yet */
	struct round *before; /* the previous one, NULL: none */
	struct round *hung[HUNG_MAX];
	size_t hung_count;
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

static void round_release(struct round *round)
{
	if (!round || atomic_fetch_sub(&round->owner_count, 1) != 1)
		return;
	mounts_deinit(&round->mounts);
	free(round->answers);
	free(round->told);
	free(round);
}

static struct round *round_keep(struct round *round)
{
	atomic_fetch_add(&round->owner_count, 1);
	return round;
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

	if (!round)
		return NULL;
	round->owner_count = 1;
	round->answers = calloc(mounts->count + 1, sizeof(*round->answers));
	round->told = calloc(mounts->count + 1, sizeof(*round->told));
	if (!round->answers || !round->told) {
		round_release(round);
		return NULL;
	}
	for (size_t i = 0; i < mounts->count; i++)
		round->answers[i] = unknown;
	round->mounts = *mounts;
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
	pthread_t thread;
	int error;

	if (!has_askable(&round->mounts)) {
		atomic_store(&round->done_count, round->mounts.count);
		return 0;
	}
	error = pthread_create(&thread, NULL, round_run, round_keep(round));
	if (error)
		round_release(round);
	else
		pthread_detach(thread);
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

/* Returns what the round said of a mount point, or NULL. */
static const struct told *told_of(const struct round *round, const char *point)
{
	for (size_t i = 0; round && i < round->mounts.count; i++)
		if (strcmp(round->mounts.items[i].point, point) == 0)
			return &round->told[i];
	return NULL;
}

/* Takes the mounts of the round, of which `done_count` have their answer. */
static void round_take(struct round *round, const struct round *before, size_t done_count, file_systems_take *take,
		       void *data)
{
	for (size_t i = 0; i < round->mounts.count; i++) {
		const struct mount *mount = &round->mounts.items[i];
		const struct told *told = told_of(before, mount->point);
		const struct answer *answer = i < done_count ? &round->answers[i] : &unknown;

		if (told && !is_news(answer, told, round->unix_ns)) {
			round->told[i] = *told;
			continue;
		}
		round->told[i] = (struct told){*answer, round->unix_ns};
		tell(mount, answer, round->unix_ns, take, data);
	}
	for (size_t i = 0; before && i < before->mounts.count; i++)
		if (!told_of(round, before->mounts.items[i].point))
			tell(&before->mounts.items[i], &unknown, round->unix_ns, take, data);
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

static void round_end(struct file_systems *file_systems, file_systems_take *take, void *data)
{
	struct round *round = file_systems->round;
	size_t done_count;

	if (!round)
		return;
	done_count = atomic_load(&round->done_count);
	round_take(round, file_systems->before, done_count, take, data);
	round_release(file_systems->before);
	file_systems->before = round;
	file_systems->round = NULL;
	if (done_count == round->mounts.count)
		return;
	atomic_store(&round->is_given_up, true);
	file_systems->hung[file_systems->hung_count++] = round_keep(round); /* there is room: hung_leave_out() */
}

int file_systems_step(struct file_systems *file_systems, struct mounts *mounts, int64_t unix_ns,
		      file_systems_take *take, void *data)
{
	int error;

	hung_free(file_systems);
	round_end(file_systems, take, data);
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
	round_release(file_systems->before);
	free(file_systems);
}
