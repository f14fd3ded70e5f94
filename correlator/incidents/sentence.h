/* The sentences of incidents: what happened, and why, in facts only. incident.c decides which incidents there are. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "correlator/model/cause.h"

struct image;
struct model;
struct process;
struct sent_signal;
struct task;

#define SENTENCE_MAX 1024 /* longer ones are cut */

struct sentence {
	char text[SENTENCE_MAX];
	size_t size;
};

/* They append to a sentence. */

/* What happened: "samtools sort (pid 71) was killed by SIGTERM from slurmstepd (pid 7, user root) after 2.3 s". And why:
 * "its time limit was reached", or nothing. `sent` is the signal that ended the image, or after which it ended; NULL:
 * none is known. */
void sentence_add_end(struct sentence *what, struct sentence *why, struct model *model, const struct image *image,
		      enum cause_kind kind, const struct sent_signal *sent);
/* "python3 (pid 71) held a GPU with an error: nvidia0 reported Xid 31 (GPU memory page fault), which 2 processes held" */
void sentence_add_device_error(struct sentence *sentence, const struct image *image);
/* "task align failed: ", and what its cause says. */
void sentence_add_task(struct sentence *sentence, const struct task *task);
/* "sort (pid 71) is without CPU or I/O for more than 1800 s" */
void sentence_add_stall(struct sentence *sentence, const struct process *process, uint64_t boot_ns, bool is_over);
/* "node (pid 71) has not reaped 132 children that ended" */
void sentence_add_zombies(struct sentence *sentence, const struct process *process, bool is_over);
