/* The page of a run: gathers the answers that it shows (docs/page.md) and writes it. */
#pragma once

#include "cli/names.h"
#include "cost/prices.h"

struct report_page_request {
	const char *verb;        /* for messages */
	const char *output_path; /* NULL: standard output */
	const char *prices_path; /* NULL: the site's */
	bool is_shared;          /* names replaced; no arguments, paths, hosts and users */
	int64_t command_bytes_max;
};

#define REPORT_COMMAND_BYTES_MAX (INT64_C(16) << 20)
/* More would not open in a browser. */
#define REPORT_PROCESSES_MAX INT64_C(2000000)

/* `report` must have its samples and containers. Returns 0, -errno or, after printing an error, VERB_FAILED. */
int report_page_write(const struct report *report, const struct report_page_request *request);
