/* What follows from ends: causes, incidents, retries. */
#pragma once

#include "bpf/record.h"

struct model;
struct image;
struct process;

/* An image has ended, which was not replaced by another or was: judged before its process is. */
void judge_image(struct model *model, struct image *image);
/* `process` has ended. */
void judge_process(struct model *model, struct process *process, int64_t wait_status);
/* Tasks that were opened since the last time. */
void judge_opened(struct model *model);
