/* Writing entities as rows: each commit writes what changed since the previous one. */
#pragma once

struct model;
struct store_stream;

/* Writes the changes and the stream's position. On failure (-ENOSPC, -EBUSY, ...) nothing is written
 * and the call can be repeated. */
int persist_commit(struct model *model, struct store_stream *stream);
