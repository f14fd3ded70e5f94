/* Moves the rows of tables whose sorting or partitioning differs from this release's into new tables.
 *
 * The old table is renamed, the new one receives what hosts send from then on, and the rows are copied,
 * some hosts at a time. The old table's comment records the progress, so that an interrupted migration
 * resumes there; rows that are copied twice are merged into one. The views do not exist until all rows
 * are moved: no query gets a partial answer.
 */
#include "analysis/lake/schema.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/progress.h"
#include "common/store/store.h"

#define ROWS_AT_ONCE 2000000 /* plus the rest of the last row's host: takes some seconds */
#define STATEMENT_BYTES 16384
#define ANSWER_BYTES 8192

struct move {
	struct lake_client *client;
	enum lake_layout layout;
	char table[STORE_ENTITY_NAME_BYTES + 16]; /* stores the entity's rows */
	char answer[ANSWER_BYTES];
};

/* Runs a statement; stores its answer without the line end. */
__attribute__((format(printf, 2, 3))) static int ask(struct move *move, const char *format, ...)
{
	char sql[STATEMENT_BYTES];
	va_list arguments;
	int error, size;

	va_start(arguments, format);
	size = vsnprintf(sql, sizeof(sql), format, arguments);
	va_end(arguments);
	if (size < 0 || (size_t)size >= sizeof(sql))
		return -E2BIG;
	error = lake_client_run(move->client, sql, move->answer, sizeof(move->answer));
	move->answer[strcspn(move->answer, "\n")] = '\0';
	return error;
}

static const char *on_cluster(const struct move *move)
{
	return move->layout == LAKE_CLUSTER ? " ON CLUSTER '{cluster}'" : "";
}

/* Rows that are computed in the lake: every node has all of them. In a cluster, only this node copies them; the others
 * compute them anew, as far back as there are samples. */
#define ROLLUP "host_activity"

static bool is_rollup(const char *entity)
{
	return strcmp(entity, ROLLUP) == 0;
}

static void choose(struct move *move, const char *entity)
{
	snprintf(move->table, sizeof(move->table), "%s_%s", entity,
		 move->layout == LAKE_ONE_NODE || is_rollup(entity) ? "rows" : "local");
}

/* Rows of hosts have no time, so they are not partitioned by month. */
static bool is_by_month(const char *entity)
{
	return strcmp(entity, "hosts") != 0;
}

/* Renames the old table. Detaching it waits for inserts in progress, so that no batch is missed. First
 * attaches a table that an interruption left detached. */
static int rename_old_table(struct move *move, const char *entity)
{
	int error;

	(void)ask(move, "ATTACH TABLE IF NOT EXISTS %s_before%s", move->table, on_cluster(move));
	error = ask(move,
		    "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = '%s'"
		    " AND %s FORMAT TSV",
		    move->table,
		    is_rollup(entity) ? "position(sorting_key, '86400000000000') = 0" : "partition_key = ''");
	if (error < 0 || strcmp(move->answer, "1") != 0)
		return error;
	error = ask(move, "DROP VIEW IF EXISTS %s%s", entity, on_cluster(move));
	if (error == 0 && is_rollup(entity)) /* it inserts */
		error = ask(move, "DROP VIEW IF EXISTS %s_refresh%s", entity, on_cluster(move));
	if (error == 0)
		error = ask(move, "RENAME TABLE %s TO %s_before%s", move->table, move->table, on_cluster(move));
	if (error == 0)
		error = ask(move, "DETACH TABLE %s_before%s SYNC", move->table, on_cluster(move));
	return error < 0 ? error : ask(move, "ATTACH TABLE %s_before%s", move->table, on_cluster(move));
}

