/* tracer tune [RUN]: where the time of a run went, and what would make it faster and cheaper.
 *
 * The answers are findings (tune/NAME.sql), ordered by what the run would save.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/price_list.h"
#include "cli/right_size.h"
#include "cli/sample_options.h"
#include "cli/samples.h"
#include "cli/source.h"
#include "cli/table.h"
#include "cli/thresholds.h"
#include "cli/trend.h"
#include "cli/units.h"
#include "cost/bill.h"
#include "tune/findings.h"

#define KIND "tune"
#define HOUR_NS INT64_C(3600000000000)
#define GIB 1073741824.0
#define NAMES_MAX 12 /* rows of the critical path on a terminal */

static bool list, right_size;
static int by = -1; /* 1: by sample, else by task */
static const char *trend;
static int format_choice = -1; /* index in RIGHT_SIZE_FORMATS */
static int64_t input_bytes = ROW_NULL;
static const char *prices_path, *names_path;
static struct names *names;
static int64_t limit = 10;
static struct thresholds thresholds;

static int set_take(const struct options *options, const char *text)
{
	return thresholds_take(&thresholds, options, text);
}

static const struct option_spec option_specs[] = {
	{"list", 'l', NULL, NULL, "list the findings and their thresholds", .flag = &list},
	{"limit", 'n', "N", NULL, "print at most N findings (10); 0: no limit", .number = &limit, .most = INT64_MAX},
	{"by", 'b', "KEY", "task sample", "add up the time of tasks by name (task) or by sample (task)", .choice = &by},
	OPTION_SPECS_OF_SAMPLES,
	{"right-size", 0, NULL, NULL, "print the memory and cores to request for tasks, by name", .flag = &right_size},
	{"format", 'f', "FORMAT", RIGHT_SIZE_FORMATS, "with --right-size: text, json, nextflow, snakemake or slurm",
	 .choice = &format_choice},
	{"input-size", 0, "BYTES", NULL, "with --right-size: also for an input of that size, such as 10G",
	 .bytes = &input_bytes},
	{"trend", 0, "NAME", "run", "show where the runs of that name became slower or faster", .text = &trend},
	{"set", 0, "FINDING.PARAMETER=VALUE", NULL, "set a threshold, such as serial_task.least=1m", .take = set_take},
	OPTION_SPEC_NAMES(&names_path),
	OPTION_SPEC_PRICES(&prices_path),
	OPTION_SPECS_OF_VIEW,
};

struct tune {
	struct report report;
	struct account account;
	struct catalogue *catalogue;
	struct findings_of_run findings;
	struct prices *prices;
	struct price_doubts doubts;
	double hosts_nanos, core_nanos, gib_nanos; /* an hour: of all its hosts, of a core and a GiB of them */
	bool raw;
};

/* ---- money ------------------------------------------------------------------------- */

static bool ran_on(const struct tune *tune, int64_t host_id)
{
	const struct rows *parts = &tune->report.parts;

	for (size_t i = 0; i < parts->count; i++)
		if (ROWS_ITEM(parts, part, i)->run.host_id == host_id)
			return true;
	return false;
}

/* What the host cost an hour when the run began. */
static int host_price(struct tune *tune, const struct row_cloud_host *host, int64_t *ret_cpu_nanos,
		      int64_t *ret_memory_nanos)
{
	struct prices_host priced = bill_priced_host(host);
	struct price_times times;
	int error = price_times_make(tune->prices, &priced, &times);

	if (error < 0)
		return error;
	price_doubts_add(&tune->doubts, price_at(&times, report_run(&tune->report)->started_unix_ns));
	price_bill(price_at(&times, report_run(&tune->report)->started_unix_ns), host->host.cpu_count,
		   host->host.memory_bytes, HOUR_NS, ret_cpu_nanos, ret_memory_nanos);
	price_times_free(&times);
	return 0;
}

