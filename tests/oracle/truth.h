/* What an actor did, as it says itself: one file for each program image, which truth.py reads.
 *
 * The file is in a directory in memory and is mapped, so that writing it is no I/O of the actor and costs it a few pages
 * of shared memory. An image that is killed without warning leaves what it had written.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Environment variable with the directory, so that it survives an exec. Without it nothing is written. */
#define TRUTH_DIRECTORY "ORACLE_TRUTH"

#define TRUTH_EVENTS_MAX 300

/* An object is memory that several processes may hold; it counts once, with what one of them holds at most. */
enum truth_kind {
	TRUTH_HOLD = 1, /* of `object` the process holds `number` bytes from now on */
	TRUTH_FILE,     /* the same, but it stays when the process ends: a file in memory */
	TRUTH_MAPPED,   /* the same, of page cache: it is not needed, but the kernel takes time to free it */
	TRUTH_REAPED, /* `object` is a child's pid, `number` the CPU time in µs of it and of the children that it reaped */
};

enum truth_begin { TRUTH_EXEC = 1, TRUTH_FORK };
enum truth_end { TRUTH_RUNS, TRUTH_EXIT, TRUTH_KILL, TRUTH_BECOMES };

struct truth_event {
	uint64_t boot_ns;
	uint64_t object;
	uint64_t number;
	uint64_t kind; /* enum truth_kind */
};

struct truth {
	uint32_t pid;
	uint32_t begin;         /* enum truth_begin */
	uint32_t end;           /* enum truth_end: how it means to end */
	uint32_t status;        /* exit code, or signal */
	uint64_t begin_boot_ns; /* the first and the last thing that it does */
	uint64_t end_boot_ns;
	uint64_t begin_cpu_ns; /* CPU time of the process at these moments */
	uint64_t end_cpu_ns;
	uint64_t rchar_bytes; /* of the process, all its images: /proc/PID/io at its end */
	uint64_t wchar_bytes;
	uint64_t syscr_count;
	uint64_t syscw_count;
	uint64_t sent_bytes; /* of this image */
	uint64_t received_bytes;
	uint64_t event_count;
	char name[32];
	struct truth_event events[TRUTH_EVENTS_MAX];
};

/* Begins the file of a new image. */
void truth_begin(const char *name, enum truth_begin how);
void truth_add(enum truth_kind kind, uint64_t object, size_t number);
void truth_add_traffic(size_t sent_bytes, size_t received_bytes);
/* The last thing that an image does. */
void truth_end(enum truth_end how, int status);
