/* Changes of the model together with their effects on placement and incidents. */
#pragma once

#include "common/rules/rules.h"
#include "correlator/model/image.h"

struct command;
struct image_key;
struct record;
struct record_context;

/* Returns a new process, charged to the user; NULL if the user has too many, which is counted, or if out of memory. `parent`
 * may be NULL. */
struct process *change_begin_process(struct model *model, const struct image_key *key, struct process *parent,
				     uint32_t user_id);
/* Returns the command of an exec or sample, charged to its user; NULL if out of memory. */
struct command *change_read_command(struct model *model, const struct record *record);
/* The same of an exec of `process`, which may share the command of the latest exec. */
struct command *change_read_exec(struct model *model, const struct process *process, const struct record *record);
/* Sets what `process` executes now, and where, and classifies it. */
void change_program(struct model *model, struct process *process, struct command *command,
		    const struct record_context *context, struct rules_class *ret_class);

/* Call image_end() or process_end(), then assess the image or process if it had not ended before. */
void change_end_image(struct model *model, struct image *image, enum image_ended how, uint64_t boot_ns,
		      int64_t wait_status, uint32_t exit_flags);
void change_end_process(struct model *model, struct process *process, int64_t wait_status, uint64_t boot_ns);
/* Ends a process whose further records will not come, and its image in that way. */
void change_end_unknown(struct model *model, struct process *process, enum image_ended how, uint64_t boot_ns);
