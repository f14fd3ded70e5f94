/* A run as text: who, when and how much, then its tasks as a tree or a table.
 * See views.h.
 *
 * Figures add up on every level: what a view omits is folded into a line of its
 * own, never dropped.
 */
#include <pwd.h>

#include "analysis/query/units.h"
#include "cli/report/sample_options.h"
#include "cli/report/views.h"

#define UJ_PER_WH 3600000000
#define LABEL_COLUMNS 12 /* columns before the text of a header line */
#define INCIDENTS_MAX 8  /* on a terminal, without --all */
#define CONTAINERS_MAX 4

/* What to print, where and how. */
struct page {
	const struct report *report;
	const struct row_run *run;
	const struct output *output;
	bool all, raw;
};

/* ---- header ------------------------------------------------------------------ */

static void print_label(const struct output *output, const char *label)
{
	output_print(output, STYLE_DIM, "  %-10s", label);
}

static enum style status_style(const char *status)
{
	if (strcmp(status, "succeeded") == 0)
		return STYLE_GOOD;
	if (report_has_failed(status))
		return STYLE_BAD;
	return STYLE_WARNING;
}

/* "succeeded in 12.4 s", "failed with exit code 1 after 3.02 s", ... */
static void print_status(const struct page *page)
{
	const struct output *output = page->output;
	const struct row_run *run = page->run;
	const char *wall =
		units_duration(report_wall_ns(page->report, run->begin_boot_ns, run->end_boot_ns), page->raw);
	enum style style = status_style(run->status);

	if (strcmp(run->status, "running") == 0)
		output_print(output, style, "running for %s\n", wall);
	else if (strcmp(run->status, "succeeded") == 0)
		output_print(output, style, "succeeded in %s\n", wall);
	else if (run->signal != ROW_NULL && run->signal > 0)
		output_print(output, style, "killed by %s after %s\n", units_signal(run->signal), wall);
	else if (run->exit_code != ROW_NULL)
		output_print(output, style, "%s with exit code %lld after %s\n",
			     strcmp(run->status, "failed") == 0 ? "failed" : "ended", (long long)run->exit_code, wall);
	else
		output_print(output, style, "ended after %s, exit status unknown\n", wall);
}

static void print_who(const struct page *page)
{
	const struct output *output = page->output;
	const struct row_run *run = page->run;
	const struct row_host *host = report_host(page->report);
	const struct passwd *user = run->user_id == ROW_NULL ? NULL : getpwuid((uid_t)run->user_id);
	bool has_engine = run->engine && *run->engine;

	print_label(output, "run");
	fprintf(output->file, "%s  %s", units_id(run->id, false), units_time(run->started_unix_ns));
	if (user)
		fprintf(output->file, "  by %s", user->pw_name);
	else if (run->user_id != ROW_NULL)
		fprintf(output->file, "  by uid %lld", (long long)run->user_id);
	if (page->report->parts.count > 1)
		fprintf(output->file, " on %s",
			units_counted((int64_t)report_hosts_count(page->report), false, "host", "hosts"));
	else if (host)
		output_print(output, STYLE_PLAIN, " on %s", host->hostname);
	output_print(output, STYLE_PLAIN, "  (%s%s%s)\n", run->kind, has_engine ? ", " : "",
		     has_engine ? run->engine : "");
	if (run->working_directory && *run->working_directory) {
		print_label(output, "in");
		output_print(output, STYLE_PLAIN, "%s\n", run->working_directory);
	}
}

/* Prints the part of a run on each host. */
static void print_parts(const struct page *page)
{
	for (size_t i = 0; i < page->report->parts.count && page->report->parts.count > 1; i++) {
		const struct row_run *part = &ROWS_ITEM(&page->report->parts, part, i)->run;
		const struct row_host *host = report_host_of(page->report, part);

		print_label(page->output, i == 0 ? "hosts" : "");
		output_print(page->output, STYLE_PLAIN, "%s  run %s: %s, CPU %s, %s\n", host ? host->hostname : "-",
			     units_id(part->id, false), units_counted(part->task_count, false, "task", "tasks"),
			     units_duration(part->cpu_ns, page->raw), part->status);
	}
}

