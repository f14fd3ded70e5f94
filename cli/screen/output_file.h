/* A file that takes the place of the one at its path only when it is complete. */
#pragma once

#include <stdio.h>

struct output_file {
	FILE *file;
	const char *path;
	char *temporary; /* NULL: written where it is */
};

/* Opens it; `path` NULL: standard output. A device or a pipe is written where it is; a symbolic link to a file is refused.
 * Returns 0 or, after printing an error, VERB_FAILED. */
int output_file_open(struct output_file *target, const char *verb, const char *path);
/* Puts it in its place if `error` is 0. Returns `error`, or VERB_FAILED after printing why it could not be written. */
int output_file_close(struct output_file *target, const char *verb, int error);
