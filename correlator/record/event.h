/* Decodes the kernel side's records, in a process without privileges.
 *
 * The probe forwards a record's bytes unchanged. The decoder treats them as hostile:
 * every size is checked before it is used, and every text stays within its record. Pure
 * functions: bytes in, one event out, no allocation.
 */
#pragma once

#include "bpf/record.h"
#include "correlator/record/events.h"
#include "common/wire/wire.h"

#define EVENT_ARGV_MAX 1024 /* arguments; a longer argv is cut and flagged */

enum event_type {
#define E(NAME, name) EVENT_##NAME = RECORD_##NAME,
	EVENTS(E)
#undef E
};

struct event_strings {
	uint32_t count;
	struct wire_bytes item[EVENT_ARGV_MAX];
};

#define EVENT_U(name) uint64_t name;
#define EVENT_S(name) int64_t name;
#define EVENT_T(name) struct wire_bytes name;
#define EVENT_A(name) struct event_strings name;
#define EVENT_I(name) struct image_key name;
#define EVENT_C(name) struct counters name;
#define E(NAME, name) \
	struct event_##name { \
		EVENT_HEADER_FIELDS(EVENT_U, EVENT_I) \
		EVENT_##NAME##_FIELDS(EVENT_U, EVENT_S, EVENT_T, EVENT_A, EVENT_I, EVENT_C) \
	};
EVENTS(E)
#undef E
#undef EVENT_U
#undef EVENT_S
#undef EVENT_T
#undef EVENT_A
#undef EVENT_I
#undef EVENT_C

/* "…" in UTF-8, in place of what could not be recorded of a path: the names next to the root, where a
 * complete path never begins with it, or the end of a program's path. */
#define EVENT_PATH_MARK "\xe2\x80\xa6"

/* About 20 KiB because of argv: keep one and reuse it. Text is borrowed from the record
 * and from the two paths at the end, which are assembled from their names. */
struct event {
	enum event_type type;
	union {
#define E(NAME, name) struct event_##name name;
		EVENTS(E)
#undef E
	};
	char filename_text[sizeof(EVENT_PATH_MARK) + RECORD_CWD_MAX];
	char path_text[sizeof(EVENT_PATH_MARK) +
		       (RECORD_CWD_MAX > RECORD_CGROUP_PATH_MAX ? RECORD_CWD_MAX : RECORD_CGROUP_PATH_MAX)];
};

/* Returns the event's name in events.h ("exec"), or "unknown" for a number without one. */
const char *event_type_name(enum event_type type);

/* Decodes exactly one record. Returns 0, or -EBADMSG if it is not one of this version. */
int event_decode(const void *record, size_t size, struct event *event);

/* Reads the header of the record at the beginning of `data`, without checking its type
 * and size. Returns 0, or -EBADMSG if `data` is shorter than a header. */
int event_peek(const void *data, size_t size, struct record_header *ret_header);

/* Finds the record at `*at` of consecutive records, each padded to 8 bytes, and moves `*at` to the next.
 * Returns 1; 0 at the end; -EBADMSG for an impossible size, after which no other can be found. */
int event_find(const struct wire_bytes *records, size_t *at, const void **ret_record, size_t *ret_size);

/* Size of the largest valid record. */
#define EVENT_RECORD_MAX (sizeof(struct record_exec) + 2 * RECORD_CWD_MAX + RECORD_ARGV_MAX)
