/* Lookup by name of the .sql files of this directory, which are embedded at build time. */
#include <stdio.h>
#include <string.h>

#include "common/store/internal.h"
#include "store-entities.h"
#include "store-migrations.h"
#include "store-queries.h"
#include "store-views.h"

#define X(name, file) {file, name},
static const struct store_sql queries[] = {STORE_SQL_QUERIES(X)};
static const struct store_sql migrations[] = {STORE_SQL_MIGRATIONS(X)};
static const struct store_sql entities[] = {STORE_SQL_ENTITIES(X)};
#undef X

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct store_sql *store_sql_find(const struct store_sql *texts, size_t count, const char *name)
{
	size_t size = strlen(name);

	for (size_t i = 0; i < count; i++)
		if (strncmp(texts[i].file, name, size) == 0 && strcmp(texts[i].file + size, ".sql") == 0)
			return &texts[i];
	return NULL;
}

const char *store_entity_text(size_t index)
{
	return index < COUNT(entities) ? entities[index].sql : NULL;
}

const char *store_entity_name(size_t index)
{
	static char names[COUNT(entities)][STORE_ENTITY_NAME_BYTES];

	if (index >= COUNT(entities))
		return NULL;
	snprintf(names[index], sizeof(names[index]), "%.*s", (int)(strlen(entities[index].file) - strlen(".sql")),
		 entities[index].file);
	return names[index];
}

const char *store_own_query(const char *name)
{
	const struct store_sql *text = store_sql_find(queries, COUNT(queries), name);

	return text ? text->sql : NULL;
}

const char *store_migration_text(int version)
{
	return version >= 1 && version <= store_schema_version() ? migrations[version - 1].sql : NULL;
}

const char *store_views_text(void)
{
	return sql_views;
}

int store_schema_version(void)
{
	return (int)COUNT(migrations);
}