/* Each host has its price; a core and a GiB cost what they do on average on all of them. */
static int prices_find(struct tune *tune)
{
	struct rows hosts = {0};
	double cpu_nanos = 0, memory_nanos = 0, core_count = 0, gib = 0;
	int error = rows_load(&hosts, &row_type_cloud_host, tune->report.store, "hosts", NULL);

	for (size_t i = 0; error == 0 && i < hosts.count; i++) {
		const struct row_cloud_host *host = ROWS_ITEM(&hosts, cloud_host, i);
		int64_t cpu = 0, memory = 0;

		if (!ran_on(tune, host->host.id))
			continue;
		error = host_price(tune, host, &cpu, &memory);
		cpu_nanos += (double)cpu;
		memory_nanos += (double)memory;
		core_count += (double)price_limit(host->host.cpu_count, PRICE_CPUS_MAX);
		gib += (double)price_limit(host->host.memory_bytes, PRICE_MEMORY_BYTES_MAX) / GIB;
	}
	tune->hosts_nanos = cpu_nanos + memory_nanos;
	tune->core_nanos = core_count > 0 ? cpu_nanos / core_count : 0;
	tune->gib_nanos = gib > 0 ? memory_nanos / gib : 0;
	rows_free(&hosts);
	return error;
}

/* What it is worth that the hosts are free so much earlier, or that others can use processors and memory.
 * ROW_NULL: no price is known, at least of one host. */
static int64_t saved_micros(const struct tune *tune, const struct finding_of_run *finding, int64_t wall_ns)
{
	double hosts = tune->hosts_nanos * (double)wall_ns;
	double parts = tune->core_nanos * (double)finding->cpu_ns +
		       tune->gib_nanos * (double)finding->memory_byte_seconds * 1e9 / GIB;

	if (tune->doubts.none_count > 0)
		return ROW_NULL;
	return (int64_t)((hosts > parts ? hosts : parts) / (double)HOUR_NS / 1000);
}

/* The same for what is certain. */
static int64_t least_micros(const struct tune *tune, const struct finding_of_run *finding)
{
	return finding->question->finding.saving == QUESTION_SAVING_LEAST
		       ? saved_micros(tune, finding, finding->wall.low_ns)
		       : 0;
}

/* ---- text -------------------------------------------------------------------------- */

static const char *share_text(int64_t part, int64_t whole)
{
	const struct store_value share = {.type = STORE_VALUE_REAL,
					  .real = whole > 0 ? (double)part / (double)whole : 0};

	return units_value(QUESTION_SHARE, &share, false);
}

static void time_add(struct table *table, const struct tune *tune, const char *title, int64_t ns, int64_t whole,
		     const char *note)
{
	if (ns <= 0)
		return;
	table_add(table, STYLE_PLAIN, title);
	table_add(table, STYLE_PLAIN, units_duration(ns, tune->raw));
	table_add(table, STYLE_DIM, share_text(ns, whole));
	table_add(table, STYLE_DIM, note);
}

static const struct table_column time_columns[] = {
	{"", TABLE_LEFT, 0, 0},
	{"", TABLE_RIGHT, 0, 0},
	{"", TABLE_RIGHT, 0, 0},
	{"", TABLE_LEFT, 0, 1, true},
};

/* A notebook's kernel, or a script that computes by itself, is no engine. */
static bool driver_computes(const struct tune *tune)
{
	const int64_t *owned_ns = tune->account.schedule.owned_ns;

	return !report_run(&tune->report)->engine &&
	       tune->account.driver_cpu_ns > (owned_ns[SCHEDULE_DRIVER] + owned_ns[SCHEDULE_GAP]) / 2;
}

/* Of tasks that ended together, the last one need not be the one that was waited for. */
static void print_unsure(const struct tune *tune, const struct output *output)
{
	size_t count = tune->account.path_count, unsure_count = tune->account.unsure_count;

	if (unsure_count > 0)
		output_print(output, STYLE_DIM,
			     "  (before %s of %s tasks on the path several had just ended: any may be the one)\n",
			     units_count((int64_t)unsure_count, false), units_count((int64_t)count, false));
}

