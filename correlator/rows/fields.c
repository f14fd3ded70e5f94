/* Conversion of entities by tables of their fields. See fields.h. */
#include "correlator/rows/fields.h"

#include "correlator/model/model.h"

/* ---- numbers ------------------------------------------------------------------------- */

#define AS(type, at) ((int64_t)(*(const type *)(at)))

/* These two are inline because each commit reads some 50 numbers per process. */
static inline int64_t integer_get(const struct field *field, const void *at)
{
	if (field->size == 8)
		return AS(int64_t, at);
	switch (field->size) {
	case 1: return field->is_signed ? AS(int8_t, at) : AS(uint8_t, at);
	case 2: return field->is_signed ? AS(int16_t, at) : AS(uint16_t, at);
	default: return field->is_signed ? AS(int32_t, at) : AS(uint32_t, at);
	}
}

static void integer_set(const struct field *field, void *at, int64_t value)
{
	switch (field->size) {
	case 1: *(uint8_t *)at = (uint8_t)value; break;
	case 2: *(uint16_t *)at = (uint16_t)value; break;
	case 4: *(uint32_t *)at = (uint32_t)value; break;
	default: *(int64_t *)at = value;
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

/* The bytes of a field, or what it points to. */
static const char *target(const struct field *field, const char *entity)
{
	const char *at = entity + field->offset;

	return field->kind >= FIELD_TEXT ? *(const char *const *)at : at;
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
		} else {
			text = target(field, entity);
			*(const char **)column = text && *text ? text : field->is_required ? "" : NULL;
		}
	}
}

