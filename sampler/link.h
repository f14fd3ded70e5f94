/* The connection to the correlator. Nothing is kept for a correlator that does not answer: figures of that time are
 * missing. */
#pragma once

#include "common/wire/wire.h"

#define LINK_DEVICES_MAX 64

struct link {
	const char *path;
	const char *kind;                   /* "nvidia": the name of its devices, before their numbers */
	const char *driver;                 /* its version */
	unsigned numbers[LINK_DEVICES_MAX]; /* of all devices that it finds */
	unsigned device_count;
	int fd; /* -1: not connected */
	bool is_failing;
	struct wire_output output;
};

/* A process, and the number of a device that it held. */
struct link_holder {
	uint32_t pid;
	uint64_t start_boot_ns;
	unsigned number;
};

/* What the device did for it in an interval. */
struct link_use {
	struct link_holder holder;
	uint64_t interval_ns;
	bool has_busy, has_memory, has_energy, has_throttled, has_capacity, has_clock, has_memory_clock,
		has_memory_busy;
	uint64_t busy_ns, memory_bytes, energy_uj, throttled_ns, capacity_bytes, clock_ns, memory_clock_ns,
		memory_busy_ns;
};

/* Connects if it is not connected, and says first which devices there are. Returns whether it is connected. */
bool link_open(struct link *link);
/* These do nothing without a connection. `boot_ns` is that of the round. */
void link_add_use(struct link *link, uint64_t boot_ns, const struct link_use *use);
void link_add_error(struct link *link, const struct link_holder *holder, unsigned code, unsigned holder_count);
/* Sends what was added, without waiting: a correlator that does not read is disconnected. */
void link_send(struct link *link);
void link_close(struct link *link);
