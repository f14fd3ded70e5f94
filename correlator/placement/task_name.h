/* Names of tasks: what rules say, else the script that it runs, else what ran in it. */
#pragma once

#include "common/rules/rules.h"

struct model;
struct process;
struct run;
struct task;

/* `process`, which is in the task, has begun an image: its rule, its script or its command line
 * may name the task and label it. */
void task_name_note_image(struct model *model, struct task *task, const struct process *process,
			  const struct rules_verdict *verdict);
/* task_name_note_image() of all images of the task that are in memory, the earliest first. */
void task_name_note_images(struct model *model, struct task *task);
/* Names and labels of its tasks that are to be written. */
void task_name_set_all(struct model *model, struct run *run);
void task_name_set(struct task *task);
