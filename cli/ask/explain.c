/* tracer explain: why a process, a task or a run was classified as it was. */
#include <string.h>

#include "analysis/query/command.h"
#include "analysis/query/report.h"
#include "analysis/query/subject.h"
#include "analysis/query/units.h"
#include "cli/site_rules.h"
#include "cli/source.h"
#include "common/text.h"

#define CHAIN_MAX 24           /* ancestors listed one by one */
#define CHAIN_COMMAND_SIZE 240 /* bytes of an ancestor's command line */
#define CHAIN_COMMAND_LEAST 12 /* minimum columns of it on a terminal */
#define CHAIN_WIDE 120         /* terminals this wide indent by two columns per generation */
#define POINT_COLUMNS 12       /* columns before the text of a line */

static const char *rules_directory;

static const struct option_spec option_specs[] = {
	{"rules", 'r', "DIR", "directory", "look up rules in DIR (" SITE_RULES_DEFAULT ") and the shipped ones",
	 .text = &rules_directory},
	OPTION_SPEC_HOST("explain what is on this host of a lake"),
	OPTION_SPEC_USER("explain what is of USER (name or number)"),
	OPTION_SPECS_OF_FORMAT,
	OPTION_SPEC_SOURCE,
	OPTION_SPECS_LAST,
};

/* Context for explaining one subject. */
struct story {
	struct store *store;
	const struct rules *rules;
	const struct output *output;
	const char *label; /* of the process's task, if the store has none; NULL: unknown */
};

/* ---- output ------------------------------------------------------------------ */

static void heading(const struct story *story, const char *kind, int64_t id, const char *name)
{
	output_print(story->output, STYLE_DIM, "%s %s  ", kind, units_id(id, false));
	output_print(story->output, STYLE_TITLE, "%s\n", name ? name : "-");
}

/* "  label     value" */
static void point(const struct story *story, const char *label, const char *value)
{
	output_print(story->output, STYLE_DIM, "  %-10s", label);
	output_print(story->output, STYLE_PLAIN, "%s\n", value ? value : "-");
}

/* How complete the figures of a process are. */
static const char *totals_meaning(const char *totals)
{
	static const char *const meanings[][2] = {
		{"final", "complete: taken when the process was reaped, teardown included"},
		{"exit", "taken at its exit; the record of its reaping is missing, so teardown is not included"},
		{"exec", "complete: taken when it executed the next program"},
	};

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (strcmp(totals, meanings[i][0]) == 0)
			return meanings[i][1];
	return "from its latest sample; it has not ended, or its end was not recorded";
}

/* ---- a process --------------------------------------------------------------- */

/* "    123 bash -c …  shell, rule posix-shell", indented further with each generation. On a terminal
 * the command is truncated to fit into the line. */
static void parent_show(const struct story *story, const struct row_process *process, size_t depth, bool is_last)
{
	const struct output *output = story->output;
	char command[CHAIN_COMMAND_SIZE], safe[4 * CHAIN_COMMAND_SIZE + 1], what[512], raw[512];
	size_t indent = 4 + depth * (output->width && output->width < CHAIN_WIDE ? 1 : 2), used;
	int pid_size = fprintf(output->file, "%*s%lld ", (int)indent, "", (long long)process->pid) - (int)indent;

	snprintf(raw, sizeof(raw), "%s%s%s", process->role, process->rule ? ", rule " : "",
		 process->rule ? process->rule : "");
	text_escape(raw, strlen(raw), what, sizeof(what));
	command_text(&process->arguments, process->program, false, command, sizeof(command));
	text_escape(command, strlen(command), safe, sizeof(safe));
	used = indent + (size_t)pid_size + 2 + text_width(what);
	fputs(output_style(output, is_last ? STYLE_TITLE : STYLE_PLAIN), output->file);
	output_print_fitted(output, safe,
			    !output->width                               ? SIZE_MAX
			    : output->width > used + CHAIN_COMMAND_LEAST ? output->width - used
									 : CHAIN_COMMAND_LEAST);
	fputs(output_reset(output), output->file);
	output_print(output, STYLE_DIM, "  %s\n", what);
}

