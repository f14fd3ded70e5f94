/* tracer query NAME: asks a question, shipped or a site's. Its help and options are derived from its
 * header. */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analysis/query/catalogue.h"
#include "cli/report/answer.h"
#include "cli/screen/table.h"
#include "cli/site_rules.h"
#include "cli/source.h"

#define OPTION_NAME_BYTES 64
#define DESCRIPTION_BYTES 16384
#define COLUMN_NAME_WIDTH 24

/* The question and its parameters. */
static struct ask {
	struct catalogue *catalogue;
	const struct question *question; /* NULL if none is named */
	bool list;
	const char *directory;
	const char *given[QUESTION_PARAMETERS_MAX];                /* as written, or NULL */
	struct store_parameter bound[QUESTION_PARAMETERS_MAX + 2]; /* a run is two; NULL-terminated */
	size_t bound_count;
	struct rows run;
} ask;

static int param_take(const struct options *options, const char *text);

static const struct option_spec option_specs[] = {
	{"list", 'l', NULL, NULL, "list the questions", .flag = &ask.list},
	{"param", 0, "NAME=VALUE", NULL, "set a parameter; same as --NAME VALUE", .take = param_take},
	{"queries", 0, "DIR", "directory", "read site questions from DIR (" SITE_QUERIES_DEFAULT ")",
	 .text = &ask.directory},
	OPTION_SPECS_OF_VIEW,
};

#define SHARED_COUNT (sizeof(option_specs) / sizeof(option_specs[0]))

/* ---- which question ------------------------------------------------------------- */

/* Whether the next word is this option's value. Unknown options are taken for parameters of a question. */
static bool takes_next(const char *word)
{
	const struct option_spec *spec = option_find(option_specs, word);

	if (strchr(word, '=') || strcmp(word, "--") == 0)
		return false;
	return word[1] == '-' ? !spec || spec->argument : spec && spec->argument && !word[2];
}

/* Finds the question's name before options are parsed: the question determines the options. */
static const char *name_find(int argc, char **argv, const char **ret_directory)
{
	const char *name = NULL;

	for (int i = 1; i < argc; i++) {
		if (*argv[i] != '-') {
			name = name ? name : argv[i];
			continue;
		}
		if (strncmp(argv[i], "--queries=", strlen("--queries=")) == 0)
			*ret_directory = argv[i] + strlen("--queries=");
		if (strcmp(argv[i], "--queries") == 0 && i + 1 < argc)
			*ret_directory = argv[i + 1];
		i += takes_next(argv[i]);
	}
	return name;
}

/* ---- the verb of one question ---------------------------------------------------- */

struct question_verb {
	struct verb verb;
	struct option_spec specs[QUESTION_PARAMETERS_MAX + SHARED_COUNT];
	char name[QUESTION_NAME_MAX + sizeof("query ")];
	char arguments[QUESTION_PARAMETERS_MAX][16];
	char options[QUESTION_PARAMETERS_MAX][OPTION_NAME_BYTES], helps[QUESTION_PARAMETERS_MAX][512];
	char description[DESCRIPTION_BYTES];
};

static const char *preset_text(const struct question_field *parameter, char *text, size_t capacity)
{
	if (!parameter->preset)
		snprintf(text, capacity, "; required");
	else if (strcmp(parameter->preset, "none") == 0)
		*text = '\0';
	else
		snprintf(text, capacity, " (%s%s%s)", parameter->preset, parameter->source ? ", " : "",
			 parameter->source ? parameter->source : "");
	return text;
}

static const char *upper_case(const char *text, char ret_text[16])
{
	size_t size = 0;

	for (; size < 15 && text[size]; size++)
		ret_text[size] = (char)toupper((unsigned char)text[size]);
	ret_text[size] = '\0';
	return ret_text;
}

static void description_write(FILE *file, const struct question *question)
{
	fprintf(file, "%s\n\n%s\n\nColumns:", question->title, question->explanation);
	for (size_t i = 0; i < question->column_count; i++)
		fprintf(file, "\n  %-*s %s", COLUMN_NAME_WIDTH, question->columns[i].name,
			question->columns[i].meaning);
	if (question->relation)
		fprintf(file, "\nJSON and CSV also have all columns of %s (docs/model.md).", question->relation);
	if (question->of_account)
		fprintf(file, "\n\nOnly tracer tune asks this; its --set sets a threshold.");
	if (question->file)
		fprintf(file, "\n\nThis question is from %s.", question->file);
}

