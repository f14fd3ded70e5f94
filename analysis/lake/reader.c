/* The lake as a read-only store. See lake.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/lake/client.h"
#include "analysis/lake/lake.h"
#include "analysis/lake/rowbinary.h"
#include "analysis/lake/statement.h"
#include "common/identity.h"
#include "common/store/driver.h"

/* A common table expression that is materialized is computed once, not once for each use: experimental in ClickHouse
 * 26.7, without which the questions take longer. */
#define MATERIALIZE "enable_materialized_cte"

/* Written by tracer lake init and migrate; and whether the server knows the setting. */
#define VERSION_SQL \
	"SELECT coalesce(max(version), 0), (SELECT count() FROM system.settings WHERE name = '" MATERIALIZE "')" \
	" FROM schema_versions FORMAT TSV"

#define FIGURE_MAX (INT64_C(1) << 62) /* ns: 146 years */

#define AHEAD_MAX 8  /* queries sent in advance; one more discards the oldest */
#define AHEAD_MOST 4 /* of one walk, which other queries may interrupt */

/* What is sent for a query. */
struct request {
	char *sql, *settings;
};

struct lake_store {
	struct store_base base;
	struct lake_client *client;
	struct ahead {
		struct request request;
		struct lake_answer *answer;
	} ahead[AHEAD_MAX]; /* oldest first */
	size_t ahead_count;
	bool materializes; /* the server can */
};

struct lake_result {
	struct store_result base;
	struct lake_store *lake;
	struct lake_answer *answer;
	struct rowbinary *rows;
	int64_t row_count, byte_count; /* received so far */
};

static struct lake_store *lake_of(struct store *store)
{
	return (struct lake_store *)store;
}

static struct lake_result *result_of(const struct store_result *result)
{
	return (struct lake_result *)result;
}

static int fail(struct lake_store *lake, int error)
{
	snprintf(lake->base.error, sizeof(lake->base.error), "%s", lake_client_error(lake->client));
	return error;
}

static int fail_format(struct lake_store *lake, int error)
{
	snprintf(lake->base.error, sizeof(lake->base.error), "%s",
		 error == -ENOMEM    ? "out of memory"
		 : error == -ENOTSUP ? "the lake returned a type that this release does not know"
				     : "the lake's response is damaged or truncated");
	return error;
}

static int fail_size(struct lake_store *lake)
{
	snprintf(lake->base.error, sizeof(lake->base.error),
		 "the lake's response is larger than %d rows or %lld MiB: request less at once", LAKE_ANSWER_ROWS_MAX,
		 LAKE_ANSWER_BYTES_MAX >> 20);
	return -EFBIG;
}

static void request_free(struct request *request)
{
	free(request->sql);
	free(request->settings);
}

/* Removes the entry and returns its answer, which the caller frees. */
static struct lake_answer *ahead_take(struct lake_store *lake, struct ahead *ahead)
{
	struct lake_answer *answer = ahead->answer;
	size_t behind = (size_t)(lake->ahead + lake->ahead_count-- - (ahead + 1));

	request_free(&ahead->request);
	memmove(ahead, ahead + 1, behind * sizeof(*ahead));
	return answer;
}

static void lake_close(struct store *store)
{
	struct lake_store *lake = lake_of(store);

	while (lake->ahead_count)
		lake_answer_free(ahead_take(lake, lake->ahead));
	lake_client_free(lake->client);
	free(store);
}

/* ClickHouse has no snapshot across queries. */
static int begin_reading(struct store *store)
{
	return 0;
}

static void end_reading(struct store *store)
{
}

/* ---- results ------------------------------------------------------------------- */

static void result_free(struct store_result *base)
{
	struct lake_result *result = result_of(base);

	lake_answer_free(result->answer);
	rowbinary_free(result->rows);
	free(result);
}

