/* An image: one program that a process executed, with its figures.
 *
 * Every change of its figures is added to its tool and run at once, so sums are always current and never
 * recomputed from rows. Most tools have one image: they have no sums before the second. */
#pragma once

#include "correlator/model/device_use.h"
#include "correlator/model/reason.h"
#include "correlator/model/totals.h"
#include "common/rules/rules.h"
#include "common/store/rows.h"

struct device_error;
struct model;

enum image_began { IMAGE_FORK, IMAGE_EXEC, IMAGE_FOUND };

enum image_ended { IMAGE_LIVING, IMAGE_EXIT, IMAGE_REPLACED, IMAGE_LOST };

enum image_totals { TOTALS_SAMPLE, TOTALS_EXEC, TOTALS_EXIT, TOTALS_FINAL };

/* The largest file that it was reading at the scan of that number. It is known to the samples of the next scan. */
struct file_read {
	int64_t position_bytes, size_bytes;
	uint64_t scan_number;
	int64_t sampled_position_bytes; /* of the last sample that has one */
};

struct image {
	int64_t id;
	int64_t parent_id; /* ROW_NULL unknown */
	uint32_t pid, exec_id;
	uint32_t uid;
	struct process *process; /* NULL: the process has another image or is gone */
	struct tool *tool;
	struct container *container;
	struct command *command;
	enum image_began began; /* IMAGE_FORK: its command is its parent's */
	enum image_ended ended;
	enum image_totals totals_kind;
	uint64_t begin_boot_ns, end_boot_ns;
	int64_t started_unix_ns; /* wall clock at its start, converted once */
	int64_t spawn_cpu_ns;
	int64_t uninterruptible_ns; /* ROW_NULL: no scan has reported it */
	int64_t memory_stall_ns;    /* of that, waiting for memory */
	struct counters *base;      /* what its figures begin at, NULL: zero, as of all that were found running */
	struct totals totals;
	int64_t peak_rss_bytes;
	int64_t wait_status; /* ROW_NULL unknown */
	bool oom_killed;
	uint32_t exit_flags; /* RECORD_EXIT_*, while its end is handled */
	enum rules_role role;
	enum rules_rank rank;
	enum rules_boundary boundary;
	bool nested, interactive;
	uint64_t expected_codes;        /* bitmap of exit codes that are not failures */
	uint32_t traits;                /* RULES_* */
	int64_t requested_thread_count; /* by its options, ROW_NULL unknown */
	int64_t core_limit_milli;       /* of its process, once it has run; ROW_NULL unknown */
	bool failed;                    /* and the failure was not expected */
	char *rule;                     /* NULL: none */
	enum reason reason;
	char *gpu;                         /* GPU devices held open, NULL: none seen */
	struct device_use *use;            /* as samplers report it; totals follow in steps. NULL: they report none */
	struct device_error *device_error; /* of a device that it held, the latest; NULL: none */
	struct file_read *file;            /* NULL: none so far */
	int64_t gpu_peak_bytes, gpu_capacity_bytes; /* ROW_NULL unknown */
	bool dirty;
	struct image *prev, *next; /* of its tool */
	struct image *dirty_prev, *dirty_next;
	struct image *linked_prev, *linked_next; /* in model->clients or model->ended_images */
	uint64_t sampled_boot_ns;                /* of the last sample row, 0: none yet; its values: */
	int64_t sampled_memory_bytes, sampled_cpu_ns, sampled_io_bytes;
};

struct image *image_new(struct model *model, struct process *process, struct container *container,
			enum image_began began, uint64_t begin_boot_ns, const struct rules_class *class,
			struct tool *tool, enum reason reason);
/* What its figures begin at. Setting it notes the limits of its cgroup as well. */
const struct counters *image_base(const struct image *image);
void image_set_base(struct model *model, struct image *image, const struct counters *counters);
void image_update(struct model *model, struct image *image, const struct counters *counters, enum image_totals kind);
/* What samplers have reported of it so far. */
const struct device_use *image_use(const struct image *image);
/* Adds to its totals what samplers have reported meanwhile. */
void image_take_use(struct model *model, struct image *image);
/* Returns false if it had already ended. */
bool image_end(struct model *model, struct image *image, enum image_ended how, uint64_t boot_ns, int64_t wait_status,
	       uint32_t exit_flags);
/* Moves its end by the teardown time, which the final record adds to the exit record, but not beyond
 * `until_boot_ns`. So its duration covers everything that its figures cover. */
void image_extend_end(struct model *model, struct image *image, int64_t teardown_ns, uint64_t until_boot_ns);
/* Marks an ended image as failed. */
void image_set_failed(struct model *model, struct image *image);
/* Its process, which runs, was moved into that container. */
void image_enter(struct model *model, struct image *image, struct container *container);
void image_set_tool(struct model *model, struct image *image, struct tool *tool);
/* What the images of a tool contribute, except for core limits, which the tool itself has. It is made in `room`, unless the
 * tool keeps it. */
const struct tally *tool_tally(const struct tool *tool, struct tally *room);
/* To be called before a tool loses an image, unless it is freed as a whole. */
void tool_keep_tally(struct model *model, struct tool *tool);
void image_set_dirty(struct model *model, struct image *image);
/* Adds a running client to model->clients, and an ended image to model->ended_images. */
void image_link(struct model *model, struct image *image);
void image_free(struct model *model, struct image *image);
/* Remembers the figures of a sample row; its memory is set by the caller. */
void image_note_sample(struct image *image, uint64_t boot_ns, const struct totals *now);
/* Takes a file that it is reading, if it is the largest so far that this scan found. */
void image_note_file(struct model *model, struct image *image, const struct record_file *file);
/* Returns what the scan before that number found, or NULL. */
const struct file_read *image_file_at(const struct image *image, uint64_t scan_number);
