/* Consequences of ended images and processes: causes, incidents, retries. */
#pragma once

#include "bpf/record.h"

struct model;
struct image;
struct process;

/* Call when an image has ended, replaced by another or not, and before judge_process(). */
void judge_image(struct model *model, struct image *image);
/* Call when `process` has ended. */
void judge_process(struct model *model, struct process *process, int64_t wait_status);
/* Judges the tasks opened since the last call. */
void judge_opened(struct model *model);
