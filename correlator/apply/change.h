/* Changes of the model together with their effects on placement and incidents. */
#pragma once

#include "correlator/model/image.h"

struct placing;

/* Call place_full(), place_exec() or place_part(), then assess the tasks that this opened. */
void change_place_full(struct model *model, struct process *process, const struct placing *placing);
void change_exec(struct model *model, struct process *process, const struct placing *placing);
void change_place_part(struct model *model, struct process *process);

/* Call image_end() or process_end(), then assess the image or process if it had not ended before. */
void change_end_image(struct model *model, struct image *image, enum image_ended how, uint64_t boot_ns,
		      int64_t wait_status, uint32_t exit_flags);
void change_end_process(struct model *model, struct process *process, int64_t wait_status, uint64_t boot_ns);
