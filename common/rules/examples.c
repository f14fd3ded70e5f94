/* Examples in rules: command lines and the expected verdicts.
 *
 * They take no part in classification: `tracer rules check` and the tests run them, against the rules
 * that are used in production.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

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

/* Compares the verdict with the expectations of the example; NULL expects nothing. */
static int compare(const struct rule *rule, const struct rule_example *example, const struct rules_verdict *verdict,
		   struct tree_error *ret_error)
{
	char threads[16] = "unknown";
	const struct {
		const char *key, *expected, *found;
	} fields[] = {{"role", example->role, rules_role_text(verdict->role)},
		      {"threads", example->threads, threads},
#define X(NAME, key, field) {key, example->texts[TEMPLATE_TEXT_##NAME], verdict->field},
		      TEMPLATE_TEXTS(X)
#undef X
	};

	if (verdict->requested_thread_count > 0)
		snprintf(threads, sizeof(threads), "%u", verdict->requested_thread_count);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (fields[i].expected && strcmp(fields[i].expected, fields[i].found) != 0)
			return tree_error_set(ret_error, rule->file, example->line,
					      "example \"%.100s\" of rule \"%.60s\": %s is \"%.100s\", "
					      "not \"%.100s\" (rule \"%.60s\" decides)",
					      example->command, rule->name, fields[i].key, fields[i].found,
					      fields[i].expected, verdict->rule ? verdict->rule : "none");
	return 0;
}

static int try_example(const struct rules *rules, const struct rule *rule, const struct rule_example *example,
		       struct tree_error *ret_error)
{
	struct command_line line, parent;
	struct rules_verdict verdict;
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
		rules_classify(rules, &line.subject, &verdict);
		r = compare(rule, example, &verdict, ret_error);
		command_line_deinit(&parent);
	}
	command_line_deinit(&line);
	return r;
}

int rules_check_examples(const struct rules *rules, size_t count, struct tree_error *ret_error)
{
	int r = 0;

	for (size_t i = 0; i < rules->count && i < count && r == 0; i++)
		for (size_t k = 0; k < rules->items[i].examples.count && r == 0; k++)
			r = try_example(rules, &rules->items[i], &rules->items[i].examples.items[k], ret_error);
	return r;
}
