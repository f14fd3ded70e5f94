/* Paragraphs for the methods of a paper: what ran, in which version, on what, and what it used.
 *
 * It says only what is recorded, and what is not known of it. Energy is modelled, as in tracer cost --co2, and said to be. Paths,
 * directories and names of users are left out.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "analysis/cost/bill.h"
#include "analysis/export/formats.h"
#include "analysis/query/units.h"

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_HOUR 3.6e12
#define NANOS 1e9
#define WH_MIN 0.001 /* below it, only that */
#define WH_MAX 1000  /* above it, kWh */
#define HOSTS_MAX 3  /* described; there may be more */

/* What is listed is written one after the other: "a, b and c". */
struct list {
	FILE *file;
	size_t count, written;
};

static void list_next(struct list *list)
{
	if (list->written > 0)
		fputs(list->written + 1 < list->count ? ", " : " and ", list->file);
	list->written++;
}

static int text_put(FILE *file, const char *text)
{
	char *safe = text_escaped(text);

	if (!safe)
		return -ENOMEM;
	fputs(safe, file);
	free(safe);
	return 0;
}

/* ---- tasks ------------------------------------------------------------------------- */

struct counts {
	int64_t tasks, succeeded, failed, repeated, others;
};

static struct counts tasks_count(const struct report *report)
{
	struct counts counts = {0};

	for (size_t i = 0; i < report->task_count; i++) {
		const struct report_task *task = &report->tasks[i];

		if (!export_has_task(report, i))
			continue;
		counts.tasks++;
		counts.succeeded += task->succeeded;
		counts.failed += task->failed;
		counts.repeated += task->failed && report->tasks[report_last_attempt(report, i)].succeeded;
		counts.others += !task->succeeded && !task->failed;
	}
	return counts;
}

/* "2026-11-21" (UTC) */
static void date_put(FILE *file, int64_t unix_ns)
{
	time_t seconds = unix_ns / NS_PER_S;
	char text[32];
	struct tm utc;

	if (unix_ns < 0 || !gmtime_r(&seconds, &utc))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d", &utc);
	fprintf(file, " on %s", text);
}

static void outcome_put(FILE *file, const struct counts *counts)
{
	if (counts->succeeded == counts->tasks)
		fputs(counts->tasks == 1 ? ", which succeeded" : ", all of which succeeded", file);
	if (counts->failed > 0)
		fprintf(file, ", of which %s failed", units_count(counts->failed, false));
	if (counts->repeated > 0)
		fprintf(file, " (%s of these succeeded when repeated)", units_count(counts->repeated, false));
	if (counts->others > 0)
		fprintf(file, ", and of %s the result is not known", units_count(counts->others, false));
}

static int run_put(const struct report *report, FILE *file)
{
	const struct row_run *run = report_run(report);
	struct counts counts = tasks_count(report);
	int error = 0;

	fputs("The analysis was run", file);
	date_put(file, run->started_unix_ns);
	if (run->engine) {
		fputs(" with ", file);
		error = text_put(file, run->engine);
	}
	fprintf(file, ". It consisted of %s", units_counted(counts.tasks, false, "task", "tasks"));
	outcome_put(file, &counts);
	fprintf(file, "; %s %s executed", units_counted(run->process_count, false, "process", "processes"),
		units_plural(run->process_count, "was", "were"));
	fprintf(file, run->end_boot_ns == ROW_NULL ? ". It was still running when this was written. " : ". ");
	return error;
}

/* ---- hosts ------------------------------------------------------------------------- */

static int host_put(FILE *file, const struct row_host *host)
{
	int error = text_put(file, host->hostname);

	fputs(" (", file);
	if (error == 0 && host->cpu_model) {
		error = text_put(file, host->cpu_model);
		fputs(", ", file);
	}
	fprintf(file, "%s, %s of memory, ", units_counted(host->cpu_count, false, "processor", "processors"),
		units_bytes(host->memory_bytes, false));
	if (error == 0 && host->os) {
		error = text_put(file, host->os);
		fputs(", ", file);
	}
	fputs("Linux ", file);
	if (error == 0)
		error = text_put(file, host->kernel);
	fputs(")", file);
	return error;
}

static bool is_new_host(const struct report *report, size_t part)
{
	int64_t id = ROWS_ITEM(&report->parts, part, part)->run.host_id;

	for (size_t i = 0; i < part; i++)
		if (ROWS_ITEM(&report->parts, part, i)->run.host_id == id)
			return false;
	return true;
}

