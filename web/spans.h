/* Tasks, tools and processes of a run, and what they used over time, as tables of the page (docs/page.md). */
#pragma once

#include "analysis/query/report.h"
#include "analysis/tune/account.h"
#include "web/columns.h"

struct web_spans_request {
	const struct report *report;
	const struct account *account; /* of the report */
	int64_t command_bytes_max;     /* of all commands together */
	/* Returns what replaces a name, valid until the next call. If set, there are no commands and no users either. */
	const char *(*pseudonym)(const char *text);
};

struct web_spans {
	struct web_texts texts;
	struct web_table tasks, tools, processes, series;
	int64_t step_us;                            /* of the series */
	int64_t command_count, command_known_count; /* of processes: in the page, in the store */
};

/* Returns 0 or -errno; free the spans either way. */
int web_spans_load(const struct web_spans_request *request, struct web_spans *ret_spans);
void web_spans_free(struct web_spans *spans);
