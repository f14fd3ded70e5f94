/* A run in some 60 lines of Markdown: to read over ssh, to paste into a pull request. See facts.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/figures.h"
#include "analysis/query/units.h"
#include "analysis/report/facts.h"
#include "analysis/report/share.h"
#include "common/text.h"

#define FAILURES_MAX 6
#define FINDINGS_MAX 5
#define NAMES_MAX 15
#define TEXT_BYTES 300 /* of a name, a sentence or a command line */

struct markdown {
	FILE *file;
	const struct report *report;
	const json_t *answers;
	bool is_shared;
};

/* ---- text ---------------------------------------------------------------------- */

/* Text of the workload, without effect on the page or a terminal. */
static void text_write(const struct markdown *markdown, const char *text)
{
	char safe[4 * TEXT_BYTES + 1];

	text_escape(text, strnlen(text, TEXT_BYTES), safe, sizeof(safe));
	for (const char *at = safe; *at; at++) {
		if (strchr("\\`*_[]<>#|~&", *at))
			fputc('\\', markdown->file);
		fputc(*at, markdown->file);
	}
	if (strlen(text) > TEXT_BYTES)
		fputs("...", markdown->file);
}

/* The arguments of a command. */
static void command_write(const struct markdown *markdown, const json_t *arguments)
{
	char text[TEXT_BYTES + 2] = "", safe[4 * sizeof(text)];
	const json_t *argument;
	size_t index, used = 0;

	json_array_foreach (arguments, index, argument)
		if (used < sizeof(text) - 1)
			used += (size_t)snprintf(text + used, sizeof(text) - used, index > 0 ? " %s" : "%s",
						 json_string_value(argument));
	text_escape(text, strlen(text), safe, sizeof(safe));
	for (char *at = safe; *at; at++)
		if (*at == '`')
			*at = '\'';
	fprintf(markdown->file, "`%s%s`", safe, used >= sizeof(text) ? "..." : "");
}

static void name_write(const struct markdown *markdown, const char *name)
{
	text_write(markdown, markdown->is_shared ? share_pseudonym(name) : name);
}

