/* Extracts complete records from the output of an iterator. See event.h. */
#include <errno.h>
#include <string.h>

#include "correlator/record/event.h"

void event_pieces_reset(struct event_pieces *pieces)
{
	pieces->left = pieces->kept = 0;
}

void event_pieces_add(struct event_pieces *pieces, const void *data, size_t size)
{
	pieces->next = data;
	pieces->left = size;
}

/* Extends the kept record to `wanted` bytes. Returns 0 if the piece ends before that. */
static int piece_take(struct event_pieces *pieces, size_t wanted)
{
	size_t missing = wanted > pieces->kept ? wanted - pieces->kept : 0;
	size_t size = missing < pieces->left ? missing : pieces->left;

	if (size)
		memcpy(pieces->record + pieces->kept, pieces->next, size);
	pieces->next += size;
	pieces->left -= size;
	pieces->kept += size;
	return size == missing;
}

int event_pieces_next(struct event_pieces *pieces, const void **ret_record, size_t *ret_size)
{
	struct record_header header;

	if (!piece_take(pieces, sizeof(header)))
		return 0;
	memcpy(&header, pieces->record, sizeof(header));
	if (header.size < sizeof(header) || header.size > EVENT_RECORD_MAX)
		return -EBADMSG;
	if (!piece_take(pieces, (header.size + 7) & ~(size_t)7))
		return 0;
	pieces->kept = 0;
	*ret_record = pieces->record;
	*ret_size = header.size;
	return 1;
}
