/* Where frozen batches go. A sink is one entry of the table in sink.c; sending is
 * asynchronous, one batch at a time, and ends with one verdict. */
#pragma once

#include "shipper/batch.h"
#include "shipper/settings.h"
#include "shipper/verdict.h"

struct sink;

typedef void (*sink_done)(const struct verdict *verdict, void *data);

struct sink_type {
	const char *name;
	int (*open)(const struct settings *settings, uv_loop_t *loop, struct sink **ret_sink);
	/* Sends DIRECTORY/batch->name, then calls `done` from the loop. */
	void (*send)(struct sink *sink, const char *directory, const struct batch *batch, sink_done done, void *data);
	/* What would be sent ahead of the rows of this batch, for --dry-run. */
	void (*describe)(struct sink *sink, const struct batch *batch, FILE *file);
	/* Where to, for people: no secret. */
	const char *(*target)(const struct sink *sink);
	/* Ends what is under way without calling `done`. */
	void (*close)(struct sink *sink);
};

extern const struct sink_type sink_clickhouse, sink_ndjson;

/* NULL: no such sink. */
const struct sink_type *sink_find(const char *name);