static const char *member(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static int64_t number(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_integer(value) ? json_integer_value(value) : ROW_NULL;
}

/* ---- the run ------------------------------------------------------------------- */

static void head_write(const struct markdown *markdown)
{
	const struct row_run *run = report_run(markdown->report);
	const json_t *answer = json_object_get(markdown->answers, "run");
	const char *result = units_result(run->exit_code, run->signal);
	const char *user = member(answer, "user");

	fputs("# ", markdown->file);
	name_write(markdown, run->name);
	fprintf(markdown->file, ": %s", run->status);
	if (report_has_failed(run->status) && *result)
		fprintf(markdown->file, " (%s)", result);
	fprintf(markdown->file, " %s %s\n\nRun %s, %s", run->end_boot_ns == ROW_NULL ? "for" : "after",
		units_duration(report_wall_ns(markdown->report, run->begin_boot_ns, run->end_boot_ns), false),
		units_id(run->id, true), units_time(run->started_unix_ns));
	if (user && !markdown->is_shared) {
		fputs(", by ", markdown->file);
		text_write(markdown, user);
	}
	if (report_host(markdown->report)) {
		fputs(" on ", markdown->file);
		name_write(markdown, report_host(markdown->report)->hostname);
	}
	if (report_hosts_count(markdown->report) > 1)
		fprintf(markdown->file, " and %zu more", report_hosts_count(markdown->report) - 1);
	fputs("\n", markdown->file);
}

static void usage_write(const struct markdown *markdown)
{
	const struct report *report = markdown->report;
	const struct row_run *run = report_run(report);
	int64_t cores_milli = report_cores_milli(report);

	fprintf(markdown->file, "\n| | |\n|---|---|\n| CPU | %s: %s", units_duration(run->cpu_ns, false),
		units_cores(run->cpu_ns, report_wall_ns(report, run->begin_boot_ns, run->end_boot_ns)));
	if (cores_milli != ROW_NULL)
		fprintf(markdown->file, " of %s", units_core_limit(cores_milli));
	fprintf(markdown->file, " cores |\n| Memory | %s at one time; largest process %s",
		units_bytes(run->concurrent_memory_bytes, false), units_bytes(run->peak_rss_bytes, false));
	if (run->unattributed_memory_bytes > 0)
		fprintf(markdown->file, "; up to %s more if files in memory of its cgroup are its own",
			units_bytes(run->unattributed_memory_bytes, false));
	if (run->memory_limit_bytes != ROW_NULL)
		fprintf(markdown->file, "; limit %s", units_bytes(run->memory_limit_bytes, false));
	if (report_has_gpus(report))
		fprintf(markdown->file, " |\n| GPU | %s; largest process %s",
			run->gpu_busy_ns == ROW_NULL ? "time unknown" : units_duration(run->gpu_busy_ns, false),
			units_bytes(run->gpu_peak_bytes, false));
	fprintf(markdown->file, " |\n| Storage | %s read, %s written |\n", units_bytes(run->read_bytes, false),
		units_bytes(run->write_bytes, false));
	if (run->sent_bytes > 0 || run->received_bytes > 0)
		fprintf(markdown->file, "| Network | %s sent, %s received |\n", units_bytes(run->sent_bytes, false),
			units_bytes(run->received_bytes, false));
	fprintf(markdown->file, "| Processes | %s, of which %s failed |\n", units_count(run->process_count, false),
		run->failed_count == 0 ? "none" : units_count(run->failed_count, false));
}

static void cost_write(const struct markdown *markdown)
{
	const json_t *cost = json_object_get(markdown->answers, "cost");
	int64_t micros = number(cost, "work_micros"), unit_nanos;
	unsigned decimals;

	if (micros <= 0 || micros > INT64_MAX / 2000)
		return;
	decimals = units_decimals(micros * 1000, &unit_nanos);
	fprintf(markdown->file, "| Cost | %s %s%s |\n", member(cost, "currency"),
		units_amount((micros * 1000 + unit_nanos / 2) / unit_nanos, decimals),
		number(cost, "default_price_count") > 0 ? ", at default prices" : "");
}

/* ---- failures, findings -------------------------------------------------------- */

static void failure_write(const struct markdown *markdown, const json_t *failure)
{
	const json_t *task = json_object_get(failure, "task");
	const char *name = member(task, "name"), *sentence = member(failure, "sentence"),
		   *cause = member(failure, "cause");

	fprintf(markdown->file, "- **%s** ", member(failure, "effect"));
	text_write(markdown, name ? name : "a process");
	if (sentence) {
		fputs(": ", markdown->file);
		text_write(markdown, sentence);
	} else { /* shared */
		fprintf(markdown->file, " %s", units_result(number(task, "exit_code"), number(task, "signal")));
	}
	if (cause) {
		fputs("; ", markdown->file);
		text_write(markdown, cause);
	}
	if (json_array_size(json_object_get(failure, "command")) > 0) {
		fputs(": ", markdown->file);
		command_write(markdown, json_object_get(failure, "command"));
	}
	fputc('\n', markdown->file);
}

static void failures_write(const struct markdown *markdown)
{
	static const char *const effects[] = {"fatal", "retried", "harmless"};
	const json_t *failures = json_object_get(markdown->answers, "failures"), *failure;
	size_t index, count = json_array_size(failures), shown = 0;

	if (count == 0 && !report_has_failed(report_run(markdown->report)->status))
		return;
	fprintf(markdown->file, "\n## Failures\n\n%s", count == 0 ? "The cause is unknown.\n" : "");
	for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++)
		json_array_foreach (failures, index, failure)
			if (strcmp(member(failure, "effect"), effects[i]) == 0 && shown++ < FAILURES_MAX)
				failure_write(markdown, failure);
	if (count > FAILURES_MAX)
		fprintf(markdown->file, "- %zu of %zu are shown: `tracer failed --all %s`\n", (size_t)FAILURES_MAX,
			count, units_id(report_run(markdown->report)->id, true));
}