static void verb_make(struct question_verb *made, const struct verb *verb, const struct question *question)
{
	FILE *file = fmemopen(made->description, sizeof(made->description), "w");
	char preset[256];

	for (size_t i = 0; i < question->parameter_count; i++) {
		const struct question_field *parameter = &question->parameters[i];

		question_field_title(parameter, '-', made->options[i], sizeof(made->options[i]));
		snprintf(made->helps[i], sizeof(made->helps[i]), "%s%s", parameter->meaning,
			 preset_text(parameter, preset, sizeof(preset)));
		made->specs[i] = (struct option_spec){
			.name = made->options[i],
			.help = made->helps[i],
			.text = &ask.given[i],
			.argument = upper_case(question_type_name(parameter->type), made->arguments[i]),
			.values = parameter->type == QUESTION_RUN    ? "run"
				  : parameter->type == QUESTION_USER ? "user"
								     : NULL,
		};
	}
	memcpy(&made->specs[question->parameter_count], option_specs, sizeof(option_specs));
	snprintf(made->name, sizeof(made->name), "query %s", question->name);
	if (file) {
		description_write(file, question);
		fclose(file);
	}
	made->verb = *verb;
	made->verb.name = made->name;
	made->verb.operands = made->verb.examples = NULL;
	made->verb.description = made->description;
	made->verb.options = made->specs;
}

/* ---- parameters ------------------------------------------------------------------ */

/* Sets NAME=VALUE, named as in the query or as an option. Returns 0, or VERB_USAGE after printing an error. */
static int param_take(const struct options *options, const char *text)
{
	const struct question *question = ask.question;
	size_t size = strcspn(text, "=");

	if (!question)
		return options_misuse(options, "--param sets a parameter of a question: name one (--list)");
	if (!text[size])
		return options_misuse(options, "--param takes NAME=VALUE, not '%s'", text);
	for (size_t i = 0; i < question->parameter_count; i++) {
		const char *name = question->parameters[i].name;
		char option[OPTION_NAME_BYTES];

		question_field_title(&question->parameters[i], '-', option, sizeof(option));
		if ((strlen(name) == size && strncmp(name, text, size) == 0) ||
		    (strlen(option) == size && strncmp(option, text, size) == 0)) {
			ask.given[i] = text + size + 1;
			return 0;
		}
	}
	return options_misuse(options, "%s has no parameter '%.*s'", question->name, (int)size, text);
}

/* Binds the given values, else the defaults. Returns 0, or VERB_USAGE after printing an error. */
static int parameters_bind(const struct options *options)
{
	const struct question *question = ask.question;

	for (size_t i = 0; i < question->parameter_count; i++) {
		const struct question_field *parameter = &question->parameters[i];
		const char *text = ask.given[i] ? ask.given[i] : parameter->preset;
		char option[OPTION_NAME_BYTES];

		question_field_title(parameter, '-', option, sizeof(option));
		if (!text)
			return options_misuse(options, "--%s is required: %s", option,
					      question_type_example(parameter->type));
		if (question_parse_value(parameter, text, &ask.bound[ask.bound_count++]) < 0)
			return options_misuse(options, "--%s takes %s, not '%s'", option,
					      question_type_example(parameter->type), text);
	}
	return 0;
}

static bool question_has_host(const struct question *question)
{
	size_t size;

	for (const char *at = question->sql; (at = store_next_parameter(at, &size)); at += size)
		if (size == strlen("host_id") && strncmp(at, "host_id", size) == 0)
			return true;
	return false;
}

/* Replaces a run's name by its id and that of its host. Returns as source_find_run() does. */
static int run_bind(struct store *store)
{
	for (size_t i = 0; i < ask.question->parameter_count; i++) {
		struct store_parameter *bound = &ask.bound[i];
		const struct row_run *run;
		int error;

		if (ask.question->parameters[i].type != QUESTION_RUN || bound->type == STORE_NULL)
			continue;
		error = source_find_run(store, NULL, bound->text, &ask.run);
		if (error)
			return error;
		run = ROWS_ITEM(&ask.run, run, 0);
		*bound = (struct store_parameter){bound->name, STORE_INTEGER, run->id};
		if (question_has_host(ask.question))
			ask.bound[ask.bound_count++] = (struct store_parameter){"host_id", STORE_INTEGER, run->host_id};
	}
	return 0;
}

/* ---- asking ---------------------------------------------------------------------- */

/* The value of a parameter limit, 0 if the question has none. */
static int64_t limit_of(const struct store_parameter *bound)
{
	for (; bound->name; bound++)
		if (strcmp(bound->name, "limit") == 0)
			return bound->integer;
	return 0;
}