/* Copies the hosts after `last`, up to and including `next`. */
static int copy_some(struct move *move, const char *entity, const char *columns, int64_t last, int64_t next)
{
	bool of_all_nodes = move->layout == LAKE_CLUSTER && !is_rollup(entity);
	char source[160];

	if (of_all_nodes)
		snprintf(source, sizeof(source), "cluster('{cluster}', currentDatabase(), '%s_before')", move->table);
	else
		snprintf(source, sizeof(source), "%s_before", move->table);
	return ask(move,
		   "INSERT INTO %s%s (%s) SELECT %s FROM %s WHERE host_id > %" PRId64 " AND host_id <= %" PRId64
		   " SETTINGS max_partitions_per_insert_block = 0",
		   of_all_nodes ? entity : move->table, of_all_nodes ? "_rows" : "", columns, columns, source, last,
		   next);
}

/* A lake from before there were months kept everything; the rollup had a TTL. */
static int keep_as_before(struct move *move)
{
	int error = ask(move,
			"SELECT extract(create_table_query, ' TTL (.+?) SETTINGS ') FROM system.tables"
			" WHERE database = currentDatabase() AND name = '%s_before' FORMAT TSVRaw",
			move->table);

	if (error < 0 || !move->answer[0] || strcmp(move->answer, "\\N") == 0)
		return error;
	return ask(move, "ALTER TABLE %s%s MODIFY TTL %s", move->table, on_cluster(move), move->answer);
}

static int copy_rows(struct move *move, const char *entity)
{
	char columns[ANSWER_BYTES];
	int64_t last, next;
	int error = ask(move,
			"SELECT arrayStringConcat(groupArray(name), ', ') FROM system.columns"
			" WHERE database = currentDatabase() AND table = '%s_before' FORMAT TSV",
			move->table);

	strcpy(columns, move->answer);
	if (error < 0 || !columns[0] || strcmp(columns, "\\N") == 0)
		return error;
	if (is_rollup(entity))
		error = keep_as_before(move);
	if (error < 0)
		return error;
	error = ask(move,
		    "SELECT comment FROM system.tables WHERE database = currentDatabase()"
		    " AND name = '%s_before' FORMAT TSV",
		    move->table);
	for (last = strtoll(move->answer, NULL, 10); error == 0; last = next) {
		error = ask(
			move,
			"SELECT coalesce(max(host_id), 0) FROM (SELECT host_id FROM %s_before WHERE host_id > %" PRId64
			" ORDER BY host_id LIMIT %d) FORMAT TSV",
			move->table, last, ROWS_AT_ONCE);
		next = strtoll(move->answer, NULL, 10);
		if (error < 0 || next == 0)
			break;
		progress_show("tracer lake: moving %s, up to host %016" PRIx64, entity, (uint64_t)next);
		error = copy_some(move, entity, columns, last, next);
		if (error == 0)
			error = ask(move, "ALTER TABLE %s_before%s MODIFY COMMENT '%" PRId64 "'", move->table,
				    on_cluster(move), next);
	}
	if (error == 0 && is_rollup(entity)) /* what was copied together is of some hosts, and should be of some days */
		error = ask(move, "OPTIMIZE TABLE %s FINAL", move->table);
	return error < 0 ? error : ask(move, "DROP TABLE %s_before%s SYNC", move->table, on_cluster(move));
}

static int each_entity(struct lake_client *client, enum lake_layout layout,
		       int (*step)(struct move *move, const char *entity))
{
	struct move *move = calloc(1, sizeof(*move));
	int error = move ? 0 : -ENOMEM;

	if (move)
		*move = (struct move){.client = client, .layout = layout};
	for (size_t i = 0; store_entity_name(i) && error == 0; i++) {
		choose(move, store_entity_name(i));
		if (is_by_month(store_entity_name(i)))
			error = step(move, store_entity_name(i));
	}
	if (error == 0) {
		choose(move, ROLLUP);
		error = step(move, ROLLUP);
	}
	free(move);
	return error;
}

int lake_move_begin(struct lake_client *client, enum lake_layout layout)
{
	return each_entity(client, layout, rename_old_table);
}

int lake_move_finish(struct lake_client *client, enum lake_layout layout)
{
	int error = each_entity(client, layout, copy_rows);

	progress_hide();
	return error;
}