static void print_usage(const struct page *page)
{
	const struct output *output = page->output;
	const struct row_run *run = page->run;
	int64_t cores_milli = report_cores_milli(page->report);
	bool raw = page->raw;

	print_label(output, "CPU");
	fprintf(output->file, "%s: %s", units_duration(run->cpu_ns, raw),
		units_cores(run->cpu_ns, report_wall_ns(page->report, run->begin_boot_ns, run->end_boot_ns)));
	if (cores_milli != ROW_NULL)
		fprintf(output->file, " of %s", units_core_limit(cores_milli));
	fprintf(output->file, " cores on average; %s user, %s system; %s spent waiting for a core\n",
		units_duration(run->user_ns, raw), units_duration(run->system_ns, raw),
		units_duration(run->run_delay_ns, raw));
	print_label(output, "memory");
	fprintf(output->file, "%s in the largest process", units_bytes(run->peak_rss_bytes, raw));
	if (run->concurrent_memory_bytes != ROW_NULL)
		fprintf(output->file, "; %s at one time, excluding file pages",
			units_bytes(run->concurrent_memory_bytes, raw));
	if (run->unattributed_memory_bytes > 0)
		fprintf(output->file, ", and up to %s more: files in memory of its cgroup, which may be others'",
			units_bytes(run->unattributed_memory_bytes, raw));
	fputc('\n', output->file);
	print_label(output, "I/O");
	fprintf(output->file, "%s read, %s written on storage; %s in, %s out by system calls\n",
		units_bytes(run->read_bytes, raw), units_bytes(run->write_bytes, raw),
		units_bytes(run->rchar_bytes, raw), units_bytes(run->wchar_bytes, raw));
}

/* Prints figures that not every host has, and only if they are not 0. */
static void print_waits(const struct page *page)
{
	if (page->run->sent_bytes > 0 || page->run->received_bytes > 0) {
		print_label(page->output, "network");
		fprintf(page->output->file, "%s sent, %s received by TCP and UDP\n",
			units_bytes(page->run->sent_bytes, page->raw),
			units_bytes(page->run->received_bytes, page->raw));
	}
	if (page->run->block_io_delay_ns <= 0 && page->run->memory_delay_ns <= 0 && page->run->uninterruptible_ns <= 0)
		return;
	print_label(page->output, "waits");
	fprintf(page->output->file, "%s for block I/O, %s for memory; %s in uninterruptible sleep\n",
		units_duration(page->run->block_io_delay_ns, page->raw),
		units_duration(page->run->memory_delay_ns, page->raw),
		units_duration(page->run->uninterruptible_ns, page->raw));
}

static void print_gpu_clocks(const struct page *page)
{
	const struct row_run *run = page->run;
	FILE *file = page->output->file;

	if (run->gpu_memory_busy_ns != ROW_NULL)
		fprintf(file, "; memory read or written for %s", units_duration(run->gpu_memory_busy_ns, page->raw));
	if (run->gpu_clock_ns != ROW_NULL && run->gpu_busy_ns > 0)
		fprintf(file, "; clocks at %s of the highest", units_share(run->gpu_clock_ns, run->gpu_busy_ns));
	if (run->gpu_memory_clock_ns != ROW_NULL && run->gpu_busy_ns > 0)
		fprintf(file, ", of memory at %s", units_share(run->gpu_memory_clock_ns, run->gpu_busy_ns));
	if (run->gpu_throttled_ns > 0)
		fprintf(file, "; clocks lowered for heat or power in %s of the time",
			units_share(run->gpu_throttled_ns, run->gpu_busy_ns));
}

