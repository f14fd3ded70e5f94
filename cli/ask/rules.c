/* tracer rules: checks a rules file, lists rules, tests them on a command. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analysis/query/command.h"
#include "analysis/query/rows.h"
#include "analysis/query/units.h"
#include "cli/options.h"
#include "cli/screen/table.h"
#include "cli/site_rules.h"
#include "common/redact/redact.h"
#include "common/text.h"

static const char *rules_directory, *directory;

static const struct option_spec option_specs[] = {
	{"rules", 'r', "DIR", "directory", "list, test: read site rules from DIR (" SITE_RULES_DEFAULT ")",
	 .text = &rules_directory},
	{"directory", 0, "DIR", "directory", "test: as if started in DIR", .text = &directory},
	OPTION_SPECS_OF_FORMAT,
	OPTION_SPECS_LAST,
};

static int check(const struct options *options)
{
	const char *path = options->operands[1];
	struct tree_error error;
	size_t count;
	char safe[sizeof(error.reason) * 4 + 1];
	int result = rules_check_file(path, &count, &error);

	if (result < 0 && result != -EINVAL)
		return say("tracer rules: %s: %s", path, strerror(-result));
	if (result < 0) {
		site_rules_say(&error);
		return VERB_FAILED;
	}
	text_escape(path, strlen(path), safe, sizeof(safe));
	if (options->format)
		document_print(json_pack("{s:I}", "rule_count", (json_int_t)count), NULL, NULL, options->format);
	else
		printf("%s: %zu rule%s, no errors\n", safe, count, count == 1 ? "" : "s");
	return VERB_OK;
}

static const struct table_column list_columns[] = {
	{"rule", TABLE_LEFT, 0, 0},
	{"role", TABLE_LEFT, 0, 1},
	{"where", TABLE_LEFT, 0, 2},
	{"matches", TABLE_LEFT, 20, 0},
};

static json_t *description_to_json(const struct rules_description *rule)
{
	json_t *object = json_object();

	json_set_string(object, "name", rule->name);
	json_set_string(object, "role", rules_role_text(rule->role));
	json_set_string(object, "file", rule->file);
	json_set_integer(object, "line", rule->line);
	json_set_string(object, "summary", rule->summary);
	return object;
}

static int list(const struct options *options, const struct rules *rules)
{
	struct table *table = table_new(list_columns, sizeof(list_columns) / sizeof(list_columns[0]));
	json_t *array = json_array();
	struct rules_description rule;
	struct output output;
	char where[320];
	int error = 0;

	for (size_t i = 0; rules_describe(rules, i, &rule); i++) {
		if (options->format) {
			json_array_append_new(array, description_to_json(&rule));
			continue;
		}
		snprintf(where, sizeof(where), "%s:%u", rule.file, rule.line);
		table_add_name(table, STYLE_TITLE, "", rule.name);
		table_add(table, STYLE_PLAIN, rules_role_text(rule.role));
		table_add_name(table, STYLE_DIM, "", where);
		table_add_name(table, STYLE_PLAIN, "", rule.summary);
	}
	output_init(&output, stdout, options->color);
	if (options->format)
		error = document_print(json_pack("{s:O}", "rules", array), "rules", NULL, options->format);
	else
		error = table_print(table, &output, NULL);
	json_decref(array);
	table_free(table);
	return error < 0 ? VERB_FAILED : VERB_OK;
}

/* ---- test -------------------------------------------------------------------- */

static void print_field(const char *label, const char *value)
{
	char safe[4 * RULES_NAME_MAX + 1];

	if (!*value)
		return;
	text_escape(value, strlen(value), safe, sizeof(safe));
	printf("  %-12s %s\n", label, safe);
}

/* Sets `ret_stored` to the arguments as a correlator would store them by default; the caller frees the data. */
static int arguments_redact(const struct rules *rules, const struct rules_subject *subject, struct row_blob *ret_stored)
{
	size_t size = 0, stored_size = 0;
	char *raw, *end, *stored;
	uint32_t count;
	int error;

	for (size_t i = 0; i < subject->argc; i++)
		size += strlen(subject->argv[i]) + 1;
	raw = end = malloc(size);
	if (!raw)
		return -ENOMEM;
	for (size_t i = 0; i < subject->argc; i++)
		end = stpcpy(end, subject->argv[i]) + 1;
	error = redact_arguments(rules_secrets(rules), REDACT_SECRETS, raw, size, false, &stored, &stored_size, &count);
	free(raw);
	if (error == 0)
		*ret_stored = (struct row_blob){stored, stored_size};
	return error;
}

