/* A run, a task or a process that a user names: by a pid, the beginning of an id, or a name. */
#pragma once

#include "analysis/query/ask.h"
#include "analysis/query/rows.h"

enum subject_kind { SUBJECT_RUN, SUBJECT_TASK, SUBJECT_PROCESS, SUBJECT_KIND_COUNT };

struct subject {
	enum subject_kind kind;
	int64_t id, host_id;
};

#define SUBJECTS_MAX 8

/* Finds what `text` names, the latest first: as users usually mean pids by numbers, a process of that pid, else by ids, else
 * by names; `filter`: the parameters "host" and "user_id". Returns 0 or -errno. */
int subjects_find(struct store *store, const char *text, const struct store_parameter *filter,
		  struct subject ret_found[SUBJECTS_MAX], size_t *ret_count);
/* "run", "task", "process". */
const char *subject_kind_name(enum subject_kind kind);
/* Asks why it was classified as it was. Returns 0 or -errno. */
int subject_ask(struct store *store, const struct subject *subject, struct store_result **ret_result);

enum { SUBJECT_SEVERAL_IDS = 1, SUBJECT_SEVERAL_NAMES };

/* Finds the run that `text` names: a prefix of its id, its name, or a part of the name that no other name contains; of
 * several with a name the latest; NULL: the latest of all. `filter` as above. Ignore rows after the first. Returns 0,
 * -errno, -ENOENT if there is none, or which of their texts several have in common: then they are the rows. */
int subject_find_run(struct store *store, const char *text, const struct store_parameter *filter,
		     struct rows *ret_runs);