static void print_gpu(const struct page *page)
{
	const struct row_run *run = page->run;
	FILE *file = page->output->file;

	if (!report_has_gpus(page->report))
		return;
	print_label(page->output, "GPU");
	if (run->gpu_busy_ns == ROW_NULL)
		fputs("time unknown", file);
	else
		fprintf(file, "%s: %s devices on average", units_duration(run->gpu_busy_ns, page->raw),
			units_cores(run->gpu_busy_ns,
				    report_wall_ns(page->report, run->begin_boot_ns, run->end_boot_ns)));
	fprintf(file, "; %s of GPU memory in the largest process", units_bytes(run->gpu_peak_bytes, page->raw));
	if (run->gpu_energy_uj != ROW_NULL)
		fprintf(file, "; %.*f Wh while held alone", run->gpu_energy_uj < UJ_PER_WH ? 3 : 1,
			(double)run->gpu_energy_uj / UJ_PER_WH);
	print_gpu_clocks(page);
	fputc('\n', file);
}

static void print_limits(const struct page *page)
{
	int64_t allowed = report_cores_milli(page->report), all = report_host_cores_milli(page->report);
	bool fewer_cores = allowed != ROW_NULL && all != ROW_NULL && allowed < all;

	if (page->run->memory_limit_bytes == ROW_NULL && page->run->throttled_ns <= 0 && !fewer_cores)
		return;
	print_label(page->output, "limits");
	if (fewer_cores)
		fprintf(page->output->file, "allowed %s of %s cores%s", units_core_limit(allowed),
			units_core_limit(all),
			page->run->memory_limit_bytes != ROW_NULL || page->run->throttled_ns > 0 ? "; " : "");
	if (page->run->memory_limit_bytes != ROW_NULL)
		fprintf(page->output->file, "%s memory, of which its cgroup used at most %s%s",
			units_bytes(page->run->memory_limit_bytes, page->raw),
			units_bytes(page->run->cgroup_peak_bytes, page->raw), page->run->throttled_ns > 0 ? "; " : "");
	if (page->run->throttled_ns > 0)
		fprintf(page->output->file, "throttled for %s by its CPU quota",
			units_duration(page->run->throttled_ns, page->raw));
	fputc('\n', page->output->file);
}

/* Rows that are printed, up to a maximum. */
struct listing {
	const struct page *page;
	size_t most, count;
	enum report_effect effect;
};

/* Limits a listing to `most` rows on a terminal, unless all were requested. */
static size_t listing_most(const struct page *page, size_t most)
{
	return page->output->width && !page->all ? most : SIZE_MAX;
}

static int print_container(void *context, const void *row)
{
	const struct row_container *container = row;
	struct listing *listing = context;
	const struct output *output = listing->page->output;

	if (listing->count++ >= listing->most)
		return 0;
	print_label(output, "container");
	if (container->name)
		output_print(output, STYLE_PLAIN, container->image ? "%s of " : "%s  ", container->name);
	if (container->image)
		output_print(output, STYLE_PLAIN, "%s  ", container->image);
	output_print(output, STYLE_DIM, "%s %s\n", container->runtime, container->runtime_id);
	return 0;
}

static int print_containers(const struct page *page)
{
	struct listing listing = {page, listing_most(page, CONTAINERS_MAX), 0, REPORT_EFFECT_COUNT};
	int error = report_each(page->report, REPORT_CONTAINERS, print_container, &listing);

	if (listing.count > listing.most)
		output_print(page->output, STYLE_DIM, "            and %zu more: --all\n",
			     listing.count - listing.most);
	return error;
}

/* " (2 failed)" */
static void print_failed(const struct output *output, int64_t count, bool raw)
{
	if (count <= 0)
		return;
	fputs(" (", output->file);
	output_print(output, STYLE_BAD, "%s failed", units_count(count, raw));
	fputc(')', output->file);
}

/* The run's own pseudo-task is not counted among its tasks. */
static int64_t tasks_failed_count(const struct report *report)
{
	int64_t count = 0;

	for (size_t i = 0; i < report->task_count; i++)
		count += !report->tasks[i].is_main && report->tasks[i].failed;
	return count;
}

