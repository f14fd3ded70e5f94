/* The engine's own names of tasks (analysis/engines/names.h) for verbs: `--names FILE`. Optional; tracer never searches for
 * such files. A file that has tasks of a run is kept for that run (names_kept.h), and used when none is given. */
#pragma once

#include "analysis/engines/names.h"
#include "cli/source.h"

#define OPTION_SPEC_NAMES(path) \
	{ \
		"names", 0, "FILE", "file", \
			"use the engine's task names from its trace.txt, log or benchmark; none: forget", .text = path \
	}

/* source_show() with the names of the file. NULL: `*names` is NULL, and set once a run is known for which a file was kept;
 * "none": as if none was kept, and forgets it. */
int names_show(const char *path, struct engine_names **names, const struct options *options,
	       int (*show)(struct view *view));

/* Sets the report's engine_names of the tasks that are found; says so if a file was given that has none of them. Returns 0,
 * -errno or, after printing an error, an exit status. */
int names_join_run(struct engine_names **names, struct report *report);

/* Learns the names of tasks from the first of these runs that the file has tasks of, or for which one was kept; says so if a
 * file was given, and there is none. Returns as names_join_run(). */
int names_learn(struct engine_names **names, struct store *store, const int64_t *run_ids, size_t count);