static int hosts_put(const struct report *report, FILE *file)
{
	size_t count = report_hosts_count(report);
	struct list list = {file, count < HOSTS_MAX ? count : HOSTS_MAX, 0};
	int error = 0;

	fprintf(file, "It ran on %s", count == 1 ? "" : units_counted((int64_t)count, false, "host", "hosts"));
	fputs(count > HOSTS_MAX ? ", among them " : count > 1 ? ": " : "", file);
	for (size_t i = 0; i < report->parts.count && list.written < list.count && error == 0; i++) {
		const struct row_host *host = report_host_of(report, &ROWS_ITEM(&report->parts, part, i)->run);

		if (!host || !is_new_host(report, i))
			continue;
		list_next(&list);
		error = host_put(file, host);
	}
	fputs(list.written == 0 && count == 1 ? "a host that is not recorded. " : ". ", file);
	return error;
}

/* ---- figures ----------------------------------------------------------------------- */

static void number_put(FILE *file, double number, const char *unit)
{
	fprintf(file, number < 1000 ? "%.3g %s" : "%.0f %s", number, unit);
}

/* Left out where it cannot be modelled. */
static int energy_put(const struct report *report, FILE *file)
{
	const struct bill_request request = {.by = BILL_BY_RUN, .is_energy = true, .run = report_run(report)};
	struct bill bill;
	int error = bill_make(report->store, &request, &bill);
	double wh = 1000 * (double)bill.total_nanos / NANOS;

	if (error == 0 && bill.total_nanos > 0) {
		fputs(" The energy of the processors and memory that it used is estimated at ", file);
		if (wh < WH_MIN)
			fprintf(file, "less than %g Wh", WH_MIN);
		else
			number_put(file, wh < WH_MAX ? wh : wh / 1000, wh < WH_MAX ? "Wh" : "kWh");
		fprintf(file,
			", modelled from their use%s; what the hosts take when idle, cooling and networks are not included.",
			bill.average_count > 0 ? " with figures of an average processor" : "");
	}
	bill_free(&bill);
	return error == -EOVERFLOW ? 0 : error;
}

static int figures_put(const struct report *report, FILE *file)
{
	const struct row_run *run = report_run(report);
	const struct report_doubts *doubts = &report->doubts;
	int64_t wall_ns = report_wall_ns(report, run->begin_boot_ns, run->end_boot_ns);
	double hours = (double)run->cpu_ns / NS_PER_HOUR;
	int error;

	fprintf(file, "It took %s", units_duration(wall_ns, false));
	if (run->cpu_ns != ROW_NULL) {
		fputs(" and used ", file);
		number_put(file, hours < 0.1 ? 3600 * hours : hours, hours < 0.1 ? "core seconds" : "core hours");
	}
	if (run->peak_rss_bytes != ROW_NULL)
		fprintf(file, "; the largest process had a resident set of %s",
			units_bytes(run->peak_rss_bytes, false));
	fputs(".", file);
	if (run->gpu_busy_ns != ROW_NULL)
		fprintf(file, " GPUs worked for it for %s.", units_duration(run->gpu_busy_ns, false));
	error = energy_put(report, file);
	if (doubts->is_partial)
		fputs(" The run was recorded without privileges: its CPU time is complete, other figures are lower bounds.",
		      file);
	else if (run->lost_count > 0 || doubts->unfinished_count > 0 || doubts->found_count > 0)
		fputs(" These figures are lower bounds, because some records are missing.", file);
	fputs("\n", file);
	return error;
}

/* ---- software ---------------------------------------------------------------------- */

static int use_skip(void *context, size_t index, const struct row_task *task, const struct version_use *uses,
		    size_t count)
{
	return 0;
}

/* By name, then version, the unknown last. */
static int compare_software(const struct software *a, const struct software *b)
{
	int order = strcmp(a->name, b->name);

	if (order)
		return order;
	if (!a->version || !b->version)
		return !a->version - !b->version;
	return strcmp(a->version, b->version);
}

static bool is_same_name(const struct software *a, const struct software *b)
{
	return a && b && strcmp(a->name, b->name) == 0;
}

static bool is_same(const struct software *a, const struct software *b)
{
	return is_same_name(a, b) && !a->version == !b->version && (!a->version || strcmp(a->version, b->version) == 0);
}

/* Returns the first software of the next name. */
static const struct software *name_end(const struct software *software)
{
	const struct software *next = software;

	while (is_same_name(software, next))
		next = next->hh.next;
	return next;
}

static bool is_other_package(const struct software *software)
{
	return software->package && strcasecmp(software->package, software->name) != 0;
}

