/* What could be better about a run: asks all findings (analysis/query/question.h) and measures what each would save.
 *
 * Each row of an answer is a task, with the wall time that this task could save; what the run would save follows from
 * its schedule. Rows of the same subject are one finding, described by the values of the first row.
 */
#pragma once

#include "analysis/query/catalogue.h"
#include "analysis/query/finding_text.h"
#include "analysis/query/report.h"
#include "analysis/tune/account.h"

/* What saves less than this part of the run's wall time, and nothing else, is not a finding; our proposal. */
#define FINDINGS_LEAST_PART 20
/* Findings of one question about one run: those whose rows say most. */
#define FINDINGS_OF_QUESTION_MAX 100

struct finding_of_run {
	const struct question *question;
	char *subject, *sentence, *advice;
	size_t task_count;
	struct schedule_saving wall; /* of the run; from 0 if the question says only what is possible at most */
	int64_t direct_ns,
		tasks_ns; /* what its rows say: in no task; in tasks, whether or not the run waits for them */
	int64_t cpu_ns;   /* time of a core that would be free */
	int64_t memory_byte_seconds;
	int64_t gpu_ns; /* time of a GPU that would be free */
	int64_t worth;  /* by the request */
};

struct findings_request {
	const struct report *report;
	const struct account *account; /* of the report */
	const struct catalogue *catalogue;
	const char *kind; /* "tune" */
	const char *name; /* only the finding of this name, or NULL */
	/* Binds the parameters of a question beside run_id and host_id; ends with a NULL name. */
	const struct store_parameter *(*bind)(const struct question *question, void *data);
	finding_format *format;
	/* What the finding saves at most, in money; ROW_NULL if no price is known. */
	int64_t (*worth)(const struct finding_of_run *finding, void *data);
	void *data;
};

struct findings_of_run {
	struct finding_of_run *items; /* those that can save most money first, else most time */
	size_t count, capacity;
};

/* Returns 0, -ENOMEM or the store's error. Free the findings either way. */
int findings_find(const struct findings_request *request, struct findings_of_run *ret_findings);
void findings_free(struct findings_of_run *findings);
