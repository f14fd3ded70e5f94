/* The tree of processes below `tracer run`, as an ordinary user can see it: without a probe.
 *
 * Processes are found by scans of /proc, at most so often that they take a hundredth of a processor. Orphans become
 * children of `tracer run` (PR_SET_CHILD_SUBREAPER), so it learns how they and the command ended, and what they used
 * together with all that they waited for, exactly. Of other processes the last scan counts, and of those that lived
 * only between two scans nothing is known but what they used together: that is shown as one process, UNSEEN.
 *
 * The commands are not influenced: nothing is traced, stopped or preloaded.
 */
#pragma once

#include <sys/resource.h>

#include "cli/process/child.h"
#include "cli/run/feed.h"
#include "cli/run/proc.h"

#define TREE_UNSEEN "(not seen)"

#define TREE_OWN_MAX 4 /* processes of our own */

struct node;

struct tree {
	struct feed feed;
	pid_t own[TREE_OWN_MAX]; /* children that are not the command's, 0: none */
	const struct child *command;
	struct image_key self; /* this process */
	struct image_key root; /* the command */
	struct node *nodes;    /* hash, by pid */
	struct proc_list list, all;
	bool has_children;                     /* the kernel lists the children of a process */
	uint64_t scan_boot_ns, sample_boot_ns; /* of the last ones */
	uint64_t own_peak_bytes;               /* ours: a child begins with it */
};

/* Connects to the correlator. Returns 0 or -errno. */
int tree_begin(struct tree *tree, const char *socket_path);

/* Scans the tree below the command, which was started. Returns in how many ms it wants to be called again. */
int tree_scan(struct tree *tree, const struct child *command);

/* Sends the last records, those of the command's end included. `used` is of wait4. */
void tree_end(struct tree *tree, int status, const struct rusage *used);