/* Prints the process and all its ancestors in the store, the oldest first. */
static int chain_show(const struct story *story, const struct subject *found)
{
	struct store_parameter parameters[] = QUERY_PARAMETERS_OF("process_id", found->id, found->host_id);
	struct rows chain = {0};
	int error = rows_load(&chain, &row_type_process, story->store, "ancestors", parameters);
	size_t shown = chain.count < CHAIN_MAX ? chain.count : CHAIN_MAX;

	if (error < 0)
		return error;
	output_print(story->output, STYLE_DIM, "  parents\n");
	for (size_t i = shown; i-- > 0;)
		parent_show(story, ROWS_ITEM(&chain, process, i), shown - 1 - i, i == 0);
	rows_free(&chain);
	return 0;
}

/* The devices that a process held, and what is known of its use of them. */
static void gpus_show(const struct story *story, struct store_result *row)
{
	int64_t busy_ns = result_integer(row, "gpu_busy_ns"), peak_bytes = result_integer(row, "gpu_peak_bytes");
	int64_t capacity_bytes = result_integer(row, "gpu_capacity_bytes");
	char text[512];
	size_t used;

	if (!result_text(row, "gpu"))
		return;
	used = (size_t)snprintf(text, sizeof(text), "%.256s: worked for it for %s", result_text(row, "gpu"),
				busy_ns == ROW_NULL ? "an unknown time" : units_duration(busy_ns, false));
	if (peak_bytes != ROW_NULL)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "; at most %s of memory",
					 units_bytes(peak_bytes, false));
	if (peak_bytes != ROW_NULL && capacity_bytes != ROW_NULL)
		snprintf(text + used, sizeof(text) - used, " of %s", units_bytes(capacity_bytes, false));
	point(story, "GPU", text);
}

static void process_show(const struct story *story, struct store_result *row)
{
	const char *rule = result_text(row, "rule");
	const char *ended = result_text(row, "ended");
	const char *began = store_result_get(row, "began").data;
	char where[SITE_RULES_WHERE_SIZE], command[4096], text[512];
	struct store_value arguments = store_result_get(row, "arguments");
	struct row_blob blob = {arguments.data, arguments.size};

	heading(story, "process", store_result_get(row, "id").integer, result_text(row, "program"));
	snprintf(text, sizeof(text), "%lld, start: %s, %s%s", (long long)store_result_get(row, "pid").integer,
		 strcmp(began, "found") == 0 ? "before the probe" : began, ended ? "end: " : "still running",
		 ended ? ended : "");
	point(story, "pid", text);
	point(story, "command", command_text(&blob, "its parent's, or unknown", true, command, sizeof(command)));
	gpus_show(story, row);
	point(story, "role", rules_role_meaning(store_result_get(row, "role").data));
	site_rules_where(story->rules, rule, where, sizeof(where));
	point(story, "rule", where);
	point(story, "tool", result_text(row, "tool_name"));
	point(story, "placement", result_text(row, "reason"));
	point(story, "task", result_text(row, "task_name"));
	if (story->label || result_text(row, "task_label"))
		point(story, "label", story->label ? story->label : result_text(row, "task_label"));
	point(story, "reason", result_text(row, "task_reason"));
	point(story, "run", result_text(row, "run_name"));
	point(story, "reason", result_text(row, "run_reason"));
	point(story, "figures", totals_meaning(store_result_get(row, "totals").data));
}