static void findings_write(const struct markdown *markdown)
{
	const json_t *findings = json_object_get(json_object_get(markdown->answers, "tune"), "findings"), *finding;
	size_t index, count = json_array_size(findings);

	if (count == 0)
		return;
	fprintf(markdown->file, "\n## What could be better\n\n");
	json_array_foreach (findings, index, finding) {
		int64_t low_ns = number(finding, "saved_wall_low_ns"), high_ns = number(finding, "saved_wall_high_ns");

		if (index >= FINDINGS_MAX)
			break;
		fprintf(markdown->file, "%zu. ", index + 1);
		text_write(markdown, member(finding, "sentence"));
		fputs(". ", markdown->file);
		text_write(markdown, member(finding, "advice"));
		if (high_ns > 0)
			fprintf(markdown->file, " (saves %s%s)", low_ns < high_ns ? "up to " : "",
				units_duration(high_ns, false));
		fputc('\n', markdown->file);
	}
	if (count > FINDINGS_MAX)
		fprintf(markdown->file, "\n%zu of %zu are shown: `tracer tune %s`\n", (size_t)FINDINGS_MAX, count,
			units_id(report_run(markdown->report)->id, true));
}

/* ---- tasks --------------------------------------------------------------------- */

static int names_write(const struct markdown *markdown)
{
	struct report_group *groups;
	int error = report_group_tasks(markdown->report, &groups);
	size_t count = HASH_COUNT(groups), shown = 0;
	bool has_gpus = report_has_gpus(markdown->report);

	fprintf(markdown->file,
		"\n## Tasks by name\n\n"
		"| task | tasks | failed | median | longest | CPU | peak RSS | %sread | written |\n"
		"|---|--:|--:|--:|--:|--:|--:|%s--:|--:|\n",
		has_gpus ? "GPU time | GPU peak | " : "", has_gpus ? "--:|--:|" : "");
	for (const struct report_group *group = groups; group && error == 0 && shown < NAMES_MAX;
	     group = group->hh.next, shown++) {
		fputs("| ", markdown->file);
		name_write(markdown, group->name);
		fprintf(markdown->file, " | %s | %s", units_count((int64_t)group->member_count, false),
			group->failed_count > 0 ? units_count(group->failed_count, false) : "");
		fprintf(markdown->file, " | %s | %s | %s", units_duration(group->median_wall_ns, false),
			units_duration(group->longest_wall_ns, false), units_duration(group->figures.cpu_ns, false));
		fprintf(markdown->file, " | %s", units_bytes(group->figures.peak_rss_bytes, false));
		if (has_gpus)
			fprintf(markdown->file, " | %s | %s", units_duration(group->figures.gpu_busy_ns, false),
				units_bytes(group->figures.gpu_peak_bytes, false));
		fprintf(markdown->file, " | %s | %s |\n", units_bytes(group->figures.read_bytes, false),
			units_bytes(group->figures.write_bytes, false));
	}
	if (count > shown)
		fprintf(markdown->file,
			"\n%zu of %zu names are shown, those with the most CPU time: `tracer show --by task %s`\n",
			shown, count, units_id(report_run(markdown->report)->id, true));
	report_groups_free(groups);
	return error;
}

static void doubts_write(const struct markdown *markdown)
{
	const struct row_run *run = report_run(markdown->report);
	int64_t doubtful = tuning_lower_bound_count(&(const struct tuning){.report = markdown->report});

	fputs("\n", markdown->file);
	if (run->lost_count > 0)
		fprintf(markdown->file, "**Incomplete**: %s records of this host were lost while it ran.\n",
			units_count(run->lost_count, false));
	if (markdown->report->doubts.is_partial)
		fputs("**Partial**: recorded without a probe. Processes too short to be seen are summed up as "
		      "`(not seen)`, other figures are lower bounds.\n",
		      markdown->file);
	else if (doubtful > 0)
		fprintf(markdown->file, "The figures of %s processes are lower bounds.\n",
			units_count(doubtful, false));
	if (report_unended(run))
		fprintf(markdown->file, "%s\n", report_unended(run));
	else if (run->lost_count == 0 && doubtful == 0)
		fputs("Complete: every process was recorded from begin to end.\n", markdown->file);
	if (markdown->is_shared)
		fputs("Names are pseudonyms.\n", markdown->file);
}

int report_markdown_write(FILE *file, const struct report *report, const struct report_facts *facts, bool is_shared)
{
	const struct markdown markdown = {file, report, facts->answers, is_shared};
	int error;

	head_write(&markdown);
	usage_write(&markdown);
	cost_write(&markdown);
	failures_write(&markdown);
	findings_write(&markdown);
	error = names_write(&markdown);
	doubts_write(&markdown);
	return error;
}
