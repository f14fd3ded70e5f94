/* Names of tasks: from a rule, otherwise from the script that the task runs or the tools in it. */
#pragma once

#include "common/rules/rules.h"

struct model;
struct process;
struct run;
struct task;

/* Notes that `process`, which is in the task, has begun an image: its rule, script or command line
 * may name the task, and its rule may label it. */
void task_name_note_image(struct model *model, struct task *task, const struct process *process,
			  const struct rules_class *class);
/* Calls task_name_note_image() for all images of the task that are in memory, earliest first. */
void task_name_note_images(struct model *model, struct task *task);
/* Sets the names of tasks that are due to be written. */
void task_name_set_all(struct model *model);
void task_name_set(struct task *task);
