/* Opens and queries the store of a verb. See source.h. */
#include "cli/source.h"

#include <errno.h>
#include <string.h>

#include "analysis/lake/lake.h"
#include "analysis/query/units.h"
#include "common/identity.h"

int source_say(const struct store *store, int error)
{
	if (error < 0)
		say("tracer: %s", error == -ENOMEM ? "out of memory" : store_error_text(store));
	return error;
}

static int open_lake(const struct options *options, struct store **ret_store, struct store_error *ret_error)
{
	struct access settings;
	int error = lake_settings_load(&settings, options->lake_url, NULL, "analyst", ret_error->text,
				       sizeof(ret_error->text));

	return error < 0 ? error : lake_open(&settings, ret_store, ret_error);
}

struct store *source_open(const struct options *options)
{
	struct store_error error;
	struct store *store;
	int failed = options_use_lake(options) ? open_lake(options, &store, &error)
					       : store_open_reader(options_store_path(options), &store, &error);

	if (failed < 0) {
		say("tracer: %s", error.text);
		return NULL;
	}
	if (source_say(store, store_begin_reading(store)) < 0) {
		store_close(store);
		return NULL;
	}
	return store;
}

void source_close(struct store *store)
{
	if (!store)
		return;
	store_end_reading(store);
	store_close(store);
}

int source_renew(struct store *store)
{
	store_end_reading(store);
	return store_begin_reading(store);
}

int source_show(const struct options *options, int (*show)(struct view *view))
{
	struct view view = {.options = options};
	int error = VERB_FAILED;

	output_init(&view.output, stdout, options->color);
	view.store = source_open(options);
	if (view.store)
		error = show(&view);
	if (error < 0 && !ferror(stdout))
		source_say(view.store, error);
	source_close(view.store);
	return error < 0 ? VERB_FAILED : error;
}

#define NAMED_MAX 10 /* runs listed if several match */

/* `how` is what the runs have in common. */
static int say_ambiguous(const char *how, const char *text, struct rows *runs)
{
	say("tracer: several runs %s '%s': be more specific, or give an id", how, text);
	for (size_t i = 0; i < runs->count; i++) {
		const struct row_run *run = ROWS_ITEM(runs, run, i);

		say("  %s  %s  %s", units_id(run->id, false), units_time(run->started_unix_ns), run->name);
	}
	rows_free(runs);
	return VERB_FAILED;
}

/* Returns -ENOENT if nothing is found. */
static int find_by_query(struct store *store, const char *query, const struct store_parameter *parameters,
			 struct rows *ret_run)
{
	int error = rows_load(ret_run, &row_type_run, store, query, parameters);

	if (error == 0 && ret_run->count == 0) {
		rows_free(ret_run);
		error = -ENOENT;
	}
	return error;
}

static int find_by_id(struct store *store, const struct options *options, const char *text, struct rows *ret_run)
{
	struct store_parameter range[] = {
		{"first_id", STORE_INTEGER, 0, NULL},
		{"last_id", STORE_INTEGER, 0, NULL},
		SOURCE_FILTER(options),
		{0},
	};
	int error = -ENOENT;

	if (identity_parse_prefix(text, &range[0].integer, &range[1].integer) == 0)
		error = find_by_query(store, "run", range, ret_run);
	return error == 0 && ret_run->count > 1 ? say_ambiguous("have ids that begin with", text, ret_run) : error;
}

static bool begins_with(const struct rows *runs, size_t index, const char *text)
{
	return index < runs->count && strncmp(ROWS_ITEM(runs, run, index)->name, text, strlen(text)) == 0;
}

/* Finds the latest run whose name begins with or contains the text, if that is true of only one
 * name. */
static int find_by_part_of_name(struct store *store, const struct options *options, const char *text,
				struct rows *ret_run)
{
	struct store_parameter parameters[] = {
		{"name", STORE_TEXT, 0, text},
		{"limit", STORE_INTEGER, NAMED_MAX, NULL},
		SOURCE_FILTER(options),
		{0},
	};
	int error = find_by_query(store, "runs_by_part_of_name", parameters, ret_run);
	bool is_one = ret_run->count == 1 || (begins_with(ret_run, 0, text) && !begins_with(ret_run, 1, text));

	return error == 0 && !is_one ? say_ambiguous("have names that contain", text, ret_run) : error;
}

/* Whether --host or --user restricts the runs. */
static bool is_restricted(const struct options *options)
{
	return options && (options->host || options->user_id != ROW_NULL);
}

int source_find_run(struct store *store, const struct options *options, const char *text, struct rows *ret_run)
{
	struct store_parameter name[] = {{"name", STORE_TEXT, 0, text}, SOURCE_FILTER(options), {0}};
	int error;

	if (!text || strcmp(text, "latest") == 0) {
		error = find_by_query(store, "run_latest", name + 1, ret_run);
		if (error == -ENOENT && is_restricted(options))
			return say("tracer: no run of this host or user: see tracer runs --all");
		return error != -ENOENT ? error
					: say("tracer: this store has no runs yet: start something, or see "
					      "tracer status");
	}
	error = find_by_id(store, options, text, ret_run);
	if (error == -ENOENT)
		error = find_by_query(store, "run_by_name", name, ret_run);
	if (error == -ENOENT)
		error = find_by_part_of_name(store, options, text, ret_run);
	return error != -ENOENT
		       ? error
		       : say("tracer: no run has a name that contains '%s' or an id that begins with it%s: see "
			     "tracer runs --all",
			     text, is_restricted(options) ? ", of this host or user" : "");
}
