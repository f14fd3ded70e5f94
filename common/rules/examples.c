/* Examples in rules: command lines and the expected classes.
 *
 * They take no part in classification: `tracer rules check` and the tests run them, against the rules
 * that are used in production.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/redact/redact.h"
#include "common/rules/rule.h"

/* Appends one word at `*end`, without its quotes. */
static const char *word_read(const char *text, char **end)
{
	char quote = '\0';

	for (; *text && (quote || *text != ' '); text++) {
		if (*text == quote)
			quote = '\0';
		else if (!quote && (*text == '\'' || *text == '"'))
			quote = *text;
		else
			*(*end)++ = *text;
	}
	*(*end)++ = '\0';
	return text;
}

int command_line_init(struct command_line *line, const char *text)
{
	char *end;

	*line = (struct command_line){.text = malloc(strlen(text) + 1)};
	if (!line->text)
		return -ENOMEM;
	end = line->text;
	while (*text && line->subject.argc < sizeof(line->argv) / sizeof(*line->argv)) {
		text += strspn(text, " ");
		if (!*text)
			break;
		line->argv[line->subject.argc++] = end;
		text = word_read(text, &end);
	}
	line->subject.argv = line->argv;
	line->subject.path = line->subject.argc ? line->argv[0] : "";
	line->subject.working_directory = line->subject.cgroup = "";
	return 0;
}

void command_line_deinit(struct command_line *line)
{
	free(line->text);
}

/* Compares the class with the expectations of the example; NULL expects nothing. */
static int compare(const struct rule *rule, const struct rule_example *example, const struct rules_class *class,
		   const char *container, struct tree_error *ret_error)
{
	char threads[16] = "unknown";
	const struct {
		const char *key, *expected, *found;
	} fields[] = {{"role", example->role, rules_role_text(class->role)},
		      {"threads", example->threads, threads},
		      {"container", example->container, container},
#define X(NAME, key, meaning) \
	{key, example->traits[RULES_TRAIT_##NAME], class->traits & RULES_##NAME ? "true" : "false"},
		      RULES_TRAITS(X)
#undef X
#define X(NAME, key, field) {key, example->texts[TEMPLATE_TEXT_##NAME], class->field},
			      TEMPLATE_TEXTS(X)
#undef X
	};

	if (class->requested_thread_count > 0)
		snprintf(threads, sizeof(threads), "%u", class->requested_thread_count);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (fields[i].expected && strcmp(fields[i].expected, fields[i].found) != 0)
			return tree_error_set(ret_error, rule->file, example->line,
					      "example \"%.100s\" of rule \"%.60s\": %s is \"%.100s\", "
					      "not \"%.100s\" (rule \"%.60s\" decides)",
					      example->command, rule->name, fields[i].key, fields[i].found,
					      fields[i].expected, class->rule ? class->rule : "none");
	return 0;
}

/* "run name=web image=nginx command=sh", what is not said left out; "none". */
static const char *describe_container(const struct rules *rules, const struct rules_subject *subject, char *text,
				      size_t size)
{
	struct rules_container container;
	size_t length;

	rules_read_container(rules, subject, &container);
	length = (size_t)snprintf(text, size, "%s", rules_container_verbs[container.verb]);
#define X(word) \
	if (container.word && length < size) \
		length += (size_t)snprintf(text + length, size - length, " " #word "=%s", container.word);
	RULES_CONTAINER_WORDS(X)
#undef X
	if (container.command_index < subject->argc && length < size)
		snprintf(text + length, size - length, " command=%s", subject->argv[container.command_index]);
	return text[0] ? text + (text[0] == ' ') : "none";
}

static int try_example(const struct rules *rules, const struct rule *rule, const struct rule_example *example,
		       struct tree_error *ret_error)
{
	struct command_line line, parent;
	struct rules_class class;
	char text[512];
	int r = command_line_init(&line, example->command);

	if (r < 0)
		return r;
	r = command_line_init(&parent, example->parent ? example->parent : "");
	if (r == 0) {
		if (example->parent)
			line.subject.parent = &parent.subject;
		if (example->working_directory)
			line.subject.working_directory = example->working_directory;
		if (example->cgroup)
			line.subject.cgroup = example->cgroup;
		rules_classify(rules, &line.subject, &class);
		r = compare(rule, example, &class, describe_container(rules, &line.subject, text, sizeof(text)),
			    ret_error);
		command_line_deinit(&parent);
	}
	command_line_deinit(&line);
	return r;
}

/* ---- secrets ---- */

#define OPEN "\u00ab"
#define CLOSE "\u00bb"

/* Reads an example as given, without the marks « and », or as it is to be redacted. */
static int secret_example_read(const char *command, bool redacted, struct command_line *ret_line)
{
	/* A mark in the text, « and », is shorter than the one in the result. */
	char *text = malloc(strlen(command) * strlen(REDACT_MARK) + 1), *end = text;
	bool inside = false;
	int r;

	if (!text)
		return -ENOMEM;
	while (*command) {
		if (strncmp(command, inside ? CLOSE : OPEN, strlen(OPEN)) == 0) {
			end = redacted && !inside ? stpcpy(end, REDACT_MARK) : end;
			inside = !inside;
			command += strlen(OPEN);
			continue;
		}
		if (!redacted || !inside)
			*end++ = *command;
		command++;
	}
	*end = '\0';
	r = command_line_init(ret_line, text);
	free(text);
	return r;
}

/* Size of the words, which are NUL-terminated one after the other. */
static size_t command_line_size(const struct command_line *line)
{
	size_t size = 0;

	for (size_t i = 0; i < line->subject.argc; i++)
		size += strlen(line->argv[i]) + 1;
	return size;
}

static int try_secret_example(const struct rules *rules, const struct secret *secret,
			      const struct secret_example *example, struct tree_error *ret_error)
{
	struct command_line given = {0}, expected = {0};
	char *out = NULL;
	size_t size;
	uint32_t count;
	int r = secret_example_read(example->command, false, &given);

	if (r == 0)
		r = secret_example_read(example->command, true, &expected);
	if (r == 0)
		r = redact_arguments(&rules->secrets, REDACT_SECRETS, given.text, command_line_size(&given), false,
				     &out, &size, &count);
	if (r == 0 && (size != command_line_size(&expected) || memcmp(out, expected.text, size) != 0)) {
		for (size_t i = 0; i + 1 < size; i++)
			out[i] = out[i] ? out[i] : ' ';
		r = tree_error_set(ret_error, secret->file, example->line,
				   "example \"%.100s\" of secret \"%.60s\" becomes \"%.100s\"", example->command,
				   secret->name, out);
	}
	free(out);
	command_line_deinit(&given);
	command_line_deinit(&expected);
	return r;
}

int rules_check_examples(const struct rules *rules, const struct rules_counts *counts, struct tree_error *ret_error)
{
	int r = 0;

	for (size_t i = 0; i < counts->rules && r == 0; i++)
		for (size_t k = 0; k < rules->items[i].examples.count && r == 0; k++)
			r = try_example(rules, &rules->items[i], &rules->items[i].examples.items[k], ret_error);
	for (size_t i = 0; i < counts->secrets && r == 0; i++)
		for (size_t k = 0; k < rules->secrets.items[i].examples.count && r == 0; k++)
			r = try_secret_example(rules, &rules->secrets.items[i],
					       &rules->secrets.items[i].examples.items[k], ret_error);
	for (size_t i = 0; i < counts->versions && r == 0; i++)
		r = rules_check_version_examples(rules, &rules->versions.items[i], ret_error);
	return r;
}
