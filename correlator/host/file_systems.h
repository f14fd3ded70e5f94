/* How full the mounted file systems are.
 *
 * Asking about one whose server does not answer can take for ever, so a thread asks, about one after the other. What has
 * not answered by the next round is unknown, and its thread is left alone; it is not asked about again before that thread
 * has returned. Never used in a replay.
 */
#pragma once

#include "common/store/rows.h"
#include "correlator/host/mounts.h"

struct file_systems;

/* Sets `*ret_total_bytes`, and `*ret_available_bytes` to what a user without privileges can still write. Returns 0, or
 * -1 if that is unknown. In a thread of its own. */
typedef int file_systems_ask(const struct mount *mount, int64_t *ret_total_bytes, int64_t *ret_available_bytes);
/* `sample` and its texts are valid during the call. host_id and boot_ns are not set. */
typedef void file_systems_take(const struct row_file_system_sample *sample, void *data);

/* Of a mount that is hidden by another one, nothing is known. */
int file_systems_ask_kernel(const struct mount *mount, int64_t *ret_total_bytes, int64_t *ret_available_bytes);

struct file_systems *file_systems_new(file_systems_ask *ask);
/* Threads that still ask are left alone, with what they use. */
void file_systems_free(struct file_systems *file_systems);

/* Takes the answers of the previous round, as far as they are new: if what is available has changed by a
 * hundredth, or after ten minutes. Then begins a round with `mounts`. Returns 0 or -errno. */
int file_systems_step(struct file_systems *file_systems, const struct mounts *mounts, int64_t unix_ns,
		      file_systems_take *take, void *data);
