/* Reads what GPUs did for each process from /proc/PID/fdinfo, as amdgpu, i915, xe, nouveau, panfrost and others write it.
 *
 * Counters there are of a client, that is of one opening of the device: descriptors that were copied or inherited show the
 * same client, in several processes, too. It counts once, for the first of them by pid. All processes are looked through
 * every ten seconds, those of which the number of descriptors has not changed every 40 s, and those that were found to hold a
 * GPU in every round. */
#pragma once

#include "sampler/link.h"

/* Where proc and sys are, before drm_open(). */
extern const char *drm_root;

/* Finds the devices. Returns NULL, logged, if there is none. */
void *drm_open(void);
void drm_close(void *drm);
void drm_describe(const void *drm, struct link *link);
/* One round. The first one only begins an interval. */
void drm_sample(void *drm, uint64_t now_boot_ns, struct link *link);
