/* tracer tune --right-size: what to request for tasks. See right_size.h. */
#include "cli/advise/right_size.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/units.h"
#include "analysis/tune/right_sizes.h"
#include "cli/screen/table.h"

#define HOUR_S 3600

struct printer {
	const struct right_sizes *sizes;
	const struct output *output;
	int64_t input_bytes;
	enum format format;
	bool raw;
};

/* What the request for an input is based on: its mark, and the note on that. */
static const struct {
	const char *mark, *note;
} input_bases[] = {
	[RIGHT_SIZE_INPUT_NONE] = {"", NULL},
	[RIGHT_SIZE_INPUT_SEEN] = {"", NULL},
	[RIGHT_SIZE_INPUT_LARGER] = {"~", "~ extrapolated: no input that large was seen."},
	[RIGHT_SIZE_INPUT_FEW] = {"", "for input -: fewer than 5 tasks whose input is known succeeded."},
	[RIGHT_SIZE_INPUT_ALIKE] = {"^", "-^ larger than all inputs that were seen, which hardly differ."},
	[RIGHT_SIZE_INPUT_TOO_FAR] = {"!", "-! more than ten times the largest input that was seen."},
};
#define INPUT_BASES (sizeof(input_bases) / sizeof(input_bases[0]))

/* ---- text ------------------------------------------------------------------------------ */

static const char *marked(const char *text, const char *mark, char buffer[UNITS_SIZE])
{
	snprintf(buffer, UNITS_SIZE, "%s%s", text, mark);
	return buffer;
}

static const char *saving_text(int64_t byte_seconds, bool raw, char text[UNITS_SIZE])
{
	int64_t hourly = byte_seconds / HOUR_S;

	if (byte_seconds == ROW_NULL)
		return "-";
	if (raw)
		return units_count(byte_seconds, true);
	snprintf(text, UNITS_SIZE, "%s%s h", hourly < 0 ? "-" : "", units_bytes(hourly < 0 ? -hourly : hourly, false));
	return text;
}

static const char *memory_mark(const struct right_size *size)
{
	if (size->memory_bytes == ROW_NULL)
		return "";
	if (right_size_is_so_far(size))
		return size->unattributed_bytes ? "^+" : size->is_peak_rss ? "*+" : "+";
	return size->unattributed_bytes ? "^" : size->is_peak_rss ? "*" : "";
}

static void name_add(const struct printer *printer, struct table *table, const struct right_sizes_name *item)
{
	const struct right_size *size = &item->size;
	char memory[UNITS_SIZE], cores[UNITS_SIZE], share[UNITS_SIZE], left_out[UNITS_SIZE], saving[UNITS_SIZE],
		input[UNITS_SIZE];

	snprintf(share, sizeof(share), "%.3g %%", 100 * size->fail_share);
	snprintf(left_out, sizeof(left_out), "-");
	if (size->left_out_failed_count != ROW_NULL)
		snprintf(left_out, sizeof(left_out), "%lld of %zu", (long long)size->left_out_failed_count,
			 size->task_count);
	table_add_name(table, STYLE_TITLE, "", item->name);
	table_add(table, STYLE_TITLE, marked(units_bytes(size->memory_bytes, printer->raw), memory_mark(size), memory));
	table_add(table, STYLE_TITLE,
		  marked(units_count(size->cores, printer->raw),
			 size->cores != ROW_NULL && size->cores_are_least ? "+" : "", cores));
	table_add_all(table, units_count((int64_t)size->task_count, printer->raw), share, left_out,
		      units_bytes(size->used_bytes, printer->raw),
		      size->limit_bytes == ROW_NULL ? "" : units_bytes(size->limit_bytes, printer->raw),
		      size->limit_bytes == ROW_NULL ? "" : saving_text(size->saved_byte_seconds, printer->raw, saving),
		      size->oom_count ? units_count((int64_t)size->oom_count, printer->raw) : "",
		      printer->input_bytes == ROW_NULL ? ""
						       : marked(units_bytes(size->input_memory_bytes, printer->raw),
								input_bases[size->input.basis].mark, input),
		      NULL);
}

static void notes_print(const struct printer *printer)
{
	struct output_flow flow;
	bool has_peaks = false, has_unattributed = false, has_least = false, is_so_far = false,
	     has_basis[INPUT_BASES] = {false};

	for (size_t i = 0; i < printer->sizes->count; i++) {
		const struct right_size *size = &printer->sizes->items[i].size;

		has_unattributed |= size->memory_bytes != ROW_NULL && size->unattributed_bytes > 0;
		has_peaks |= size->memory_bytes != ROW_NULL && size->unattributed_bytes == 0 && size->is_peak_rss;
		has_least |= size->cores != ROW_NULL && size->cores_are_least;
		is_so_far |= right_size_is_so_far(size);
		has_basis[size->input.basis] = true;
	}
	output_flow_begin(&flow, printer->output);
	output_print(&flow.inner, STYLE_DIM,
		     "1/(N+1): how often a task needs more than any of N before it; the request adds a margin.\n");
	output_print(&flow.inner, STYLE_DIM,
		     "left out: of N tasks, those for which the request computed from the others would not suffice.\n");
	if (has_peaks)
		output_print(&flow.inner, STYLE_DIM, "* from the peak of the largest process, file pages included.\n");
	if (has_unattributed)
		output_print(&flow.inner, STYLE_DIM, "^ with files in memory of its cgroup, which may be others'.\n");
	if (has_least)
		output_print(&flow.inner, STYLE_DIM,
			     "+ at least: too short for samples of CPU use, it waited for CPU, or it still runs.\n");
	if (is_so_far)
		output_print(&flow.inner, STYLE_DIM,
			     "+ of memory: no task has ended; what they used so far may be too little.\n");
	for (size_t i = 0; i < INPUT_BASES; i++)
		if (has_basis[i] && input_bases[i].note)
			output_print(&flow.inner, STYLE_DIM, "%s\n", input_bases[i].note);
	output_flow_end(&flow, 0);
}

