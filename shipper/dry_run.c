/* --dry-run: prints the bytes that would be sent now, before compression. See shipper.h. */
#include <string.h>

#include "common/log.h"
#include "common/print.h"
#include "shipper/file.h"
#include "shipper/gather.h"
#include "shipper/shipper.h"
#include "shipper/sink.h"

struct dry_run {
	const struct settings *settings;
	const struct sink_type *type;
	struct sink *sink;
	struct gather gather;
	struct gather_snapshot snapshot;
	struct cursor cursor;
	const char *directory;
	struct cloud *cloud;
};

static int batch_show(struct dry_run *run, const struct batch *batch)
{
	char path[PATH_MAX];
	int error;

	run->type->describe(run->sink, batch, stdout);
	error = batch_print(run->directory, batch, stdout);
	fputc('\n', stdout);
	if (file_path(path, run->directory, batch->name) == 0)
		unlink(path);
	return error == 0 && ferror(stdout) ? -EIO : error;
}

static int entity_show(struct dry_run *run, size_t index)
{
	struct batch batch;
	bool more = true;
	int result = 1;

	if (!gather_takes(&run->gather, index))
		return 0;
	while (result == 1 && more) {
		more = false;
		result = gather_batch(&run->gather, &run->snapshot, index, &run->cursor, run->directory, &batch, &more);
		if (result < 0)
			log_error("%s", run->gather.error);
		if (result != 1)
			return result;
		run->cursor.revs[index] = (int64_t)(batch.to_version - run->cursor.base_version);
		result = batch_show(run, &batch) < 0 ? -EIO : 1;
	}
	return result < 0 ? result : 0;
}

static int store_show(struct dry_run *run)
{
	int error = gather_open(&run->gather);

	if (error == 0)
		error = gather_examine(&run->gather, &run->snapshot);
	if (error < 0) {
		log_error("%s", run->gather.error);
		return error;
	}
	if (run->snapshot.is_empty)
		return 0;
	error = cursor_open(run->settings->state, &run->cursor);
	if (error < 0)
		log_error("%s/cursor: cannot read: %s: run this as root or as the shipper's user", run->settings->state,
			  strerror(-error));
	else if (!cursor_is_of(&run->cursor, &run->snapshot.store))
		cursor_restart(&run->cursor, &run->snapshot.store, (uint64_t)time(NULL) * 1000000000u);
	for (size_t i = 0; error == 0 && store_entity_name(i); i++)
		error = entity_show(run, i);
	return error;
}

static void cloud_found(const struct cloud_identity *found, void *data)
{
	struct dry_run *run = data;

	if (found)
		run->gather.cloud = *found;
	else
		log_warning("no cloud metadata service responded: cloud columns stay unknown");
}

/* Asks for the values of the cloud columns first, which are not in the store. */
static void cloud_learn(struct dry_run *run, uv_loop_t *loop)
{
	if (run->settings->cloud == CLOUD_OFF)
		return;
	if (cloud_ask(loop, run->settings->cloud, run->settings->cloud_endpoint, cloud_found, run, &run->cloud) < 0)
		cloud_found(NULL, run);
	uv_run(loop, UV_RUN_DEFAULT);
	cloud_free(run->cloud);
}

int shipper_dry_run(const struct settings *settings, const char *scratch)
{
	struct dry_run run = {.settings = settings, .type = sink_find(settings->sink), .directory = scratch};
	uv_loop_t loop;
	int error;

	gather_init(&run.gather, settings);
	error = uv_loop_init(&loop);
	if (error == 0)
		error = run.type->open(settings, &loop, &run.sink);
	if (error == 0) {
		cloud_learn(&run, &loop);
		error = store_show(&run);
		run.type->close(run.sink);
		uv_run(&loop, UV_RUN_DEFAULT);
		uv_loop_close(&loop);
	} else {
		log_error("%s: cannot open this sink: %s", run.type->name, strerror(-error));
	}
	gather_deinit(&run.gather);
	return print_finish(stdout) < 0 ? -EIO : error;
}
