/* What a report of a run says beside its figures: the answers of other commands (docs/page.md), with or without names. */
#pragma once

#include "analysis/query/report.h"
#include "analysis/tune/tuning.h"

struct report_facts_request {
	struct prices *prices;
	struct catalogue *catalogue; /* of findings; NULL: they are not asked for, which saves a third of the time */
	bool is_shared;              /* pseudonyms for names; no arguments, paths, hosts and users (share.h) */
};

struct report_facts {
	struct tuning tune;
	json_t *answers; /* by name, as docs/page.md lists them */
};

/* `report` must have its samples and containers. Returns 0 or -errno; free the facts either way. */
int report_facts_load(const struct report *report, const struct report_facts_request *request,
		      struct report_facts *ret_facts);
void report_facts_free(struct report_facts *facts);

/* Writes at most some 60 lines of Markdown. Returns 0 or -errno; check ferror(). */
int report_markdown_write(FILE *file, const struct report *report, const struct report_facts *facts, bool is_shared);
