/* What /proc/PID/fdinfo/FD says of an open GPU: the kernel's Documentation/gpu/drm-usage-stats.rst. No I/O. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define FDINFO_ENGINES_MAX 16 /* kinds of engines of a device; further ones are left out */
#define FDINFO_NAME_SIZE 32   /* longer names are cut */

/* A kind of engine, such as "render" or "copy", and its use by this client so far. */
struct fdinfo_engine {
	char name[FDINFO_NAME_SIZE];
	bool has_ns, has_cycles; /* drivers give one or the other */
	uint64_t busy_ns;
	uint64_t busy_cycles, all_cycles; /* of that engine's clock */
	uint64_t capacity;                /* engines of that kind */
};

struct fdinfo {
	char driver[FDINFO_NAME_SIZE]; /* "": it is no GPU */
	char pci_address[FDINFO_NAME_SIZE];
	uint64_t client_id; /* of the device: shared by copies of the descriptor, in any process; has_client_id */
	bool has_client_id;
	struct fdinfo_engine engines[FDINFO_ENGINES_MAX];
	unsigned engine_count;
	/* Resident memory, in the device's own memory or, if it has none, in the system's. */
	bool has_memory;
	uint64_t memory_bytes;
};

/* Parses a whole file; what it does not know is skipped. Returns whether it is a GPU's, with a client. */
bool fdinfo_parse(const char *text, struct fdinfo *ret);
