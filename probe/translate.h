/* Records of the kernel side (bpf/record.h) made into messages of the wire. Pure:
 * bytes in, one message out. */
#ifndef TRACER_PROBE_TRANSLATE_H
#define TRACER_PROBE_TRANSLATE_H

#include <stddef.h>
#include <stdint.h>

#include "common/wire/wire.h"

/* A path is put together from its names: one '/' for each NUL. */
struct translation {
	struct wire_message message; /* borrows from the record and from the paths below */
	char filename[RECORD_CWD_MAX + 1];
	char path[RECORD_CGROUP_PATH_MAX + 1];
};

/* `offset`: of the record in the ring, or for one from the iterator the position
 * that the ring was read up to. 0; -EBADMSG: these bytes are no record. */
int record_translate(const void *record, size_t size, uint64_t offset,
		     struct translation *translation);

#endif
