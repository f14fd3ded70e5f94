/* Cost centres of a site. See centres.h. */
#include "analysis/cost/centres.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cost/csv_file.h"
#include "common/grow.h"
#include "common/parse.h"

#define ROWS_MAX 10000 /* each is compared with each run */
#define ANY_USER INT64_C(-1)

enum column { CENTRE, USER, CGROUP, RUN, COLUMN_COUNT };

static const char *const column_names[COLUMN_COUNT] = {
	[CENTRE] = "Centre", [USER] = "User", [CGROUP] = "Cgroup", [RUN] = "Run"};
static const struct csv_columns columns = {column_names, COLUMN_COUNT, 1, 0};

struct centre_row {
	const char *centre;
	int64_t user_id; /* or ANY_USER */
	struct pattern cgroup, run;
};

struct centres {
	struct centre_row *rows;
	size_t count, capacity;
	struct arena texts;
};

static int user_take(const char *text, int64_t *ret_user_id, struct tree_error *error)
{
	uid_t user_id;
	gid_t group_id;

	*ret_user_id = ANY_USER;
	if (!*text || strcmp(text, "*") == 0)
		return 0;
	if (parse_user(text, &user_id, &group_id) < 0)
		return tree_error_set(error, "", 0, "User: this host knows no user '%.64s': give the number", text);
	*ret_user_id = user_id;
	return 0;
}

static int row_take(void *context, const struct csv_row *csv, struct tree_error *error)
{
	struct centres *centres = context;
	struct centre_row row, *grown;
	int result = user_take(csv->fields[USER], &row.user_id, error);

	if (result < 0)
		return result;
	if (!*csv->fields[CENTRE])
		return tree_error_set(error, "", 0, "Centre: is empty");
	if (centres->count == ROWS_MAX)
		return tree_error_set(error, "", 0, "more than %d rows", ROWS_MAX);
	grown = grow(centres->rows, &centres->capacity, centres->count + 1, sizeof(row));
	if (!grown)
		return -ENOMEM;
	centres->rows = grown;
	row.centre = arena_copy(&centres->texts, csv->fields[CENTRE], strlen(csv->fields[CENTRE]));
	if (!row.centre || pattern_make(&centres->texts, csv->fields[CGROUP], &row.cgroup) < 0 ||
	    pattern_make(&centres->texts, csv->fields[RUN], &row.run) < 0)
		return -ENOMEM;
	centres->rows[centres->count++] = row;
	return 0;
}

int centres_load(const char *path, struct centres **ret_centres, struct tree_error *ret_error)
{
	struct centres *centres = calloc(1, sizeof(*centres));
	int error;

	if (!centres)
		return -ENOMEM;
	error = csv_read(path, &columns, row_take, centres, ret_error);
	if (error < 0)
		centres_free(centres);
	else
		*ret_centres = centres;
	return error;
}

void centres_free(struct centres *centres)
{
	if (!centres)
		return;
	arena_deinit(&centres->texts);
	free(centres->rows);
	free(centres);
}

const char *centres_find(const struct centres *centres, int64_t user_id, const char *cgroup, const char *run)
{
	for (size_t i = 0; i < centres->count; i++) {
		const struct centre_row *row = &centres->rows[i];

		if ((row->user_id == ANY_USER || row->user_id == user_id) && pattern_matches(&row->cgroup, cgroup) &&
		    pattern_matches(&row->run, run))
			return row->centre;
	}
	return NULL;
}
