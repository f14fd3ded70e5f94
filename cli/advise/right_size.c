/* tracer tune --right-size: what to request for tasks. See right_size.h.
 *
 * Names come from traced processes. In configuration they are quoted for its syntax; one with control characters, a
 * backslash, or bytes that are not UTF-8 is left out, and counted in a comment.
 */
#include "cli/advise/right_size.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/units.h"
#include "analysis/tune/right_sizes.h"
#include "cli/screen/table.h"
#include "common/text.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define MEGABYTE INT64_C(1000000)
#define HOUR_S 3600
#define NAME_SIZE 1024

struct printer {
	const struct right_sizes *sizes;
	const struct output *output;
	int64_t input_bytes;
	enum format format;
	bool raw;
	bool has_engine_names;
};

/* What the request for an input is based on: its mark and the note on that, and its name in JSON. */
static const struct {
	const char *mark, *note, *name;
} input_bases[] = {
	[RIGHT_SIZE_INPUT_NONE] = {"", NULL, NULL},
	[RIGHT_SIZE_INPUT_SEEN] = {"", NULL, "seen"},
	[RIGHT_SIZE_INPUT_LARGER] = {"~", "~ extrapolated: no input that large was seen.", "extrapolated"},
	[RIGHT_SIZE_INPUT_FEW] = {"", "for input -: fewer than 5 tasks whose input is known succeeded.", "few"},
	[RIGHT_SIZE_INPUT_ALIKE] = {"^", "-^ larger than all inputs that were seen, which hardly differ.", "alike"},
	[RIGHT_SIZE_INPUT_TOO_FAR] = {"!", "-! more than ten times the largest input that was seen.", "too_far"},
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
		return size->is_peak_rss ? "*+" : "+";
	return size->is_peak_rss ? "*" : "";
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
	bool has_peaks = false, has_least = false, is_so_far = false, has_basis[INPUT_BASES] = {false};

	for (size_t i = 0; i < printer->sizes->count; i++) {
		const struct right_size *size = &printer->sizes->items[i].size;

		has_peaks |= size->memory_bytes != ROW_NULL && size->is_peak_rss;
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
	if (has_least)
		output_print(&flow.inner, STYLE_DIM,
			     "+ at least: too short for samples of CPU use, it waited for CPU, or it still runs.\n");
	if (is_so_far)
		output_print(
			&flow.inner, STYLE_DIM,
			"+ of memory: none has ended; from what running tasks used so far, and may be too little.\n");
	for (size_t i = 0; i < INPUT_BASES; i++)
		if (has_basis[i] && input_bases[i].note)
			output_print(&flow.inner, STYLE_DIM, "%s\n", input_bases[i].note);
	output_flow_end(&flow, 0);
}

static int text_print(const struct printer *printer)
{
	static const struct table_column columns[] = {
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
		{"for input", TABLE_RIGHT, 0, 0, true},
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

/* ---- JSON ------------------------------------------------------------------------------ */

static json_t *name_to_json(const struct right_sizes_name *item)
{
	const struct right_size *size = &item->size;
	json_t *object = json_object();

	json_set_string(object, "name", item->name);
	json_set_integer(object, "memory_bytes", size->memory_bytes);
	json_set_integer(object, "cores", size->cores);
	json_set_integer(object, "task_count", (int64_t)size->task_count);
	json_set_integer(object, "run_count", (int64_t)size->run_count);
	json_set_integer(object, "failed_count", (int64_t)size->failed_count);
	json_set_integer(object, "oom_count", (int64_t)size->oom_count);
	json_set_integer(object, "running_count", (int64_t)size->running_count);
	json_object_set_new(object, "is_so_far", json_boolean(right_size_is_so_far(size)));
	json_object_set_new(object, "fail_share", json_real(size->fail_share));
	json_set_integer(object, "left_out_failed_count", size->left_out_failed_count);
	json_set_integer(object, "used_bytes", size->used_bytes);
	json_set_string(object, "memory_basis",
			size->used_bytes == ROW_NULL ? NULL
			: size->is_peak_rss          ? "peak_rss"
						     : "concurrent");
	json_object_set_new(object, "cores_used", isnan(size->cores_used) ? json_null() : json_real(size->cores_used));
	json_set_string(object, "cores_basis",
			isnan(size->cores_used) ? NULL
			: size->cores_are_least ? "lower_bound"
						: "samples");
	json_set_integer(object, "memory_limit_bytes", size->limit_bytes);
	json_set_integer(object, "saved_byte_seconds", size->saved_byte_seconds);
	json_set_integer(object, "largest_input_bytes", size->largest_input_bytes);
	json_set_integer(object, "input_memory_bytes", size->input_memory_bytes);
	json_set_string(object, "input_basis", input_bases[size->input.basis].name);
	json_set_integer(object, "input_task_count", (int64_t)size->input.task_count);
	json_set_integer(object, "input_left_out_failed_count",
			 size->input_memory_bytes == ROW_NULL ? ROW_NULL : (int64_t)size->input.left_out_failed_count);
	return object;
}

static int document_format_print(const struct printer *printer)
{
	json_t *root = json_object(), *names = json_array();

	json_set_integer(root, "input_bytes", printer->input_bytes);
	for (size_t i = 0; i < printer->sizes->count; i++)
		json_array_append_new(names, name_to_json(&printer->sizes->items[i]));
	json_object_set_new(root, "names", names);
	return document_print(root, "names", name_to_json(&(const struct right_sizes_name){0}), printer->format);
}

/* ---- configuration --------------------------------------------------------------------- */

/* Whether a name can be quoted in every syntax, and printed. */
static bool name_is_plain(const char *name)
{
	char escaped[4 * NAME_SIZE + 1];
	size_t size = strlen(name);

	if (size == 0 || size > NAME_SIZE || strchr(name, '\\'))
		return false;
	text_escape(name, size, escaped, sizeof(escaped));
	return strcmp(name, escaped) == 0;
}

static bool is_known(const struct right_size *size)
{
	return size->memory_bytes != ROW_NULL && size->cores != ROW_NULL;
}

/* What a request is based on, for a comment. */
static const char *basis_text(const struct right_size *size, char *text, size_t capacity)
{
	int used;

	if (right_size_is_so_far(size)) {
		snprintf(text, capacity, "from what %zu running %s used so far: may be too little", size->running_count,
			 units_plural((int64_t)size->running_count, "task", "tasks"));
		return text;
	}
	used = snprintf(text, capacity, "N=%zu, 1/(N+1)=%.3g %%", size->task_count, 100 * size->fail_share);

	if (size->left_out_failed_count != ROW_NULL)
		used += snprintf(text + used, capacity - (size_t)used, ", %lld of %zu failed if left out",
				 (long long)size->left_out_failed_count, size->task_count);
	if (size->input_memory_bytes != ROW_NULL)
		snprintf(text + used, capacity - (size_t)used, ", for the input: %lld MiB%s",
			 (long long)(size->input_memory_bytes / MIB),
			 size->input.basis == RIGHT_SIZE_INPUT_LARGER ? " (extrapolated)" : "");
	return text;
}

static void print_left_out(FILE *file, const char *comment, size_t count)
{
	if (count > 0)
		fprintf(file, "%s left out: %zu %s that cannot be written here, or whose use is unknown\n", comment,
			count, units_plural((int64_t)count, "name", "names"));
}

static int64_t megabytes(int64_t bytes, int64_t unit)
{
	return (bytes + unit - 1) / unit;
}

/* A name as a regular expression in a Groovy string: Nextflow takes a selector for one. */
static void print_selector(FILE *file, const char *name)
{
	fputc('\'', file);
	for (; *name; name++) {
		if (strchr("!$()*+.?[]^{|}", *name))
			fputs("\\\\", file);
		if (*name == '\'')
			fputc('\\', file);
		fputc(*name, file);
	}
	fputc('\'', file);
}

/* The labels of nf-core's pipelines. */
static const struct {
	const char *name;
	int64_t cores, memory_bytes;
} nf_core_labels[] = {
	{"process_single", 1, 6 * GIB}, {"process_low", 2, 12 * GIB},          {"process_medium", 6, 36 * GIB},
	{"process_high", 12, 72 * GIB}, {"process_high_memory", 0, 200 * GIB},
};

/* The smallest that suffices for both. */
static const char *nf_core_label(int64_t cores, int64_t memory_bytes)
{
	for (size_t i = 0; i < sizeof(nf_core_labels) / sizeof(nf_core_labels[0]); i++)
		if (nf_core_labels[i].cores >= cores && nf_core_labels[i].memory_bytes >= memory_bytes)
			return nf_core_labels[i].name;
	return "none";
}

static void nextflow_print_name(FILE *file, const struct right_sizes_name *item)
{
	const struct right_size *size = &item->size;
	char basis[160];

	fprintf(file, "    // %s\n", basis_text(size, basis, sizeof(basis)));
	fprintf(file, "    // nf-core labels: %s for memory, %s for cpus\n", nf_core_label(0, size->memory_bytes),
		nf_core_label(size->cores, 0));
	fputs("    withName: ", file);
	print_selector(file, item->name);
	fprintf(file, " {\n        memory = { %lld.MB * task.attempt }\n        cpus = %lld\n    }\n",
		(long long)(size->memory_bytes / MIB), (long long)size->cores);
}

static int nextflow_print(const struct printer *printer)
{
	FILE *file = printer->output->file;
	size_t left_out = 0;

	if (!printer->has_engine_names)
		fputs("// Names are Tracer's: those of processes come with --names trace.txt.\n", file);
	fputs("// task.attempt: more memory for a retry, if errorStrategy is 'retry' and maxRetries at least 1.\n"
	      "process {\n",
	      file);
	for (size_t i = 0; i < printer->sizes->count; i++) {
		const struct right_sizes_name *item = &printer->sizes->items[i];

		if (name_is_plain(item->name) && is_known(&item->size))
			nextflow_print_name(file, item);
		else
			left_out++;
	}
	fputs("}\n", file);
	print_left_out(file, "//", left_out);
	return 0;
}

/* A rule's name is an identifier of Python; other names are not those of rules. */
static bool name_is_rule(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}

/* A profile's lists, which Snakemake 7 and later read. Snakemake's MB are millions of bytes; it hands the number to
 * Slurm, which takes it for MiB: rounded up, it suffices for both. */
static int snakemake_print(const struct printer *printer)
{
	static const char *const keys[] = {"set-resources", "set-threads"};
	FILE *file = printer->output->file;
	size_t left_out = 0;
	char basis[160];

	for (size_t key = 0; key < 2; key++) {
		size_t written = 0;

		for (size_t i = 0; i < printer->sizes->count; i++) {
			const struct right_sizes_name *item = &printer->sizes->items[i];

			if (!name_is_rule(item->name) || !is_known(&item->size)) {
				left_out += key == 0;
				continue;
			}
			if (written++ == 0)
				fprintf(file, "%s:\n", keys[key]);
			if (key == 0)
				fprintf(file, "  # %s\n  - %s:mem_mb=%lld\n",
					basis_text(&item->size, basis, sizeof(basis)), item->name,
					(long long)megabytes(item->size.memory_bytes, MEGABYTE));
			else
				fprintf(file, "  - %s=%lld\n", item->name, (long long)item->size.cores);
		}
	}
	if (left_out > 0)
		fprintf(file, "# left out: %zu %s not the name of a rule, or whose use is unknown\n", left_out,
			units_plural((int64_t)left_out, "name that is", "names that are"));
	return 0;
}

static int slurm_print(const struct printer *printer)
{
	FILE *file = printer->output->file;
	size_t left_out = 0;
	char basis[160];

	for (size_t i = 0; i < printer->sizes->count; i++) {
		const struct right_sizes_name *item = &printer->sizes->items[i];

		if (!name_is_plain(item->name) || !is_known(&item->size)) {
			left_out++;
			continue;
		}
		fprintf(file, "# %s (%s)\n#SBATCH --mem=%lldM\n#SBATCH --cpus-per-task=%lld\n", item->name,
			basis_text(&item->size, basis, sizeof(basis)), (long long)(item->size.memory_bytes / MIB),
			(long long)item->size.cores);
	}
	print_left_out(file, "#", left_out);
	return 0;
}

/* ---- selection ------------------------------------------------------------------------- */

/* A name first: it selects all runs or tasks of that name; else what source_find_run() finds. */
static int operand_add(struct view *view, struct right_sizes *sizes, const char *operand)
{
	struct right_sizes_selection selection = {operand, ROW_NULL, ROW_NULL};
	struct rows runs = {0};
	int64_t count = right_sizes_add(sizes, view->store, &selection);
	int error;

	if (count != 0)
		return count < 0 ? (int)count : 0;
	error = source_find_run(view->store, operand, &runs);
	if (error == 0) {
		const struct row_run *run = ROWS_ITEM(&runs, run, 0);

		selection = (struct right_sizes_selection){NULL, run->id, run->host_id};
		count = right_sizes_add(sizes, view->store, &selection);
		error = count < 0 ? (int)count : 0;
	}
	rows_free(&runs);
	return error;
}

static int operands_add(struct view *view, struct right_sizes *sizes, const char *const *operands, size_t count)
{
	const struct right_sizes_selection all = {NULL, ROW_NULL, ROW_NULL};
	int64_t added = 0;
	int error = 0;

	if (count == 0)
		added = right_sizes_add(sizes, view->store, &all);
	for (size_t i = 0; error == 0 && i < count; i++)
		error = operand_add(view, sizes, operands[i]);
	return added < 0 ? (int)added : error;
}

static const char *name_of(const void *names, int64_t task_id, const char *name)
{
	return engine_names_of(names, task_id, name);
}

static int tasks_name(struct right_sizes *sizes, struct engine_names **names, struct store *store)
{
	int64_t *run_ids = NULL;
	size_t count = 0;
	int error = right_sizes_runs(sizes, &run_ids, &count);

	if (error == 0)
		error = names_learn(names, store, run_ids, count);
	if (error == 0)
		right_sizes_rename(sizes, name_of, *names);
	free(run_ids);
	return error;
}

int right_size_show(struct view *view, const struct right_size_request *request, const char *const *operands,
		    size_t count)
{
	static int (*const print[])(const struct printer *printer) = {
		[FORMAT_TABLE] = text_print,
		[FORMAT_JSON] = document_format_print,
		[FORMAT_NDJSON] = document_format_print,
		[FORMAT_CSV] = document_format_print,
		[RIGHT_SIZE_NEXTFLOW] = nextflow_print,
		[RIGHT_SIZE_SNAKEMAKE] = snakemake_print,
		[RIGHT_SIZE_SLURM] = slurm_print,
	};
	struct right_sizes sizes = {0};
	enum format format = (enum format)view->options->format;
	struct printer printer = {&sizes, &view->output, request->input_bytes, format, view->options->raw, false};
	int error;

	error = operands_add(view, &sizes, operands, count);
	if (error == 0 && request->names)
		error = tasks_name(&sizes, request->names, view->store);
	printer.has_engine_names = request->names && *request->names;
	if (error == 0)
		error = right_sizes_find(&sizes, request->input_bytes);
	if (error == 0)
		error = print[format](&printer);
	right_sizes_free(&sizes);
	return error;
}