static int print_wall(const struct tune *tune, const struct output *output)
{
	const struct schedule *schedule = &tune->account.schedule;
	bool computes = driver_computes(tune);
	const char *const titles[] = {"  tasks", "  gaps", "  queue", computes ? "  script" : "  engine"};
	const char *const notes[] = {
		"on the critical path",
		computes ? "no task ran: the script itself computed"
			 : "no task ran: the next one on the path had not begun",
		"others ran: the next one on the path had not begun",
		computes ? "itself, before the first task and after the last"
			 : "before the first task and after the last",
	};
	struct table *table = table_new(time_columns, 4);
	int error;

	if (!table)
		return -ENOMEM;
	fputc('\n', output->file);
	output_print(output, STYLE_TITLE, "Where the wall time went");
	output_print(output, STYLE_DIM, "  (what waited for what: inferred from times%s)\n",
		     schedule->causes ? " and files" : "");
	print_unsure(tune, output);
	for (size_t i = 0; i < SCHEDULE_OWNER_COUNT; i++)
		time_add(table, tune, titles[i], schedule->owned_ns[i], schedule->end_ns - schedule->begin_ns,
			 notes[i]);
	error = table_print(table, output, false, NULL);
	table_free(table);
	return error;
}

static int print_processors(const struct tune *tune, const struct output *output)
{
	const struct account *account = &tune->account;
	struct table *table;
	int error;

	if (account->held_ns == ROW_NULL || account->held_ns == 0)
		return 0;
	table = table_new(time_columns, 4);
	if (!table)
		return -ENOMEM;
	fputc('\n', output->file);
	output_print(output, STYLE_TITLE, "Where the processors went");
	output_print(output, STYLE_DIM, "  (%s allowed × the wall time)\n",
		     units_core_limit(report_cores_milli(&tune->report)));
	time_add(table, tune, "  used", account->used_ns, account->held_ns, "");
	time_add(table, tune, "  idle: storage", account->waiting_storage_ns, account->held_ns,
		 "threads waited for storage");
	time_add(table, tune, "  idle: memory", account->waiting_memory_ns, account->held_ns, "reclaim, swap");
	time_add(table, tune, "  taken", account->waiting_processor_ns, account->held_ns,
		 "threads waited for a processor: other work, quotas");
	time_add(table, tune, "  idle", account->idle_ns, account->held_ns, "held, but nothing to do");
	error = table_print(table, output, false, NULL);
	table_free(table);
	return error;
}

static const char *const bound_names[] = {
#define B(NAME, name) name,
	ACCOUNT_BOUNDS(B)
#undef B
};

/* By sample, those that are not on the path are shown, too: samples do not wait for each other. */
static int print_path(const struct tune *tune, const struct output *output)
{
	const bool by_sample = tune->report.samples;
	const struct table_column columns[] = {
		{by_sample ? "samples on the critical path" : "tasks on the critical path", TABLE_LEFT, 40, 0},
		{"tasks", TABLE_RIGHT, 0, 3},
		{"on the path", TABLE_RIGHT, 0, 0},
		{"share", TABLE_RIGHT, 0, 2},
		{"all tasks", TABLE_RIGHT, 0, by_sample ? 1 : 4},
		{"CPU", TABLE_RIGHT, 0, by_sample ? 4 : 5},
		{"processors", TABLE_RIGHT, 0, by_sample ? 5 : 1},
		{"bound by", TABLE_LEFT, 0, 0},
	};
	const struct account *account = &tune->account;
	const struct schedule *schedule = &account->schedule;
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int error;

	if (!table)
		return -ENOMEM;
	fputc('\n', output->file);
	for (size_t i = 0; i < account->name_count && i < NAMES_MAX; i++) {
		const struct account_name *name = &account->names[i];

		if (name->path_ns == 0 && !by_sample)
			break;
		table_add_name(table, STYLE_PLAIN, "  ", name->name);
		table_add_all(
			table, units_count((int64_t)name->task_count, false), units_duration(name->path_ns, tune->raw),
			share_text(name->path_ns, schedule->end_ns - schedule->begin_ns),
			units_duration(name->times.wall_ns, tune->raw), units_duration(name->times.cpu_ns, tune->raw),
			units_cores(name->times.cpu_ns, name->times.wall_ns), bound_names[name->bound], NULL);
	}
	error = table_print(table, output, true, NULL);
	table_free(table);
	return error;
}

static void print_imbalance(const struct tune *tune, const struct output *output)
{
	const struct account *account = &tune->account;
	const struct account_name *longest;
	int64_t median_ns;

	if (account->name_count > NAMES_MAX)
		output_print(output, STYLE_DIM, "  %s more: --json\n",
			     units_count((int64_t)(account->name_count - NAMES_MAX), false));
	longest = account_longest(account, &median_ns);
	if (longest && median_ns > 0)
		output_print(output, STYLE_PLAIN, "  Imbalance: tasks on %s ran for %s, %.2f times the median (%s)\n",
			     longest->name, units_duration(longest->times.wall_ns, tune->raw),
			     (double)longest->times.wall_ns / (double)median_ns, units_duration(median_ns, tune->raw));
	samples_print_misfit(tune->report.samples->samples.misfit, output);
}

