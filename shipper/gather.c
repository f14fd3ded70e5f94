/* From the store to a batch. See gather.h. */
#include "shipper/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STORE_CACHE_KIB 256 /* every row is read once, in order */

static int fail(struct gather *gather, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct gather *gather, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(gather->error, sizeof(gather->error), format, arguments);
	va_end(arguments);
	return error;
}

static int fail_store(struct gather *gather, int error)
{
	return fail(gather, error, "%.200s: %s", gather->settings->store,
		    store_error_text(gather->store));
}

void gather_init(struct gather *gather, const struct settings *settings)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	*gather = (struct gather){.settings = settings};
	if (fd < 0)
		return;
	if (read(fd, gather->boot_id, 36) != 36)
		gather->boot_id[0] = '\0';
	close(fd);
}

void gather_deinit(struct gather *gather)
{
	store_close(gather->store);
	row_text_deinit(&gather->row);
	gather->store = NULL;
}

int gather_open(struct gather *gather)
{
	struct store_error text;
	struct stat status;
	int error;

	store_close(gather->store);
	gather->store = NULL;
	/* Of the file that is opened next; if it is replaced in between, the next look says so. */
	gather->inode = stat(gather->settings->store, &status) == 0 ? status.st_ino : 0;
	error = store_open_reader(gather->settings->store, &gather->store, &text);
	if (error < 0)
		return fail(gather, error, "%s", text.text);
	error = store_limit_cache(gather->store, STORE_CACHE_KIB);
	return error < 0 ? fail_store(gather, error) : 0;
}

/* ---- looking --------------------------------------------------------------------- */

/* Of several hosts, which a store of recordings may have, the one that was there first. */
static int look_host(struct gather *gather, struct gather_look *look)
{
	struct store_result *result;
	int more, error = store_query(gather->store, "hosts", NULL, &result);

	if (error < 0)
		return fail_store(gather, error);
	while ((more = store_result_next(result)) > 0) {
		int64_t first_seen = store_result_get(result, "first_seen_unix_ns").integer;

		if (!look->is_empty && first_seen >= look->store.first_seen_unix_ns)
			continue;
		look->is_empty = false;
		look->store.first_seen_unix_ns = first_seen;
		look->host_id = store_result_get(result, "id").integer;
	}
	store_result_free(result);
	return more < 0 ? fail_store(gather, more) : 0;
}

static int look_stream(struct gather *gather, struct gather_look *look)
{
	struct store_stream stream;
	int error = store_read_stream(gather->store, &stream);

	if (error == -ENODATA) {
		look->is_empty = true;
		return 0;
	}
	if (error < 0)
		return fail_store(gather, error);
	look->rev = (int64_t)stream.rev;
	look->committed_unix_ns = (int64_t)stream.committed_unix_ns;
	look->is_of_this_boot = strcmp(stream.boot_id, gather->boot_id) == 0;
	return 0;
}

int gather_look(struct gather *gather, struct gather_look *ret_look)
{
	struct gather_look look = {.is_empty = true, .store.inode = gather->inode};
	int error = store_begin_reading(gather->store);

	if (error < 0)
		return fail_store(gather, error);
	error = look_host(gather, &look);
	if (error == 0)
		error = look_stream(gather, &look);
	store_end_reading(gather->store);
	if (error == 0)
		*ret_look = look;
	return error;
}

/* ---- gathering ------------------------------------------------------------------- */

struct gathering {
	const char *entity;
	uint64_t base_version;
	size_t rev_column;
	int64_t last_rev;
	bool send[256]; /* by column */
};

static int gathering_init(struct gather *gather, struct gathering *gathering,
			  const struct store_result *result)
{
	size_t width = store_result_width(result);

	if (width > sizeof(gathering->send) / sizeof(gathering->send[0]))
		return fail(gather, -EINVAL, "%s has too many columns", gathering->entity);
	for (size_t i = 0; i < width; i++) {
		const char *name = store_result_name(result, i);

		gathering->send[i] = !settings_leave_out(gather->settings, gathering->entity, name);
		if (strcmp(name, "rev") == 0)
			gathering->rev_column = i;
	}
	return 0;
}

