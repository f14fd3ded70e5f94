/* What the kernel reports to a parent about its child, as lines of JSON in a file: the ground
 * truth that the store's rows are compared with.
 *
 * A reaper reads a child's accounts while the child is a zombie (they are final and still
 * present), then reaps it. The kernel adds the figures of reaped children to those of the
 * parent; each line names the reaper, so that they can be subtracted again.
 */
#pragma once

#include <sys/types.h>

/* Environment variable with the output file, so that it survives an exec. */
#define TRUTH_FILE "TRUTH_FILE"

/* Waits for that child, or any child for -1, writes its line and reaps it. Returns its pid, or -1 if
 * there are no children. */
pid_t truth_reap(pid_t pid);

/* The same for `count` children started together. All have ended before the first is read, so that the
 * figures include the last instants of their exits. */
void truth_reap_all(const pid_t *pids, int count);

void truth_reap_everything(void);

/* Writes the peak memory of this image from /proc; called at its end. */
void truth_note_peak(void);

/* Writes the line of a child that could not be observed but whose end is known by construction. */
void truth_note_ran(pid_t pid, int wait_status);

/* Attributes everything reaped from here on to this act, which began with that process. */
void truth_note_act(const char *act, pid_t pid);
