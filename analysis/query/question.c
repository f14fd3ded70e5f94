/* Questions: parses their headers and checks them against their text. See question.h. */
#include "analysis/query/question.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"
#include "common/text.h"

#define TITLE_BYTES_MAX 100

static const struct {
	const char *name, *suffix, *unit;
} types[] = {
#define T(NAME, name, suffix, unit) {name, suffix, unit},
	QUESTION_TYPES(T)
#undef T
};

const char *question_type_name(enum question_type type)
{
	return types[type].name;
}

const char *question_type_unit(enum question_type type)
{
	return types[type].unit;
}

static bool ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);

	return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

/* The name "unix_ns" has the suffix "_unix_ns", too. */
static bool has_suffix(const char *name, const char *suffix)
{
	return suffix && (ends_with(name, suffix) || strcmp(name, suffix + (*suffix == '_')) == 0);
}

enum question_type question_type_of(const char *column)
{
	for (size_t i = 0; i < QUESTION_TYPE_COUNT; i++)
		if (i != QUESTION_RUN && has_suffix(column, types[i].suffix))
			return (enum question_type)i;
	return identity_is_column(column) ? QUESTION_ID : QUESTION_TYPE_COUNT;
}

const char *question_field_title(const struct question_field *field, char separator, char *text, size_t capacity)
{
	const char *suffix = types[field->type].suffix;
	bool is_id = field->type == QUESTION_ID || field->type == QUESTION_RUN || field->type == QUESTION_USER;
	size_t size = strlen(field->name);

	suffix = is_id ? "_id" : field->type == QUESTION_SHARE ? NULL : suffix; /* a share of something else */
	if (suffix && ends_with(field->name, suffix) && size > strlen(suffix))
		size -= strlen(suffix);
	snprintf(text, capacity, "%.*s", (int)size, field->name);
	if (suffix && strcmp(field->name, suffix + 1) == 0 && !is_id)
		snprintf(text, capacity, "%s", types[field->type].name);
	for (char *at = text; (at = strchr(at, '_')); at++)
		*at = separator;
	return text;
}

static const struct question_field *column_find(const struct question *question, const char *name, size_t size)
{
	for (size_t i = 0; i < question->column_count; i++)
		if (strlen(question->columns[i].name) == size && strncmp(question->columns[i].name, name, size) == 0)
			return &question->columns[i];
	return NULL;
}

const struct question_field *question_column(const struct question *question, const char *name)
{
	return column_find(question, name, strlen(name));
}

/* ---- reading the header -------------------------------------------------------- */

struct reader {
	struct question *question;
	struct tree_error *error;
	unsigned line;
	const char *saving, *subject, *impact; /* of a finding; their columns may be declared later */
	unsigned subject_line, impact_line;
};

