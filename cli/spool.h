/* Records that are written one after the other and read in that order: in memory while they are
 * few, else in a temporary file that has no name. The caller keeps none of them.
 */
#ifndef TRACER_CLI_SPOOL_H
#define TRACER_CLI_SPOOL_H

#include <stddef.h>
#include <stdio.h>

#define SPOOL_MEMORY_BYTES_MAX (4 << 20)

/* Zero it before use. */
struct spool {
	FILE *file; /* NULL: all of it is in `data` */
	char *data, *record;
	size_t size, capacity; /* of `data`: what is not in the file */
	size_t record_capacity;
	size_t read_size; /* of `data` */
};

/* 0 or -errno: no memory, or no room for the file. Where no file can be made all stays in memory. */
int spool_add(struct spool *spool, const void *record, size_t size);

/* From the first record on. 0 or -errno. */
int spool_rewind(struct spool *spool);
/* 1: `*ret_record`, valid until the next call; 0: that was the last; -errno. */
int spool_next(struct spool *spool, const char **ret_record);

void spool_free(struct spool *spool);

#endif
