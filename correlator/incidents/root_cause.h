/* Why a process failed, determined bottom-up.
 *
 * Each process remembers how a few of its children failed, and why. When it fails itself, it
 * inherits the cause of the child whose status it passed on, or is its own cause. So the chain
 * through shells and launchers is followed one step per exit, and a tolerated failure is never
 * the cause.
 */
#pragma once

struct model;
struct image;
struct process;

/* Call when an image has ended other than with code 0. Finds its cause and whether the failure was expected,
 * and records it with the parent. */
void root_cause_note(struct model *model, struct image *image);
/* Call when `parent` has forked another child. */
void root_cause_note_fork(struct model *model, struct process *parent);
/* Call when `process` has executed a program that is more than a helper. */
void root_cause_note_tool(struct model *model, struct process *process);
/* Discards the failures of children seen by the previous program; they do not concern the next. */
void root_cause_forget(struct model *model, struct process *process);