/* Prints the process that the row gives as ROLE_program, ROLE_pid and ROLE_rule, if any. */
static void relative_show(const struct story *story, struct store_result *row, const char *label, const char *role)
{
	char column[32], where[SITE_RULES_WHERE_SIZE], text[512];
	const char *program;

	snprintf(column, sizeof(column), "%s_program", role);
	program = result_text(row, column);
	if (!program)
		return;
	snprintf(column, sizeof(column), "%s_pid", role);
	snprintf(text, sizeof(text), "%s, pid %lld", program, (long long)store_result_get(row, column).integer);
	point(story, label, text);
	snprintf(column, sizeof(column), "%s_rule", role);
	site_rules_where(story->rules, result_text(row, column), where, sizeof(where));
	point(story, "its rule", where);
}

static void task_show(const struct story *story, struct store_result *row)
{
	struct store_value threads = store_result_get(row, "requested_thread_count");
	struct store_value limit = store_result_get(row, "core_limit_milli");
	struct store_value processors = store_result_get(row, "cpu_count");
	char text[64];

	heading(story, "task", store_result_get(row, "id").integer, result_text(row, "name"));
	point(story, "kind", result_text(row, "kind"));
	point(story, "reason", result_text(row, "reason"));
	if (store_result_get(row, "merged_into_id").type == STORE_VALUE_INTEGER)
		point(story, "merged", "it turned out to be part of another task");
	relative_show(story, row, "below", "orchestrator");
	relative_show(story, row, "root", "root");
	if (threads.type == STORE_VALUE_INTEGER) {
		snprintf(text, sizeof(text), "%lld requested by its options", (long long)threads.integer);
		point(story, "threads", text);
	}
	if (limit.type == STORE_VALUE_INTEGER && processors.type == STORE_VALUE_INTEGER) {
		snprintf(text, sizeof(text), "allowed %s of %lld", units_core_limit(limit.integer),
			 (long long)processors.integer);
		point(story, "cores", text);
	}
	point(story, "run", result_text(row, "run_name"));
	point(story, "reason", result_text(row, "run_reason"));
}

static void run_show(const struct story *story, struct store_result *row)
{
	const char *engine = result_text(row, "engine");
	const char *key = result_text(row, "run_key");

	heading(story, "run", store_result_get(row, "id").integer, result_text(row, "name"));
	point(story, "kind", result_text(row, "kind"));
	point(story, "reason", result_text(row, "reason"));
	if (engine && *engine)
		point(story, "engine", engine);
	if (key && *key)
		point(story, "key", key);
	relative_show(story, row, "below", "origin");
	relative_show(story, row, "root", "root");
}

/* ---- explaining -------------------------------------------------------------- */

static void (*const shows[SUBJECT_KIND_COUNT])(const struct story *story, struct store_result *row) = {
	[SUBJECT_RUN] = run_show,
	[SUBJECT_TASK] = task_show,
	[SUBJECT_PROCESS] = process_show,
};

static void subject_show(const struct story *story, enum subject_kind kind, struct store_result *row)
{
	struct output_flow flow;
	struct story flowing = *story;

	output_flow_begin(&flow, story->output);
	flowing.output = &flow.inner;
	shows[kind](&flowing, row);
	output_flow_end(&flow, POINT_COLUMNS);
}

/* Makes the label of a process's task, if the store has none: all tasks of the run decide it. */
static int label_make(struct store *store, struct store_result *row, struct report *report, const char **ret_label)
{
	int64_t run_id = result_integer(row, "run_id");
	const char *task_kind = result_text(row, "task_kind");
	const struct store_parameter parameters[] = {{"first_id", STORE_INTEGER, run_id, NULL},
						     {"last_id", STORE_INTEGER, run_id, NULL},
						     {"host", STORE_NULL, 0, NULL},
						     {"user_id", STORE_NULL, 0, NULL},
						     {0}};
	struct rows run = {0};
	int error;

	if (!task_kind || strcmp(task_kind, "main") == 0 || result_text(row, "task_label"))
		return 0;
	error = rows_load(&run, &row_type_run, store, "run", parameters);
	if (error == 0 && run.count > 0)
		error = report_load(report, store, run.items, false);
	if (error == 0 && run.count > 0)
		error = report_load_labels(report);
	if (error == 0)
		*ret_label = labels_find(&report->labels, result_integer(row, "task_id"));
	rows_free(&run);
	return error;
}

