/* Serialization of the state of entities. See archive.h. */
#include "correlator/rows/archive.h"

/* ---- validation --------------------------------------------------------------------- */

/* Whether the bytes are a single msgpack value in which no declared size exceeds what is left: msgpack-c
 * allocates memory by declared sizes. */
static bool is_sound(const unsigned char *at, const unsigned char *end)
{
	/* Bytes after each format from 0xc0 on: a number, or how many bytes or items follow. */
	static const unsigned char sizes[0x20] = {
		[0x04] = 1, 2, 4, [0x0a] = 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, [0x19] = 1, 2, 4, 2, 4, 2, 4,
	};

	for (uint64_t left = 1; left > 0; left--) {
		unsigned char format = at < end ? *at++ : 0xc1;
		uint64_t bytes = 0, items = 0, number = 0;

		if (format == 0xc1 || (format >= 0xc7 && format < 0xca) || (format >= 0xd4 && format < 0xd9))
			return false; /* past the end, or an extension, which is never saved */
		if (format >= 0x80 && format < 0xc0) {
			bytes = format >= 0xa0 ? format & 0x1f : 0;
			items = format < 0x90 ? 2 * (format & 0x0fU) : format < 0xa0 ? format & 0x0f : 0;
		} else if (format >= 0xc0 && format < 0xe0) {
			unsigned size = sizes[format - 0xc0];

			if (size > (size_t)(end - at))
				return false;
			for (unsigned i = 0; i < size; i++)
				number = number << 8 | *at++;
			bytes = format < 0xc7 || (format >= 0xd9 && format < 0xdc) ? number : 0;
			items = format >= 0xde ? 2 * number : format >= 0xdc ? number : 0;
		}
		if (bytes > (size_t)(end - at) || items > (size_t)(end - at))
			return false;
		at += bytes;
		left += items;
	}
	return at == end;
}

/* ---- archives --------------------------------------------------------------------- */

static struct archive_level *innermost(struct archive *archive)
{
	return &archive->level[archive->depth - 1];
}

/* `object`: when loading, the value found there; NULL makes the level empty. */
static void open_level(struct archive *archive, const msgpack_object *object)
{
	if (archive->depth < ARCHIVE_DEPTH_MAX)
		archive->depth++;
	else
		archive->bad = true;
	*innermost(archive) = (struct archive_level){.object = object};
}

void archive_init(struct archive *archive)
{
	*archive = (struct archive){0};
	msgpack_sbuffer_init(&archive->buffer);
	msgpack_packer_init(&archive->packer, &archive->buffer, msgpack_sbuffer_write);
	msgpack_unpacked_init(&archive->loaded);
}

void archive_deinit(struct archive *archive)
{
	msgpack_sbuffer_destroy(&archive->buffer);
	msgpack_unpacked_destroy(&archive->loaded);
}

/* The number of fields is filled in when the map is closed. */
#define MAP_HEAD "\xde\0\0"

static void save_map(struct archive *archive)
{
	open_level(archive, NULL);
	innermost(archive)->head = archive->buffer.size + 1;
	archive_require(archive, msgpack_sbuffer_write(&archive->buffer, MAP_HEAD, sizeof(MAP_HEAD) - 1) == 0);
}

static void load_map(struct archive *archive, const msgpack_object *object)
{
	archive_require(archive, object && object->type == MSGPACK_OBJECT_MAP);
	open_level(archive, archive->bad ? NULL : object);
}

void archive_begin_saving(struct archive *archive)
{
	archive->loading = archive->bad = false;
	archive->depth = 0;
	msgpack_sbuffer_clear(&archive->buffer);
	save_map(archive);
}

void archive_begin_loading(struct archive *archive, const void *data, size_t size)
{
	archive->loading = true;
	archive->depth = 0;
	archive->bad = !is_sound(data, (const unsigned char *)data + size) ||
		       msgpack_unpack_next(&archive->loaded, data, size, NULL) != MSGPACK_UNPACK_SUCCESS;
	load_map(archive, &archive->loaded.data);
}

bool archive_end(struct archive *archive)
{
	archive_close(archive);
	archive_require(archive, archive->depth == 0);
	return !archive->bad;
}

/* ---- fields ------------------------------------------------------------------------ */

static void save_name(struct archive *archive, const char *name)
{
	innermost(archive)->count++;
	archive_require(archive, msgpack_pack_str_with_body(&archive->packer, name, strlen(name)) == 0);
}

/* Returns NULL if the field is missing. Fields are loaded in the order in which they were saved, so
 * the next one usually matches. */