/* Reads one more piece of the answer. Returns 1; 0 at the end; -errno. */
static int result_feed(struct lake_result *result)
{
	const void *data;
	size_t size;
	int more = lake_answer_read(result->answer, &data, &size);

	if (more < 0)
		return fail(result->lake, more);
	if (more > 0 && (result->byte_count += (int64_t)size) > LAKE_ANSWER_BYTES_MAX)
		return fail_size(result->lake);
	if (more > 0 && rowbinary_feed(result->rows, data, size) < 0)
		return fail_format(result->lake, -ENOMEM);
	return more;
}

static int result_next(struct store_result *base)
{
	struct lake_result *result = result_of(base);
	int found, more = 1;

	while ((found = rowbinary_next(result->rows)) == 0) {
		more = result_feed(result);
		if (more <= 0)
			break;
	}
	if (found < 0)
		return fail_format(result->lake, found);
	if (more < 0)
		return more;
	if (found == 0 && rowbinary_pending(result->rows) > 0)
		return fail_format(result->lake, -EPROTO);
	if (found > 0 && ++result->row_count > LAKE_ANSWER_ROWS_MAX)
		return fail_size(result->lake);
	return found;
}

static int result_read_head(struct lake_result *result)
{
	int found, more;

	while ((found = rowbinary_read_head(result->rows)) == 0) {
		more = result_feed(result);
		if (more < 0)
			return more;
		if (more == 0)
			return fail_format(result->lake, -EPROTO);
	}
	return found < 0 ? fail_format(result->lake, found) : 0;
}

static size_t result_width(const struct store_result *result)
{
	return rowbinary_width(result_of(result)->rows);
}

static const char *result_column(const struct store_result *result, size_t column)
{
	return rowbinary_name(result_of(result)->rows, column);
}

/* Numbers in a lake are untrusted. A number that no clock or counter of a host can have is treated as
 * unknown, so that times and sums of the others fit into 64 bits. */
static bool is_figure(int64_t number)
{
	return number > -FIGURE_MAX && number < FIGURE_MAX;
}

static struct store_value result_value(struct store_result *base, size_t column)
{
	const struct rowbinary *rows = result_of(base)->rows;
	struct store_value value = rowbinary_value(rows, column);

	if (value.type == STORE_VALUE_INTEGER && !is_figure(value.integer) &&
	    !identity_is_column(rowbinary_name(rows, column)))
		value = (struct store_value){.type = STORE_VALUE_NULL};
	return value;
}

/* ---- queries ------------------------------------------------------------------- */

/* The server cancels a query when the client disconnects. */
#define SETTINGS "&default_format=RowBinaryWithNamesAndTypes&cancel_http_readonly_queries_on_client_close=1"

static int request_make(const struct lake_store *lake, const struct store_text *text,
			const struct store_parameter *parameters, struct request *ret_request)
{
	char *values = statement_format_parameters(parameters), limits[64] = "";
	int error = statement_translate(text->sql, parameters, &ret_request->sql);

	if (error == 0 && !lake->materializes)
		statement_drop_materialized(ret_request->sql);
	if (text->limit_s) /* 2: only reading; it may change settings, but not `readonly` */
		snprintf(limits, sizeof(limits), "&readonly=2&max_execution_time=%u", text->limit_s);
	if (error == 0 && (!values || asprintf(&ret_request->settings, SETTINGS "%s%s%s",
					       lake->materializes ? "&" MATERIALIZE "=1" : "", limits, values) < 0)) {
		free(ret_request->sql);
		error = -ENOMEM;
	}
	free(values);
	return error;
}

/* Returns the entry of a query sent in advance, or NULL. */
static struct ahead *ahead_find(struct lake_store *lake, const struct request *request)
{
	for (struct ahead *ahead = lake->ahead; ahead < lake->ahead + lake->ahead_count; ahead++)
		if (strcmp(ahead->request.sql, request->sql) == 0 &&
		    strcmp(ahead->request.settings, request->settings) == 0)
			return ahead;
	return NULL;
}

/* Errors are ignored: the query is sent again when it is due and reports them then. Answers that are never
 * fetched must not block other queries. */