static void print_class(const struct rules *rules, const struct rules_class *class, const char *stored)
{
	char where[SITE_RULES_WHERE_SIZE], threads[16] = "";

	site_rules_where(rules, class->rule, where, sizeof(where));
	if (class->requested_thread_count > 0)
		snprintf(threads, sizeof(threads), "%u", class->requested_thread_count);
	const char *const fields[][2] = {
		/* clang-format off */
		{"name", class->name}, {"role", rules_role_text(class->role)}, {"rule", where},
		{"rank", class->role != RULES_ROLE_ORCHESTRATOR ? "" :
			 class->rank == RULES_RANK_WORKFLOW ? "workflow engine" : "parallel (make, xargs, ...)"},
		{"engine", class->engine}, {"run name", class->run_name}, {"run key", class->run_key},
		{"task name", class->task_name}, {"task label", class->task_label}, {"sample", class->sample},
		{"threads", threads},
		/* clang-format on */
		{"interactive", class->interactive ? "yes: its jobs are runs" : ""},
#define X(NAME, key, meaning) {"trait", class->traits & RULES_##NAME ? key ": " meaning : ""},
		RULES_TRAITS(X)
#undef X
			{"stored", stored},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		print_field(fields[i][0], fields[i][1]);
}

static int print_document(const struct rules_class *class, const char *stored, enum format format)
{
	const char *const fields[][2] = {
		/* clang-format off */
		{"name", class->name}, {"role", rules_role_text(class->role)}, {"rule", class->rule},
		{"engine", class->engine}, {"run_name", class->run_name}, {"run_key", class->run_key},
		{"task_name", class->task_name}, {"task_label", class->task_label}, {"sample", class->sample},
		{"stored", stored},
		/* clang-format on */
	};
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		json_set_string(object, fields[i][0], fields[i][1]);
	json_object_update_new(object, json_pack("{s:i, s:b, s:b, s:b}", "rank", class->rank, "interactive",
						 class->interactive, "nested", class->nested, "housekeeping",
						 (class->traits & RULES_HOUSEKEEPING) != 0));
	json_set_integer(object, "requested_thread_count",
			 class->requested_thread_count ? (int64_t) class->requested_thread_count : ROW_NULL);
	return document_print(object, NULL, NULL, format);
}

static int test(const struct options *options, const struct rules *rules)
{
	char working_directory[4096] = "", stored[RULES_NAME_MAX];
	struct row_blob arguments;
	struct rules_subject subject = {
		.path = options->operands[1],
		.argc = options->operand_count - 1,
		.argv = (const char *const *)options->operands + 1,
		.cgroup = "",
	};
	struct rules_class class;

	if (!directory && !getcwd(working_directory, sizeof(working_directory)))
		working_directory[0] = '\0';
	subject.working_directory = directory ? directory : working_directory;
	rules_classify(rules, &subject, &class);
	if (arguments_redact(rules, &subject, &arguments) < 0)
		return say("tracer rules: out of memory");
	command_text(&arguments, "", true, stored, sizeof(stored));
	free((void *)arguments.data);
	if (options->format)
		return print_document(&class, stored, options->format) < 0 ? VERB_FAILED : VERB_OK;
	print_class(rules, &class, stored);
	return VERB_OK;
}

/* ---- the verb ---------------------------------------------------------------- */

static int with_rules(const struct options *options,
		      int (*act)(const struct options *options, const struct rules *rules))
{
	struct rules *rules = site_rules_load(rules_directory);
	int status = rules ? act(options, rules) : VERB_FAILED;

	rules_free(rules);
	return status;
}

static int rules_main(const struct options *options)
{
	const char *action = options->operands[0];

	if (strcmp(action, "check") == 0)
		return options->operand_count == 2 ? check(options) : options_misuse(options, "check takes a FILE");
	if (strcmp(action, "list") == 0)
		return options_check_most(options, 1) ? VERB_USAGE : with_rules(options, list);
	if (strcmp(action, "test") != 0)
		return options_misuse(options, "unknown action '%s': use check, list or test", action);
	return options->operand_count > 1 ? with_rules(options, test)
					  : options_misuse(options, "test takes a COMMAND: rules test -- COMMAND...");
}

const struct verb verb_rules = {
	.name = "rules",
	.operands = "check FILE | list | test -- COMMAND...",
	.operands_least = 1,
	.operands_most = SIZE_MAX,
	.summary = "check, list or test the classification rules",
	.description = "check FILE        checks a rules file and its examples; shows file, line, reason\n"
		       "list              lists all rules in the order in which they are tried\n"
		       "test -- COMMAND   shows how a command is classified (role, name, rule), and\n"
		       "                  how its arguments are stored, without secrets\n"
		       "\n"
		       "Rules only refine names and boundaries: a program that no rule matches is a tool\n"
		       "of that name. Put your own into " SITE_RULES_DEFAULT "/NAME.yaml;\n"
		       "docs/rules.md describes their format.",
	.options = option_specs,
	.examples = "  tracer rules check site.yaml\n"
		    "  tracer rules test -- java -jar picard.jar MarkDuplicates I=a.bam",
	.completion = "check list test",
	.main = rules_main,
};