static int text_print(const struct printer *printer)
{
	const struct table_column columns[] = {
		{"task", TABLE_LEFT, 30, 0},
		{"memory", TABLE_RIGHT, 0, 0},
		{"cores", TABLE_RIGHT, 0, 0},
		{"N", TABLE_RIGHT, 0, 0},
		{"1/(N+1)", TABLE_RIGHT, 0, 0},
		{"left out", TABLE_RIGHT, 0, 1},
		{"most used", TABLE_RIGHT, 0, 2},
		{"requested", TABLE_RIGHT, 0, 0, true},
		{"saved/run", TABLE_RIGHT, 0, 0, true},
		{"OOM", TABLE_RIGHT, 0, 3, true},
		{"for input", TABLE_RIGHT, 0, 0, printer->input_bytes == ROW_NULL},
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int error;

	for (size_t i = 0; i < printer->sizes->count; i++)
		name_add(printer, table, &printer->sizes->items[i]);
	error = table_finish(table, printer->output);
	if (error == 0)
		notes_print(printer);
	return error;
}

/* ---- selection ------------------------------------------------------------------------- */

/* A name first: it selects all runs or tasks of that name; else what source_find_run() finds. */
static int operand_add(struct view *view, struct right_sizes *sizes, const char *operand)
{
	const struct store_parameter filter[] = {SOURCE_FILTER(view->options)};
	struct right_sizes_selection selection = {operand, ROW_NULL, ROW_NULL, filter};
	struct rows runs = {0};
	int64_t count = right_sizes_add(sizes, view->store, &selection);
	int error;

	if (count != 0)
		return count < 0 ? (int)count : 0;
	error = source_find_run(view->store, view->options, operand, &runs);
	if (error == 0) {
		const struct row_run *run = ROWS_ITEM(&runs, run, 0);

		selection = (struct right_sizes_selection){NULL, run->id, run->host_id, NULL};
		count = right_sizes_add(sizes, view->store, &selection);
		error = count < 0 ? (int)count : 0;
	}
	rows_free(&runs);
	return error;
}

static int operands_add(struct view *view, struct right_sizes *sizes, const char *const *operands, size_t count)
{
	const struct store_parameter filter[] = {SOURCE_FILTER(view->options)};
	const struct right_sizes_selection all = {NULL, ROW_NULL, ROW_NULL, filter};
	int64_t added = 0;
	int error = 0;

	if (count == 0)
		added = right_sizes_add(sizes, view->store, &all);
	for (size_t i = 0; error == 0 && i < count; i++)
		error = operand_add(view, sizes, operands[i]);
	return added < 0 ? (int)added : error;
}

static int print(const struct printer *printer, bool has_engine_names)
{
	static const char *const configurations[] = {"nextflow", "snakemake", "slurm"}; /* as in RIGHT_SIZE_FORMATS */

	if (printer->format == FORMAT_TABLE)
		return text_print(printer);
	if (printer->format < FORMAT_COUNT)
		return document_print(right_sizes_to_json(printer->sizes, printer->input_bytes), "names",
				      right_sizes_columns(), printer->format);
	right_sizes_write(printer->sizes, configurations[printer->format - FORMAT_COUNT], has_engine_names,
			  printer->output->file);
	return 0;
}

static int tasks_name(struct right_sizes *sizes, struct engine_names **names, struct store *store)
{
	int64_t *run_ids = NULL;
	size_t count = 0;
	int error = right_sizes_runs(sizes, &run_ids, &count);

	if (error == 0)
		error = names_learn(names, store, run_ids, count);
	if (error == 0)
		right_sizes_rename(sizes, *names);
	free(run_ids);
	return error;
}

int right_size_show(struct view *view, const struct right_size_request *request, const char *const *operands,
		    size_t count)
{
	struct right_sizes sizes = {0};
	struct printer printer = {&sizes, &view->output, request->input_bytes, (enum format)view->options->format,
				  view->options->raw};
	int error = operands_add(view, &sizes, operands, count);

	if (error == 0 && request->names)
		error = tasks_name(&sizes, request->names, view->store);
	if (error == 0)
		error = right_sizes_find(&sizes, request->input_bytes);
	if (error == 0)
		error = print(&printer, request->names && *request->names);
	right_sizes_free(&sizes);
	return error;
}
