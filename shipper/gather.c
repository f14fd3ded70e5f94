/* Gathering of rows into batches. See gather.h. */
#include "shipper/gather.h"

#include <string.h>

#include "shipper/sink.h"

#define STORE_CACHE_KIB 256 /* each row is read once, in order */

#define fail(gather, result, ...) (snprintf((gather)->error, sizeof((gather)->error), __VA_ARGS__), result)

static int fail_store(struct gather *gather, int error)
{
	return fail(gather, error, "%.200s: %s", gather->settings->store, store_error_text(gather->store));
}

void gather_init(struct gather *gather, const struct settings *settings)
{
	const struct sink_type *sink = sink_find(settings->sink);

	*gather = (struct gather){
		.settings = settings,
		.as_spans = sink && sink->takes_spans,
		.batch_bytes = settings->batch_bytes,
		.batch_rows = settings->batch_rows,
	};
	if (gather->as_spans && gather->batch_bytes > SPANS_BYTES_MAX)
		gather->batch_bytes = SPANS_BYTES_MAX;
	store_read_boot_id(gather->boot_id);
}

void gather_deinit(struct gather *gather)
{
	gather_abandon(gather);
	store_close(gather->store);
	json_text_deinit(&gather->row);
	gather->store = NULL;
}

int gather_open(struct gather *gather)
{
	struct store_error text;
	struct stat status;
	int error;

	gather_abandon(gather);
	store_close(gather->store);
	gather->store = NULL;
	/* The inode of the file opened next; if it is replaced in between, the next examination notices. */
	gather->inode = stat(gather->settings->store, &status) == 0 ? status.st_ino : 0;
	error = store_open_reader(gather->settings->store, &gather->store, &text);
	if (error < 0)
		return fail(gather, error, "%s", text.text);
	error = store_limit_cache(gather->store, STORE_CACHE_KIB);
	return error < 0 ? fail_store(gather, error) : 0;
}

/* ---- examining the store ---------------------------------------------------------- */

static int read_host(struct gather *gather, struct gather_snapshot *snapshot)
{
	struct store_host host;
	int error = store_read_host(gather->store, &host);

	if (error < 0)
		return fail_store(gather, error);
	snapshot->is_empty = host.first_seen_unix_ns == INT64_MAX;
	snapshot->store.first_seen_unix_ns = host.first_seen_unix_ns;
	snapshot->host_id = host.id;
	return 0;
}

static int read_stream(struct gather *gather, struct gather_snapshot *snapshot)
{
	struct store_stream stream;
	int error = store_read_stream(gather->store, &stream);

	if (error == -ENODATA) {
		snapshot->is_empty = true;
		return 0;
	}
	if (error < 0)
		return fail_store(gather, error);
	snapshot->rev = (int64_t)stream.rev;
	snapshot->committed_unix_ns = (int64_t)stream.committed_unix_ns;
	snapshot->is_of_this_boot = strcmp(stream.boot_id, gather->boot_id) == 0;
	return 0;
}

int gather_examine(struct gather *gather, struct gather_snapshot *ret_snapshot)
{
	struct gather_snapshot snapshot = {.store.inode = gather->inode};
	int error = store_begin_reading(gather->store);

	if (error < 0)
		return fail_store(gather, error);
	error = read_host(gather, &snapshot);
	if (error == 0)
		error = read_stream(gather, &snapshot);
	store_end_reading(gather->store);
	if (error == 0)
		*ret_snapshot = snapshot;
	return error;
}

const char *gather_entity(const struct gather *gather, size_t index, char ret_name[STORE_ENTITY_NAME_BYTES])
{
	const char *name = store_entity_name(index);

	if (!name)
		return NULL;
	snprintf(ret_name, STORE_ENTITY_NAME_BYTES, "%s%s", name, gather->as_spans ? SPANS_SUFFIX : "");
	return ret_name;
}

bool gather_takes(const struct gather *gather, size_t index)
{
	const char *name = store_entity_name(index);

	return !settings_leave_out(gather->settings, name, NULL) && (!gather->as_spans || spans_has_entity(name));
}

/* ---- gathering ------------------------------------------------------------------- */

/* Called at the first row: before it, SQLite may re-prepare the statement, which invalidates column names. */
static int columns_learn(struct gather *gather, struct gathering *gathering)
{
	size_t width = store_result_width(gathering->result);

	if (width > GATHER_COLUMNS_MAX)
		return fail(gather, -EINVAL, "%s has too many columns", gathering->batch.entity);
	for (size_t i = 0; i < width; i++) {
		const char *name = store_result_name(gathering->result, i);

		gathering->columns[i] = (struct gather_column){
			.name = name,
			.known = cloud_column(&gather->cloud, name),
			.send = !settings_leave_out(gather->settings, gathering->batch.entity, name),
		};
		if (strcmp(name, "rev") == 0)
			gathering->rev_column = i;
	}
	gathering->width = width;
	return 0;
}

static void column_write(struct gather *gather, const struct gather_column *column, const struct store_value *value)
{
	if (value->type == STORE_VALUE_NULL && column->known)
		row_add_string(&gather->row, column->name, column->known);
	else
		row_add_value(&gather->row, column->name, value);
}

