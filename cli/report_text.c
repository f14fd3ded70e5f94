/* A run for people: who, when and how much, then its tasks as a tree or a table.
 * See report.h.
 *
 * Figures add up on every level: what is left out of a view is folded into a line
 * of its own, never dropped.
 */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "cli/figures.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/units.h"
#include "common/identity.h"

#define INCIDENTS_MOST 8 /* on a terminal, without --all */

/* ---- header ------------------------------------------------------------------ */

static void print_label(const struct output *output, const char *label)
{
	output_print(output, STYLE_DIM, "  %-9s", label);
}

static enum style status_style(const char *status)
{
	if (strcmp(status, "succeeded") == 0)
		return STYLE_GOOD;
	if (strcmp(status, "failed") == 0 || strcmp(status, "killed") == 0)
		return STYLE_BAD;
	return STYLE_WARNING;
}

/* "succeeded in 12.4 s", "failed with exit code 1 after 3.02 s", ... */
static void print_status(const struct report *report, const struct output *output,
			 const struct report_style *style)
{
	const struct row_run *run = report_run(report);
	char wall[UNITS_SIZE], signal[UNITS_SIZE];
	bool running = strcmp(run->status, "running") == 0;

	units_duration(wall, report_wall_ns(report, run->begin_boot_ns, run->end_boot_ns),
		       style->raw);
	fputs(output_style(output, status_style(run->status)), output->file);
	if (running)
		fprintf(output->file, "running for %s", wall);
	else if (strcmp(run->status, "succeeded") == 0)
		fprintf(output->file, "succeeded in %s", wall);
	else if (run->signal != ROW_NULL && run->signal > 0)
		fprintf(output->file, "killed by %s after %s", units_signal(signal, run->signal), wall);
	else if (run->exit_code != ROW_NULL)
		fprintf(output->file, "%s with exit code %lld after %s", run->status,
			(long long)run->exit_code, wall);
	else
		fprintf(output->file, "ended after %s, how is not known", wall);
	fputs(output_reset(output), output->file);
	fputc('\n', output->file);
}

static void print_who(const struct report *report, const struct output *output)
{
	const struct row_run *run = report_run(report);
	const struct row_host *host = report_host(report);
	const struct passwd *user = run->user_id == ROW_NULL ? NULL : getpwuid((uid_t)run->user_id);
	char id[IDENTITY_TEXT_SIZE], began[UNITS_SIZE];

	identity_format(run->id, id);
	print_label(output, "run");
	fprintf(output->file, "%s  %s", id, units_time(began, run->started_unix_ns));
	if (user)
		fprintf(output->file, "  by %s", user->pw_name);
	else if (run->user_id != ROW_NULL)
		fprintf(output->file, "  by uid %lld", (long long)run->user_id);
	if (host) {
		fputs(" on ", output->file);
		output_print_text(output, STYLE_PLAIN, host->hostname);
	}
	fprintf(output->file, "  (%s", run->kind);
	if (run->engine && *run->engine) {
		fputs(", ", output->file);
		output_print_text(output, STYLE_PLAIN, run->engine);
	}
	fputs(")\n", output->file);
	if (run->working_directory && *run->working_directory) {
		print_label(output, "in");
		output_print_text(output, STYLE_PLAIN, run->working_directory);
		fputc('\n', output->file);
	}
}

static void print_usage(const struct report *report, const struct output *output,
			const struct report_style *style)
{
	const struct row_run *run = report_run(report);
	const struct row_host *host = report_host(report);
	char a[UNITS_SIZE], b[UNITS_SIZE], c[UNITS_SIZE], d[UNITS_SIZE], e[UNITS_SIZE];

	print_label(output, "CPU");
	fprintf(output->file, "%s: %s", units_duration(a, run->cpu_ns, style->raw),
		units_cores(b, run->cpu_ns,
			    report_wall_ns(report, run->begin_boot_ns, run->end_boot_ns)));
	if (host)
		fprintf(output->file, " of %lld", (long long)host->cpu_count);
	fprintf(output->file, " cores on average; %s user, %s system; %s spent waiting for a core\n",
		units_duration(c, run->user_ns, style->raw),
		units_duration(d, run->system_ns, style->raw),
		units_duration(e, run->run_delay_ns, style->raw));
	print_label(output, "memory");
	fprintf(output->file, "%s in the largest process",
		units_bytes(a, run->peak_rss_bytes, style->raw));
	if (run->concurrent_memory_bytes != ROW_NULL)
		fprintf(output->file, "; %s at one time, file pages left out",
			units_bytes(b, run->concurrent_memory_bytes, style->raw));
	fputc('\n', output->file);
	print_label(output, "I/O");
	fprintf(output->file, "%s read, %s written on storage; %s in, %s out by system calls\n",
		units_bytes(a, run->read_bytes, style->raw),
		units_bytes(b, run->write_bytes, style->raw),
		units_bytes(c, run->rchar_bytes, style->raw),
		units_bytes(d, run->wchar_bytes, style->raw));
}

