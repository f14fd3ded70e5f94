/* Copies of the files that a user gave with --names, one for each run, so that it need not be given again. They are below
 * the home directory, beside the user's own store: a store has one writer, and most stores are not the user's. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Sets the path of the run's copy. Returns whether there is one. */
bool names_kept_find(int64_t run_id, char ret_path[PATH_MAX]);
/* Keeps a copy of a regular file for the run; says so if that fails. */
void names_kept_put(int64_t run_id, const char *path);
void names_kept_drop(int64_t run_id);