static const msgpack_object *load(struct archive *archive, const char *name, msgpack_object_type type)
{
	struct archive_level *level = innermost(archive);
	uint32_t size = level->object ? level->object->via.map.size : 0;

	for (uint32_t i = 0; i < size; i++) {
		const msgpack_object_kv *field = &level->object->via.map.ptr[level->count++ % size];
		const msgpack_object *key = &field->key;

		archive_require(archive, key->type == MSGPACK_OBJECT_STR);
		if (key->type != MSGPACK_OBJECT_STR || key->via.str.size != strlen(name) ||
		    memcmp(key->via.str.ptr, name, key->via.str.size) != 0)
			continue;
		archive_require(archive,
				field->val.type == type || (type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
							    field->val.type == MSGPACK_OBJECT_NEGATIVE_INTEGER));
		return archive->bad ? NULL : &field->val;
	}
	return NULL;
}

void archive_integer(struct archive *archive, const char *name, int64_t *value, int64_t missing)
{
	const msgpack_object *found;

	if (archive->loading) {
		found = load(archive, name, MSGPACK_OBJECT_POSITIVE_INTEGER);
		*value = found ? found->via.i64 : missing;
	} else if (*value != missing) {
		save_name(archive, name);
		archive_require(archive, msgpack_pack_int64(&archive->packer, *value) == 0);
	}
}

void archive_bytes(struct archive *archive, const char *name, char **data, size_t *size)
{
	const msgpack_object *found;

	if (!archive->loading) {
		if (*data)
			archive_plain(archive, name, *data, size, *size);
		return;
	}
	found = load(archive, name, MSGPACK_OBJECT_BIN);
	*size = found ? found->via.bin.size : 0;
	*data = found ? calloc(1, *size + 1) : NULL;
	archive_require(archive, *data || !found);
	if (*data)
		memcpy(*data, found->via.bin.ptr, *size);
}

void archive_text(struct archive *archive, const char *name, char **text)
{
	size_t size = *text && !archive->loading ? strlen(*text) : 0;

	archive_bytes(archive, name, text, &size);
}

void archive_plain(struct archive *archive, const char *name, void *data, size_t *size, size_t capacity)
{
	const msgpack_object *found;

	if (!archive->loading) {
		save_name(archive, name);
		archive_require(archive, msgpack_pack_bin_with_body(&archive->packer, data, *size) == 0);
		return;
	}
	found = load(archive, name, MSGPACK_OBJECT_BIN);
	archive_require(archive, !found || found->via.bin.size <= capacity);
	*size = found && !archive->bad ? found->via.bin.size : 0;
	if (*size)
		memcpy(data, found->via.bin.ptr, *size);
}

void archive_fixed_text(struct archive *archive, const char *name, char *text, size_t capacity)
{
	size_t size = archive->loading ? 0 : strlen(text);

	if (archive->loading || size)
		archive_plain(archive, name, text, &size, capacity - 1);
	text[size] = '\0';
}

/* ---- parts -------------------------------------------------------------------------- */

bool archive_open(struct archive *archive, const char *name, bool is_there)
{
	if (archive->loading) {
		const msgpack_object *found = load(archive, name, MSGPACK_OBJECT_MAP);

		if (found)
			load_map(archive, found);
		return found;
	}
	if (is_there) {
		save_name(archive, name);
		save_map(archive);
	}
	return is_there;
}

void archive_open_list(struct archive *archive, const char *name, uint64_t *count)
{
	const msgpack_object *found = archive->loading ? load(archive, name, MSGPACK_OBJECT_ARRAY) : NULL;

	if (archive->loading) {
		*count = found ? found->via.array.size : 0;
	} else if (*count > 0) {
		save_name(archive, name);
		archive_require(archive, msgpack_pack_array(&archive->packer, *count) == 0);
	}
	open_level(archive, found);
}

void archive_open_item(struct archive *archive)
{
	struct archive_level *list = innermost(archive);
	bool is_there = archive->loading && list->object && list->count < list->object->via.array.size;

	if (archive->loading)
		load_map(archive, is_there ? &list->object->via.array.ptr[list->count++] : NULL);
	else
		save_map(archive);
}

void archive_close(struct archive *archive)
{
	const struct archive_level *level;

	if (archive->depth == 0)
		return;
	level = innermost(archive);
	if (!archive->loading && level->head && !archive->bad) {
		archive->buffer.data[level->head] = (char)(level->count >> 8);
		archive->buffer.data[level->head + 1] = (char)level->count;
	}
	archive->depth--;
}
