/* Reads the kernel side's records, in a process without privileges.
 *
 * The probe forwards a record's bytes unchanged, so they are treated as hostile: every size is checked
 * before it is used, and every text stays within its record. What passes is used as bpf/record.h
 * declares it. Pure functions: bytes in, one record out, no allocation.
 */
#pragma once

#include "bpf/record.h"
#include "common/wire/wire.h"

#define RECORD_ARGUMENTS_MAX 1024 /* a longer argv is cut and flagged */

/* "…" in UTF-8, in place of what could not be recorded of a path: the names next to the root, where a
 * complete path never begins with it, or the end of a program's path. */
#define RECORD_PATH_MARK "\xe2\x80\xa6"

struct record_arguments {
	uint32_t count;
	struct wire_bytes item[RECORD_ARGUMENTS_MAX];
};

/* A valid record, aligned, and its texts. About 20 KiB because of argv: keep one and reuse it. Texts are
 * borrowed: from the bytes that were read, and paths from the room at the end, where they are assembled from
 * their names. */
struct record {
	union {
		struct record_header header;
		struct record_fork fork;
		struct record_exec exec; /* and sample. core_limit_milli is 0 if it is unknown */
		struct record_exit exit; /* and final */
		struct record_cgroup cgroup;
		struct record_ignored ignored;
		struct record_signal signal;
		struct record_device device;
		struct record_file file;
		struct record_memory memory;
	};
	struct wire_bytes path;       /* of a cgroup; of the program of an exec or sample */
	struct wire_bytes comm, cwd;  /* of an exec or sample */
	struct record_arguments argv; /* the same */
	char room[2][sizeof(RECORD_PATH_MARK) + RECORD_CWD_MAX];
};

/* Reads exactly one record. Returns 0, or -EBADMSG if it is not one of this version. */
int record_read(const void *data, size_t size, struct record *ret_record);

/* Reads the header of the record at the beginning of `data`, without checking its type
 * and size. Returns 0, or -EBADMSG if `data` is shorter than a header. */
int record_peek(const void *data, size_t size, struct record_header *ret_header);

/* Finds the record at `*at` of consecutive records, each padded to 8 bytes, and moves `*at` to the next.
 * Returns 1; 0 at the end; -EBADMSG for an impossible size, after which no other can be found. */
int record_find(const struct wire_bytes *records, size_t *at, const void **ret_record, size_t *ret_size);

/* Size of a record without its texts; 0 for an unknown type. */
size_t record_fixed_size(uint32_t type);

/* Size of the largest valid record. */
#define RECORD_SIZE_MAX (sizeof(struct record_exec) + 2 * RECORD_CWD_MAX + RECORD_ARGV_MAX)
