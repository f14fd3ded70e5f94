/* Sends records to a correlator as a probe would (docs/wire.md), but what it sends is not kept anywhere: after a failure
 * nothing more is recorded. */
#pragma once

#include <stdbool.h>

#include "bpf/record.h"
#include "common/wire/wire.h"

struct feed {
	int fd; /* -1: not connected, or it failed */
	uint64_t offset;
	struct wire_output output;
	size_t sent;        /* of the output */
	char *samples;      /* of the scan that is being sent */
	size_t sample_size; /* bytes */
};

/* Connects and exchanges the greeting. Returns 0 or -errno. */
int feed_open(struct feed *feed, const char *socket_path);

/* Errors, such as the end of the correlator, close the connection: then these do nothing. */
void feed_event(struct feed *feed, const void *record);
void feed_sample(struct feed *feed, const void *record);
/* Ends a scan: samples of all processes were given since the last one. */
void feed_scan(struct feed *feed, uint64_t boot_ns);

/* Sends what can be sent without waiting; waits if a lot has piled up. */
void feed_flush(struct feed *feed);

/* Sends everything, and tells the correlator that nothing follows. */
void feed_close(struct feed *feed);
