/* See names.h. */
#include "cli/report/names.h"

#include <string.h>

#include "cli/report/names_kept.h"
#include "cli/screen/output.h"

static const char *given; /* the file that the user gave; NULL: none */
static bool forgets;

/* Returns 0 or, after printing an error, an exit status. */
static int file_read(const char *path, struct engine_names **names)
{
	char reason[ENGINE_NAMES_REASON_SIZE];

	return engine_names_read(path, names, reason) < 0 ? say("tracer: %s", reason) : 0;
}

/* Reads the file that was kept for the run, if none was given. Returns as file_read(). */
static int kept_read(struct engine_names **names, int64_t run_id)
{
	char path[PATH_MAX];

	if (forgets)
		names_kept_drop(run_id);
	else if (!*names && names_kept_find(run_id, path))
		return file_read(path, names);
	return 0;
}

int names_show(const char *path, struct engine_names **names, const struct options *options,
	       int (*show)(struct view *view))
{
	int status;

	forgets = path && strcmp(path, "none") == 0;
	given = forgets ? NULL : path;
	status = given ? file_read(given, names) : 0;
	if (status == 0)
		status = source_show(options, show);
	engine_names_free(*names);
	return status;
}

int names_join_run(struct engine_names **names, struct report *report)
{
	int64_t run_id = report_run(report)->id;
	size_t count = 0;
	int error = kept_read(names, run_id);

	if (error == 0 && *names)
		error = engine_names_join(*names, report, &count);
	if (error != 0 || !given)
		return error;
	if (count > 0)
		names_kept_put(run_id, given);
	else if (report->task_count > 1)
		say("tracer: no task of this run is in the --names file");
	return 0;
}

int names_learn(struct engine_names **names, struct store *store, const int64_t *run_ids, size_t count)
{
	size_t found = 0;
	int error = 0;

	for (size_t i = 0; error == 0 && found == 0 && i < count; i++) {
		error = kept_read(names, run_ids[i]);
		if (error == 0 && *names)
			error = engine_names_learn(*names, store, run_ids[i], &found);
		if (found > 0 && given)
			names_kept_put(run_ids[i], given);
	}
	if (error == 0 && found == 0 && given)
		say("tracer: no task of these runs is in the --names file");
	return error;
}