static bool text_set(const struct field *field, char *entity, const char *text, size_t size)
{
	char **copy = (char **)(entity + field->offset);

	if (field->kind == FIELD_CHARS) {
		if (size >= field->size)
			return false;
		memcpy(entity + field->offset, text, size);
		entity[field->offset + size] = '\0';
		return true;
	}
	free(*copy);
	*copy = calloc(1, size + 1);
	if (*copy)
		memcpy(*copy, text, size);
	return *copy;
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
	const char *text;

	if (field->kind == FIELD_NUMBER) {
		if (*(const int64_t *)column != ROW_NULL)
			return number_set(field, entity, *(const int64_t *)column);
		number_set_missing(field, entity);
		return true;
	}
	text = *(const char *const *)column;
	if (field->kind == FIELD_WORD)
		return word_set(field, entity, text);
	return !text || !*text || text_set(field, entity, text, strlen(text));
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

static void save_list(msgpack_packer *packer, const struct part *part, const char *list)
{
	size_t count = 0;

	for (const char *item = list; item; item = *(char *const *)(item + part->next))
		count++;
	msgpack_pack_array(packer, count);
	for (; list; list = *(char *const *)(list + part->next))
		fields_to_state(part->fields, list, packer);
}

static void save_field(msgpack_packer *packer, const struct field *field, const char *entity)
{
	const char *at = target(field, entity);

	switch (field->kind) {
	case FIELD_NUMBER: msgpack_pack_int64(packer, number_get(field, entity)); break;
	case FIELD_CHARS:
	case FIELD_TEXT: msgpack_pack_bin_with_body(packer, at, strlen(at)); break;
	case FIELD_RAW: msgpack_pack_bin_with_body(packer, at, field->size); break;
	case FIELD_BYTES: msgpack_pack_bin_with_body(packer, at, *(const size_t *)(entity + field->size_at)); break;
	case FIELD_PART:
	case FIELD_POINTER: fields_to_state(field->part->fields, at, packer); break;
	case FIELD_LIST: save_list(packer, field->part, at); break;
	default: break;
	}
}

/* In one call, since there are so many: a text of up to 31 bytes. */
static void save_name(msgpack_packer *packer, const struct field *field)
{
	char name[32] = {(char)(0xa0 | field->name_size)};

	memcpy(name + 1, field->name, field->name_size);
	packer->callback(packer->data, name, field->name_size + 1U);
}

void fields_to_state(const struct field *fields, const void *entity, msgpack_packer *packer)
{
	uint64_t saved = 0; /* bitmap by index: no table has more than 64 fields */

	for (unsigned i = 0; fields[i].kind; i++)
		saved |= (uint64_t)!is_default(&fields[i], entity) << i;
	msgpack_pack_map(packer, (size_t)__builtin_popcountll(saved));
	for (; saved; saved &= saved - 1) {
		const struct field *field = &fields[__builtin_ctzll(saved)];

		save_name(packer, field);
		save_field(packer, field, entity);
	}
}

/* ---- states: loading -------------------------------------------------------------------- */

static bool load_fields(const struct field *fields, char *entity, const msgpack_object *map);

static char **link_at(char *item, uint16_t offset)
{
	return (char **)(item + offset);
}

static void append(const struct part *part, char **list, char *item)
{
	if (*list)
		*link_at(*link_at(*list, part->prev), part->next) = item;
	else
		*list = item;
	*link_at(item, part->prev) = *list == item ? item : *link_at(*list, part->prev);
	*link_at(*list, part->prev) = item;
}

static bool load_list(const struct part *part, char **list, const msgpack_object_array *items)
{
	for (uint32_t i = 0; i < items->size; i++) {
		char *item = calloc(1, part->size);

		if (!item)
			return false;
		append(part, list, item);
		if (!load_fields(part->fields, item, &items->ptr[i]))
			return false;
	}
	return true;
}

static bool load_pointer(const struct part *part, char **pointer, const msgpack_object *map)
{
	if (!*pointer && part->size == 0)
		return true;
	if (!*pointer)
		*pointer = calloc(1, part->size);
	return *pointer && load_fields(part->fields, *pointer, map);
}

static bool load_bytes(const struct field *field, char *entity, const msgpack_object_bin *bytes)
{
	if (field->kind == FIELD_RAW) {
		if (bytes->size == field->size)
			memcpy(entity + field->offset, bytes->ptr, bytes->size);
		return true;
	}
	if (field->kind == FIELD_BYTES)
		*(size_t *)(entity + field->size_at) = bytes->size;
	return text_set(field, entity, bytes->ptr, bytes->size);
}

static bool load_field(const struct field *field, char *entity, const msgpack_object *value)
{
	char *at = entity + field->offset;

	switch (value->type) {
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
	case MSGPACK_OBJECT_NEGATIVE_INTEGER:
		return field->kind == FIELD_NUMBER && number_set(field, entity, value->via.i64);
	case MSGPACK_OBJECT_BIN:
		return (field->kind == FIELD_CHARS || field->kind == FIELD_RAW || field->kind == FIELD_TEXT ||
			field->kind == FIELD_BYTES) &&
		       load_bytes(field, entity, &value->via.bin);
	case MSGPACK_OBJECT_MAP:
		if (field->kind == FIELD_PART)
			return load_fields(field->part->fields, at, value);
		return field->kind == FIELD_POINTER && load_pointer(field->part, (char **)at, value);
	case MSGPACK_OBJECT_ARRAY:
		return field->kind == FIELD_LIST && load_list(field->part, (char **)at, &value->via.array);
	default: return false;
	}
}

static void set_missing(const struct field *field, char *entity)
{
	for (; field->kind; field++)
		if (field->kind == FIELD_NUMBER)
			number_set_missing(field, entity);
		else if (field->kind == FIELD_PART)
			set_missing(field->part->fields, entity + field->offset);
}

static bool load_named(const struct field *field, char *entity, const msgpack_object_kv *named)
{
	if (named->key.type != MSGPACK_OBJECT_STR)
		return false;
	for (; field->kind; field++)
		if (named->key.via.str.size == field->name_size &&
		    memcmp(named->key.via.str.ptr, field->name, named->key.via.str.size) == 0)
			return load_field(field, entity, &named->val);
	return true; /* of another release */
}

static bool load_fields(const struct field *fields, char *entity, const msgpack_object *map)
{
	bool is_good = map->type == MSGPACK_OBJECT_MAP;

	set_missing(fields, entity);
	for (uint32_t i = 0; is_good && i < map->via.map.size; i++)
		is_good = load_named(fields, entity, &map->via.map.ptr[i]);
	for (const struct field *field = fields; field->kind; field++)
		is_good = is_good && !(field->is_required && !target(field, entity));
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
