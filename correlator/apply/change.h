/* Changes of the model, each with what placement and incidents make of it. */
#pragma once

#include "correlator/model/image.h"

struct placing;

/* place_full(), place_exec(), place_part(); tasks that open by it are judged. */
void change_place_full(struct model *model, struct process *process, const struct placing *placing);
void change_exec(struct model *model, struct process *process, const struct placing *placing);
void change_place_part(struct model *model, struct process *process);

/* image_end(), process_end(); what ends by it is judged, once. */
void change_end_image(struct model *model, struct image *image, enum image_ended how, uint64_t boot_ns,
		      int64_t wait_status, uint32_t exit_flags);
void change_end_process(struct model *model, struct process *process, int64_t wait_status, uint64_t boot_ns);