static int row_show(const struct story *story, const struct subject *found, struct store_result *row, json_t *array)
{
	struct story labelled = *story;
	struct report report = {0};
	int error = 0;

	if (found->kind == SUBJECT_PROCESS)
		error = label_make(story->store, row, &report, &labelled.label);
	if (error == 0 && array) {
		json_t *object = json_pack("{s:s}", "subject", subject_kind_name(found->kind));

		json_object_update_new(object, result_to_json(row));
		if (labelled.label)
			json_set_string(object, "task_label", labelled.label);
		json_array_append_new(array, object);
	} else if (error == 0) {
		subject_show(&labelled, found->kind, row);
	}
	report_free(&report);
	return error;
}

static int found_show(const struct story *story, const struct subject *found, json_t *array)
{
	struct store_result *result;
	int more, error = subject_ask(story->store, found, &result);

	if (error < 0)
		return error;
	more = store_result_next(result);
	if (more > 0)
		error = row_show(story, found, result, array);
	store_result_free(result);
	if (error < 0)
		return error;
	if (more > 0 && !array && found->kind == SUBJECT_PROCESS)
		return chain_show(story, found);
	return more < 0 ? more : 0;
}

/* The latest match is explained; the others are listed with the command that explains them. */
static void others_show(const struct story *story, const struct subject *found, size_t count)
{
	fputc('\n', story->output->file);
	output_print(story->output, STYLE_DIM, "Earlier matches:\n");
	for (size_t i = 1; i < count; i++)
		fprintf(story->output->file, "  tracer explain %s  (%s)\n", units_id(found[i].id, false),
			subject_kind_name(found[i].kind));
}

static int found_explain(const struct story *story, const struct subject *found, size_t count, json_t *array)
{
	int error = 0;

	for (size_t i = 0; i < (array ? count : 1) && error == 0; i++)
		error = found_show(story, &found[i], array);
	if (error == 0 && !array && count > 1)
		others_show(story, found, count);
	return error;
}

static int explain_show(struct view *view)
{
	const char *name = view->options->operands[0];
	struct subject found[SUBJECTS_MAX];
	size_t count = 0;
	struct rules *rules = site_rules_load(rules_directory); /* without them, no file:line */
	struct story story = {view->store, rules, &view->output, NULL};
	const struct store_parameter filter[] = {SOURCE_FILTER(view->options)};
	json_t *root = json_pack("{s:[]}", "explained");
	int error = subjects_find(view->store, name, filter, found, &count);

	if (error == 0 && count == 0)
		error = say("tracer explain: no process, task or run matches '%s': give a pid, an id or a name from "
			    "tracer show --processes",
			    name);
	else if (error == 0)
		error = found_explain(&story, found, count,
				      view->options->format ? json_object_get(root, "explained") : NULL);
	if (error == 0 && view->options->format)
		error = document_print(json_incref(root), "explained", NULL, view->options->format);
	json_decref(root);
	rules_free(rules);
	return error;
}

const struct verb verb_explain = {
	.name = "explain",
	.operands = "PROCESS|TASK|RUN",
	.operands_least = 1,
	.operands_most = 1,
	.summary = "explain how a process, task or run was classified",
	.description = "Shows which rule (or, if none matched, which step of the model) classified a\n"
		       "process and assigned it to its tool, task and run, and its parents up to where\n"
		       "the run began. The operand is a pid, the beginning of an id, or the name of a\n"
		       "run, task or program; if several match, the latest is explained and the others\n"
		       "are listed.",
	.options = option_specs,
	.examples = "  tracer explain 12345\n"
		    "  tracer explain samtools",
	.completion = "run",
	.show = explain_show,
};
