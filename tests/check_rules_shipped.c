/* The shipped rules against real command lines: the table in rules_shipped.txt.
 *
 * Its expectations come from the tools' documentation, not from the output of the rules.
 */

#include "common/rules/rule.h"
#include "common/rules/shipped.h"
#include "tests/suite.h"

#define FIELDS_MAX 16
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static struct rules *rules;

/* `~name` as the first word: the executable is `name`, argv[0] is the next word. */
static void command_init(struct command_line *command, const char *text)
{
	ck_assert_int_eq(command_line_init(command, text), 0);
	command->subject.working_directory = "/home/ada/project";
	command->subject.cgroup = "/user.slice";
	if (text[0] == '~') {
		command->subject.path++;
		command->subject.argv++;
		command->subject.argc--;
	}
}

/* Conditions other than the command line. */
static bool condition_set(struct command_line *command, const char *key, const char *value)
{
	static struct command_line parent;

	if (strcmp(key, "parent") == 0) {
		command_line_deinit(&parent);
		command_init(&parent, value);
		command->subject.parent = &parent.subject;
	} else if (strcmp(key, "working_directory") == 0) {
		command->subject.working_directory = value;
	} else if (strcmp(key, "cgroup") == 0) {
		command->subject.cgroup = value;
	} else if (strcmp(key, "script") == 0) {
		command->subject.script = value;
	} else if (strcmp(key, "terminal") == 0) {
		command->subject.has_terminal = strcmp(value, "yes") == 0;
	} else {
		return false;
	}
	return true;
}

static const char *class_text(const struct rules_class *class, const char *key)
{
	static const char *const ranks[] = {"", "parallel", "workflow"};
	static const char *const boundaries[] = {
#define X(NAME, text) text,
		RULES_BOUNDARIES(X)
#undef X
	};
	const struct {
		const char *key, *text;
	} texts[] = {
		{"name", class->name},
		{"role", rules_role_text(class->role)},
		{"engine", class->engine},
		{"rank", ranks[class->rank]},
		{"run_key", class->run_key},
		{"run_name", class->run_name},
		{"task_name", class->task_name},
		{"task_label", class->task_label},
		{"sample", class->sample},
		{"interactive", class->interactive ? "yes" : "no"},
		{"boundary", boundaries[class->boundary]},
		{"nested", class->nested ? "yes" : "no"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (strcmp(texts[i].key, key) == 0)
			return texts[i].text;
	}
	ck_abort_msg("no key %s", key);
}

/* Terminates the next field of a line and returns it, or NULL if there is none. */
static char *field_next(char **line)
{
	char *field = *line, *end;

	if (!field)
		return NULL;
	end = strstr(field, " | ");
	*line = end ? end + strlen(" | ") : NULL;
	if (end)
		*end = '\0';
	return field;
}

/* Returns whether everything matches the line; prints the differences. */
static bool line_holds(unsigned number, char *line)
{
	struct {
		const char *key, *value;
	} expected[FIELDS_MAX] = {{"engine", ""}, {"rank", ""}};
	const char *text = field_next(&line);
	struct rules_class class;
	struct command_line command;
	size_t count = 2;
	bool holds = true;

	command_init(&command, text);
	for (char *key, *value; (value = field_next(&line));) {
		key = strsep(&value, "=");
		ck_assert_msg(value && count < FIELDS_MAX, "line %u", number);
		if (condition_set(&command, key, value))
			continue;
		size_t at = strcmp(key, "engine") == 0 ? 0 : strcmp(key, "rank") == 0 ? 1 : count++;

		expected[at].key = key;
		expected[at].value = value;
	}
	rules_classify(rules, &command.subject, &class);
	for (size_t i = 0; i < count; i++) {
		const char *found = class_text(&class, expected[i].key);

		if (strcmp(found, expected[i].value) == 0)
			continue;
		printf("%s:%u: %s: %s is \"%s\", expected \"%s\" (rule %s)\n", RULES_SHIPPED_TABLE, number, text,
		       expected[i].key, found, expected[i].value, class.rule ? class.rule : "-");
		holds = false;
	}
	command_line_deinit(&command);
	return holds;
}

TEST(test_table)
{
	suite_table(RULES_SHIPPED_TABLE, line_holds);
}

/* Every folder's file is compiled in, in byte order as documented. */
TEST(test_files_in_order)
{
	for (size_t i = 1; i < rules_shipped_count; i++)
		ck_assert_int_lt(strcmp(rules_shipped[i - 1].name, rules_shipped[i].name), 0);
}

static bool rule_lists(const struct rule *rule, const char *name)
{
	for (size_t i = 0; i < rule->match.executable.count; i++) {
		if (strcmp(rule->match.executable.items[i].text, name) == 0)
			return true;
	}
	return false;
}

/* A rule that only requires a name hides every later rule for that name. */
TEST(test_nothing_hidden)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];

		if (!rule->match.only_executable || rule->continues)
			continue;
		for (size_t k = 0; k < rule->match.executable.count; k++) {
			const char *name = rule->match.executable.items[k].text;

			for (size_t later = i + 1; later < rules->count; later++)
				ck_assert_msg(rules->items[later].continues || !rule_lists(&rules->items[later], name),
					      "%s: rule %s is hidden by %s", name, rules->items[later].name,
					      rule->name);
		}
	}
}

TEST(test_examples)
{
	const struct rules_counts counts = rules_count_all(rules);
	struct tree_error error;

	ck_assert_msg(rules_check_examples(rules, &counts, &error) == 0, "%s:%u: %s", error.file, error.line,
		      error.reason);
}

int main(void)
{
	struct tree_error error = {.line = 0};

	if (rules_load(NULL, &rules, &error) != 0) {
		fprintf(stderr, "%s:%u: %s\n", error.file, error.line, error.reason);
		return EXIT_FAILURE;
	}
	int status = suite_run("rules_shipped", NULL, NULL);

	rules_free(rules);
	return status;
}
