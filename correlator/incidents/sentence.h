/* The sentences of failures: what happened, and why, in facts only. incident.c decides which incidents there are. */
#pragma once

#include "correlator/model/cause.h"

struct image;
struct model;
struct sent_signal;

/* What happened: "samtools sort (pid 71) was killed by SIGTERM from slurmstepd (pid 7, user root) after 2.3 s". And why:
 * "its time limit was reached", or "". Both are owned by the caller, and NULL if out of memory. `sent` is the signal that
 * ended the image, or after which it ended; NULL: none is known. */
void sentence_of_end(char **ret_what, char **ret_why, struct model *model, const struct image *image,
		     enum cause_kind kind, const struct sent_signal *sent);
/* "python3 (pid 71) held a GPU with an error: nvidia0 reported Xid 31 (GPU memory page fault), which 2 processes held";
 * the same. */
char *sentence_of_device_error(struct model *model, const struct image *image);
