/* Conversion of entities by tables of their fields. See fields.h. */
#include "correlator/rows/fields.h"

#include "correlator/model/totals.h"

/* ---- numbers ------------------------------------------------------------------------- */

#define AS(type, at) ((int64_t)(*(const type *)(at)))

/* These two are inline because each commit reads some 50 numbers per process. */
static inline int64_t integer_get(const struct field *field, const void *at)
{
	switch (field->size) {
	case 8: return AS(int64_t, at);
	case 4: return field->is_signed ? AS(int32_t, at) : AS(uint32_t, at);
	default: return field->is_signed ? AS(int8_t, at) : AS(uint8_t, at);
	}
}

static void integer_set(const struct field *field, void *at, int64_t value)
{
	switch (field->size) {
	case 8: *(int64_t *)at = value; break;
	case 4: *(uint32_t *)at = (uint32_t)value; break;
	default: *(uint8_t *)at = (uint8_t)value;
	}
}

static inline int64_t number_get(const struct field *field, const char *entity)
{
	if (field->valid_bit && !(*(const uint64_t *)(entity + field->valid) & field->valid_bit))
		return field->missing;
	return integer_get(field, entity + field->offset);
}

static bool number_set(const struct field *field, char *entity, int64_t value)
{
	if (value < field->min || value > field->max)
		return false;
	if (field->valid_bit)
		*(uint64_t *)(entity + field->valid) |= field->valid_bit;
	integer_set(field, entity + field->offset, value);
	return integer_get(field, entity + field->offset) == value;
}

static void number_set_missing(const struct field *field, char *entity)
{
	if (!field->valid_bit)
		integer_set(field, entity + field->offset, field->missing);
}

/* ---- texts and bytes ------------------------------------------------------------------ */

/* The bytes of a field, or what it points to. */
static const char *target(const struct field *field, const char *entity)
{
	const char *at = entity + field->offset;

	return field->kind >= FIELD_TEXT ? *(const char *const *)at : at;
}

static bool bytes_set(const struct field *field, char *entity, const char *bytes, size_t size)
{
	char *at = entity + field->offset, **copy = (char **)at;

	if (field->kind == FIELD_RAW && size != field->size)
		return true;
	if (field->kind == FIELD_CHARS && size >= field->size)
		return false;
	if (field->kind == FIELD_BYTES)
		*(size_t *)(entity + field->size_at) = size;
	if (field->kind >= FIELD_TEXT) {
		free(*copy);
		at = *copy = calloc(1, size + 1);
	}
	if (at)
		memcpy(at, bytes, size);
	if (field->kind == FIELD_CHARS)
		at[size] = '\0';
	return at;
}

/* ---- rows ------------------------------------------------------------------------------- */

void fields_to_row(const struct field *field, const void *entity, void *row)
{
	for (; field->kind; field++) {
		void *column = (char *)row + field->column;
		const char *text;

		if (field->kind == FIELD_NUMBER) {
			*(int64_t *)column = number_get(field, entity);
		} else if (field->kind == FIELD_WORD) {
			*(const char **)column = field->words[number_get(field, entity)];
		} else if (field->kind == FIELD_TOTALS) {
			totals_to_row((const void *)target(field, entity), column, field->of_several);
		} else {
			text = target(field, entity);
			*(const char **)column = text && *text ? text : field->is_required ? "" : NULL;
		}
	}
}

static bool word_set(const struct field *field, char *entity, const char *text)
{
	for (int64_t i = field->min; i <= field->max; i++) {
		const char *word = field->words[i];

		if (word == text || (word && text && strcmp(word, text) == 0))
			return number_set(field, entity, i);
	}
	return false;
}

static bool field_from_row(const struct field *field, const void *column, char *entity)
{
	const int64_t *number = column;
	const char *text;

	if (field->kind == FIELD_TOTALS) {
		totals_from_row((void *)(entity + field->offset), column);
		return true;
	}
	if (field->kind == FIELD_NUMBER && *number == ROW_NULL) {
		number_set_missing(field, entity);
		return true;
	}
	if (field->kind == FIELD_NUMBER)
		return number_set(field, entity, *number);
	text = *(const char *const *)column;
	if (field->kind == FIELD_WORD)
		return word_set(field, entity, text);
	return !text || !*text || bytes_set(field, entity, text, strlen(text));
}

bool fields_from_row(const struct field *field, const void *row, void *entity)
{
	bool is_good = true;

	for (; field->kind; field++)
		is_good = field_from_row(field, (const char *)row + field->column, entity) && is_good;
	return is_good;
}

/* ---- states: saving --------------------------------------------------------------------- */

static inline bool is_default(const struct field *field, const char *entity)
{
	if (field->kind == FIELD_NUMBER)
		return number_get(field, entity) == field->missing;
	return field->kind == FIELD_CHARS ? !entity[field->offset] : !target(field, entity);
}

struct links {
	char *prev, *next;
};

static struct links *links_of(const struct part *part, const char *item)
{
	return (struct links *)(item + part->links);
}

