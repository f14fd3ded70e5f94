/* From entities to rows: one commit writes what changed since the one before. */
#pragma once

struct model;
struct store_stream;

/* Writes it, with the stream's position. After a failure (-ENOSPC, -EBUSY, ...) nothing was written
 * and it can be tried again. */
int persist_commit(struct model *model, struct store_stream *stream);
/* Writes model->generation; not part of a commit, it changes only while loading. */
int persist_generation(struct model *model);