/* "bwa 0.7.17", "sort 9.1 of coreutils", "samtools (1.19, 1.20 and an unknown version)" */
static int versions_put(FILE *file, const struct software *first)
{
	const struct software *end = name_end(first), *last = NULL;
	struct list versions = {file, 0, 0};
	int error = 0;

	for (const struct software *software = first; software != end; last = software, software = software->hh.next)
		versions.count += !is_same(last, software);
	fputs(versions.count > 1 ? " (" : " ", file);
	last = NULL;
	for (const struct software *software = first; software != end && error == 0;
	     last = software, software = software->hh.next) {
		if (is_same(last, software))
			continue;
		list_next(&versions);
		error = text_put(file, software->version ? software->version : "an unknown version");
	}
	fputs(versions.count > 1 ? ")" : "", file);
	if (versions.count == 1 && error == 0 && is_other_package(first)) {
		fputs(" of ", file);
		error = text_put(file, first->package);
	}
	return error;
}

/* What is listed of the software. */
enum naming { NAME_AND_VERSIONS, NAME_WITHOUT_VERSION, NAME_OF_PACKAGED, NAMING_COUNT };

static bool is_named(const struct software *first, enum naming naming)
{
	const struct software *end = name_end(first);

	if (naming != NAME_OF_PACKAGED) /* the unknown is the last */
		return (naming == NAME_AND_VERSIONS) == (first->version != NULL);
	while (first != end && first->basis != VERSION_OF_PACKAGE)
		first = first->hh.next;
	return first != end;
}

static int names_put(FILE *file, const struct software *all, enum naming naming)
{
	static const char *const before[NAMING_COUNT] = {
		"Software, in the versions that were executed: ", "Software of which the version is not known: ",
		"Taken from the installed package when this was written: the version of "};
	struct list names = {file, 0, 0};
	int error = 0;

	for (const struct software *software = all; software; software = name_end(software))
		names.count += is_named(software, naming);
	fputs(names.count > 0 ? before[naming] : "", file);
	for (const struct software *software = all; software && error == 0; software = name_end(software)) {
		if (!is_named(software, naming))
			continue;
		list_next(&names);
		error = text_put(file, software->name);
		if (error == 0 && naming == NAME_AND_VERSIONS)
			error = versions_put(file, software);
	}
	fputs(names.count > 0 ? ". " : "", file);
	return error;
}

/* What is in no image is last. */
static int compare_images(const struct software *a, const struct software *b)
{
	if (!a->image || !b->image)
		return !a->image - !b->image;
	return strcmp(a->image, b->image);
}

static bool is_new_image(const struct software *last, const struct software *software)
{
	return software->image && (!last || strcmp(last->image, software->image) != 0);
}

/* Without folders: of images in files. */
static int image_put(FILE *file, const char *image)
{
	const char *slash = strrchr(image, '/');

	return text_put(file, *image == '/' && slash[1] ? slash + 1 : image);
}

static int images_put(FILE *file, const struct software *all)
{
	const struct software *last = NULL;
	struct list images = {file, 0, 0};
	int error = 0;

	for (const struct software *software = all; software; last = software, software = software->hh.next)
		images.count += is_new_image(last, software);
	fputs(images.count > 0 ? "Container images: " : "", file);
	last = NULL;
	for (const struct software *software = all; software && error == 0;
	     last = software, software = software->hh.next) {
		if (!is_new_image(last, software))
			continue;
		list_next(&images);
		error = image_put(file, software->image);
	}
	fputs(images.count > 0 ? ". " : "", file);
	return error;
}

static int software_put(struct versions *versions, FILE *file)
{
	int error = versions_walk(versions, use_skip, NULL);

	HASH_SORT(versions->software, compare_software);
	for (int naming = 0; naming < NAMING_COUNT && error == 0; naming++)
		error = names_put(file, versions->software, (enum naming)naming);
	HASH_SORT(versions->software, compare_images);
	if (error == 0)
		error = images_put(file, versions->software);
	if (versions->left_out_count > 0)
		fputs("Further programs are left out. ", file);
	fputs("The run was recorded with Tracer " TRACER_VERSION ".\n", file);
	return error;
}

int export_methods(struct versions *versions, FILE *file)
{
	const struct report *report = versions->report;
	int error = run_put(report, file);

	if (error == 0)
		error = hosts_put(report, file);
	if (error == 0)
		error = figures_put(report, file);
	fputs("\n", file);
	return error == 0 ? software_put(versions, file) : error;
}
