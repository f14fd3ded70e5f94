/* What the shipper tells the others on its host: one small file, written whole.
 *
 * tracer-shipper writes it, `tracer status` shows it, and tracer-correlator looks into it
 * before it deletes old runs. It is not the cursor: when it is missing or behind, that only
 * keeps more than need be.
 */
#pragma once

#include <stdint.h>

#define SHIPPING_STATE_DEFAULT TRACER_STATE_DIR "-shipper"
#define SHIPPING_STATUS_FILE "status.json"
#define SHIPPING_TEXT_BYTES 512

/* I(name): a number. T(name): a text. Times are 0 where it never happened. */
#define SHIPPING_STATUS(I, T) \
	T(sink)   /* clickhouse, ndjson */ \
	T(target) /* where to: a URL without secrets, or a directory */ \
	I(updated_unix_ns) \
	I(store_first_seen_unix_ns) /* which store: hosts.first_seen_unix_ns */ \
	I(store_rev)                /* its highest revision when last looked at */ \
	I(shipped_rev)              /* every row up to here has arrived */ \
	I(shipped_unix_ns)          /* so has what was committed up to then */ \
	I(last_success_unix_ns) \
	I(failing_since_unix_ns) /* 0: all is well */ \
	I(attempt_count)         /* failed ones since then */ \
	I(last_error_unix_ns) \
	T(last_error) \
	I(sent_batch_count) \
	I(sent_row_count) \
	I(sent_bytes) \
	I(quarantined_batch_count) /* refused by the lake for what is in them */ \
	I(quarantined_row_count) \
	I(quarantine_dropped_row_count) /* of them, dropped when the bound was reached */ \
	T(cloud)                        /* provider and instance, "" where it was not asked for or is none */

struct shipping_status {
#define I(name) int64_t name;
#define T(name) char name[SHIPPING_TEXT_BYTES];
	SHIPPING_STATUS(I, T)
#undef I
#undef T
};

/* 0; -ENOENT: no shipper has ever run; -EBADMSG: not a status; -errno. */
int shipping_status_read(const char *directory, struct shipping_status *ret_status);

/* As JSON, to free; NULL when memory is short. */
char *shipping_status_format(const struct shipping_status *status);
