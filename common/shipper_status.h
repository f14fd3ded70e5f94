/* Status file of the shipper: one small file, always written as a whole.
 *
 * tracer-shipper writes it, `tracer status` shows it, and tracer-correlator reads it
 * before it deletes old runs. It is not the cursor: if it is missing or out of date, old runs are
 * only kept longer than necessary.
 */
#pragma once

#include <stdint.h>

#define SHIPPER_STATE_DEFAULT TRACER_STATE_DIR "-shipper"
#define SHIPPER_STATUS_FILE "status.json"
#define SHIPPER_STATUS_TEXT_BYTES 512

/* I(name): a number. T(name): a text. A time is 0 if the event never happened. */
#define SHIPPER_STATUS(I, T) \
	T(sink)   /* clickhouse, ndjson, otlp */ \
	T(target) /* destination: a URL without secrets, or a directory */ \
	I(updated_unix_ns) \
	I(store_first_seen_unix_ns) /* identifies the store: hosts.first_seen_unix_ns */ \
	I(store_rev)                /* its highest revision when last read */ \
	I(shipped_rev)              /* every row up to this revision has arrived */ \
	I(shipped_unix_ns)          /* everything committed up to this time has arrived */ \
	I(last_success_unix_ns) \
	I(failing_since_unix_ns) /* 0: not failing */ \
	I(attempt_count)         /* failed attempts since then */ \
	I(last_error_unix_ns) \
	T(last_error) \
	I(sent_batch_count) \
	I(sent_row_count) \
	I(sent_bytes) \
	I(quarantined_batch_count) /* refused by the lake because of their content */ \
	I(quarantined_row_count) \
	I(quarantine_dropped_row_count) /* of these, dropped because the quarantine was full */ \
	I(rejected_row_count)           /* of accepted batches, spans that the receiver says it did not take */ \
	T(cloud)                        /* provider and instance; "" if disabled or not in a cloud */

struct shipper_status {
#define I(name) int64_t name;
#define T(name) char name[SHIPPER_STATUS_TEXT_BYTES];
	SHIPPER_STATUS(I, T)
#undef I
#undef T
};

/* Returns 0; -ENOENT if no shipper has ever run; -EBADMSG if it is not a status file; -errno. */
int shipper_status_read(const char *directory, struct shipper_status *ret_status);

/* Returns the status as JSON, which the caller frees; NULL if out of memory. */
char *shipper_status_format(const struct shipper_status *status);
