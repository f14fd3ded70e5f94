/* Queries, dispatched to the engine of the store. See driver.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/store/internal.h"
#include "store-entities.h"
#include "store-queries.h"

#define QUERY(text, file) {&#text[sizeof("queries")], text},
#define ENTITY(text, file) {&#text[sizeof("entities")], text},
static const struct store_sql queries[] = {STORE_SQL_QUERIES(QUERY)};
static const struct store_sql entities[] = {STORE_SQL_ENTITIES(ENTITY)};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The store of any driver begins with a struct store_base. */
static struct store_base *base_of(const struct store *store)
{
	return (struct store_base *)store;
}

static const struct store_driver *driver_of(const struct store_result *result)
{
	return base_of(result->store)->driver;
}

const char *store_error_text(const struct store *store)
{
	return base_of(store)->error;
}

void store_close(struct store *store)
{
	if (store)
		base_of(store)->driver->close(store);
}

bool store_is_remote(const struct store *store)
{
	return base_of(store)->driver->is_remote;
}

bool store_is_restricted(const struct store *store)
{
	return base_of(store)->is_restricted;
}

int store_begin_reading(struct store *store)
{
	return base_of(store)->driver->begin_reading(store);
}

void store_end_reading(struct store *store)
{
	base_of(store)->driver->end_reading(store);
}

int store_refuse_part(struct store *store, const char *query)
{
	snprintf(base_of(store)->error, sizeof(base_of(store)->error),
		 "%s: needs to see the work of all users: ask a member of the group " TRACER_CORRELATOR_USER, query);
	return -EPERM;
}

/* Whether it would be wrong for one user, or is not one of ours. */
static bool needs_all(const struct store_text *text)
{
	return text->limit_s || strstr(text->sql, STORE_NEEDS_ALL_LINE);
}

int store_query_text(struct store *store, const struct store_text *text, const struct store_parameter *parameters,
		     struct store_result **ret_result)
{
	int error = store_is_restricted(store) && needs_all(text)
			    ? store_refuse_part(store, text->name)
			    : base_of(store)->driver->query(store, text, parameters, ret_result);

	if (error == 0) {
		(*ret_result)->store = store;
		(*ret_result)->query = text->name;
		(*ret_result)->error = 0;
	}
	return error;
}

size_t store_ahead_most(const struct store *store)
{
	return base_of(store)->driver->ahead_most;
}

void store_ask_ahead(struct store *store, const struct store_text *text, const struct store_parameter *parameters)
{
	if (base_of(store)->driver->ask_ahead)
		base_of(store)->driver->ask_ahead(store, text, parameters);
}

const struct store_sql *store_sql_find(const struct store_sql *texts, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(texts[i].name, name) == 0)
			return &texts[i];
	return NULL;
}

bool store_has_query(const char *name)
{
	return store_sql_find(queries, COUNT(queries), name);
}

int store_query(struct store *store, const char *name, const struct store_parameter *parameters,
		struct store_result **ret_result)
{
	const struct store_sql *query = store_sql_find(queries, COUNT(queries), name);

	if (!query) {
		snprintf(base_of(store)->error, sizeof(base_of(store)->error), "unknown query %s", name);
		return -EINVAL;
	}
	return store_query_text(store, &(struct store_text){name, query->sql, 0}, parameters, ret_result);
}

int store_read_stream(struct store *store, struct store_stream *ret_stream)
{
	struct store_result *result;
	int more = base_of(store)->driver->has_stream ? store_query(store, "read_stream", NULL, &result) : -ENODATA;

	if (more < 0)
		return more;
	more = store_result_next(result);
	if (more == 1) {
		*ret_stream = (struct store_stream){
			.ring_epoch = (uint64_t)store_result_value(result, 1).integer,
			.ring_offset = (uint64_t)store_result_value(result, 2).integer,
			.rev = (uint64_t)store_result_value(result, 3).integer,
			.committed_boot_ns = (uint64_t)store_result_value(result, 4).integer,
			.committed_unix_ns = (uint64_t)store_result_value(result, 5).integer,
		};
		snprintf(ret_stream->boot_id, sizeof(ret_stream->boot_id), "%s", store_result_value(result, 0).data);
	}
	store_result_free(result);
	return more == 0 ? -ENODATA : more < 0 ? more : 0;
}

int store_read_host(struct store *store, struct store_host *ret_host)
{
	struct store_result *result;
	int more = store_query(store, "first_host", NULL, &result);

	if (more < 0)
		return more;
	*ret_host = (struct store_host){.first_seen_unix_ns = INT64_MAX};
	more = store_result_next(result);
	if (more == 1)
		*ret_host = (struct store_host){store_result_value(result, 0).integer,
						store_result_value(result, 1).integer};
	store_result_free(result);
	return more < 0 ? more : 0;
}

const char *store_entity_name(size_t index)
{
	return index < COUNT(entities) ? entities[index].name : NULL;
}

int store_query_entity(struct store *store, size_t index, int64_t after_rev, int64_t limit,
		       struct store_result **ret_result)
{
	const struct store_parameter parameters[] = {
		{"cursor", STORE_INTEGER, after_rev}, {"limit", STORE_INTEGER, limit}, {0}};
	const struct store_text text = {store_entity_name(index), entities[index].sql, 0};

	return store_query_text(store, &text, parameters, ret_result);
}

int store_result_next(struct store_result *result)
{
	return result->error < 0 ? result->error : driver_of(result)->next(result);
}

size_t store_result_width(const struct store_result *result)
{
	return driver_of(result)->width(result);
}

const char *store_result_name(const struct store_result *result, size_t column)
{
	return driver_of(result)->column(result, column);
}

struct store_value store_result_value(struct store_result *result, size_t column)
{
	struct store_value value = {.type = STORE_VALUE_NULL};

	if (column < store_result_width(result))
		value = driver_of(result)->value(result, column);
	if (!value.data)
		value.data = "";
	return value;
}

size_t store_result_find(struct store_result *result, const char *column)
{
	size_t width = store_result_width(result);

	for (size_t i = 0; i < width; i++)
		if (strcmp(store_result_name(result, i), column) == 0)
			return i;
	snprintf(base_of(result->store)->error, sizeof(base_of(result->store)->error),
		 "the result of query %s has no column %s", result->query, column);
	result->error = -EPROTO;
	return width;
}

struct store_value store_result_get(struct store_result *result, const char *column)
{
	return store_result_value(result, store_result_find(result, column));
}

#define GET_I(column) \
	value = store_result_get(result, #column); \
	ret_row->column = value.type == STORE_VALUE_NULL ? ROW_NULL : value.integer;
#define GET_T(column) \
	value = store_result_get(result, #column); \
	ret_row->column = value.type == STORE_VALUE_NULL ? NULL : value.data;
#define GET_B(column) \
	value = store_result_get(result, #column); \
	ret_row->column = \
		value.type == STORE_VALUE_NULL ? (struct row_blob){0} : (struct row_blob){value.data, value.size};
#define R(NAME, name, table, key) \
	void store_result_get_##name(struct store_result *result, struct row_##name *ret_row) \
	{ \
		struct store_value value; \
\
		ROW_##NAME##_COLUMNS(GET_I, GET_T, GET_B) \
	}
ROWS(R)
#undef R

void store_result_free(struct store_result *result)
{
	if (result)
		driver_of(result)->free(result);
}