static void save_list(msgpack_packer *packer, const struct part *part, const char *list)
{
	size_t count = 0;

	for (const char *item = list; item; item = links_of(part, item)->next)
		count++;
	msgpack_pack_array(packer, count);
	for (const char *item = list; item; item = links_of(part, item)->next)
		fields_to_state(part->fields, item, packer);
}

static void save_field(msgpack_packer *packer, const struct field *field, const char *entity)
{
	const char *at = target(field, entity);

	switch (field->kind) {
	case FIELD_NUMBER: msgpack_pack_int64(packer, number_get(field, entity)); break;
	case FIELD_RAW: msgpack_pack_bin_with_body(packer, at, field->size); break;
	case FIELD_BYTES: msgpack_pack_bin_with_body(packer, at, *(const size_t *)(entity + field->size_at)); break;
	case FIELD_POINTER: fields_to_state(field->part->fields, at, packer); break;
	case FIELD_LIST: save_list(packer, field->part, at); break;
	default: msgpack_pack_bin_with_body(packer, at, strlen(at));
	}
}

void fields_to_state(const struct field *fields, const void *entity, msgpack_packer *packer)
{
	uint64_t saved = 0; /* bitmap by index: no table has more than 64 fields */

	for (unsigned i = 0; fields[i].kind; i++)
		saved |= (uint64_t)!is_default(&fields[i], entity) << i;
	msgpack_pack_map(packer, (size_t)__builtin_popcountll(saved));
	for (; saved; saved &= saved - 1) {
		const struct field *field = &fields[__builtin_ctzll(saved)];

		msgpack_pack_str_with_body(packer, field->name, field->name_size);
		save_field(packer, field, entity);
	}
}

/* ---- states: loading -------------------------------------------------------------------- */

static void append(const struct part *part, char **list, char *item)
{
	struct links *first;

	if (!*list)
		*list = links_of(part, item)->prev = item;
	first = links_of(part, *list);
	links_of(part, item)->prev = first->prev;
	if (*list != item)
		links_of(part, first->prev)->next = item;
	first->prev = item;
}

static bool load_fields(const struct field *fields, char *entity, const msgpack_object *map);

/* Loads the struct that the entity points to, or the next of a list. */
static bool load_part(const struct field *field, char *entity, const msgpack_object *map)
{
	const struct part *part = field->part;
	char **pointer = (char **)(entity + field->offset);
	char *item = field->kind == FIELD_POINTER ? *pointer : NULL;

	if (!item && part->size == 0)
		return true;
	if (!item) {
		item = calloc(1, part->size);
		if (!item)
			return false;
		if (field->kind == FIELD_LIST)
			append(part, pointer, item);
		else
			*pointer = item;
	}
	return load_fields(part->fields, item, map);
}

static bool load_list(const struct field *field, char *entity, const msgpack_object_array *items)
{
	bool is_good = true;

	for (uint32_t i = 0; i < items->size && is_good; i++)
		is_good = load_part(field, entity, &items->ptr[i]);
	return is_good;
}

static bool load_field(const struct field *field, char *entity, const msgpack_object *value)
{
	bool is_integer =
		value->type == MSGPACK_OBJECT_POSITIVE_INTEGER || value->type == MSGPACK_OBJECT_NEGATIVE_INTEGER;

	switch (field->kind) {
	case FIELD_NUMBER: return is_integer && number_set(field, entity, value->via.i64);
	case FIELD_POINTER: return load_part(field, entity, value);
	case FIELD_LIST: return value->type == MSGPACK_OBJECT_ARRAY && load_list(field, entity, &value->via.array);
	default:
		return value->type == MSGPACK_OBJECT_BIN &&
		       bytes_set(field, entity, value->via.bin.ptr, value->via.bin.size);
	}
}

static const msgpack_object *find_value(const msgpack_object_map *map, const struct field *field)
{
	for (uint32_t i = 0; i < map->size; i++) {
		const msgpack_object_str *name = &map->ptr[i].key.via.str;

		if (map->ptr[i].key.type == MSGPACK_OBJECT_STR && name->size == field->name_size &&
		    memcmp(name->ptr, field->name, name->size) == 0)
			return &map->ptr[i].val;
	}
	return NULL;
}

/* Sets every field, even if one is bad: the entity is freed like any other. */
static bool load_fields(const struct field *field, char *entity, const msgpack_object *map)
{
	static const msgpack_object_map empty = {0};
	bool is_map = map->type == MSGPACK_OBJECT_MAP, is_good = is_map;

	for (; field->kind; field++) {
		const msgpack_object *value = find_value(is_map ? &map->via.map : &empty, field);

		if (field->kind == FIELD_NUMBER)
			number_set_missing(field, entity);
		if (value ? !load_field(field, entity, value) : field->is_required)
			is_good = false;
	}
	return is_good;
}

bool fields_from_state(const struct field *fields, const void *state, size_t size, void *entity)
{
	msgpack_unpacked unpacked;
	size_t end = 0;
	bool is_good;

	msgpack_unpacked_init(&unpacked);
	is_good = msgpack_unpack_next(&unpacked, state, size, &end) == MSGPACK_UNPACK_SUCCESS && end == size &&
		  load_fields(fields, entity, &unpacked.data);
	msgpack_unpacked_destroy(&unpacked);
	return is_good;
}
