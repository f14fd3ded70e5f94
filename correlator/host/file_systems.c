/* Asks how full the mounted file systems are. See file_systems.h. */
#include "correlator/host/file_systems.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <utlist.h>

#define HUNG_MAX 16 /* threads that wait; if there are as many, no file system is asked about */
#define REPEAT_NS (10 * 60 * INT64_C(1000000000))

struct answer {
	int64_t total_bytes, available_bytes; /* ROW_NULL unknown */
};

struct file_system {
	struct mount mount;
	bool is_listed; /* in the latest round */
	enum { UNKNOWN, WANTED, ASKED, ANSWERED } state;
	struct answer answer, reported; /* of the latest round; as last reported */
	int64_t reported_unix_ns;       /* 0: never reported */
	struct file_system *prev, *next;
};

/* All is guarded by the lock, except the mount of what is being asked about, which does not change. */
struct file_systems {
	file_systems_ask *ask;
	pthread_mutex_t lock;
	int owner_count; /* its user and the threads: the last one frees it */
	int64_t unix_ns; /* of the latest round */
	struct file_system *items;
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

static void item_free(struct file_systems *file_systems, struct file_system *item)
{
	DL_DELETE(file_systems->items, item);
	free((char *)item->mount.point);
	free(item);
}

/* Releases the lock, too. */
static void leave(struct file_systems *file_systems)
{
	bool is_last = --file_systems->owner_count == 0;

	pthread_mutex_unlock(&file_systems->lock);
	if (!is_last)
		return;
	while (file_systems->items)
		item_free(file_systems, file_systems->items);
	pthread_mutex_destroy(&file_systems->lock);
	free(file_systems);
}

/* ---- the threads -------------------------------------------------------------------- */

static struct file_system *find_wanted(const struct file_systems *file_systems)
{
	struct file_system *item;

	DL_SEARCH_SCALAR(file_systems->items, item, state, WANTED);
	return item;
}

/* One that has waited for long goes on with what is wanted by then. */
static void *ask_about_wanted(void *data)
{
	struct file_systems *file_systems = data;
	struct file_system *item;

	pthread_mutex_lock(&file_systems->lock);
	while ((item = find_wanted(file_systems))) {
		struct answer answer;

		item->state = ASKED;
		pthread_mutex_unlock(&file_systems->lock);
		if (file_systems->ask(&item->mount, &answer.total_bytes, &answer.available_bytes) < 0)
			answer = unknown;
		pthread_mutex_lock(&file_systems->lock);
		item->answer = answer;
		item->state = ANSWERED;
	}
	leave(file_systems);
	return NULL;
}

static int begin_thread(struct file_systems *file_systems)
{
	pthread_t thread;
	int error;

	if (file_systems->owner_count > HUNG_MAX || !find_wanted(file_systems))
		return 0;
	error = pthread_create(&thread, NULL, ask_about_wanted, file_systems);
	if (error)
		return -error;
	file_systems->owner_count++;
	pthread_detach(thread);
	return 0;
}

/* ---- rounds ------------------------------------------------------------------------- */

static bool is_news(const struct file_system *item, const struct answer *answer, int64_t unix_ns)
{
	if (!item->is_listed)
		return item->reported.available_bytes != ROW_NULL;
	if (answer->total_bytes != item->reported.total_bytes || unix_ns - item->reported_unix_ns >= REPEAT_NS ||
	    unix_ns < item->reported_unix_ns)
		return true;
	int64_t change = answer->available_bytes - item->reported.available_bytes; /* both are known, or neither is */

	return change != 0 && (change < 0 ? -change : change) >= item->reported.available_bytes / 100;
}

/* Reports what the latest round found of it. */
static void report(struct file_system *item, int64_t unix_ns, file_systems_take *take, void *data)
{
	const struct answer *answer = item->is_listed && item->state == ANSWERED ? &item->answer : &unknown;

	if (item->reported_unix_ns && !is_news(item, answer, unix_ns))
		return;
	item->reported = *answer;
	item->reported_unix_ns = unix_ns;
	take(&(struct row_file_system_sample){.unix_ns = unix_ns,
					      .mount_point = item->mount.point,
					      .type = item->mount.type,
					      .total_bytes = answer->total_bytes,
					      .available_bytes = answer->available_bytes},
	     data);
}

static void end_round(struct file_systems *file_systems, file_systems_take *take, void *data)
{
	struct file_system *item, *next;

	DL_FOREACH_SAFE (file_systems->items, item, next) {
		report(item, file_systems->unix_ns, take, data);
		if (!item->is_listed && item->state != ASKED)
			item_free(file_systems, item);
		else
			item->is_listed = false;
	}
}

static struct file_system *find_or_add(struct file_systems *file_systems, const char *point)
{
	struct file_system *item;

	DL_FOREACH (file_systems->items, item)
		if (strcmp(item->mount.point, point) == 0)
			return item;
	item = calloc(1, sizeof(*item));
	if (!item)
		return NULL;
	item->mount.point = strdup(point);
	if (!item->mount.point) {
		free(item);
		return NULL;
	}
	DL_APPEND(file_systems->items, item);
	return item;
}

/* What a thread still waits for is not asked about again. */
static int begin_round(struct file_systems *file_systems, const struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		const struct mount *mount = &mounts->items[i];
		struct file_system *item = find_or_add(file_systems, mount->point);

		if (!item)
			return -ENOMEM;
		item->is_listed = true;
		if (item->state == ASKED)
			continue;
		const char *point = item->mount.point;

		item->mount = *mount;
		item->mount.point = point;
		item->state = mount->is_askable ? WANTED : UNKNOWN;
	}
	return begin_thread(file_systems);
}

int file_systems_step(struct file_systems *file_systems, const struct mounts *mounts, int64_t unix_ns,
		      file_systems_take *take, void *data)
{
	int error;

	pthread_mutex_lock(&file_systems->lock);
	end_round(file_systems, take, data);
	file_systems->unix_ns = unix_ns;
	error = begin_round(file_systems, mounts);
	pthread_mutex_unlock(&file_systems->lock);
	return error;
}

struct file_systems *file_systems_new(file_systems_ask *ask)
{
	struct file_systems *file_systems = calloc(1, sizeof(*file_systems));

	if (!file_systems)
		return NULL;
	file_systems->ask = ask;
	file_systems->owner_count = 1;
	pthread_mutex_init(&file_systems->lock, NULL);
	return file_systems;
}

void file_systems_free(struct file_systems *file_systems)
{
	struct file_system *item;

	if (!file_systems)
		return;
	pthread_mutex_lock(&file_systems->lock);
	DL_FOREACH (file_systems->items, item)
		if (item->state == WANTED)
			item->state = UNKNOWN;
	leave(file_systems);
}
