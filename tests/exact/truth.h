/* What the kernel tells a parent about its child, as lines of JSON in a file: the ground
 * truth that the store's rows are compared with.
 *
 * A reaper looks at a child while it is a zombie, when its accounts are closed and still
 * there, and then reaps it. The kernel's figures of a process hold those of the children
 * that it reaped; each line says who reaped, so that they can be subtracted again.
 */
#pragma once

#include <sys/types.h>

/* The file that lines go to, by the environment: it is there after an exec too. */
#define TRUTH_FILE "TRUTH_FILE"

/* Waits for that child, or any for -1; writes its line; reaps it. Its pid, or -1 when there
 * is none left. */
pid_t truth_reap(pid_t pid);

/* The same for `count` children that were started at once: all have ended before the first
 * is looked at, so that the last instants of their exits are in the figures. */
void truth_reap_all(const pid_t *pids, int count);

void truth_reap_everything(void);

/* The peak of this image as /proc has it; to be called at its end. */
void truth_note_peak(void);

/* A child that nobody could look at, whose end is known by construction. */
void truth_note_ran(pid_t pid, int wait_status);

/* What is reaped from here on is of this act, which began with that process. */
void truth_note_act(const char *act, pid_t pid);
