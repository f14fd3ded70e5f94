/* The cursor and its file. See cursor.h. */
#include "shipper/cursor.h"

#include <errno.h>
#include <string.h>

#include <jansson.h>

#include "common/log.h"
#include "common/store/store.h"
#include "shipper/file.h"

#define CURSOR_FILE "cursor"
#define CURSOR_FILE_BYTES_MAX 16384
#define CURSOR_FORMAT 1

static int revs_parse(const json_t *revs, struct cursor *cursor)
{
	const char *name;

	for (size_t i = 0; (name = store_entity_name(i)); i++) {
		/* An entity that is new in this release starts at 0. */
		const json_t *rev = json_object_get(revs, name);

		if (rev && (!json_is_integer(rev) || json_integer_value(rev) < 0))
			return -EBADMSG;
		cursor->revs[i] = json_integer_value(rev);
	}
	return 0;
}

static int cursor_parse(const json_t *root, struct cursor *ret_cursor)
{
	struct cursor cursor = {0};
	json_int_t format, inode, first_seen, base, highest, left_out = 0;
	const json_t *revs;
	int error;

	if (json_unpack((json_t *)root, "{s:I, s:I, s:I, s:I, s:I, s?I, s:o}", "format", &format, "store_inode", &inode,
			"store_first_seen_unix_ns", &first_seen, "base_version", &base, "highest_version", &highest,
			"left_out", &left_out, "revs", &revs) < 0 ||
	    format != CURSOR_FORMAT || base < 0 || highest < base || inode < 0 || !json_is_object(revs))
		return -EBADMSG;
	cursor.store = (struct cursor_store){(uint64_t)inode, first_seen};
	cursor.base_version = (uint64_t)base;
	cursor.highest_version = (uint64_t)highest;
	cursor.left_out = left_out;
	error = revs_parse(revs, &cursor);
	if (error == 0)
		*ret_cursor = cursor;
	return error;
}

int cursor_load(const char *directory, struct cursor *ret_cursor)
{
	char path[PATH_MAX], *data;
	size_t size;
	json_t *root;
	int error;

	error = file_path(path, directory, CURSOR_FILE);
	if (error == 0)
		error = file_read(path, CURSOR_FILE_BYTES_MAX, &data, &size);
	if (error < 0)
		return error == -EFBIG ? -EBADMSG : error;
	root = json_loadb(data, size, JSON_REJECT_DUPLICATES, NULL);
	error = root ? cursor_parse(root, ret_cursor) : -EBADMSG;
	json_decref(root);
	free(data);
	return error;
}

int cursor_open(const char *directory, struct cursor *ret_cursor)
{
	int error = cursor_load(directory, ret_cursor);

	if (error == -EBADMSG)
		log_warning("%s/" CURSOR_FILE " is damaged or from another release: sending the whole store again, "
			    "which is harmless",
			    directory);
	if (error == -EBADMSG || error == -ENOENT) {
		*ret_cursor = (struct cursor){0};
		error = 0;
	}
	return error;
}

int cursor_save(const char *directory, const struct cursor *cursor)
{
	json_t *revs = json_object();
	json_t *root;
	const char *name;
	char *text;
	int error;

	for (size_t i = 0; (name = store_entity_name(i)); i++)
		json_object_set_new(revs, name, json_integer(cursor->revs[i]));
	root = json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:o}", "format", CURSOR_FORMAT, "store_inode",
			 (json_int_t)cursor->store.inode, "store_first_seen_unix_ns",
			 (json_int_t)cursor->store.first_seen_unix_ns, "base_version", (json_int_t)cursor->base_version,
			 "highest_version", (json_int_t)cursor->highest_version, "left_out",
			 (json_int_t)cursor->left_out, "revs", revs);
	text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
	error = text ? file_write(directory, CURSOR_FILE, text, strlen(text), 0600, true) : -ENOMEM;
	free(text);
	json_decref(root);
	return error;
}

void cursor_restart(struct cursor *cursor, const struct cursor_store *store, uint64_t now_unix_ns)
{
	/* Versions must not decrease even if the wall clock was set back. */
	uint64_t base = cursor->highest_version >= now_unix_ns ? cursor->highest_version + 1 : now_unix_ns;

	*cursor = (struct cursor){
		.store = *store,
		.base_version = base,
		.highest_version = base,
		.left_out = cursor->left_out,
	};
}

bool cursor_is_of(const struct cursor *cursor, const struct cursor_store *store)
{
	return cursor->base_version != 0 && cursor->store.inode == store->inode &&
	       cursor->store.first_seen_unix_ns == store->first_seen_unix_ns;
}

int64_t cursor_rev(const struct cursor *cursor)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; store_entity_name(i); i++)
		if (cursor->revs[i] < least)
			least = cursor->revs[i];
	return least;
}
