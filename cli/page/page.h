/* A run as a page for a browser, or as Markdown. */
#pragma once

#include "analysis/report/facts.h"
#include "cli/options.h"
#include "cli/report/names.h"

enum report_page_format { REPORT_PAGE_HTML, REPORT_PAGE_MARKDOWN, REPORT_PAGE_DATA };

struct report_page_request {
	const struct options *options;
	struct engine_names **names; /* the engine's (cli/report/names.h) */
	const char *verb;            /* for messages */
	const char *prices_path;     /* NULL: the site's */
	bool is_shared;              /* see struct report_facts_request */
	bool no_findings;
	enum report_page_format format;
	bool with_previous;      /* attempts */
	const char *output_path; /* NULL: standard output */
	int64_t command_bytes_max;
};

#define REPORT_COMMAND_BYTES_MAX (INT64_C(16) << 20)
/* More would not open in a browser. */
#define REPORT_PROCESSES_MAX INT64_C(2000000)

/* Returns 0, -errno or, after printing an error, VERB_FAILED. */
int report_page_write(struct store *store, const struct row_run *run, const struct report_page_request *request);