/* Text quoted from the file is untrusted, so it is escaped. */
__attribute__((format(printf, 2, 3))) static int refuse(struct reader *reader, const char *format, ...)
{
	char raw[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	reader->error->line = reader->line;
	text_escape(raw, strlen(raw), reader->error->reason, sizeof(reader->error->reason));
	return -EINVAL;
}

static bool is_name(const char *text)
{
	size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return islower((unsigned char)*text) && !text[size] && size <= QUESTION_NAME_MAX;
}

/* Strips spaces from both ends. */
static char *trim(char *text)
{
	char *end;

	text += strspn(text, " ");
	end = text + strlen(text);
	while (end > text && end[-1] == ' ')
		end--;
	*end = '\0';
	return text;
}

/* Returns the text before `mark`, trimmed; sets `*text` to what follows, or NULL if there is no mark. */
static char *take(char **text, const char *mark)
{
	char *begin = *text, *found = begin ? strstr(begin, mark) : NULL;

	*text = found ? found + strlen(mark) : NULL;
	if (found)
		*found = '\0';
	return begin ? trim(begin) : NULL;
}

static int type_find(const char *name, enum question_type *ret_type)
{
	for (size_t i = 0; i < QUESTION_TYPE_COUNT; i++) {
		if (strcmp(types[i].name, name) != 0)
			continue;
		*ret_type = (enum question_type)i;
		return 0;
	}
	return -ENOENT;
}

/* Whether a name's suffix agrees with the type. */
static bool type_fits(const char *name, enum question_type type, bool is_parameter)
{
	enum question_type implied = question_type_of(name);

	if (implied == type || (type == QUESTION_TEXT && implied == QUESTION_ID))
		return true;
	if (type == QUESTION_RUN)
		return is_parameter && strcmp(name, "run_id") == 0;
	return implied == QUESTION_TYPE_COUNT && !types[type].suffix && type != QUESTION_ID &&
	       !(is_parameter && type == QUESTION_ARGUMENTS);
}

/* Parses "NAME TYPE" in `head`. */
static int field_read(struct reader *reader, struct question_field *fields, size_t *count, size_t most, char *head,
		      struct question_field field)
{
	bool is_parameter = fields == reader->question->parameters;
	const char *type;

	field.name = take(&head, " ");
	type = head ? trim(head) : "";
	if (*count == most)
		return refuse(reader, "more than %zu of this kind", most);
	if (!is_name(field.name))
		return refuse(reader, "'%.64s' is not a valid name: use lowercase letters, digits and _", field.name);
	if (type_find(type, &field.type) < 0)
		return refuse(reader, "unknown type '%.32s' (docs/queries.md)", type);
	if (!type_fits(field.name, field.type, is_parameter))
		return refuse(reader,
			      "%s is not a valid name for a %s: the suffix must match the unit (docs/queries.md)",
			      field.name, type);
	for (size_t i = 0; i < *count; i++)
		if (strcmp(fields[i].name, field.name) == 0)
			return refuse(reader, "%s is declared twice", field.name);
	if (!field.meaning || !*field.meaning)
		return refuse(reader, "%s has no meaning: expected NAME TYPE; MEANING", field.name);
	fields[(*count)++] = field;
	return 0;
}

/* NAME TYPE [= DEFAULT]; MEANING[; source: SOURCE] */
static int parameter_read(struct reader *reader, char *value)
{
	struct question *question = reader->question;
	struct question_field field = {.source = NULL};
	struct store_parameter bound;
	char *head = take(&value, ";"), *meaning = value, *preset;
	int error;

	preset = head;
	head = take(&preset, "=");
	field.preset = preset ? trim(preset) : NULL;
	value = meaning;
	field.meaning = take(&value, "; source:");
	field.source = value ? trim(value) : NULL;
	error = field_read(reader, question->parameters, &question->parameter_count, QUESTION_PARAMETERS_MAX, head,
			   field);
	if (error == 0 && field.preset &&
	    question_parse_value(&question->parameters[question->parameter_count - 1], field.preset, &bound) < 0)
		return refuse(reader, "'%.64s' is not a valid default for this type", field.preset);
	return error;
}

/* NAME TYPE[?]; MEANING */
static int column_read(struct reader *reader, char *value)
{
	struct question *question = reader->question;
	struct question_field field = {.source = NULL};
	char *head = take(&value, ";"), *after = head;

	head = take(&after, "?");
	if (after && *trim(after))
		return refuse(reader, "'%.32s' follows the ?: expected NAME TYPE?; MEANING", trim(after));
	field.is_optional = after;
	field.meaning = value ? trim(value) : NULL;
	return field_read(reader, question->columns, &question->column_count, QUESTION_COLUMNS_MAX, head, field);
}

static int once(struct reader *reader, const char **text, char *value)
{
	if (*text)
		return refuse(reader, "specified twice");
	if (!*value)
		return refuse(reader, "is empty");
	*text = value;
	return 0;
}

static int saving_read(struct reader *reader, char *value)
{
	static const char *const names[] = {QUESTION_SAVINGS(TEXT_OF)};

	for (size_t i = 0; i < QUESTION_SAVING_COUNT; i++)
		if (strcmp(value, names[i]) == 0) {
			reader->question->finding.saving = (enum question_saving)i;
			return once(reader, &reader->saving, value);
		}
	return refuse(reader, "saving: expected most, least or beyond");
}

static int entry_take(struct reader *reader, const char *key, char *value)
{
	struct question *question = reader->question;

	if (strcmp(key, "title") == 0 && strlen(value) > TITLE_BYTES_MAX)
		return refuse(reader, "the title is longer than %d bytes", TITLE_BYTES_MAX);
	if (strcmp(key, "title") == 0)
		return once(reader, &question->title, value);
	if (strcmp(key, "explanation") == 0)
		return once(reader, &question->explanation, value);
	if (strcmp(key, "columns") == 0)
		return is_name(value) ? once(reader, &question->relation, value)
				      : refuse(reader, "columns: expected the name of a view");
	if (strcmp(key, "finding") == 0)
		return strcmp(value, "tune") == 0 || strcmp(value, "sweep") == 0 || strcmp(value, "top") == 0
			       ? once(reader, &question->finding.kind, value)
			       : refuse(reader, "finding: expected tune, sweep or top");
	if (strcmp(key, "rows") == 0) {
		question->of_account = strcmp(value, "account") == 0 && !question->file;
		return question->of_account ? 0 : refuse(reader, "rows: only for findings that Tracer ships");
	}
	if (strcmp(key, "needs") == 0) /* see STORE_NEEDS_ALL_LINE */
		return strcmp(value, "all users") == 0 && !question->file
			       ? 0
			       : refuse(reader, "needs: only for questions that Tracer ships");
	if (strcmp(key, "sentence") == 0)
		return once(reader, &question->finding.sentence, value);
	if (strcmp(key, "advice") == 0)
		return once(reader, &question->finding.advice, value);
	if (strcmp(key, "saving") == 0)
		return saving_read(reader, value);
	if (strcmp(key, "subject") == 0) {
		reader->subject_line = reader->line;
		return once(reader, &reader->subject, value);
	}
	if (strcmp(key, "impact") == 0) {
		reader->impact_line = reader->line;
		return once(reader, &reader->impact, value);
	}
	if (strcmp(key, "parameter") == 0)
		return parameter_read(reader, value);
	if (strcmp(key, "column") == 0)
		return column_read(reader, value);
	if (strcmp(key, "replaces") != 0)
		return refuse(reader, "unknown key '%.32s'", key);
	if (strcmp(value, question->name) != 0)
		return refuse(reader, "replaces: a question can only replace the shipped one of the same name");
	question->replaces = true;
	return 0;
}

/* Returns a header line without its "-- ", NUL-terminated, or NULL if it is not one. */
static char *line_take(char **text, char *end)
{
	char *line = *text, *newline;

	if (line >= end || strncmp(line, "--", 2) != 0)
		return NULL;
	newline = strchrnul(line, '\n');
	*text = *newline ? newline + 1 : newline;
	*newline = '\0';
	line += 2;
	return *line == ' ' ? line + 1 : line;
}

/* Indented lines continue the previous one. They are appended to it in place, over the "-- ". */
static void continuations_take(struct reader *reader, char **text, char *end, char *value, bool keeps_lines)
{
	size_t used = strlen(value), size;

	while (*text < end && (strncmp(*text, "--  ", 4) == 0 || (keeps_lines && strncmp(*text, "--\n", 3) == 0))) {
		char *more = line_take(text, end);

		reader->line++;
		more += strspn(more, " ");
		size = strlen(more);
		value[used++] = keeps_lines ? '\n' : ' ';
		memmove(value + used, more, size + 1);
		used += size;
	}
}

static int header_read(struct reader *reader, char *text, char *end)
{
	char *line, *value;
	int error = 0;

	for (reader->line = 1; error == 0 && (line = line_take(&text, end)); reader->line++) {
		unsigned begin = reader->line;

		value = line;
		if (!strchr(line, ':') || *line == ' ')
			return refuse(reader, "expected `-- KEY: VALUE`, or an indented continuation line");
		line = take(&value, ":");
		continuations_take(reader, &text, end, value, strcmp(line, "explanation") == 0);
		value = trim(value);
		unsigned last = reader->line;

		reader->line = begin;
		error = entry_take(reader, line, value);
		if (error == 0)
			reader->line = last;
	}
	return error;
}

/* ---- the header against the text ----------------------------------------------- */

static const struct question_field *parameter_find(const struct question *question, const char *name, size_t size)
{
	for (size_t i = 0; i < question->parameter_count; i++) {
		const struct question_field *field = &question->parameters[i];

		if (strlen(field->name) == size && strncmp(field->name, name, size) == 0)
			return field;
		if (field->type == QUESTION_RUN && size == strlen("host_id") && strncmp("host_id", name, size) == 0)
			return field;
	}
	return NULL;
}

static unsigned line_of(const struct question *question, const char *at)
{
	unsigned line = 1;

	for (const char *text = question->sql; text < at; text++)
		line += *text == '\n';
	return line;
}

static bool parameter_is_used(const struct question *question, const char *name)
{
	size_t size;

	for (const char *at = question->sql; (at = store_next_parameter(at, &size)); at += size)
		if (strlen(name) == size && strncmp(at, name, size) == 0)
			return true;
	return false;
}

static int parameters_check(struct reader *reader)
{
	const struct question *question = reader->question;
	size_t size;

	for (const char *at = question->sql; (at = store_next_parameter(at, &size)); at += size) {
		reader->line = line_of(question, at);
		if (!parameter_find(question, at, size))
			return refuse(reader, ":%.*s is not declared", (int)(size < 64 ? size : 64), at);
	}
	reader->line = 1;
	for (size_t i = 0; i < question->parameter_count; i++)
		if (!question->of_account && !parameter_is_used(question, question->parameters[i].name))
			return refuse(reader, "the parameter %s is declared but never used",
				      question->parameters[i].name);
	return 0;
}

/* Checks the columns in braces. */
static int template_check(struct reader *reader, const char *key, const char *text)
{
	while ((text = strchr(text, '{'))) {
		size_t size = strcspn(++text, "}");

		if (!text[size] || !column_find(reader->question, text, size))
			return refuse(reader, "%s: {%.*s} is not a declared column", key, (int)(size < 64 ? size : 64),
				      text);
	}
	return 0;
}

static const enum question_type impact_types[] = {
	[QUESTION_SAVES_WALL] = QUESTION_DURATION,
	[QUESTION_SAVES_CPU] = QUESTION_DURATION,
	[QUESTION_SAVES_MEMORY] = QUESTION_BYTE_SECONDS,
	[QUESTION_SAVES_GPU] = QUESTION_DURATION,
};

/* KIND = COLUMN, ... */
static int impact_read(struct reader *reader, const char *text)
{
	static const char *const names[] = {QUESTION_IMPACTS(TEXT_OF)};
	struct question_finding *finding = &reader->question->finding;

	for (;;) {
		size_t kind_size = strcspn(text, " =,"), size, kind = 0;

		while (kind < QUESTION_IMPACT_COUNT &&
		       !(strlen(names[kind]) == kind_size && strncmp(names[kind], text, kind_size) == 0))
			kind++;
		text += kind_size;
		text += strspn(text, " ");
		if (kind == QUESTION_IMPACT_COUNT || *text != '=' || finding->impacts[kind])
			return refuse(reader,
				      "impact: expected KIND = COLUMN, ... with wall, cpu, memory or gpu, each once");
		text += 1 + strspn(text + 1, " ");
		size = strcspn(text, " ,");
		finding->impacts[kind] = column_find(reader->question, text, size);
		if (!finding->impacts[kind] || finding->impacts[kind]->type != impact_types[kind])
			return refuse(reader, "impact: '%.*s' is not a column that is a %s",
				      (int)(size < 64 ? size : 64), text, question_type_name(impact_types[kind]));
		text += size;
		text += strspn(text, " ");
		if (!*text)
			return 0;
		if (*text != ',')
			return refuse(reader, "impact: expected a comma, not '%.16s'", text);
		text += 1 + strspn(text + 1, " ");
	}
}

static int finding_check(struct reader *reader)
{
	struct question_finding *finding = &reader->question->finding;
	bool saves = finding->kind && strcmp(finding->kind, "top") != 0;
	int error = 0;

	if (!finding->kind)
		return finding->sentence || finding->advice || reader->subject || reader->impact || reader->saving
			       ? refuse(reader,
					"sentence, advice, subject, impact and saving belong to a finding: tune, sweep or top")
			       : 0;
	if (!finding->sentence || !finding->advice || !reader->subject || (saves && !reader->impact))
		return refuse(reader, "a finding needs sentence, advice, subject and impact");
	if (!saves && (reader->impact || reader->saving))
		return refuse(reader, "a finding of top has no impact and no saving");
	error = template_check(reader, "sentence", finding->sentence);
	if (error == 0)
		error = template_check(reader, "advice", finding->advice);
	reader->line = reader->subject_line;
	finding->subject = column_find(reader->question, reader->subject, strlen(reader->subject));
	if (error == 0 && !finding->subject)
		return refuse(reader, "subject: %.64s is not a declared column", reader->subject);
	reader->line = reader->impact_line;
	return error < 0 || !saves ? error : impact_read(reader, reader->impact);
}

/* What every finding of sweep says. These columns come first; a header declares one only to give it another meaning. */
static const struct question_field sweep_columns[] = {
	{"host_id", QUESTION_ID, .meaning = "the host"},
	{"hostname", QUESTION_TEXT, .meaning = "host name"},
	{"since_unix_ns", QUESTION_TIME, .meaning = "when it began"},
	{"until_unix_ns", QUESTION_TIME, .meaning = "when it ended, or was last seen"},
	{"is_now", QUESTION_FLAG, .meaning = "whether it went on when the host was last heard of"},
	{"certainty", QUESTION_TEXT, .meaning = "certain, or likely if something in that time was not seen"},
	{"run_id", QUESTION_ID, .meaning = "the run it is tied to; unknown if none"},
	{"run", QUESTION_TEXT, .meaning = "name of that run"},
};

#define SWEEP_COLUMN_COUNT (sizeof(sweep_columns) / sizeof(sweep_columns[0]))

static bool is_sweep_column(const char *name)
{
	for (size_t i = 0; i < SWEEP_COLUMN_COUNT; i++)
		if (strcmp(sweep_columns[i].name, name) == 0)
			return true;
	return false;
}

static int sweep_columns_add(struct reader *reader)
{
	struct question *question = reader->question;
	struct question_field columns[QUESTION_COLUMNS_MAX];
	size_t count = 0;

	for (; count < SWEEP_COLUMN_COUNT; count++) {
		const struct question_field *declared = question_column(question, sweep_columns[count].name);

		columns[count] = declared ? *declared : sweep_columns[count];
	}
	for (size_t i = 0; i < question->column_count; i++) {
		if (is_sweep_column(question->columns[i].name))
			continue;
		if (count == QUESTION_COLUMNS_MAX)
			return refuse(reader, "more than %d columns with those of sweep", QUESTION_COLUMNS_MAX);
		columns[count++] = question->columns[i];
	}
	memcpy(question->columns, columns, count * sizeof(*columns));
	question->column_count = count;
	return 0;
}

static int question_check(struct reader *reader)
{
	struct question *question = reader->question;
	int error = 0;

	reader->line = 1;
	if (question->finding.kind && strcmp(question->finding.kind, "sweep") == 0)
		error = sweep_columns_add(reader);
	if (error < 0)
		return error;
	if (!question->title || !question->explanation)
		return refuse(reader, "the header has no %s", question->title ? "explanation" : "title");
	if (question->column_count == 0)
		return refuse(reader, "the header declares no columns");
	error = parameters_check(reader);
	if (error == 0)
		error = finding_check(reader);
	return error;
}

static bool is_utf8(const char *text, size_t size)
{
	for (size_t i = 0, step; i < size; i += step)
		if (text[i] == '\0' || (step = text_utf8_size(text + i, size - i)) == 0)
			return false;
	return true;
}

static int memory_take(struct reader *reader, const char *name, const char *file, const char *text, size_t size)
{
	struct question *question = reader->question;
	size_t name_size = strlen(name) + 1, file_size = file ? strlen(file) + 1 : 0;
	char *memory;

	if (size > QUESTION_BYTES_MAX)
		return refuse(reader, "larger than %d bytes", QUESTION_BYTES_MAX);
	if (!is_utf8(text, size))
		return refuse(reader, "not UTF-8 text");
	question->memory = memory = malloc(name_size + file_size + 2 * (size + 1));
	if (!memory)
		return -ENOMEM;
	question->name = memcpy(memory, name, name_size);
	question->file = file ? memcpy(memory + name_size, file, file_size) : NULL;
	memory += name_size + file_size;
	question->sql = memcpy(memory, text, size);
	memory[size] = '\0';
	memory += size + 1;
	memcpy(memory, text, size); /* parsed in place for the header */
	memory[size] = '\0';
	return header_read(reader, memory, memory + size);
}

int question_parse(const char *name, const char *file, const char *text, size_t size, struct question **ret_question,
		   struct tree_error *ret_error)
{
	struct reader reader = {.question = calloc(1, sizeof(struct question)), .error = ret_error};
	int error = -ENOMEM;

	*ret_error = (struct tree_error){.line = 0};
	snprintf(ret_error->file, sizeof(ret_error->file), "%s", file ? file : name);
	if (reader.question && !is_name(name))
		error = refuse(&reader, "the name may contain only lowercase letters, digits and _");
	else if (reader.question)
		error = memory_take(&reader, name, file, text, size);
	if (error == 0)
		error = question_check(&reader);
	if (error < 0)
		question_free(reader.question);
	else
		*ret_question = reader.question;
	return error;
}

void question_free(struct question *question)
{
	if (question)
		free(question->memory);
	free(question);
}

/* ---- asking -------------------------------------------------------------------- */

void question_row(const struct question *question, struct store_result *result,
		  struct store_value ret_values[QUESTION_COLUMNS_MAX])
{
	for (size_t i = 0; i < question->column_count; i++)
		ret_values[i] = store_result_get(result, question->columns[i].name);
}

int question_ask(const struct question *question, struct store *store, const struct store_parameter *parameters,
		 struct store_result **ret_result)
{
	const struct store_text text = {
		.name = question->file ? question->file : question->name,
		.sql = question->sql,
		.limit_s = question->file ? QUESTION_SITE_LIMIT_S : 0,
	};

	return store_query_text(store, &text, parameters, ret_result);
}