static int ask_question(struct view *view)
{
	enum format format = view->options->format;
	struct answer answer = {ask.question, ask.bound, NULL, format, view->options->raw};
	size_t row_count = 0;
	int error = run_bind(view->store);

	if (error == 0)
		error = question_ask(ask.question, view->store, ask.bound, &answer.result);
	if (error == 0)
		error = answer_print(&answer, &view->output, &row_count);
	if (error == -EFBIG)
		error = say("tracer query: more than %d rows: narrow the query, or use --format csv or ndjson",
			    ANSWER_TABLE_ROWS_MAX);
	else if (error == 0 && row_count == 0 && format == FORMAT_TABLE)
		say("tracer query: no matching rows");
	else if (error == 0 && row_count > 0 && (int64_t)row_count == limit_of(ask.bound))
		say("%zu rows, as many as --limit allows: a larger one shows more", row_count);
	store_result_free(answer.result);
	rows_free(&ask.run);
	return error;
}

/* ---- the list -------------------------------------------------------------------- */

static int list_document(const struct catalogue *catalogue, enum format format)
{
	return document_print(json_pack("{s:o}", "queries", catalogue_to_json(catalogue)), "queries", NULL, format);
}

static int list_table(const struct catalogue *catalogue, const struct output *output)
{
	static const struct table_column columns[] = {
		{"query", TABLE_LEFT, 0, 0},
		{"title", TABLE_LEFT, 40, 0},
		{"from", TABLE_LEFT, 0, 1, true},
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	const struct question *question;

	for (size_t i = 0; (question = catalogue_get(catalogue, i)); i++) {
		if (question->of_account)
			continue;
		table_add(table, STYLE_TITLE, question->name);
		table_add_name(table, STYLE_PLAIN, "", question->title);
		table_add_name(table, STYLE_DIM, "", question->file ? question->file : "");
	}
	return table_finish(table, output);
}

static int list(const struct options *options)
{
	struct output output;
	int error;

	output_init(&output, stdout, options->color);
	error = options->format ? list_document(ask.catalogue, options->format) : list_table(ask.catalogue, &output);
	return error < 0 ? VERB_FAILED : VERB_OK;
}

/* ---- the verb -------------------------------------------------------------------- */

static const struct verb *question_choose(const struct verb *verb, int argc, char **argv)
{
	static struct question_verb own;
	const char *directory = NULL, *name = name_find(argc, argv, &directory);

	ask.catalogue = site_queries_load(directory);
	if (!ask.catalogue)
		return NULL;
	ask.question = name ? catalogue_find(ask.catalogue, name) : NULL;
	if (ask.question)
		verb_make(&own, verb, ask.question);
	return ask.question ? &own.verb : verb;
}

static void names_offer(void)
{
	const struct question *question;

	for (size_t i = 0; (question = catalogue_get(ask.catalogue, i)); i++)
		if (!question->of_account)
			printf("%s\t%s\n", question->name, question->title);
}

static int answer(const struct options *options)
{
	if (ask.list)
		return options_check_most(options, 0) ? VERB_USAGE : list(options);
	if (!ask.question && options->operand_count > 0)
		return options_misuse(options, "unknown question '%s': see tracer query --list", options->operands[0]);
	if (!ask.question)
		return options_misuse(options, "missing question: see tracer query --list");
	if (ask.question->of_account)
		return options_misuse(options, "%s is not a query: ask tracer tune", ask.question->name);
	if (options_check_most(options, 1) || parameters_bind(options))
		return VERB_USAGE;
	return source_show(options, ask_question);
}

static int query_main(const struct options *options)
{
	int status = answer(options);

	catalogue_free(ask.catalogue);
	return status;
}

const struct verb verb_query = {
	.name = "query",
	.operands = "[NAME]",
	.operands_most = SIZE_MAX,
	.summary = "ask one of the shipped or site-defined questions",
	.description = "Asks the question NAME; --list shows all of them. Its parameters are options;\n"
		       "tracer query NAME --help describes them and the answer. A question is one SQL\n"
		       "file with a header; put your own into\n" SITE_QUERIES_DEFAULT "/NAME.sql (docs/queries.md).",
	.options = option_specs,
	.examples = "  tracer query --list\n"
		    "  tracer query processes --run latest --format csv",
	.completion = "query",
	.offer = names_offer,
	.choose = question_choose,
	.main = query_main,
};
