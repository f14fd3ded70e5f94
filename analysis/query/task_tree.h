/* The tasks of a run as a tree: each below the task that its orchestrator belongs to. */
#pragma once

#include "analysis/query/report.h"

#define TASK_TREE_DEPTH_MAX 13 /* deeper ones are shown beside their parent */

/* Nodes are indexes into report->tasks; after them is the root, the parent of the tasks that have none. Its
 * index also ends lists. */
struct task_node {
	size_t parent, first_child, next;
	unsigned level; /* the root is at level 0 */
	bool failed;    /* it, or a task below it */
	bool shown;
};

struct task_tree {
	const struct report *report; /* borrowed */
	struct task_node *nodes;
	size_t root;
	size_t *order; /* the tasks that are shown, each before those below it */
	size_t shown_count;
	struct task_tree_hidden {
		size_t task_count;
		size_t failed_count; /* of these */
	} hidden;
};

/* Chooses all tasks, by start; if there are more than `most`, the failed ones first, then the longest, each with
 * its ancestors. Returns 0 or -ENOMEM. Call task_tree_free() after a failure, too. */
int task_tree_make(struct task_tree *tree, const struct report *report, size_t most);
void task_tree_free(struct task_tree *tree);
