/* Consequences of ended images and processes: causes, incidents, retries. */
#pragma once

#include "bpf/record.h"

struct model;
struct image;
struct process;

/* Call when an image has ended, replaced by another or not, and before assess_process(). */
void assess_image(struct model *model, struct image *image);
/* Call when `process` has ended. */
void assess_process(struct model *model, struct process *process, int64_t wait_status);
/* Assesses the tasks opened since the last call. */
void assess_opened(struct model *model);
