/* Checks whether a lake is as this release expects. See schema.h.
 *
 * The checks depend on the user's rights: for an analyst, whether the settings hold without which
 * results are wrong; for a shipper, whether it may insert, and what it may not do.
 */
#include "analysis/lake/schema.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/store/store.h"

#define OLDEST_YEAR 24 /* ClickHouse 24.10 is the first to refresh views without a flag */
#define OLDEST_MONTH 10
#define OLDEST "24.10"
#define CLOCK_SKEW_NS 300000000000LL
#define COLUMNS_TEXT_BYTES 16384

struct check {
	struct lake_client *client;
	const struct access *settings;
	lake_fact_take *take;
	void *data;
	size_t fact_count;
	char text[COLUMNS_TEXT_BYTES]; /* the latest answer */
};

__attribute__((format(printf, 5, 6))) static void tell(struct check *check, enum lake_fact_level level,
						       const char *topic, const char *fix, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	check->fact_count++;
	check->take(check->data, level, topic, text, fix);
}

/* Runs a statement that returns one line of text. Returns false on failure, after saying so unless
 * `topic` is NULL. */
__attribute__((format(printf, 3, 4))) static bool ask(struct check *check, const char *topic, const char *format, ...)
{
	char sql[2048];
	va_list arguments;
	int error;

	va_start(arguments, format);
	vsnprintf(sql, sizeof(sql), format, arguments);
	va_end(arguments);
	error = lake_client_run(check->client, sql, check->text, sizeof(check->text));
	check->text[strcspn(check->text, "\n")] = '\0';
	if (error < 0 && topic)
		tell(check, LAKE_MISSING, topic, NULL, "%s", lake_client_error(check->client));
	return error == 0;
}

static bool check_server(struct check *check)
{
	int year, month;

	if (!ask(check, "server", "SELECT version() FORMAT TSV"))
		return false;
	if (sscanf(check->text, "%d.%d", &year, &month) != 2 || year * 12 + month < OLDEST_YEAR * 12 + OLDEST_MONTH)
		tell(check, LAKE_MISSING, "server", "upgrade it to " OLDEST " or newer", "ClickHouse %s", check->text);
	else
		tell(check, LAKE_OK, "server", NULL, "ClickHouse %s at %s, as user %s", check->text,
		     check->settings->url, check->settings->user);
	return true;
}

static void check_clock(struct check *check)
{
	int64_t skew_ns;

	if (!ask(check, "clock", "SELECT toUnixTimestamp64Nano(now64(9)) FORMAT TSV"))
		return;
	skew_ns = strtoll(check->text, NULL, 10) - (int64_t)clock_unix_ns();
	if (skew_ns > CLOCK_SKEW_NS || skew_ns < -CLOCK_SKEW_NS)
		tell(check, LAKE_LIMITED, "clock", "synchronize them: timedatectl",
		     "differs from this host's by %" PRId64 " s", skew_ns / 1000000000);
}

static bool check_schema(struct check *check)
{
	struct lake_schema schema;

	if (lake_schema_read(check->client, &schema) < 0) {
		tell(check, LAKE_MISSING, "schema", NULL, "%s", lake_client_error(check->client));
		return false;
	}
	if (schema.version == 0)
		tell(check, LAKE_MISSING, "schema", "tracer lake init", "database %s has no schema",
		     check->settings->database);
	else if (schema.version < store_schema_version())
		tell(check, LAKE_MISSING, "schema", "tracer lake migrate", "version %d, this release needs %d",
		     schema.version, store_schema_version());
	else
		tell(check, LAKE_OK, "schema", NULL, "version %d, %s%s", schema.version,
		     lake_layout_names[schema.layout],
		     schema.version > store_schema_version() ? ", of a newer release" : "");
	return schema.version > 0;
}

/* ---- columns ------------------------------------------------------------------- */

