/* Records of the kernel side taken apart, where no privilege is at risk.
 *
 * The probe forwards a record's bytes as they are. Whoever reads them treats them as
 * hostile: every size is checked before it is used, every text stays within its
 * record. Pure: bytes in, one event out, nothing allocated.
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

/* What a path of a cgroup begins with, instead of the names next to the root, where those are too
 * many to be recorded. No whole path does: "…" in UTF-8. */
#define EVENT_PATH_MARK "\xe2\x80\xa6"

/* About 20 KiB because of argv: keep one, reuse it. Text is borrowed from the record
 * and from the two paths behind it, which are put together from their names. */
struct event {
	enum event_type type;
	union {
#define E(NAME, name) struct event_##name name;
		EVENTS(E)
#undef E
	};
	char filename_text[RECORD_CWD_MAX];
	char path_text[sizeof(EVENT_PATH_MARK) +
		       (RECORD_CWD_MAX > RECORD_CGROUP_PATH_MAX ? RECORD_CWD_MAX : RECORD_CGROUP_PATH_MAX)];
};

/* The event's name in events.h ("exec"), "unknown" for a number without one. */
const char *event_type_name(enum event_type type);

/* The bytes of exactly one record. 0; -EBADMSG: they are none of this version. */
int event_decode(const void *record, size_t size, struct event *event);

/* Of a record that stands at the beginning of `data`: its type and size as stated,
 * neither of them checked. -EBADMSG: there is not even a header. */
int event_peek(const void *data, size_t size, struct record_header *ret_header);

/* The largest record there may be. */
#define EVENT_RECORD_MAX (sizeof(struct record_exec) + 2 * RECORD_CWD_MAX + RECORD_ARGV_MAX)

/* What an iterator of the kernel wrote: records one behind the other, each padded to
 * 8 bytes, cut into pieces anywhere. */
struct event_pieces {
	const char *next; /* of the piece that was given last */
	size_t left;
	size_t kept; /* bytes of `record`: the beginning of one that goes on in the next piece */
	_Alignas(8) char record[EVENT_RECORD_MAX + 8];
};

/* Begin anew: nothing is kept of what came before. */
void event_pieces_reset(struct event_pieces *pieces);

/* Take one more piece, borrowed until event_pieces_next() has given 0. */
void event_pieces_add(struct event_pieces *pieces, const void *data, size_t size);

/* 1 and the next whole record, valid until the next call; 0: more pieces are needed;
 * -EBADMSG: a record of impossible size; where the next begins is not known. */
int event_pieces_next(struct event_pieces *pieces, const void **ret_record, size_t *ret_size);
