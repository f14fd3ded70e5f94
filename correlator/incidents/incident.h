/* Incidents: what went wrong, each in one sentence of facts. */
#pragma once

#include "common/store/rows.h"

struct model;
struct image;
struct task;

int64_t incident_id(int64_t subject, const char *kind);
/* To be written: `row` with the sentence and why, NULL or empty: not known. When it was by
 * the wall clock the store keeps as it was told first. */
void incident_add(struct model *model, struct row_incident row, const char *sentence, const char *why);
/* The cause of a process that failed by itself; NULL: out of memory. */
struct cause *incident_describe(struct model *model, const struct image *image);
/* A process failed by itself: some ways to do so are reported whatever becomes of its task. */
void incident_note_failure(struct model *model, struct image *image);
void incident_note_task(struct model *model, struct task *task);
/* Its incident as a task that failed, written again where it has one: what became of it changed. */
void incident_report_task(struct model *model, struct task *task);
