/* Destinations of frozen batches. A sink is an entry of the table in sink.c; sending is
 * asynchronous, one batch at a time, and ends with one result. */
#pragma once

#include "shipper/batch.h"
#include "shipper/delivery.h"
#include "shipper/settings.h"

struct sink;

typedef void (*sink_done)(const struct delivery *delivery, void *data);

struct sink_type {
	const char *name;
	bool takes_spans; /* runs and tasks that are over, as spans; otherwise rows of all entities */
	int (*open)(const struct settings *settings, uv_loop_t *loop, struct sink **ret_sink);
	/* Sends DIRECTORY/batch->name, then calls `done` from the loop. */
	void (*send)(struct sink *sink, const char *directory, const struct batch *batch, sink_done done, void *data);
	/* Prints what would be sent before the rows of this batch, for --dry-run. */
	void (*describe)(struct sink *sink, const struct batch *batch, FILE *file);
	/* Returns the destination for display, without secrets. */
	const char *(*target)(const struct sink *sink);
	/* Aborts a send in progress without calling `done`. */
	void (*close)(struct sink *sink);
};

extern const struct sink_type sink_clickhouse, sink_ndjson, sink_otlp;

/* Returns NULL if there is no such sink. */
const struct sink_type *sink_find(const char *name);