static int fail_batch(struct gather *gather, int error)
{
	return fail(gather, error, "cannot write a batch into %.200s: %s", gather->gathering.directory,
		    strerror(-error));
}

static int columns_write(struct gather *gather, struct gathering *gathering)
{
	struct json_text *row = &gather->row;

	row_begin(row);
	for (size_t i = 0; i < gathering->width; i++) {
		struct store_value value = store_result_value(gathering->result, i);

		if (gathering->columns[i].send)
			column_write(gather, &gathering->columns[i], &value);
	}
	row_add_unsigned(row, "version", gathering->base_version + (uint64_t)gathering->last_rev);
	return row_end(row);
}

static int row_write(struct gather *gather, struct gathering *gathering)
{
	struct json_text *row = &gather->row;
	int error;

	gathering->last_rev = store_result_value(gathering->result, gathering->rev_column).integer;
	if (gather->as_spans)
		error = spans_write(&gathering->spans, gather->store, gather->settings,
				    store_entity_name(gathering->index), gathering->result, row);
	else
		error = columns_write(gather, gathering);
	if (error == 0)
		error = batch_writer_add(gathering->writer, row->data, row->size);
	return error < 0 ? fail_batch(gather, error) : 0;
}

/* Called at the first row: most tables have nothing new, and then no file is created. */
static int batch_start(struct gather *gather, struct gathering *gathering)
{
	int error = columns_learn(gather, gathering);

	if (error < 0)
		return error;
	error = batch_writer_new(gathering->directory, &gathering->writer);
	return error < 0 ? fail_batch(gather, error) : 0;
}

/* Returns 1 if there may be more rows; 0 at the end or if the batch is full; -errno. */
static int row_take(struct gather *gather, struct gathering *gathering)
{
	int error = 0, more = store_result_next(gathering->result);

	gathering->is_over = more == 0;
	if (more <= 0)
		return more < 0 ? fail_store(gather, more) : 0;
	if (!gathering->writer)
		error = batch_start(gather, gathering);
	if (error == 0)
		error = row_write(gather, gathering);
	if (error < 0)
		return error;
	gathering->has_more = batch_writer_rows(gathering->writer) >= gather->batch_rows ||
			      batch_writer_text_bytes(gathering->writer) >= gather->batch_bytes;
	gathering->is_over = gathering->has_more;
	return !gathering->is_over;
}

int gather_begin(struct gather *gather, const struct gather_snapshot *snapshot, size_t index,
		 const struct cursor *cursor, const char *directory)
{
	struct gathering *gathering = &gather->gathering;
	int error;

	gather_abandon(gather);
	gathering->base_version = cursor->base_version;
	gathering->directory = directory;
	gathering->index = index;
	gathering->batch = (struct batch){
		.host_id = snapshot->host_id,
		.from_version = cursor->base_version + (uint64_t)cursor->revs[index],
	};
	gather_entity(gather, index, gathering->batch.entity);
	if (gather->as_spans)
		error = spans_query(gather->store, store_entity_name(index), cursor->revs[index],
				    (int64_t)gather->batch_rows, &gathering->result);
	else
		error = store_query_entity(gather->store, index, cursor->revs[index], (int64_t)gather->batch_rows,
					   &gathering->result);
	return error < 0 ? fail_store(gather, error) : 0;
}

int gather_step(struct gather *gather, uint64_t row_count)
{
	int result = 1;

	for (uint64_t i = 0; i < row_count && result > 0; i++)
		result = row_take(gather, &gather->gathering);
	if (result < 0)
		gather_abandon(gather);
	return result;
}

int gather_finish(struct gather *gather, struct batch *ret_batch, bool *ret_more)
{
	struct gathering *gathering = &gather->gathering;
	int result = gathering->is_over ? 0 : gather_step(gather, UINT64_MAX);

	if (result == 0 && gathering->writer) {
		gathering->batch.to_version = gathering->base_version + (uint64_t)gathering->last_rev;
		result = batch_writer_finish(gathering->writer, &gathering->batch);
		if (result < 0) {
			fail_batch(gather, result);
		} else {
			*ret_batch = gathering->batch;
			*ret_more = gathering->has_more;
			result = 1;
		}
	}
	gather_abandon(gather);
	return result;
}

bool gather_is_begun(const struct gather *gather)
{
	return gather->gathering.result;
}

void gather_abandon(struct gather *gather)
{
	struct gathering *gathering = &gather->gathering;

	batch_writer_free(gathering->writer);
	spans_deinit(&gathering->spans);
	if (gathering->result)
		store_result_free(gathering->result);
	*gathering = (struct gathering){0};
}

int gather_batch(struct gather *gather, const struct gather_snapshot *snapshot, size_t index,
		 const struct cursor *cursor, const char *directory, struct batch *ret_batch, bool *ret_more)
{
	int error = gather_begin(gather, snapshot, index, cursor, directory);

	return error < 0 ? error : gather_finish(gather, ret_batch, ret_more);
}
