/* What a rule is made of, between its loading (load.c) and its use (classify.c).
 * Everything lives in the arena of its rule set; pcre2 patterns besides. */
#pragma once

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "common/identity.h"
#include "common/rules/rules.h"
#include "common/rules/template.h"

/* A name, or a glob where the text has *, ? or [ in it. */
struct rule_pattern {
	const char *text;
	bool is_glob;
};

struct rule_patterns {
	struct rule_pattern *items;
	size_t count;
};

struct rule_regex {
	const char *text;
	pcre2_code *code;
	uint32_t group_count;
};

struct rule_regexes {
	struct rule_regex *items;
	size_t count;
	unsigned number; /* among those of the same key */
};

/* Every key that has items must hold; any of its items makes it hold. */
struct rule_match {
	bool only_executable;            /* no other key stands there */
	struct rule_patterns executable; /* program's base name */
	struct rule_patterns script;
	struct rule_patterns argument;
	struct rule_patterns parent;
	struct rule_patterns ancestor;
	struct rule_regexes regexes[TEMPLATE_SOURCE_COUNT];
};

/* How to find what an interpreter or shell runs. */
struct rule_unwrap {
	bool enabled;
	bool multi_call;                       /* busybox: the applet, not an operand */
	bool short_clusters;                   /* -abc is -a -b -c (not so for java) */
	struct rule_patterns script_option;    /* its value is the script */
	struct rule_patterns module_option;    /* its value is a module, a jar, a class */
	struct rule_patterns command_option;   /* its value is code: no script */
	struct rule_patterns stdin_option;     /* code comes from standard input */
	struct rule_patterns options_attached; /* -Mvalue: the rest is a value */
};

/* A command line, and what is to come of it; NULL: not said. */
struct rule_example {
	unsigned line;
	const char *command, *parent, *working_directory, *cgroup;
	const char *role;
	const char *texts[TEMPLATE_TEXT_COUNT];
};

struct rule_examples {
	struct rule_example *items;
	size_t count;
};

struct rule {
	const char *name;
	const char *file; /* as in struct rules_description */
	unsigned line;
	unsigned layer; /* a directory, or the shipped rules */
	const char *summary;
	struct rule_match match;
	bool passes; /* `continue: true`: adds texts, gives no role */
	enum rules_role role;
	enum rules_rank rank;
	enum rules_boundary boundary;
	bool nested;
	bool housekeeping;
	uint64_t expected_codes;
	const char *engine;
	struct template *texts[TEMPLATE_TEXT_COUNT]; /* NULL: not given */
	struct rule_patterns options_with_value;
	struct rule_unwrap unwrap;
	struct rule_examples examples;
};

/* Rules by the base name that they ask for. Lists hold indexes of rules in order. */
struct rule_index_entry {
	const char *name;
	uint32_t rule;
};

struct rule_index_list {
	uint32_t *rules;
	size_t count;
};

struct rule_index {
	struct rule_index_entry *exact; /* sorted by name, then rule */
	size_t exact_count;
	size_t exact_ends[256];                    /* of those whose first byte is that or a lower one */
	struct rule_index_list by_first_byte[256]; /* globs that begin with that byte */
	struct rule_index_list any;                /* the rest: globs like *-gcc, no executable */
};

struct rules {
	struct arena arena;
	struct rule *items;
	size_t count;
	size_t capacity;
	struct identity identity; /* of every text read so far */
	uint64_t version;
	struct rule_index deciding, passing; /* without and with `continue: true` */
	struct rules_scratch *scratch;
};

/* Reads one file's text and appends its rules (load.c). `layer` tells directories
 * apart: a name may stand once in a layer, and a rule whose name stood in an
 * earlier layer is left out. */
int rules_read(struct rules *rules, const char *file, unsigned layer, const void *data, size_t size,
	       struct tree_error *ret_error);

/* Frees the patterns; the rest goes with the arena. */
void rule_deinit(struct rule *rule);

/* Once all are read (index.c). */
int rules_index_build(struct rules *rules);

/* Walks the rules that may apply to a program of that base name, in order. */
struct rule_candidates {
	const struct rules *rules;
	const struct rule_index_entry *exact, *exact_end; /* left of those that list the name */
	const struct rule_index_list *lists[2];
	size_t positions[2];
	bool named; /* the last one lists the program's exact name */
};
void rule_candidates_begin(struct rule_candidates *candidates, const struct rules *rules,
			   const struct rule_index *index, const char *program);
const struct rule *rule_candidates_next(struct rule_candidates *candidates);

bool rule_pattern_match(const struct rule_pattern *pattern, const char *text);
bool rule_patterns_match(const struct rule_patterns *patterns, const char *text);