/* A cloud_ column is never known to the store itself. */
static void column_write(struct gather *gather, const char *name, const struct store_value *value)
{
	const char *known = value->type == STORE_VALUE_NULL ? cloud_column(&gather->cloud, name) : NULL;

	if (known)
		row_add_string(&gather->row, name, known);
	else
		row_add_value(&gather->row, name, value);
}

static int row_write(struct gather *gather, struct gathering *gathering,
		     struct store_result *result, struct batch_writer *writer)
{
	struct row_text *row = &gather->row;
	size_t width = store_result_width(result);
	int error;

	row->size = 0;
	row_begin(row);
	for (size_t i = 0; i < width; i++) {
		struct store_value value = store_result_value(result, i);

		if (i == gathering->rev_column)
			gathering->last_rev = value.integer;
		if (gathering->send[i])
			column_write(gather, store_result_name(result, i), &value);
	}
	row_add_unsigned(row, "version", gathering->base_version + (uint64_t)gathering->last_rev);
	error = row_end(row);
	if (error == 0)
		error = batch_writer_add(writer, row->data, row->size);
	return error < 0 ? fail(gather, error, "cannot write a batch into %.200s: %s",
				gather->settings->state, strerror(-error))
			 : 0;
}

/* 1: stopped at a bound; 0: all of it; -errno. */
static int rows_write(struct gather *gather, struct gathering *gathering,
		      struct store_result *result, struct batch_writer *writer)
{
	const struct settings *settings = gather->settings;
	int more, error = gathering_init(gather, gathering, result);

	if (error < 0)
		return error;
	while ((more = store_result_next(result)) > 0) {
		error = row_write(gather, gathering, result, writer);
		if (error < 0)
			return error;
		if (batch_writer_rows(writer) >= settings->batch_rows ||
		    batch_writer_text_bytes(writer) >= settings->batch_bytes)
			return 1;
	}
	return more < 0 ? fail_store(gather, more) : 0;
}

static int batch_finish(struct gather *gather, struct batch_writer *writer, struct batch *batch)
{
	int error = batch_writer_finish(writer, batch);

	return error < 0 ? fail(gather, error, "cannot write a batch into %.200s: %s",
				gather->settings->state, strerror(-error))
			 : 1;
}

int gather_batch(struct gather *gather, const struct gather_look *look, size_t index,
		 const struct cursor *cursor, const char *directory, struct batch *ret_batch,
		 bool *ret_more)
{
	struct gathering gathering = {.entity = store_entity_name(index),
				      .base_version = cursor->base_version};
	struct batch batch = {.host_id = look->host_id};
	struct batch_writer *writer = NULL;
	struct store_result *result = NULL;
	int outcome = store_query_entity(gather->store, index, cursor->revs[index],
					 (int64_t)gather->settings->batch_rows, &result);

	if (outcome < 0)
		return fail_store(gather, outcome);
	outcome = batch_writer_new(directory, &writer);
	if (outcome < 0)
		outcome = fail(gather, outcome, "%.200s: cannot write a batch: %s", directory,
			       strerror(-outcome));
	else
		outcome = rows_write(gather, &gathering, result, writer);
	if (outcome >= 0 && batch_writer_rows(writer) > 0) {
		*ret_more = outcome == 1;
		snprintf(batch.entity, sizeof(batch.entity), "%s", gathering.entity);
		batch.from_version = cursor->base_version + (uint64_t)cursor->revs[index];
		batch.to_version = cursor->base_version + (uint64_t)gathering.last_rev;
		outcome = batch_finish(gather, writer, &batch);
		*ret_batch = batch;
	}
	batch_writer_free(writer);
	store_result_free(result);
	return outcome;
}
