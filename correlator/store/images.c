/* Texts shared by processes: path, program, rule, role and reason are stored once, in images,
 * and a process refers to them by id.
 *
 * Few of the processes of a moment differ in these texts, so the latest ids are cached by
 * their texts. Cached ids must exist in the store: the cache is cleared by a
 * rollback and after expiry has deleted rows.
 */
#include <string.h>

#include "correlator/store/internal.h"

/* Writes "TEXT\0" for each of the five texts, "\1" for NULL. Returns the size, or 0 if too long for the cache. */
static size_t key_write(const struct row_process *row, char key[STORE_IMAGE_KEY_MAX])
{
	const char *const texts[] = {row->path, row->program, row->reason, row->rule, row->role};
	size_t used = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *text = texts[i] ? texts[i] : "\1";
		size_t size = strlen(text) + 1;

		if (size > STORE_IMAGE_KEY_MAX - used)
			return 0;
		memcpy(key + used, text, size);
		used += size;
	}
	return used;
}

static struct store_image *slot_of(struct store *store, const char *key, size_t size)
{
	uint32_t hash = 2166136261U; /* FNV-1a: a forced collision only slows lookups down */

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)key[i]) * 16777619U;
	return &writer_of(store)->images[hash % STORE_IMAGES_REMEMBERED];
}

static bool is_kept_in(const struct store_image *slot, const char *key, size_t size)
{
	return size && slot->size == size && memcmp(slot->key, key, size) == 0;
}

static int image_use(struct store *store, const struct row_process *row, int64_t *ret_id)
{
	const struct store_parameter texts[] = {
		{"path", STORE_TEXT, 0, row->path},     {"program", STORE_TEXT, 0, row->program},
		{"reason", STORE_TEXT, 0, row->reason}, {"rule", STORE_TEXT, 0, row->rule},
		{"role", STORE_TEXT, 0, row->role},     {0}};
	int error = store_find_number(store, "find_image", texts, 0, ret_id);

	if (error == 0 && *ret_id == 0) {
		error = store_run(store, "put_image", texts);
		*ret_id = sqlite3_last_insert_rowid(store->db);
	}
	if (error < 0)
		return error;
	return store_run(store, "use_image", (const struct store_parameter[]){STORE_INT("id", *ret_id), {0}});
}

int store_image_id(struct store *store, const struct row_process *row, int64_t *ret_id)
{
	char key[STORE_IMAGE_KEY_MAX];
	size_t size = key_write(row, key);
	/* Most often a hit: similar processes start together. */
	struct store_image *slot = writer_of(store)->last_image;
	int error;

	if (!slot || !is_kept_in(slot, key, size))
		slot = slot_of(store, key, size);
	writer_of(store)->last_image = slot;
	if (is_kept_in(slot, key, size)) {
		*ret_id = slot->id;
		return 0;
	}
	error = image_use(store, row, &slot->id);
	slot->size = error < 0 ? 0 : size;
	memcpy(slot->key, key, size);
	*ret_id = slot->id;
	return error;
}

void store_forget_images(struct store *store)
{
	for (size_t i = 0; i < STORE_IMAGES_REMEMBERED; i++)
		writer_of(store)->images[i].size = 0;
}
