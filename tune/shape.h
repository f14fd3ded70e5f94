/* Findings about the shape of a run: how its tasks lie after and beside each other, on all its hosts.
 *
 * Such a finding is described like any other in tune/NAME.sql, but its header says `rows: schedule`, and no query follows:
 * its rows are made here, from the schedule. A query would see the tasks of one host, on its own clock.
 */
#pragma once

#include "query/question.h"
#include "query/report.h"
#include "tune/account.h"

struct shape {
	const struct report *report;
	const struct account *account; /* of the report */
};

/* Gets a row: values in the order of the question's columns, borrowed until it returns. Returns 0 or -errno. */
typedef int shape_take(void *context, const struct store_value *values);

/* Calls `take` for each row of a question that is `of_schedule`. The parameters end with a NULL name. Returns 0, -ENOMEM, the
 * store's error, or what `take` returned. */
int shape_ask(const struct shape *shape, const struct question *question, const struct store_parameter *parameters,
	      shape_take *take, void *context);
