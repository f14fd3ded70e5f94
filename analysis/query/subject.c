/* See subject.h. */
#include "analysis/query/subject.h"

#include <errno.h>
#include <string.h>

#include "common/identity.h"
#include "common/parse.h"

#define PID_MAX 4194304 /* the kernel's own limit */
#define NAMED_MAX 10    /* runs with a part of a name */

static const struct {
	const char *find;    /* query by a range of ids */
	const char *by_name; /* or by a name */
	const char *explain; /* query by id */
	const char *key;     /* the parameter for the id */
} kinds[SUBJECT_KIND_COUNT] = {
	[SUBJECT_RUN] = {"run", "run_by_name", "explain_run", "run_id"},
	[SUBJECT_TASK] = {"task", "task_by_name", "explain_task", "task_id"},
	[SUBJECT_PROCESS] = {"process", "process_by_name", "explain_process", "process_id"},
};

struct search {
	struct store *store;
	struct subject *found;
	size_t count;
};

/* Adds the rows of a query to the matches. Returns 0 or -errno. */
static int search_query(struct search *search, enum subject_kind kind, const char *query,
			const struct store_parameter *parameters)
{
	struct store_result *result;
	int more = query_ask(search->store, query, parameters, &result);

	if (more < 0)
		return more;
	while ((more = store_result_next(result)) > 0 && search->count < SUBJECTS_MAX)
		search->found[search->count++] =
			(struct subject){kind, result_integer(result, "id"), result_integer(result, "host_id")};
	store_result_free(result);
	return more < 0 ? more : 0;
}

int subjects_find(struct store *store, const char *text, const struct store_parameter *filter,
		  struct subject ret_found[SUBJECTS_MAX], size_t *ret_count)
{
	struct search search = {.store = store, .found = ret_found};
	struct store_parameter range[] = {
		{"first_id", STORE_INTEGER, 0, NULL}, {"last_id", STORE_INTEGER, 0, NULL}, filter[0], filter[1], {0},
	};
	struct store_parameter name[] = {{"name", STORE_TEXT, 0, text}, filter[0], filter[1], {0}};
	struct store_parameter number[] = {{"pid", STORE_INTEGER}, filter[0], filter[1], {0}};
	int error = 0;
	uint64_t pid;

	if (parse_number(text, parse_counts, 0, PID_MAX, &pid) == 0) {
		number[0].integer = (int64_t)pid;
		error = search_query(&search, SUBJECT_PROCESS, "process_by_pid", number);
	}
	if (search.count == 0 && identity_parse_prefix(text, &range[0].integer, &range[1].integer) == 0)
		for (int kind = 0; kind < SUBJECT_KIND_COUNT && error == 0; kind++)
			error = search_query(&search, (enum subject_kind)kind, kinds[kind].find, range);
	for (int kind = 0; kind < SUBJECT_KIND_COUNT && search.count == 0 && error == 0; kind++)
		error = search_query(&search, (enum subject_kind)kind, kinds[kind].by_name, name);
	*ret_count = search.count;
	return error;
}

const char *subject_kind_name(enum subject_kind kind)
{
	return kinds[kind].find;
}

int subject_ask(struct store *store, const struct subject *subject, struct store_result **ret_result)
{
	struct store_parameter id[] = QUERY_PARAMETERS_OF(kinds[subject->kind].key, subject->id, subject->host_id);

	return query_ask(store, kinds[subject->kind].explain, id, ret_result);
}

/* ---- a run ----------------------------------------------------------------------- */

/* Returns -ENOENT if nothing is found. */
static int runs_find(struct store *store, const char *query, const struct store_parameter *parameters,
		     struct rows *ret_runs)
{
	int error = rows_load(ret_runs, &row_type_run, store, query, parameters);

	if (error == 0 && ret_runs->count == 0) {
		rows_free(ret_runs);
		error = -ENOENT;
	}
	return error;
}

static bool begins_with(const struct rows *runs, size_t index, const char *text)
{
	return index < runs->count && strncmp(ROWS_ITEM(runs, run, index)->name, text, strlen(text)) == 0;
}

int subject_find_run(struct store *store, const char *text, const struct store_parameter *filter, struct rows *ret_runs)
{
	struct store_parameter range[] = {
		{"first_id", STORE_INTEGER, 0, NULL}, {"last_id", STORE_INTEGER, 0, NULL}, filter[0], filter[1], {0},
	};
	struct store_parameter name[] = {
		{"limit", STORE_INTEGER, NAMED_MAX, NULL}, {"name", STORE_TEXT, 0, text}, filter[0], filter[1], {0},
	};
	int error = -ENOENT;

	if (!text)
		return runs_find(store, "run_latest", range + 2, ret_runs);
	if (identity_parse_prefix(text, &range[0].integer, &range[1].integer) == 0)
		error = runs_find(store, "run", range, ret_runs);
	if (error == 0 && ret_runs->count > 1)
		return SUBJECT_SEVERAL_IDS;
	if (error != -ENOENT)
		return error;
	error = runs_find(store, "run_by_name", name + 1, ret_runs);
	if (error != -ENOENT)
		return error;
	error = runs_find(store, "runs_by_part_of_name", name, ret_runs);
	if (error < 0 || ret_runs->count == 1 || (begins_with(ret_runs, 0, text) && !begins_with(ret_runs, 1, text)))
		return error;
	return SUBJECT_SEVERAL_NAMES;
}
