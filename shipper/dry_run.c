/* --dry-run: prints the bytes that would be sent now, before compression. See shipper.h. */
#include <stdlib.h>
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
	char directory[PATH_MAX];
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

	if (settings_leave_out(run->settings, store_entity_name(index), NULL))
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
	if (cursor_load(run->settings->state, &run->cursor) < 0 || !cursor_is_of(&run->cursor, &run->snapshot.store))
		cursor_restart(&run->cursor, &run->snapshot.store, (uint64_t)time(NULL) * 1000000000u);
	for (size_t i = 0; error == 0 && store_entity_name(i); i++)
		error = entity_show(run, i);
	return error;
}

int shipper_dry_run(const struct settings *settings)
{
	struct dry_run run = {.settings = settings, .type = sink_find(settings->sink)};
	const char *parent = getenv("TMPDIR");
	uv_loop_t loop;
	int error;

	snprintf(run.directory, sizeof(run.directory), "%s/tracer-shipper-XXXXXX", parent && *parent ? parent : "/tmp");
	if (!mkdtemp(run.directory)) {
		error = -errno;
		log_error("%s: cannot create a directory: %s", run.directory, strerror(errno));
		return error;
	}
	gather_init(&run.gather, settings);
	error = uv_loop_init(&loop);
	if (error == 0)
		error = run.type->open(settings, &loop, &run.sink);
	if (error == 0) {
		error = store_show(&run);
		run.type->close(run.sink);
		uv_run(&loop, UV_RUN_DEFAULT);
		uv_loop_close(&loop);
	} else {
		log_error("cannot start: %s", strerror(-error));
	}
	gather_deinit(&run.gather);
	rmdir(run.directory);
	return print_finish(stdout) < 0 ? -EIO : error;
}