/* Prints nothing if all figures are complete. */
static void print_doubts(const struct report_doubts *doubts, const struct output *output, bool raw)
{
	int64_t unfinished = doubts->unfinished_count, found = doubts->found_count;

	if (unfinished <= 0 && found <= 0)
		return;
	print_label(output, "figures");
	fputs("lower bounds: ", output->file);
	if (unfinished > 0)
		fprintf(output->file, "%s whose last record is missing%s",
			units_counted(unfinished, raw, "process", "processes"), found > 0 ? ", " : "\n");
	if (found > 0)
		fprintf(output->file, "%s that ran before the probe\n",
			units_counted(found, raw, "process", "processes"));
}

static void print_partial(const struct output *output)
{
	output_print(output, STYLE_WARNING, "  PARTIAL: recorded without a probe.");
	fputs(" CPU in total and the largest peak are\n"
	      "            right; processes too short to be seen are summed up as (not seen),\n"
	      "            other figures are lower bounds.\n",
	      output->file);
}

static void print_content(const struct page *page)
{
	const struct output *output = page->output;
	const struct row_run *run = page->run;

	print_label(output, "content");
	if (run->task_count > 0) {
		fputs(units_counted(run->task_count, page->raw, "task", "tasks"), output->file);
		print_failed(output, tasks_failed_count(page->report), page->raw);
		fputs(", ", output->file);
	}
	fputs(units_counted(run->process_count, page->raw, "process", "processes"), output->file);
	print_failed(output, run->failed_count, page->raw);
	if (run->living_count > 0)
		fprintf(output->file, ", %s still running", units_count(run->living_count, page->raw));
	fputc('\n', output->file);
	if (page->report->doubts.is_partial)
		print_partial(output);
	else if (run->partial_count > 0)
		fprintf(output->file,
			"            I/O and delays of %s are lower bounds: figures of "
			"ended threads are unknown\n",
			units_counted(run->partial_count, page->raw, "process", "processes"));
	if (!page->report->doubts.is_partial)
		print_doubts(&page->report->doubts, output, page->raw);
	if (run->lost_count <= 0)
		return;
	fputc('\n', output->file);
	output_print(output, STYLE_BAD, "  INCOMPLETE: %s of this host were lost while it ran; figures are too low.",
		     units_counted(run->lost_count, page->raw, "record", "records"));
	fputs(" See tracer status.\n", output->file);
}

static void print_heading(const struct listing *listing)
{
	static const char *const heads[] = {
		[REPORT_FATAL] = "What failed",
		[REPORT_RETRIED] = "Failed, then retried successfully",
		[REPORT_HARMLESS] = "Failed, without effect on the run",
		[REPORT_EFFECT_COUNT] = "What stalled, or was not reaped",
	};

	fputc('\n', listing->page->output->file);
	output_print(listing->page->output, listing->effect == REPORT_FATAL ? STYLE_BAD : STYLE_WARNING, "  %s\n",
		     heads[listing->effect]);
}

static int print_incident(void *context, const void *row)
{
	const struct row_incident *incident = row;
	struct listing *listing = context;
	const struct output *output = listing->page->output;

	if (report_effect_of(listing->page->report, incident) != listing->effect || listing->count++ >= listing->most)
		return 0;
	if (listing->count == 1)
		print_heading(listing);
	output_print(output, STYLE_DIM, "  %s  ", units_time_of_day(incident->unix_ns));
	output_print(output, STYLE_PLAIN, "%s%s%s\n", incident->sentence, incident->cause ? ": " : "",
		     incident->cause ? incident->cause : "");
	return 0;
}

static int print_incidents(const struct page *page)
{
	int error = 0;

	for (int effect = 0; effect <= REPORT_EFFECT_COUNT && error == 0; effect++) {
		struct listing listing = {page, listing_most(page, INCIDENTS_MAX), 0, (enum report_effect)effect};

		if (page->report->effect_counts[effect] == 0)
			continue;
		error = report_each(page->report, REPORT_INCIDENTS, print_incident, &listing);
		if (listing.count > listing.most)
			output_print(page->output, STYLE_DIM, "  and %zu more: --all\n", listing.count - listing.most);
	}
	return error;
}

