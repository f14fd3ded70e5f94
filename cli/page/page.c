/* See page.h. */
#include "cli/page/page.h"

#include "analysis/report/share.h"
#include "cli/advise/price_list.h"
#include "cli/page/share_key.h"
#include "cli/report/sample_options.h"
#include "cli/screen/output_file.h"
#include "cli/site_rules.h"
#include "web/page.h"

static int check(const struct report *report, const struct report_page_request *request)
{
	int64_t count = report_run(report)->process_count;

	if (request->format == REPORT_PAGE_MARKDOWN)
		return 0;
	if (request->format == REPORT_PAGE_HTML && !web_page_is_available())
		return say("tracer %s: this build has no page (-Dweb=disabled): tracer report --format md",
			   request->verb);
	if (count > REPORT_PROCESSES_MAX)
		return say("tracer %s: the run has %lld processes; a page of more than %lld would not open in a "
			   "browser: tracer report --format md, tracer export --format csv",
			   request->verb, (long long)count, (long long)REPORT_PROCESSES_MAX);
	return 0;
}

static int page_write(FILE *file, const struct report *report, const struct report_page_request *request,
		      const struct report_facts *facts)
{
	const struct web_spans_request spans = {.report = report,
						.account = &facts->tune.account,
						.pseudonym = request->is_shared ? share_pseudonym : NULL,
						.command_bytes_max = request->command_bytes_max};

	if (request->format == REPORT_PAGE_MARKDOWN)
		return report_markdown_write(file, report, facts, request->is_shared);
	return request->format == REPORT_PAGE_DATA ? web_page_data_write(file, &spans, facts->answers)
						   : web_page_write(file, &spans, facts->answers);
}

/* Returns 0, -errno or, after printing an error, VERB_FAILED. */
static int facts_load(const struct report *report, const struct report_page_request *request,
		      struct report_facts_request *facts_request, struct report_facts *facts)
{
	int error = request->is_shared ? share_key_load(request->verb) : 0;

	if (error)
		return error;
	facts_request->is_shared = request->is_shared;
	if (!request->no_findings && !(facts_request->catalogue = site_queries_load(NULL)))
		return VERB_FAILED;
	facts_request->prices = price_list_load(request->prices_path);
	return facts_request->prices ? report_facts_load(report, facts_request, facts) : VERB_FAILED;
}

static int output_write(const struct report *report, const struct report_page_request *request)
{
	struct report_facts_request facts_request = {0};
	struct report_facts facts = {0};
	struct output_file target;
	int error = check(report, request);

	if (error)
		return error;
	error = facts_load(report, request, &facts_request, &facts);
	if (error == 0)
		error = output_file_open(&target, request->verb, request->output_path);
	if (error == 0)
		error = output_file_close(&target, request->verb, page_write(target.file, report, request, &facts));
	report_facts_free(&facts);
	prices_free(facts_request.prices);
	catalogue_free(facts_request.catalogue);
	return error;
}

int report_page_write(struct store *store, const struct row_run *run, const struct report_page_request *request)
{
	struct sample_names *sample_names = NULL;
	struct report report = {0};
	int error = request->with_previous ? report_load_attempts(&report, store, run, true)
					   : report_load(&report, store, run, true);

	if (error == 0)
		error = names_join_run(request->names, &report);
	if (error == 0)
		error = sample_options_read(request->options, true, &sample_names);
	if (error == 0)
		error = report_load_samples(&report, sample_names);
	if (error == 0)
		error = report_load_labels(&report);
	if (error == 0)
		error = output_write(&report, request);
	sample_names_free(sample_names);
	report_free(&report);
	return error;
}