static void ask_ahead(struct store *store, const struct store_text *text, const struct store_parameter *parameters)
{
	struct lake_store *lake = lake_of(store);
	struct request request = {0};
	struct lake_answer *answer;

	if (request_make(lake, text, parameters, &request) < 0)
		return;
	if (ahead_find(lake, &request) || lake_client_ask(lake->client, request.sql, request.settings, &answer) < 0) {
		request_free(&request);
		return;
	}
	if (lake->ahead_count == AHEAD_MAX)
		lake_answer_free(ahead_take(lake, lake->ahead));
	lake->ahead[lake->ahead_count++] = (struct ahead){request, answer};
}

/* Returns the answer of a query sent in advance; otherwise sends it now. */
static int request_ask(struct lake_store *lake, const struct request *request, struct lake_answer **ret_answer)
{
	struct ahead *ahead = ahead_find(lake, request);

	if (!ahead)
		return lake_client_ask(lake->client, request->sql, request->settings, ret_answer);
	*ret_answer = ahead_take(lake, ahead);
	return 0;
}

static int query(struct store *store, const struct store_text *text, const struct store_parameter *parameters,
		 struct store_result **ret_result)
{
	struct lake_store *lake = lake_of(store);
	struct lake_result *result = NULL;
	struct request request = {0};
	int error = request_make(lake, text, parameters, &request);

	if (error < 0) {
		snprintf(lake->base.error, sizeof(lake->base.error), "%s: %s", text->name,
			 error == -EINVAL ? "a parameter that the query does not have" : "out of memory");
		return error;
	}
	result = calloc(1, sizeof(*result));
	if (result)
		result->rows = rowbinary_new();
	if (!result || !result->rows) {
		request_free(&request);
		free(result);
		return fail_format(lake, -ENOMEM);
	}
	result->lake = lake;
	error = request_ask(lake, &request, &result->answer);
	request_free(&request);
	error = error < 0 ? fail(lake, error) : result_read_head(result);
	if (error < 0) {
		result_free(&result->base);
		return error;
	}
	*ret_result = &result->base;
	return 0;
}

static const struct store_driver driver = {
	.is_remote = true,
	.ahead_most = AHEAD_MOST,
	.close = lake_close,
	.begin_reading = begin_reading,
	.end_reading = end_reading,
	.query = query,
	.ask_ahead = ask_ahead,
	.next = result_next,
	.width = result_width,
	.column = result_column,
	.value = result_value,
	.free = result_free,
};

/* ---- opening ------------------------------------------------------------------- */

static int version_check(struct lake_store *lake, const struct access *settings, struct store_error *ret_error)
{
	char text[32];
	int error = lake_client_run(lake->client, VERSION_SQL, text, sizeof(text));

	if (error < 0) {
		snprintf(ret_error->text, sizeof(ret_error->text), "%s", lake_client_error(lake->client));
		return error;
	}
	lake->materializes = strcmp(text + strcspn(text, "\t"), "\t1\n") == 0;
	if (atoi(text) >= store_schema_version())
		return 0; /* a newer schema has more columns, which are not queried */
	snprintf(ret_error->text, sizeof(ret_error->text),
		 "%.200s: the lake has schema %d, this release needs %d: run tracer lake migrate", settings->url,
		 atoi(text), store_schema_version());
	return -EPROTO;
}

int lake_open(const struct access *settings, struct store **ret_store, struct store_error *ret_error)
{
	struct lake_store *lake = calloc(1, sizeof(*lake));
	int error;

	if (!lake) {
		snprintf(ret_error->text, sizeof(ret_error->text), "out of memory");
		return -ENOMEM;
	}
	lake->base.driver = &driver;
	error = lake_client_new(settings, &lake->client, ret_error->text, sizeof(ret_error->text));
	if (error == 0)
		error = version_check(lake, settings, ret_error);
	if (error < 0) {
		lake_close((struct store *)lake);
		return error;
	}
	*ret_store = (struct store *)lake;
	return 0;
}
