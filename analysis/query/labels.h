/* Labels: what distinguishes a task from the others of its name in a run, from their command lines.
 *
 * Words that all tasks of the name have are left out, and so are folders: of a/s1/reads.fq and a/s2/reads.fq remain s1
 * and s2. The label is the first of these that no other task has, unless they differ in nothing: the output, or what
 * several words begin with (s3 of s3_1.fq and s3_2.fq); up to three words; the same with numbers and folders. Temporary
 * names come only if there is nothing else, code never. A task without words of its own has the output, else the last file, else
 * the last operand.
 */
#pragma once

#include "analysis/query/rows.h"

#define LABEL_MAX 96 /* bytes of a label with its NUL, cut at a character boundary */
/* Command lines of a run that are read: tasks with further ones have no label. */
#define LABELS_LINE_BYTES_MAX (INT64_C(64) << 20)

struct label {
	int64_t task_id;
	const struct row_task_line *line; /* only while it is made */
	char text[LABEL_MAX];
};

struct labels {
	struct label *items; /* by task */
	size_t count;
};

/* Adds a command line (row_task_line) of the same task as the last one or another. The first of a task that has words
 * counts: code alone gives way to what it starts. Returns 0 or -ENOMEM. */
int labels_add_line(struct rows *lines, const struct row_task_line *line);
/* Makes the labels of all these tasks, and sorts the lines. Returns 0 or -ENOMEM. Free them either way. */
int labels_make(struct rows *lines, struct labels *ret_labels);
/* Makes those of a run with these parts (row_part). Returns 0, -ENOMEM or the store's error. Free them either way. */
int labels_load(struct store *store, const struct rows *parts, struct labels *ret_labels);
void labels_free(struct labels *labels);

/* Returns the label of a task, or NULL. Valid until labels_free(). */
const char *labels_find(const struct labels *labels, int64_t task_id);