static int print_header(const struct report *report, const struct output *output, const struct report_style *style)
{
	struct output_flow flow;
	const struct page page = {report, report_run(report), &flow.inner, style->all, style->raw};
	int error;

	output_flow_begin(&flow, output);
	output_print(page.output, STYLE_TITLE, "%s  ", page.run->name);
	print_status(&page);
	print_who(&page);
	print_usage(&page);
	print_gpu(&page);
	print_waits(&page);
	print_limits(&page);
	print_parts(&page);
	error = print_containers(&page);
	print_content(&page);
	if (error == 0)
		error = print_incidents(&page);
	fputc('\n', page.output->file);
	output_flow_end(&flow, LABEL_COLUMNS);
	return error;
}

/* Prints what did not fit on the terminal, and how to see it. */
static void print_left_out(const struct task_tree_hidden *hidden, size_t dropped, const struct output *output)
{
	struct output_flow flow;

	output_flow_begin(&flow, output);
	if (hidden->task_count > 0)
		output_print(&flow.inner, STYLE_DIM,
			     "%s (%s failed): shown above are the failed ones first, "
			     "then the longest. --all shows every task, --by task groups them by name.\n",
			     units_counted((int64_t)hidden->task_count, false, "more task", "more tasks"),
			     hidden->failed_count > 0 ? units_count((int64_t)hidden->failed_count, false) : "none");
	if (dropped > 0)
		output_print(&flow.inner, STYLE_DIM, "%s in a wider terminal, or in a pipe\n",
			     units_counted((int64_t)dropped, false, "more column", "more columns"));
	output_flow_end(&flow, 2);
}

static enum report_lines lines_of(const struct report_style *style)
{
	if (style->with_processes || style->with_series)
		return style->with_series ? REPORT_LINES_SERIES : REPORT_LINES_PROCESSES;
	return style->view == REPORT_TOOLS     ? REPORT_LINES_TOOLS
	       : style->view == REPORT_SAMPLES ? REPORT_LINES_SAMPLES
					       : REPORT_LINES_TASKS;
}

static int print_text(const struct report *report, const struct output *output, const struct report_style *style)
{
	static const char *const whats[] = {
		[REPORT_TABLE] = "names of tasks", [REPORT_TOOLS] = "tools", [REPORT_SAMPLES] = "samples"};
	struct table_column columns[TREE_COLUMN_COUNT];
	bool is_tree = style->view == REPORT_TREE;
	struct task_tree_hidden hidden = {0};
	struct table *table;
	size_t dropped = 0, count = 0;
	int error = print_header(report, output, style);

	if (error < 0)
		return error;
	tree_columns(output, style, columns);
	table = is_tree ? table_new(columns, TREE_COLUMN_COUNT) : table_new(groups_columns(style), GROUPS_COLUMN_COUNT);
	error = is_tree ? tree_fill(report, output, style, table, &hidden) : groups_fill(report, style, table, &count);
	if (error == 0)
		error = table_print(table, output, &dropped);
	table_free(table);
	if (error == 0)
		print_left_out(&hidden, dropped, output);
	if (error == 0 && style->most > 0)
		say_cut(style->most, count, whats[style->view]);
	if (error == 0 && report->samples)
		samples_print_misfit(report->samples->samples.misfit, output);
	return error;
}

int report_print(const struct report *report, const struct output *output, const struct report_style *style)
{
	if (style->format == FORMAT_TABLE)
		return print_text(report, output, style);
	if (style->format == FORMAT_JSON)
		return report_write_json(report, output->file, style->with_processes, style->with_series);
	return report_write_lines(report, output->file, lines_of(style), style->most, style->format == FORMAT_CSV);
}
