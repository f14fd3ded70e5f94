/* Tasks grouped by name, as MultiQC's custom content: a table. See https://docs.seqera.io/multiqc/custom_content
 *
 * MultiQC takes the key of a row for the name of a sample, and shortens it as if it were a file's: tasks whose names differ
 * in what it cuts off (a directory, ".bam") would become one row. So keys are numbers, and the name is a column.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/export/formats.h"
#include "analysis/query/figures.h"

#define NS_PER_S 1e9
#define MIB (1024.0 * 1024.0)

static const char headers[] =
	"{\"task\":{\"title\":\"Task\",\"format\":\"{}\",\"scale\":false},"
	"\"tasks\":{\"title\":\"Tasks\",\"format\":\"{:,.0f}\"},"
	"\"failed\":{\"title\":\"Failed\",\"format\":\"{:,.0f}\"},"
	"\"median\":{\"title\":\"Median\",\"description\":\"Median wall time\",\"suffix\":\" s\"},"
	"\"longest\":{\"title\":\"Longest\",\"description\":\"Longest wall time\",\"suffix\":\" s\"},"
	"\"cpu\":{\"title\":\"CPU\",\"description\":\"CPU time of all tasks\",\"suffix\":\" s\"},"
	"\"memory\":{\"title\":\"Peak RSS\",\"description\":\"Of the largest process\",\"suffix\":\" MiB\"},"
	"\"read\":{\"title\":\"Read\",\"description\":\"From storage\",\"suffix\":\" MiB\"},"
	"\"written\":{\"title\":\"Written\",\"description\":\"To storage\",\"suffix\":\" MiB\"}";
/* Of runs that a sampler reported GPUs of. */
static const char gpu_headers[] =
	",\"gpu\":{\"title\":\"GPU\",\"description\":\"Time that GPUs worked for all tasks\",\"suffix\":\" s\"},"
	"\"gpu_memory\":{\"title\":\"GPU peak\",\"description\":\"GPU memory of the largest process\",\"suffix\":\" MiB\"}";

/* An unknown value is left out: MultiQC shows an empty cell. */
static void value_write(struct json_writer *json, const char *name, int64_t value, double unit)
{
	if (value != ROW_NULL)
		json_write_member(json, name,
				  &(struct store_value){.type = STORE_VALUE_REAL, .real = (double)value / unit});
}

/* MultiQC shows texts as HTML. Returns NULL, and sets the writer's error, if out of memory. */
static char *html_escape(struct json_writer *json, const char *text)
{
	size_t size = text ? strlen(text) : 0;
	char *html = malloc(size * strlen("&quot;") + 1), *end = html;

	if (!html && json->error == 0)
		json->error = -ENOMEM;
	for (size_t i = 0; html && i < size; i++) {
		const char *entity = text[i] == '&'   ? "&amp;"
				     : text[i] == '<' ? "&lt;"
				     : text[i] == '>' ? "&gt;"
				     : text[i] == '"' ? "&quot;"
						      : NULL;

		if (entity)
			end = stpcpy(end, entity);
		else
			*end++ = text[i];
	}
	if (html)
		*end = '\0';
	return html;
}

static void group_write(struct json_writer *json, const struct report_group *group)
{
	const struct figures *figures = &group->figures;
	char *html = html_escape(json, group->name);

	json_write_object(json);
	export_json_text(json, "task", html);
	free(html);
	value_write(json, "tasks", (int64_t)group->member_count, 1);
	value_write(json, "failed", group->failed_count, 1);
	value_write(json, "median", group->median_wall_ns, NS_PER_S);
	value_write(json, "longest", group->longest_wall_ns, NS_PER_S);
	value_write(json, "cpu", figures->cpu_ns, NS_PER_S);
	value_write(json, "memory", figures->peak_rss_bytes, MIB);
	value_write(json, "read", figures->read_bytes, MIB);
	value_write(json, "written", figures->write_bytes, MIB);
	value_write(json, "gpu", figures->gpu_busy_ns, NS_PER_S);
	value_write(json, "gpu_memory", figures->gpu_peak_bytes, MIB);
	json_write_text(json, "}");
}

int export_multiqc(const struct report *report, FILE *file)
{
	struct json_writer json = {.file = file};
	struct report_group *groups;
	int error = report_group_tasks(report, &groups);
	char *html = html_escape(&json, report_run(report)->name), key[32];
	size_t number = 0;

	json_write_object(&json);
	json_write_string(&json, "id", "tracer_tasks");
	json_write_string(&json, "section_name", "Tracer: what ran");
	export_json_text(&json, "description", html);
	free(html);
	json_write_string(&json, "plot_type", "table");
	json_write_text(&json, ",\"pconfig\":{\"id\":\"tracer_tasks_table\",\"title\":\"Tracer: tasks by name\","
			       "\"col1_header\":\"#\"},\"headers\":");
	json_write_text(&json, headers);
	json_write_text(&json, report_has_gpus(report) ? gpu_headers : "");
	json_write_text(&json, "},\"data\":{");
	for (const struct report_group *group = groups; group && error == 0; group = group->hh.next) {
		snprintf(key, sizeof(key), "%s\"%06zu\":", group == groups ? "" : ",", ++number);
		json_write_text(&json, key);
		group_write(&json, group);
	}
	json_write_text(&json, "}}\n");
	report_groups_free(groups);
	return json_write_end(&json) < 0 ? json.error : error;
}
