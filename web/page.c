/* Puts the data of a run into the page. See page.h. */
#include "web/page.h"

#include <errno.h>
#include <string.h>

#include "web-page.h" /* web_page: the page without its data */

#define DATA_MARK "@DATA@"

bool web_page_is_available(void)
{
	return sizeof(web_page) > 1;
}

static void facts_complete(json_t *facts, const struct web_spans_request *request, const struct web_spans *spans)
{
	const struct report *report = request->report;
	int64_t now_ns = row_subtract(report->now_boot_ns, report_run(report)->begin_boot_ns);

	json_set_integer(facts, "now_us", now_ns == ROW_NULL ? ROW_NULL : now_ns / 1000);
	json_object_set_new(facts, "shared", json_boolean(request->pseudonym != NULL));
	json_set_string(facts, "version", TRACER_VERSION);
	json_object_set_new(facts, "series", json_pack("{s:I}", "step_us", (json_int_t)spans->step_us));
	json_object_set_new(facts, "commands",
			    json_pack("{s:I, s:I}", "shown", (json_int_t)spans->command_count, "known",
				      (json_int_t)spans->command_known_count));
}

static int data_write(FILE *file, bool is_text, const struct web_spans_request *request, json_t *facts)
{
	struct web_spans spans;
	int error = web_spans_load(request, &spans);

	if (error == 0) {
		const struct web_table *const tables[] = {&spans.texts.lengths, &spans.tasks, &spans.tools,
							  &spans.processes, &spans.series};

		facts_complete(facts, request, &spans);
		error = web_columns_write(file, is_text, facts, tables, sizeof(tables) / sizeof(tables[0]),
					  &spans.texts);
	}
	web_spans_free(&spans);
	return error;
}

int web_page_write(FILE *file, const struct web_spans_request *request, json_t *facts)
{
	const char *mark = strstr(web_page, DATA_MARK);
	int error;

	if (!mark)
		return -ENOSYS;
	fwrite(web_page, 1, (size_t)(mark - web_page), file);
	error = data_write(file, true, request, facts);
	fputs(mark + strlen(DATA_MARK), file);
	return error;
}

int web_page_data_write(FILE *file, const struct web_spans_request *request, json_t *facts)
{
	return data_write(file, false, request, facts);
}