/* Ends that read the same are one figure; nothing for sure is "up to". */
static void print_interval(const struct tune *tune, const struct output *output, const struct schedule_saving *wall,
			   const char *title)
{
	const char *low = units_duration(wall->low_ns, tune->raw), *high = units_duration(wall->high_ns, tune->raw);

	if (wall->low_ns > 0 && strcmp(low, high) != 0)
		output_print(output, STYLE_GOOD, "%s%s to %s", title, low, high);
	else
		output_print(output, STYLE_GOOD, "%s%s", wall->low_ns > 0 ? title : "saves up to ", high);
}

static void print_savings(const struct tune *tune, const struct output *output, const struct finding_of_run *finding)
{
	const struct schedule_saving *wall = &finding->wall;
	bool at_least = finding->question->finding.saving == QUESTION_SAVING_LEAST;
	int64_t micros = at_least ? least_micros(tune, finding) : saved_micros(tune, finding, wall->high_ns);
	const char *separator = at_least ? "saves " : "saves up to ";

	if (wall->high_ns > 0) {
		print_interval(tune, output, wall, separator);
		separator = ", ";
	}
	if (finding->cpu_ns > 0) {
		output_print(output, STYLE_GOOD, "%s%s of processors", separator,
			     units_duration(finding->cpu_ns, tune->raw));
		separator = ", ";
	}
	if (finding->memory_byte_seconds > 0) {
		output_print(output, STYLE_GOOD, "%s%.3g GiB-hours", separator,
			     (double)finding->memory_byte_seconds / GIB / 3600);
		separator = ", ";
	}
	if (*separator == 's')
		output_print(output, STYLE_DIM, "saving unknown");
	else if (micros > 0)
		output_print(output, STYLE_DIM, ", %s %.3g", prices_currency(tune->prices), (double)micros / 1e6);
	fputc('\n', output->file);
}

static void print_finding(const struct tune *tune, const struct output *whole, size_t index)
{
	const struct finding_of_run *finding = &tune->findings.items[index];
	struct output_flow flow;
	const struct output *output = &flow.inner;

	output_print(whole, STYLE_TITLE, "%3zu. %s  ", index + 1, finding->question->name);
	print_savings(tune, whole, finding);
	output_flow_begin(&flow, whole);
	output_print(output, STYLE_PLAIN, "     %s\n", finding->sentence);
	fprintf(output->file, "     %s ", output->unicode ? "→" : "->");
	output_print(output, STYLE_PLAIN, "%s\n", finding->advice);
	output_flow_end(&flow, 7);
}

static void print_findings(const struct tune *tune, const struct output *output)
{
	const struct findings_of_run *findings = &tune->findings;
	size_t shown = limit > 0 && (size_t)limit < findings->count ? (size_t)limit : findings->count;

	if (findings->count == 0) {
		fputc('\n', output->file);
		output_print(output, STYLE_TITLE, "Nothing found that would make this run faster or cheaper\n");
		return;
	}
	fputc('\n', output->file);
	output_print(output, STYLE_TITLE, "What could be better");
	output_print(output, STYLE_DIM, "  (what can save most first; each alone, they do not add up)\n");
	for (size_t i = 0; i < shown; i++)
		print_finding(tune, output, i);
	if (shown < findings->count)
		output_print(output, STYLE_DIM, "     %zu more: --limit 0\n", findings->count - shown);
	price_doubts_print(&tune->doubts, tune->prices, output);
}

/* Processes whose figures are lower bounds. */
static int64_t lower_bound_count(const struct tune *tune)
{
	const struct report_doubts *doubts = &tune->report.doubts;

	return doubts->unfinished_count + doubts->found_count + doubts->partial_count;
}

