/* Applies the lake's schema. See schema.h. */
#include "analysis/lake/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/parse.h"
#include "common/progress.h"
#include "common/store/store.h"
#include "lake-sql.h"

#define SEPARATOR "\n--;\n"
#define DAYS "{days}"       /* in lake-LAYOUT-keep-*.sql */
#define UNKNOWN_DATABASE 81 /* ClickHouse exception codes */
#define UNKNOWN_TABLE 60

#define X(name, file) {file, name},
static const struct {
	const char *file, *sql;
} texts[] = {LAKE_SQL(X)};
#undef X

const char *const lake_layout_names[] = {"one-node", "shards", "cluster", NULL};

static int layout_find(const char *name)
{
	for (int i = 0; lake_layout_names[i]; i++)
		if (strcmp(name, lake_layout_names[i]) == 0)
			return i;
	return -ENOENT;
}

/* Returns lake-LAYOUT-PART.sql; every layout has every part. */
static const char *text_find(enum lake_layout layout, const char *part)
{
	char file[64];

	snprintf(file, sizeof(file), "lake-%s-%s.sql", lake_layout_names[layout], part);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(texts[i].file, file) == 0)
			return texts[i].sql;
	abort();
}

int lake_keep_parse(const char *text, struct lake_keep *keep)
{
	static const struct parse_unit days[] = {{"d", 1}, {0}};
	char copy[64], *rest = copy, *word;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return -EINVAL;
	while ((word = strsep(&rest, ","))) {
		bool is_samples = strncmp(word, "samples=", 8) == 0, is_rest = strncmp(word, "rest=", 5) == 0;
		const char *value = is_samples || is_rest ? strchr(word, '=') + 1 : word;
		uint64_t number = LAKE_KEEP_FOREVER_DAYS;

		if (strcmp(value, "forever") != 0 && parse_number(value, days, 1, LAKE_KEEP_FOREVER_DAYS, &number) < 0)
			return -EINVAL;
		if (!is_rest)
			keep->samples_days = (int)number;
		if (!is_samples)
			keep->rest_days = (int)number;
	}
	return 0;
}

int lake_schema_read(struct lake_client *client, struct lake_schema *ret_schema)
{
	char text[64], *tab;
	int error = lake_client_run(client,
				    "SELECT version, layout FROM schema_versions"
				    " ORDER BY version DESC LIMIT 1 FORMAT TSV",
				    text, sizeof(text));
	int layout = LAKE_ONE_NODE;

	*ret_schema = (struct lake_schema){0};
	if (error < 0 &&
	    (lake_client_exception(client) == UNKNOWN_DATABASE || lake_client_exception(client) == UNKNOWN_TABLE))
		return 0;
	if (error < 0)
		return error;
	tab = strchr(text, '\t');
	if (!tab)
		return 0;
	tab[1 + strcspn(tab + 1, "\n")] = '\0';
	layout = layout_find(tab + 1);
	*ret_schema = (struct lake_schema){atoi(text), layout < 0 ? LAKE_ONE_NODE : (enum lake_layout)layout};
	return 0;
}

int lake_schema_create_database(struct lake_client *client, const char *database, enum lake_layout layout)
{
	char sql[160];

	snprintf(sql, sizeof(sql), "CREATE DATABASE IF NOT EXISTS %s%s", database,
		 layout == LAKE_CLUSTER ? " ON CLUSTER '{cluster}'" : "");
	return lake_client_run(client, sql, NULL, 0);
}

/* Runs the statements one by one; what precedes the first separator is a comment. */
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

/* Returns the statements with {days} filled in, or NULL if out of memory. */
static char *keep_text(enum lake_layout layout, const char *part, int days)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	const char *from = text_find(layout, part);

	if (!file)
		return NULL;
	for (const char *at; (at = strstr(from, DAYS)); from = at + strlen(DAYS))
		fprintf(file, "%.*s%d", (int)(at - from), from, days);
	fputs(from, file);
	return fclose(file) == 0 ? text : NULL;
}

/* Calls `use` with the statements for each retention that `keep` sets. */
static int keep_each(enum lake_layout layout, const struct lake_keep *keep,
		     int (*use)(void *data, const char *part, const char *text), void *data)
{
	const struct {
		const char *part;
		int days;
	} parts[] = {{"keep-samples", keep->samples_days}, {"keep-rest", keep->rest_days}};
	int error = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && error == 0; i++) {
		char *text = parts[i].days ? keep_text(layout, parts[i].part, parts[i].days) : NULL;

		if (parts[i].days)
			error = text ? use(data, parts[i].part, text) : -ENOMEM;
		free(text);
	}
	return error;
}

static int keep_apply(void *client, const char *part, const char *text)
{
	return text_apply(client, part, text);
}

int lake_schema_migrate(struct lake_client *client, struct lake_schema from, const struct lake_keep *keep)
{
	int error = from.version > 0 ? lake_move_begin(client, from.layout) : 0;

	if (error == 0)
		error = text_apply(client, "tables", text_find(from.layout, "tables"));
	if (error == 0 && from.version > 0)
		error = lake_move_finish(client, from.layout);
	if (error == 0)
		error = keep_each(from.layout, keep, keep_apply, client);
	if (error == 0)
		error = text_apply(client, "views", text_find(from.layout, "views"));
	if (error == 0 && from.version < store_schema_version())
		error = version_note(client, store_schema_version(), from.layout);
	return error;
}

static void part_print(FILE *file, const char *text, size_t size)
{
	bool is_comment = strncmp(text, "-- ", 3) == 0; /* only the first part can be one */

	fprintf(file, "%.*s%s\n", (int)size, text, is_comment ? "" : ";\n");
}

static void text_print(FILE *file, const char *text)
{
	for (const char *end; (end = strstr(text, SEPARATOR)); text = end + strlen(SEPARATOR))
		part_print(file, text, (size_t)(end - text));
	part_print(file, text, strlen(text));
}

static int keep_print(void *file, const char *part, const char *text)
{
	(void)part;
	text_print(file, text);
	return 0;
}

int lake_schema_print(FILE *file, const char *database, enum lake_layout layout, const struct lake_keep *keep)
{
	int error;

	fprintf(file, "CREATE DATABASE IF NOT EXISTS %s%s;\n\nUSE %s;\n\n", database,
		layout == LAKE_CLUSTER ? " ON CLUSTER '{cluster}'" : "", database);
	text_print(file, text_find(layout, "tables"));
	error = keep_each(layout, keep, keep_print, file);
	text_print(file, text_find(layout, "views"));
	fprintf(file, "INSERT INTO schema_versions VALUES (%d, '%s', '%s', toUnixTimestamp64Nano(now64(9)));\n\n",
		store_schema_version(), lake_layout_names[layout], TRACER_VERSION);
	return error;
}
