/* Incidents: what went wrong, each described in one factual sentence. */
#pragma once

#include "common/store/rows.h"

struct model;
struct device_error;
struct image;
struct sent_signal;
struct task;

/* Returns the row of an incident of a process; it has one of each kind. */
struct row_incident incident_row(const struct task *task, int64_t process_id, const char *kind, uint64_t boot_ns);
/* Queues `row` to be written with the reason `why` (NULL or empty: unknown) and the sentence. If it
 * is written again, the store keeps the first wall-clock time. */
void incident_add(struct model *model, struct row_incident row, const char *why, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Returns the cause of a process that failed by itself, or NULL if out of memory. `sent`: see sender_find(). */
struct cause *incident_describe(struct model *model, const struct image *image, const struct sent_signal *sent);
/* Reports a process that failed by itself, if its kind of failure is reported regardless of its task. */
void incident_note_failure(struct model *model, struct image *image);
/* An error of a device that it holds. If it fails in the next minute, that is why. */
void incident_note_device_error(struct model *model, struct image *image, const struct device_error *error);
void incident_note_task(struct model *model, struct task *task);
/* Queues the incident of a failed task, again if its outcome has changed; does nothing if it has none. */
void incident_report_task(struct model *model, struct task *task);