/* What makes the conclusions less sure. */
static void print_doubts(const struct tune *tune, const struct output *whole)
{
	const struct row_run *run = report_run(&tune->report);
	const struct row_host *host = report_host(&tune->report);
	int64_t partial_count = lower_bound_count(tune);
	struct output_flow flow;
	const struct output *output = &flow.inner;

	output_flow_begin(&flow, whole);
	if (run->end_boot_ns == ROW_NULL)
		output_print(output, STYLE_WARNING, "The run has not ended: this is how it looks so far.\n");
	if (run->lost_count > 0)
		output_print(output, STYLE_BAD,
			     "INCOMPLETE: %s %s of this host were lost while it ran. Where nothing seems to have run, "
			     "something may have.\n",
			     units_count(run->lost_count, tune->raw),
			     units_plural(run->lost_count, "record", "records"));
	if (partial_count > 0)
		output_print(output, STYLE_WARNING, "The figures of %s %s are lower bounds: see tracer show.\n",
			     units_count(partial_count, tune->raw),
			     units_plural(partial_count, "process", "processes"));
	if (host && host->delay_accounting == 0)
		output_print(output, STYLE_WARNING,
			     "Delay accounting is off: waits for memory are unknown, those for storage estimated. To "
			     "turn it on: sysctl kernel.task_delayacct=1\n");
	output_flow_end(&flow, 0);
}

static int print_text(const struct tune *tune, const struct output *output)
{
	const struct row_run *run = report_run(&tune->report);
	const struct schedule *schedule = &tune->account.schedule;
	int error;

	output_print(output, STYLE_TITLE, "run %s", run->name);
	output_print(output, STYLE_PLAIN, "  %s, %s %s, %s of CPU time\n",
		     units_duration(schedule->end_ns - schedule->begin_ns, tune->raw),
		     units_count(run->task_count, false), units_plural(run->task_count, "task", "tasks"),
		     units_duration(run->cpu_ns, tune->raw));
	print_doubts(tune, output);
	error = print_wall(tune, output);
	if (error == 0)
		error = print_path(tune, output);
	if (error == 0 && tune->report.samples)
		print_imbalance(tune, output);
	if (error == 0)
		error = print_processors(tune, output);
	if (error == 0)
		print_findings(tune, output);
	return error;
}

/* ---- JSON -------------------------------------------------------------------------- */