static bool names_have(const char *names, const char *name)
{
	size_t size = strlen(name);

	for (const char *at = names; (at = strstr(at, name)); at += size)
		if ((at == names || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0'))
			return true;
	return false;
}

/* Checks that the lake has every column of an entity that hosts send. */
static void check_entity(struct check *check, struct store *empty, size_t index)
{
	const char *entity = store_entity_name(index);
	struct store_result *columns;

	if (!ask(check, "columns",
		 "SELECT arrayStringConcat(groupArray(name), ' ') FROM system.columns"
		 " WHERE database = currentDatabase() AND table = '%s_rows' FORMAT TSV",
		 entity) ||
	    store_query_entity(empty, index, 0, 0, &columns) < 0)
		return;
	for (size_t i = 0; i < store_result_width(columns); i++)
		if (!names_have(check->text, store_result_name(columns, i)))
			tell(check, LAKE_MISSING, "columns", "tracer lake migrate", "%s_rows has no %s", entity,
			     store_result_name(columns, i));
	store_result_free(columns);
}

static void check_columns(struct check *check)
{
	struct store_error error;
	struct store *empty;
	size_t before = check->fact_count;

	if (store_open_empty(&empty, &error) < 0) {
		tell(check, LAKE_MISSING, "columns", NULL, "%s", error.text);
		return;
	}
	for (size_t i = 0; store_entity_name(i); i++)
		check_entity(check, empty, i);
	store_close(empty);
	if (check->fact_count == before)
		tell(check, LAKE_OK, "columns", NULL, "all columns that hosts send exist");
}

/* ---- months ---------------------------------------------------------------------- */

/* Finds tables that are still being migrated, or were not created by this program. */
static void check_form(struct check *check)
{
	if (ask(check, "tables",
		"SELECT arrayStringConcat(arraySort(groupArray(name)), ' ') FROM system.tables"
		" WHERE database = currentDatabase() AND engine LIKE '%%ReplacingMergeTree' AND name NOT LIKE 'hosts\\\\_%%'"
		" AND partition_key = '' AND has(splitByString(', ', sorting_key), 'host_id') FORMAT TSV") &&
	    check->text[0] && strcmp(check->text, "\\N") != 0)
		tell(check, LAKE_MISSING, "tables", "tracer lake migrate", "unpartitioned: %s", check->text);
}

/* The days are in the tables' statements; not every user may see how many months there are. */
static void check_keep(struct check *check)
{
	char months[64] = "";

	if (ask(check, NULL,
		"SELECT concat(', ', toString(uniqExact(partition)), ' months in ', toString(count()), ' parts')"
		" FROM system.parts WHERE database = currentDatabase() AND active AND rows > 0 FORMAT TSV"))
		snprintf(months, sizeof(months), "%.63s", check->text);
	if (!ask(check, "kept",
		 "SELECT arrayStringConcat(arrayReverseSort(groupUniqArray(concat(if(name LIKE '%%samples%%', 'samples ',"
		 " 'all else '), multiIf(days = '', 'no limit', toInt64(days) >= 100000, 'forever', concat(days, ' days'))))), ', ')"
		 " FROM (SELECT name, extract(create_table_query, 'TTL [^\\n]*\\\\b([0-9]+) \\\\* 86400') AS days FROM system.tables"
		 " WHERE database = currentDatabase() AND partition_key != '' AND engine LIKE '%%ReplacingMergeTree') FORMAT TSV"))
		return;
	if (strstr(check->text, "no limit"))
		tell(check, LAKE_LIMITED, "kept", "tracer lake migrate --keep samples=90d,rest=400d",
		     "%s: nothing is ever deleted%s", check->text, months);
	else
		tell(check, LAKE_OK, "kept", NULL, "%s%s", check->text, months);
}

/* ---- rights and settings --------------------------------------------------------- */

static bool may(struct check *check, const char *right)
{
	return ask(check, NULL, "CHECK GRANT %s ON %.64s.*", right, check->settings->database) &&
	       strcmp(check->text, "1") == 0;
}

static void check_settings(struct check *check)
{
	static const char *const wanted[][2] = {
		{"join_use_nulls", "1"},
		{"union_default_mode", "DISTINCT"},
		{"aggregate_functions_null_for_empty", "1"},
		{"prefer_column_name_to_alias", "1"},
		{"cast_keep_nullable", "1"},
	};
	size_t before = check->fact_count;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (ask(check, "settings", "SELECT toString(getSetting('%s')) FORMAT TSV", wanted[i][0]) &&
		    strcmp(check->text, wanted[i][1]) != 0 &&
		    !(strcmp(check->text, "true") == 0 && strcmp(wanted[i][1], "1") == 0))
			tell(check, LAKE_MISSING, "settings", "give it the profile in datalake/users.d/tracer.xml",
			     "%s is %s for user %s: results would be wrong", wanted[i][0], check->text,
			     check->settings->user);
	}
	if (check->fact_count == before)
		tell(check, LAKE_OK, "settings", NULL, "as the queries require");
}

/* Returns whether we may read. */
static bool check_rights(struct check *check)
{
	bool reads = may(check, "SELECT"), inserts = may(check, "INSERT"), drops = may(check, "DROP TABLE");

	tell(check, reads || inserts ? LAKE_OK : LAKE_MISSING, "rights",
	     reads || inserts ? NULL : "grant them as datalake/users.d/tracer.xml does", "%s%s%s%s",
	     reads ? "reads" : "", inserts ? reads ? ", inserts" : "inserts" : "", drops ? ", changes the schema" : "",
	     !reads && !inserts ? "none" : "");
	return reads;
}

static void check_rollups(struct check *check)
{
	if (!ask(check, "rollups",
		 "SELECT concat(view, ': ', exception) FROM system.view_refreshes"
		 " WHERE exception != '' AND database = currentDatabase() LIMIT 1 FORMAT TSV"))
		return;
	if (check->text[0])
		tell(check, LAKE_LIMITED, "rollups", "they are retried within an hour; see the server's log", "%s",
		     check->text);
	else
		tell(check, LAKE_OK, "rollups", NULL, "computed without errors");
}

void lake_check(struct lake_client *client, const struct access *settings, lake_fact_take *take, void *data)
{
	struct check check = {.client = client, .settings = settings, .take = take, .data = data};

	if (!check_server(&check))
		return;
	check_clock(&check);
	if (!check_schema(&check))
		return;
	check_columns(&check);
	check_form(&check);
	check_keep(&check);
	if (!check_rights(&check))
		return;
	check_settings(&check);
	check_rollups(&check);
}
