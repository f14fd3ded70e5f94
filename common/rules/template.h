/* Name templates: "bwa {subcommand}", "slurm:{cgroup:1}", "{option:--name|directory}".
 *
 * A placeholder may hold alternatives separated by |; the first that is not empty is
 * used. docs/rules.md lists the placeholders.
 */
#pragma once

#include <stdbool.h>

#include "common/yaml/arena.h"

/* The texts that a rule may set. X(NAME, key in YAML, field of struct rules_class) */
#define TEMPLATE_TEXTS(X) \
	X(NAME, "name", name) \
	X(RUN_NAME, "run_name", run_name) \
	X(RUN_KEY, "run_key", run_key) \
	X(TASK_NAME, "task_name", task_name) \
	X(TASK_LABEL, "task_label", task_label) \
	X(SAMPLE, "sample", sample)

enum template_text {
#define X(NAME, key, field) TEMPLATE_TEXT_##NAME,
	TEMPLATE_TEXTS(X)
#undef X
		TEMPLATE_TEXT_COUNT
};

/* The keys of `match` that are regular expressions. X(NAME, key in YAML) */
#define TEMPLATE_SOURCES(X) \
	X(PATH, "path") \
	X(ARGV, "argv") \
	X(WORKING_DIRECTORY, "working_directory") \
	X(CGROUP, "cgroup")

enum template_source {
#define X(NAME, key) TEMPLATE_SOURCE_##NAME,
	TEMPLATE_SOURCES(X)
#undef X
		TEMPLATE_SOURCE_COUNT
};

enum template_kind {
	TEMPLATE_LITERAL,
	TEMPLATE_PROGRAM,
	TEMPLATE_SUBCOMMAND,
	TEMPLATE_SCRIPT,
	TEMPLATE_DIRECTORY,
	TEMPLATE_ARGUMENT, /* number: position in argv */
	TEMPLATE_OPERAND,  /* number: 1 is the first non-option argument */
	TEMPLATE_OPTION,   /* text: a spelling; more follow as alternatives */
	TEMPLATE_GROUP,    /* number of a group of regex `source` */
};

struct template_part {
	enum template_kind kind;
	const char *text;
	unsigned number;
	enum template_source source;
	struct template_part *alternative; /* tried when this one is empty */
	struct template_part *next;
};

struct template
{
	struct template_part *parts;
	bool whole; /* one empty placeholder makes the text empty: no partial keys */
};

/* The number of groups in each regex of the rule; -1 if the rule has none for that source. */
struct template_groups {
	int counts[TEMPLATE_SOURCE_COUNT];
};

/* Returns 0; -EINVAL with an explanation in `reason`; -ENOMEM. */
int template_parse(struct arena *arena, const char *text, const struct template_groups *groups,
		   struct template **ret_template, char *reason, size_t reason_capacity);