static const char *plural(int64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

static void print_content(const struct row_run *run, const struct output *output,
			  const struct report_style *style)
{
	char a[UNITS_SIZE], b[UNITS_SIZE], c[UNITS_SIZE];

	print_label(output, "content");
	fprintf(output->file, "%s %s, %s %s, ", units_count(a, run->task_count, style->raw),
		plural(run->task_count, "task", "tasks"),
		units_count(b, run->process_count, style->raw),
		plural(run->process_count, "process", "processes"));
	if (run->failed_count > 0)
		output_print(output, STYLE_BAD, "%s failed",
			     units_count(c, run->failed_count, style->raw));
	else
		fputs("none failed", output->file);
	if (run->living_count > 0)
		fprintf(output->file, ", %s still running",
			units_count(c, run->living_count, style->raw));
	fputc('\n', output->file);
	if (run->lost_count <= 0)
		return;
	fputc('\n', output->file);
	output_print(output, STYLE_BAD,
		     "  INCOMPLETE: %s %s of this host were lost while it ran; figures are too low.",
		     units_count(a, run->lost_count, style->raw),
		     plural(run->lost_count, "record", "records"));
	fputs(" See tracer status.\n", output->file);
}

static void print_incidents(const struct report *report, const struct output *output,
			    const struct report_style *style)
{
	size_t most = output->width && !style->all ? INCIDENTS_MOST : report->incidents.count;
	char when[UNITS_SIZE];

	if (report->incidents.count == 0)
		return;
	fputc('\n', output->file);
	output_print(output, STYLE_BAD, "  What failed");
	fputc('\n', output->file);
	for (size_t i = 0; i < report->incidents.count && i < most; i++) {
		const struct row_incident *incident = ROWS_ITEM(&report->incidents, incident, i);

		output_print(output, STYLE_DIM, "  %s  ", units_time(when, incident->unix_ns) + 11);
		output_print_text(output, STYLE_PLAIN, incident->sentence);
		fputc('\n', output->file);
	}
	if (report->incidents.count > most)
		output_print(output, STYLE_DIM, "  and %zu more: --all\n",
			     report->incidents.count - most);
}

static void print_header(const struct report *report, const struct output *output,
			 const struct report_style *style)
{
	output_print_text(output, STYLE_TITLE, report_run(report)->name);
	fputs("  ", output->file);
	print_status(report, output, style);
	print_who(report, output);
	print_usage(report, output, style);
	print_content(report_run(report), output, style);
	print_incidents(report, output, style);
	fputc('\n', output->file);
}

int report_print(const struct report *report, const struct output *output,
		 const struct report_style *style)
{
	struct table *table = NULL;
	size_t dropped = 0;
	int error;

	print_header(report, output, style);
	if (style->view == REPORT_TREE)
		error = tree_fill(report, output, style, &table);
	else if (style->view == REPORT_TABLE)
		error = groups_fill_tasks(report, style, &table);
	else
		error = groups_fill_tools(report, style, &table);
	if (error == 0)
		error = table_print(table, output, true, &dropped);
	table_free(table);
	if (error == -ENOMEM)
		fprintf(stderr, "tracer: out of memory\n");
	if (error == 0 && dropped > 0)
		output_print(output, STYLE_DIM, "%zu more %s in a wider terminal\n", dropped,
			     plural((int64_t)dropped, "column", "columns"));
	return error;
}
