/* Findings that are made from the account of a run, not by a query: its header says `rows: account`, and no SQL follows.
 *
 * A query would see the tasks of one host, on its own clock, and each would define anew what a task waited for. Those in
 * shape.c are about how tasks lie after and beside each other, those in waits.c about what tasks waited for, those in memory.c
 * about their memory, those in gpus.c about the GPUs that they held.
 */
#pragma once

#include "analysis/query/question.h"
#include "analysis/query/report.h"
#include "analysis/tune/account.h"

/* Gets a row: values in the order of the question's columns, borrowed until it returns. Returns 0 or -errno. */
typedef int asking_take(void *context, const struct store_value *values);

struct asking {
	const struct report *report;
	const struct account *account; /* of the report */
	const struct question *question;
	const struct store_parameter *parameters; /* end with a NULL name */
	asking_take *take;
	void *context;
	/* For asking.c: */
	struct store_value values[QUESTION_COLUMNS_MAX];
};

/* Calls `take` for each row of a question that is `of_account`, the largest first. Returns 0, -ENOMEM, the store's error, or
 * what `take` returned. */
int asking_ask(struct asking *asking);

/* ---- for those four --------------------------------------------------------------- */

int gpus_ask(struct asking *asking);   /* the question says which */
int memory_ask(struct asking *asking); /* likewise */
int waits_ask(struct asking *asking);  /* likewise */
int shape_ask_gaps(struct asking *asking);
int shape_ask_limit(struct asking *asking);
int shape_ask_serial(struct asking *asking);
int shape_ask_short(struct asking *asking);
int shape_ask_tail(struct asking *asking);

/* The value of a parameter. */
double asking_given(const struct asking *asking, const char *name);

/* Set a column of the row to come, if the question has it. Texts are borrowed until asking_give(). */
void asking_put_integer(struct asking *asking, const char *name, int64_t number);
void asking_put_real(struct asking *asking, const char *name, double number);
void asking_put_text(struct asking *asking, const char *name, const char *text);
/* Sets task_id and name. */
void asking_put_task(struct asking *asking, size_t task);
int asking_give(struct asking *asking);

/* Tasks are indexes in the schedule. */
const struct account_task *asking_task(const struct asking *asking, size_t task);
const char *asking_name(const struct asking *asking, size_t task);
int64_t asking_begin_ns(const struct asking *asking, size_t task);
int64_t asking_end_ns(const struct asking *asking, size_t task);
int64_t asking_wall_ns(const struct asking *asking); /* of the run */
/* The part of the run that a task belongs to, and the run there. */
uint32_t asking_part(const struct asking *asking, size_t task);
const struct row_run *asking_run(const struct asking *asking, size_t part);

/* A task with a time that orders it, the longest first. */
struct asking_place {
	size_t task;
	size_t before; /* the last to end among those that began before it, or SCHEDULE_NO_TASK */
	int64_t ns;
};
int asking_compare_places(const void *left, const void *right);
