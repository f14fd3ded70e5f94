/* The software that a run executed, in which version, and how that is known.
 *
 * A version is known from the path of the program, else from the name of the container image that is named after it
 * (rules/versions.yaml), else from the package that owns the file (owners.h). Programs are never executed and never asked.
 * Helpers, shells and wrappers are left out: no result depends on the version of mkdir.
 */
#pragma once

#include <uthash.h>

#include "analysis/query/report.h"
#include "analysis/versions/owners.h"

enum version_basis { VERSION_UNKNOWN, VERSION_OF_PATH, VERSION_OF_IMAGE, VERSION_OF_PACKAGE };

/* A program at a path, in an image. Texts are as the traced processes chose them. */
struct software {
	UT_hash_handle hh;
	const char *name;    /* samtools, of the tool "samtools sort" */
	const char *path;    /* NULL: unknown */
	const char *image;   /* of the container that it ran in; NULL: none, or unknown */
	const char *version; /* NULL: unknown */
	const char *package; /* that has the version; NULL: unknown */
	const char *manager; /* of that package, if it is the basis: dpkg, rpm, conda */
	enum version_basis basis;
	size_t number; /* in the order in which they began, from 1 */
	int64_t process_count, task_count;
	size_t task;      /* in which it was last seen ... */
	size_t use_index; /* ... and where in the task's uses */
	char key[];       /* name, path and image */
};

#define VERSIONS_SOFTWARE_MAX 65536 /* further software is left out, and counted */

struct versions {
	const struct report *report;
	const struct rules *rules;
	struct owners *owners;     /* NULL: packages are not looked up */
	struct software *software; /* in the order in which they began */
	size_t software_count;
	int64_t left_out_count; /* processes */
	struct version_image *images;
	const struct version_image *run_image; /* of the run's own pseudo-task */
	struct arena texts;
};

/* What one task used of it. */
struct version_use {
	const struct software *software;
	int64_t process_count; /* that executed it, 0: the path is unknown */
};

/* The walk stops at a result other than 0. */
typedef int versions_take(void *context, size_t index, const struct row_task *task, const struct version_use *uses,
			  size_t count);

/* Walks the tasks as report_walk() does; processes that began as a fork execute nothing. Returns 0, -errno, or what `take`
 * returned. */
int versions_walk(struct versions *versions, versions_take *take, void *context);
void versions_free(struct versions *versions);