static json_t *names_to_json(const struct account *account)
{
	json_t *array = json_array();

	for (size_t i = 0; i < account->name_count; i++) {
		const struct account_name *name = &account->names[i];
		json_t *object = json_object();

		json_set_string(object, "name", name->name);
		json_set_integer(object, "task_count", (int64_t)name->task_count);
		json_set_integer(object, "path_ns", name->path_ns);
		json_set_integer(object, "wall_ns", name->times.wall_ns);
		json_set_integer(object, "cpu_ns", name->times.cpu_ns);
		json_set_integer(object, "run_delay_ns", name->times.run_delay_ns);
		json_set_integer(object, "block_io_delay_ns", name->times.block_io_ns);
		json_set_integer(object, "memory_delay_ns", name->times.memory_ns);
		json_set_integer(object, "uninterruptible_ns", name->times.uninterruptible_ns);
		json_set_string(object, "bound_by", bound_names[name->bound]);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *imbalance_to_json(const struct account *account)
{
	int64_t median_ns;
	const struct account_name *longest = account_longest(account, &median_ns);
	json_t *object = json_object();

	if (longest) {
		json_set_string(object, "sample", longest->name);
		json_set_integer(object, "wall_ns", longest->times.wall_ns);
		json_set_integer(object, "median_wall_ns", median_ns);
	}
	return object;
}

static json_t *path_to_json(const struct tune *tune)
{
	static const char *const owners[] = {
#define S(NAME, name) name,
		SCHEDULE_OWNERS(S)
#undef S
	};
	const struct schedule *schedule = &tune->account.schedule;
	json_t *array = json_array();

	for (size_t i = 0; i < schedule->span_count; i++) {
		const struct schedule_span *span = &schedule->spans[i];
		json_t *object = json_object();

		json_set_string(object, "owner", owners[span->owner]);
		json_set_integer(object, "task_id",
				 span->task == SCHEDULE_NO_TASK
					 ? ROW_NULL
					 : tune->report.tasks[tune->account.tasks[span->task].index].id);
		json_set_integer(object, "begin_boot_ns", span->begin_ns);
		json_set_integer(object, "end_boot_ns", span->end_ns);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *findings_to_json(const struct tune *tune)
{
	json_t *array = json_array();

	for (size_t i = 0; i < tune->findings.count; i++) {
		const struct finding_of_run *finding = &tune->findings.items[i];
		json_t *object = json_object();

		json_set_string(object, "finding", finding->question->name);
		json_set_string(object, "subject", finding->subject);
		json_set_string(object, "sentence", finding->sentence);
		json_set_string(object, "advice", finding->advice);
		json_set_integer(object, "row_count", (int64_t)finding->task_count);
		json_set_integer(object, "saved_wall_low_ns", finding->wall.low_ns);
		json_set_integer(object, "saved_wall_high_ns", finding->wall.high_ns);
		json_set_integer(object, "saved_cpu_ns", finding->cpu_ns);
		json_set_integer(object, "saved_byte_seconds", finding->memory_byte_seconds);
		json_set_integer(object, "saved_micros", least_micros(tune, finding));
		json_set_integer(object, "saved_micros_high", saved_micros(tune, finding, finding->wall.high_ns));
		json_array_append_new(array, object);
	}
	return array;
}

static int print_json(const struct tune *tune)
{
	const struct account *account = &tune->account;
	const struct schedule *schedule = &account->schedule;
	const struct row_run *run = report_run(&tune->report);
	json_t *root = json_object(), *wall = json_object(), *processors = json_object();
	int error;

	json_set_integer(root, "run_id", run->id);
	json_set_string(root, "name", run->name);
	json_set_string(root, "status", run->status);
	json_set_integer(root, "lost_count", run->lost_count);
	json_set_integer(root, "lower_bound_count", lower_bound_count(tune));
	json_set_string(root, "currency", prices_currency(tune->prices));
	price_doubts_to_json(&tune->doubts, root);
	json_set_integer(wall, "wall_ns", schedule->end_ns - schedule->begin_ns);
	json_set_integer(wall, "task_ns", schedule->owned_ns[SCHEDULE_TASK]);
	json_set_integer(wall, "gap_ns", schedule->owned_ns[SCHEDULE_GAP]);
	json_set_integer(wall, "queue_ns", schedule->owned_ns[SCHEDULE_QUEUE]);
	json_set_integer(wall, "driver_ns", schedule->owned_ns[SCHEDULE_DRIVER]);
	json_set_integer(wall, "driver_cpu_ns", account->driver_cpu_ns);
	json_object_set_new(root, "wall", wall);
	json_set_integer(processors, "held_ns", account->held_ns);
	json_set_integer(processors, "used_ns", account->used_ns);
	json_set_integer(processors, "storage_ns", account->waiting_storage_ns);
	json_set_integer(processors, "memory_ns", account->waiting_memory_ns);
	json_set_integer(processors, "processor_ns", account->waiting_processor_ns);
	json_set_integer(processors, "idle_ns", account->idle_ns);
	json_object_set_new(root, "processors", processors);
	json_set_string(root, "by", tune->report.samples ? "sample" : "task");
	json_object_set_new(root, "names", names_to_json(account));
	if (tune->report.samples) {
		const char *misfit = tune->report.samples->samples.misfit;

		json_set_string(root, "sample_misfit", *misfit ? misfit : NULL);
		json_object_set_new(root, "imbalance", imbalance_to_json(account));
	}
	json_set_integer(root, "path_task_count", (int64_t)account->path_count);
	json_set_integer(root, "path_unsure_count", (int64_t)account->unsure_count);
	json_object_set_new(root, "critical_path", path_to_json(tune));
	json_object_set_new(root, "findings", findings_to_json(tune));
	error = json_print(root);
	json_decref(root);
	return error;
}

/* ---- the verb ---------------------------------------------------------------------- */

static const struct store_parameter *bind(const struct question *question, void *data)
{
	return thresholds_bind(&thresholds, question, NULL);
}

static int64_t worth(const struct finding_of_run *finding, void *data)
{
	return saved_micros(data, finding, finding->wall.high_ns);
}

static int run_tune(struct view *view, struct tune *tune)
{
	struct findings_request request = {
		.report = &tune->report,
		.account = &tune->account,
		.catalogue = tune->catalogue,
		.kind = KIND,
		.bind = bind,
		.format = answer_format,
		.worth = worth,
		.data = tune,
	};
	int error = account_make(&tune->report, tune->report.samples ? report_task_sample : report_task_name,
				 &tune->account);

	if (error == 0)
		error = prices_find(tune);
	if (error == 0)
		error = findings_find(&request, &tune->findings);
	if (error == 0)
		error = view->options->json ? print_json(tune) : print_text(tune, &view->output);
	findings_free(&tune->findings);
	account_free(&tune->account);
	return error;
}

static int run_show(struct view *view, struct tune *tune)
{
	const struct options *options = view->options;
	struct rows run = {0};
	struct sample_names *sample_names = NULL;
	int error = source_find_run(view->store, options->operand_count ? options->operands[0] : NULL, &run);

	if (error == 0)
		error = report_load(&tune->report, view->store, ROWS_ITEM(&run, run, 0), false);
	if (error == 0)
		error = names_join_run(&names, &tune->report);
	if (error == 0)
		error = sample_options_read(options, by == 1, &sample_names);
	if (error == 0 && by == 1)
		error = report_load_samples(&tune->report, sample_names);
	if (error == 0)
		error = run_tune(view, tune);
	sample_names_free(sample_names);
	report_free(&tune->report);
	rows_free(&run);
	return error;
}

static int tune_show(struct view *view)
{
	struct tune tune = {.raw = view->options->raw};
	int error = thresholds_catalogue(&tune.catalogue);

	if (error == 0)
		error = thresholds_check(&thresholds, view->options, tune.catalogue, KIND);
	if (error == 0) {
		tune.prices = price_list_load(prices_path);
		error = tune.prices ? run_show(view, &tune) : VERB_FAILED;
	}
	prices_free(tune.prices);
	catalogue_free(tune.catalogue);
	return error;
}

/* ---- right sizes, trends ----------------------------------------------------------- */

static int right_size_tune(struct view *view)
{
	static const char *const formats[] = {"text", "json", "nextflow", "snakemake", "slurm"};

	const struct right_size_request request = {format_choice < 0 ? NULL : formats[format_choice], input_bytes,
						   &names};

	return right_size_show(view, &request, (const char *const *)view->options->operands,
			       view->options->operand_count);
}

static int trend_tune(struct view *view)
{
	return trend_show(view, trend);
}

static int tune_main(const struct options *options)
{
	if (list + right_size + (trend != NULL) > 1)
		return options_misuse(options, "--list, --right-size and --trend exclude each other");
	if (!right_size && (format_choice >= 0 || input_bytes != ROW_NULL))
		return options_misuse(options, "--%s needs --right-size", format_choice >= 0 ? "format" : "input-size");
	if ((by >= 0 || sample_sheet || sample_pattern) && (list || right_size || trend))
		return options_misuse(options, "--by and samples are for one run");
	if (names_path && (list || trend))
		return options_misuse(options, "--names is for one run, or --right-size");
	if (right_size)
		return names_show(names_path, &names, options, right_size_tune);
	if (options_check_most(options, list || trend ? 0 : 1))
		return VERB_USAGE;
	if (trend)
		return source_show(options, trend_tune);
	return list ? thresholds_list(&thresholds, options, KIND) : names_show(names_path, &names, options, tune_show);
}

const struct verb verb_tune = {
	.name = "tune",
	.operands = "[RUN]",
	.operands_most = SIZE_MAX,
	.summary = "show where a run's time went, and what would make it faster and cheaper",
	.description = "Shows where the wall time of a run went: every moment belongs to a task on\n"
		       "the critical path, to a wait before one, or to the engine. Then where the\n"
		       "processors went, and what could be better. \"Saves up to\" is the most that is\n"
		       "possible; a saving without these words is certain if the advice is followed.\n"
		       "\n"
		       "RUN       a run (an id, a name, latest); with --right-size any number of names\n"
		       "          of tasks or runs, else all\n"
		       "\n"
		       "tracer help FINDING describes a finding (docs/tune.md).",
	.options = option_specs,
	.examples = "  tracer tune\n"
		    "  tracer tune latest --set serial_task.least=1m\n"
		    "  tracer tune --right-size --format nextflow > resources.config\n"
		    "  tracer tune --trend rnaseq",
	.completion = "run",
	.main = tune_main,
};
