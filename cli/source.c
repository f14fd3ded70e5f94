/* The store as a verb opens and asks it. See source.h. */
#include "cli/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/units.h"
#include "common/identity.h"
#include "common/lake/lake.h"
#include "common/text.h"
#include "query/ask.h"

static int say(const struct store *store)
{
	fprintf(stderr, "tracer: %s\n", store_error_text(store));
	return -EIO;
}

int source_say(const struct store *store, int error)
{
	if (error == -ENOMEM)
		fprintf(stderr, "tracer: out of memory\n");
	else if (error < 0)
		say(store);
	return error;
}

static int open_lake(const struct options *options, struct store **ret_store,
		     struct store_error *ret_error)
{
	struct lake_settings settings;
	int error = lake_settings_load(&settings, options->lake_url, NULL, "analyst", ret_error->text,
				       sizeof(ret_error->text));

	return error < 0 ? error : lake_open(&settings, ret_store, ret_error);
}

struct store *source_open(const struct options *options)
{
	struct store_error error;
	struct store *store;
	char safe[sizeof(error.text) * 4 + 1];
	int failed = options_use_lake(options)
			     ? open_lake(options, &store, &error)
			     : store_open_reader(options_store_path(options), &store, &error);

	if (failed < 0) {
		text_escape(error.text, strlen(error.text), safe, sizeof(safe));
		fprintf(stderr, "tracer: %s\n", safe);
		return NULL;
	}
	if (store_begin_reading(store) < 0) {
		say(store);
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
	return store_begin_reading(store) < 0 ? say(store) : 0;
}

int source_query(struct store *store, const char *query, const struct store_parameter *parameters,
		 struct store_result **ret_result)
{
	int error = query_ask(store, query, parameters, ret_result);

	if (error < 0)
		say(store);
	return error;
}

int source_next(struct store *store, struct store_result *result)
{
	int more = store_result_next(result);

	if (more < 0)
		say(store);
	return more;
}

int source_load(struct store *store, const struct row_type *type, const char *query,
		const struct store_parameter *parameters, struct rows *ret_rows)
{
	return source_say(store, rows_load(ret_rows, type, store, query, parameters));
}

#define NAMED_MOST 10 /* runs that are listed where several fit */

/* `how`: what they have in common, and what to do. */
static void say_ambiguous(const char *how, const char *text, const struct rows *runs)
{
	char id[IDENTITY_TEXT_SIZE], began[UNITS_SIZE], safe[512];

	text_escape(text, strlen(text), safe, sizeof(safe));
	fprintf(stderr, "tracer: several runs %s '%s': give more of it, or an id\n", how, safe);
	for (size_t i = 0; i < runs->count; i++) {
		const struct row_run *run = ROWS_ITEM(runs, run, i);
		char name[256];

		identity_format(run->id, id);
		text_escape(run->name, strlen(run->name), name, sizeof(name));
		fprintf(stderr, "  %s  %s  %s\n", id, units_time(began, run->started_unix_ns), name);
	}
}

/* -ENOENT where no id begins so. */
static int find_by_id(struct store *store, const char *text, struct rows *ret_run)
{
	struct store_parameter range[] = {
		{"first_id", STORE_INTEGER, 0, NULL}, {"last_id", STORE_INTEGER, 0, NULL}, {0},
	};
	int error;

	if (identity_parse_prefix(text, &range[0].integer, &range[1].integer) < 0)
		return -ENOENT;
	error = source_load(store, &row_type_run, "run", range, ret_run);
	if (error < 0 || ret_run->count == 1)
		return error;
	error = ret_run->count == 0 ? -ENOENT : -EEXIST;
	if (error == -EEXIST)
		say_ambiguous("have ids that begin with", text, ret_run);
	rows_free(ret_run);
	return error;
}

static int find_by_query(struct store *store, const char *query,
			 const struct store_parameter *parameters, struct rows *ret_run)
{
	int error = source_load(store, &row_type_run, query, parameters, ret_run);

	if (error < 0 || ret_run->count > 0)
		return error;
	rows_free(ret_run);
	return -ENOENT;
}

static bool begins_with(const struct rows *runs, size_t index, const char *text)
{
	return index < runs->count && strncmp(ROWS_ITEM(runs, run, index)->name, text, strlen(text)) == 0;
}

/* By the beginning of a name, or by any part of it, where it is that of one name alone: the latest
 * run of this. 0, -ENOENT, -EEXIST. */
static int find_by_part_of_name(struct store *store, const char *text, struct rows *ret_run)
{
	struct store_parameter parameters[] = {
		{"name", STORE_TEXT, 0, text}, {"limit", STORE_INTEGER, NAMED_MOST, NULL}, {0},
	};
	int error = find_by_query(store, "runs_by_part_of_name", parameters, ret_run);

	if (error < 0)
		return error;
	if (ret_run->count == 1 || (begins_with(ret_run, 0, text) && !begins_with(ret_run, 1, text)))
		return 0;
	say_ambiguous("have names with", text, ret_run);
	rows_free(ret_run);
	return -EEXIST;
}

int source_find_run(struct store *store, const char *text, struct rows *ret_run)
{
	bool latest = !text || strcmp(text, "latest") == 0;
	struct store_parameter name[] = {{"name", STORE_TEXT, 0, text}, {0}};
	char safe[512];
	int error;

	if (latest)
		error = find_by_query(store, "run_latest", NULL, ret_run);
	else
		error = find_by_id(store, text, ret_run);
	if (error == -ENOENT && !latest)
		error = find_by_query(store, "run_by_name", name, ret_run);
	if (error == -ENOENT && !latest)
		error = find_by_part_of_name(store, text, ret_run);
	if (error != -ENOENT)
		return error;
	if (latest) {
		fprintf(stderr, "tracer: this store holds no run yet: start something, or see "
			"tracer status\n");
	} else {
		text_escape(text, strlen(text), safe, sizeof(safe));
		fprintf(stderr, "tracer: no run's name has '%s' in it, nor does an id begin so: see "
			"tracer runs --all\n", safe);
	}
	return -ENOENT;
}
