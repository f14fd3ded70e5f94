/* The lake's schema, applied. See lake_schema.h. */
#include "cli/lake_schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/progress.h"
#include "common/store/store.h"
#include "lake-sql.h"

#define SEPARATOR "\n--;\n"
#define UNKNOWN_DATABASE 81 /* ClickHouse's numbers of exceptions */
#define UNKNOWN_TABLE 60

#define X(name, file) {file, name},
static const struct {
	const char *file, *sql;
} texts[] = {LAKE_SQL(X)};
#undef X

const char *const lake_layout_names[] = {"one-node", "shards", "cluster", NULL};

int lake_layout_find(const char *name)
{
	for (int i = 0; lake_layout_names[i]; i++)
		if (strcmp(name, lake_layout_names[i]) == 0)
			return i;
	return -ENOENT;
}

/* lake-LAYOUT-PART.sql; every layout has every part. */
static const char *text_find(enum lake_layout layout, const char *part)
{
	char file[64];

	snprintf(file, sizeof(file), "lake-%s-%s.sql", lake_layout_names[layout], part);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(texts[i].file, file) == 0)
			return texts[i].sql;
	abort();
}

int lake_schema_read(struct lake_client *client, struct lake_schema *ret_schema)
{
	char text[64], *tab;
	int error = lake_client_run(client, "SELECT version, layout FROM schema_versions"
				    " ORDER BY version DESC LIMIT 1 FORMAT TSV", text, sizeof(text));
	int layout = LAKE_ONE_NODE;

	*ret_schema = (struct lake_schema){0};
	if (error < 0 && (lake_client_exception(client) == UNKNOWN_DATABASE ||
			  lake_client_exception(client) == UNKNOWN_TABLE))
		return 0;
	if (error < 0)
		return error;
	tab = strchr(text, '\t');
	if (!tab)
		return 0;
	tab[1 + strcspn(tab + 1, "\n")] = '\0';
	layout = lake_layout_find(tab + 1);
	*ret_schema = (struct lake_schema){atoi(text), layout < 0 ? LAKE_ONE_NODE : (enum lake_layout)layout};
	return 0;
}

int lake_schema_create_database(struct lake_client *client, const char *database,
				enum lake_layout layout)
{
	char sql[160];

	snprintf(sql, sizeof(sql), "CREATE DATABASE IF NOT EXISTS %s%s", database,
		 layout == LAKE_CLUSTER ? " ON CLUSTER '{cluster}'" : "");
	return lake_client_run(client, sql, NULL, 0);
}

/* Statement after statement; what is before the first separator is a comment. */
static int text_apply(struct lake_client *client, const char *part, const char *text)
{
	int error = 0, statement = 0;

	for (const char *begin = strstr(text, SEPARATOR); begin && error == 0;) {
		const char *end = strstr(begin + strlen(SEPARATOR), SEPARATOR);
		char *sql;

		begin += strlen(SEPARATOR);
		sql = end ? strndup(begin, (size_t)(end - begin)) : strdup(begin);
		if (!sql)
			return -ENOMEM;
		progress_show("tracer lake: schema %s, statement %d", part, ++statement);
		error = lake_client_run(client, sql, NULL, 0);
		free(sql);
		begin = end;
	}
	progress_hide();
	return error;
}

static int version_note(struct lake_client *client, int version, enum lake_layout layout)
{
	char sql[256];

	snprintf(sql, sizeof(sql), "INSERT INTO schema_versions VALUES (%d, '%s', '%s', %lld)", version,
		 lake_layout_names[layout], TRACER_VERSION, (long long)time(NULL) * 1000000000);
	return lake_client_run(client, sql, NULL, 0);
}

int lake_schema_migrate(struct lake_client *client, struct lake_schema from)
{
	char part[16];
	int error = 0;

	for (int version = from.version + 1; version <= store_schema_version() && error == 0; version++) {
		snprintf(part, sizeof(part), "%04d", version);
		error = text_apply(client, part, text_find(from.layout, part));
		/* The last one counts once the views are there too. */
		if (error == 0 && version == store_schema_version())
			error = text_apply(client, "views", text_find(from.layout, "views"));
		if (error == 0)
			error = version_note(client, version, from.layout);
	}
	if (error == 0 && from.version >= store_schema_version())
		error = text_apply(client, "views", text_find(from.layout, "views"));
	return error;
}

static void part_print(FILE *file, const char *text, size_t size)
{
	bool is_comment = strncmp(text, "-- ", 3) == 0; /* the first part, and there may be no other */

	fprintf(file, "%.*s%s\n", (int)size, text, is_comment ? "" : ";\n");
}

static void text_print(FILE *file, const char *text)
{
	for (const char *end; (end = strstr(text, SEPARATOR)); text = end + strlen(SEPARATOR))
		part_print(file, text, (size_t)(end - text));
	part_print(file, text, strlen(text));
}

void lake_schema_print(FILE *file, const char *database, struct lake_schema from)
{
	char part[16];

	fprintf(file, "CREATE DATABASE IF NOT EXISTS %s%s;\n\nUSE %s;\n\n", database,
		from.layout == LAKE_CLUSTER ? " ON CLUSTER '{cluster}'" : "", database);
	for (int version = from.version + 1; version <= store_schema_version(); version++) {
		snprintf(part, sizeof(part), "%04d", version);
		text_print(file, text_find(from.layout, part));
		fprintf(file, "INSERT INTO schema_versions VALUES (%d, '%s', '%s', toUnixTimestamp64Nano(now64(9)));\n\n",
			version, lake_layout_names[from.layout], TRACER_VERSION);
	}
	text_print(file, text_find(from.layout, "views"));
}
