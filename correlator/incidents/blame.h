/* Why a process ended as it did, found from the bottom up.
 *
 * Each process remembers how its last few children failed, each with its cause. When it fails
 * itself, the cause is that of the child whose status it passed on, or the process itself. So
 * the chain is followed down through shells and launchers at one step an exit, and what was
 * tolerated is never blamed.
 */
#pragma once

#include <stdint.h>

struct model;
struct image;
struct process;

/* A process has ended: finds its cause if it failed, and whether that was to be expected; its parent
 * remembers it. */
void blame_note(struct model *model, struct image *image);
/* A wrapper that killed itself with its command (timeout -s KILL) may be gone before it: what was
 * said of the wrapper is said anew of the command. */
void blame_correct_parent(struct model *model, const struct image *image);
/* `process` has another child. */
void blame_note_fork(struct process *parent);
/* `process` has executed a program that is more than a helper. */
void blame_note_tool(struct process *process);
/* What the program before has seen of its children means nothing to the next. */
void blame_forget(struct process *process);
/* A failed child of `parent` is done again: it explains nothing any more. */
void blame_forgive(struct process *parent, uint64_t pid, uint64_t start_boot_ns);
