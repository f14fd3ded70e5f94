/* Records in memory or in a temporary file. See spool.h. */
#include "cli/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int grow(char **data, size_t *capacity, size_t least)
{
	size_t wanted = *capacity ? *capacity : 4096;
	char *grown;

	while (wanted < least)
		wanted *= 2;
	if (wanted == *capacity)
		return 0;
	grown = realloc(*data, wanted);
	if (!grown)
		return -ENOMEM;
	*data = grown;
	*capacity = wanted;
	return 0;
}

/* What is in memory goes to the file. */
static int flush(struct spool *spool)
{
	if (spool->size == 0)
		return 0;
	if (!spool->file)
		spool->file = tmpfile();
	if (!spool->file)
		return 0;
	errno = EIO;
	if (fseek(spool->file, 0, SEEK_END) < 0 || fwrite(spool->data, spool->size, 1, spool->file) != 1)
		return -errno;
	spool->size = 0;
	return 0;
}

/* A record is its size and its bytes. */
int spool_add(struct spool *spool, const void *record, size_t size)
{
	size_t needed = spool->size + sizeof(size) + size;
	int error = 0;

	if (needed > SPOOL_MEMORY_BYTES_MAX && needed > spool->capacity) {
		error = flush(spool);
		needed = spool->size + sizeof(size) + size;
	}
	if (error == 0)
		error = grow(&spool->data, &spool->capacity, needed);
	if (error < 0)
		return error;
	memcpy(spool->data + spool->size, &size, sizeof(size));
	memcpy(spool->data + spool->size + sizeof(size), record, size);
	spool->size = needed;
	return 0;
}

int spool_rewind(struct spool *spool)
{
	spool->read_size = 0;
	if (spool->file && fseek(spool->file, 0, SEEK_SET) < 0)
		return -errno;
	return 0;
}

/* 1; 0: the file has been read. */
static int read_file(struct spool *spool)
{
	size_t size;
	int error;

	if (fread(&size, sizeof(size), 1, spool->file) != 1)
		return ferror(spool->file) ? -EIO : 0;
	error = grow(&spool->record, &spool->record_capacity, size);
	if (error == 0 && fread(spool->record, size, 1, spool->file) != 1)
		error = -EIO;
	return error < 0 ? error : 1;
}

int spool_next(struct spool *spool, const char **ret_record)
{
	int more = spool->file ? read_file(spool) : 0;
	size_t size;

	if (more != 0) {
		*ret_record = spool->record;
		return more;
	}
	if (spool->read_size == spool->size)
		return 0;
	memcpy(&size, spool->data + spool->read_size, sizeof(size));
	*ret_record = spool->data + spool->read_size + sizeof(size);
	spool->read_size += sizeof(size) + size;
	return 1;
}

void spool_free(struct spool *spool)
{
	if (spool->file)
		fclose(spool->file);
	free(spool->data);
	free(spool->record);
	*spool = (struct spool){0};
}
