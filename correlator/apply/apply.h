/* Turns messages of the probe into hosts, containers, runs, tasks, tools and processes in a store:
 * the model is updated, placement decides where new processes belong, incidents assesses what has
 * ended, and a commit writes the rows.
 *
 * Deterministic: the result depends on the messages alone (no clock, no random numbers, no /proc),
 * so replaying a recording produces the same store.
 */
#pragma once

#include "correlator/store/writer.h"
#include "correlator/host/host.h"
#include "correlator/model/device.h"
#include "correlator/model/model.h"

/* Creates a model and restores what `store` knows of running processes. Returns 0 or -errno. */
int apply_begin(const struct model_options *options, struct store *store, struct model **ret_model);
/* `model` may be NULL. */
void apply_end(struct model *model);

/* Apply what the probe sends, in the order sent: its own messages (hello, process scans, losses), and
 * the records that it forwards. Return 0; -EPROTO if a message is invalid; -ENOMEM if the
 * model is no longer usable. Records that make no sense (the exit of an unknown process) are ignored:
 * records may be lost, and the store must not depend on a well-behaved peer. */
int apply_message(struct model *model, const struct wire_message *message);
int apply_record(struct model *model, const struct record *record);
/* Counts a record that could not be read as lost; at most its header is known. Or records that were not sent,
 * of unknown number, between the time in `header` and `until_boot_ns`. */
int apply_unreadable(struct model *model, const struct record_header *header, uint64_t until_boot_ns);

/* Adds what a device did for the process with `pid` that started at `start_boot_ns`, of which only whole ticks
 * (PROCESS_TICK_NS) count. Of an unknown process nothing is kept. Like samples of the host, not part of the stream. */
void apply_device_use(struct model *model, uint64_t pid, uint64_t start_boot_ns, const char *device,
		      const struct device_report *report);
/* Sets which devices of a kind the host has: a list, separated by commas. */
void apply_devices(struct model *model, const char *kind, const struct wire_bytes *list);
/* Adds an error of a device that the process held. Otherwise the same. */
void apply_device_error(struct model *model, uint64_t pid, uint64_t start_boot_ns, const struct device_error *error);

/* Names the container with that id after its pod. Not part of the stream either. */
void apply_pod_container(struct model *model, const struct host_pod_container *found);
bool apply_awaits_pods(const struct model *model);

/* Facts and samples of the host. They are not part of the stream, so a replay has none. Until the stream
 * has identified the host, facts are not written and samples are ignored. */
void apply_host(struct model *model, const struct host_facts *facts);
void apply_host_sample(struct model *model, const struct row_host_sample *sample);
void apply_file_system_sample(struct model *model, const struct row_file_system_sample *sample);

/* Writes all changes since the last commit, with the stream's position. On failure
 * (-ENOSPC, -EBUSY, ...) nothing is written and the call can be repeated. */
int apply_commit(struct model *model, struct store_stream *stream);
/* Announces that the next commit is the last. */
void apply_note_end(struct model *model);
