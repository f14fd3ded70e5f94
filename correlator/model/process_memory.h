/* What a process holds as part of its sets (memory.h), from the counters of its samples and of its end. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct counters;
struct image;
struct model;
struct process;
struct tool;

/* Whether it was forked and has executed nothing since. */
bool memory_is_fork(const struct process *process);
/* What of its shared memory it cannot have inherited. */
int64_t memory_own_shared(const struct process *process, bool is_fork, int64_t shared_bytes);

/* The rest of it, as the latest scan saw it. */
int64_t memory_hidden(const struct process *process);

/* What a process held, as part of its sets, at the latest scan. Until it is placed it is part of its parent's `image`. */
int64_t memory_held(const struct process *process, const struct image *image);

/* A scan sees a running process: what it has held at most since the scan before is noted in all sets that it is in, but for
 * shared memory, which the scan itself finds. */
void memory_note_peak(struct model *model, struct process *process, const struct image *image,
		      const struct counters *counters);
/* The same of an image that has ended, and whose memory is free now. */
void memory_note_end(struct model *model, const struct image *image);
/* Some of the tool's may have held so much more since then. */
void memory_note_more(struct model *model, struct tool *tool, uint64_t begin_boot_ns, int64_t bytes);
/* What some of the tool's have inherited from a program, so much at most, is still held at that time. */
void memory_note_inherited(struct model *model, struct tool *tool, int64_t origin_image_id, int64_t bytes,
			   uint64_t boot_ns);
