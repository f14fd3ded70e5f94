/* The internal representation of rules, filled by load.c and used by classify.c.
 * Everything is in the arena of the rule set, except the pcre2 patterns. */
#pragma once

#define PCRE2_CODE_UNIT_WIDTH 8
#include <limits.h>
#include <pcre2.h>

#include "common/identity.h"
#include "common/redact/patterns.h"
#include "common/rules/rules.h"
#include "common/rules/template.h"

/* A name, or a glob (glob.h). */
struct rule_pattern {
	const char *text;
	bool is_glob;
};

struct rule_patterns {
	struct rule_pattern *items;
	size_t count;
};

struct rule_regex {
	pcre2_code *code;
	uint32_t group_count;
};

struct rule_regexes {
	struct rule_regex *items;
	size_t count;
	unsigned number; /* among the regexes of the same key */
};

/* All keys that have items must match; a key matches if any of its items does. */
struct rule_match {
	bool only_executable;            /* has no other key */
	struct rule_patterns executable; /* base name of the program */
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
	struct rule_patterns command_option;   /* its value is code; there is no script */
	struct rule_patterns stdin_option;     /* code comes from standard input */
	struct rule_patterns options_attached; /* -Mvalue: the rest is a value */
};

/* How a command line says which container it is about. */
struct rule_container {
	struct rule_patterns operands; /* of `run`: image, id, service; empty: there is no verb, only options */
	struct rule_patterns options_without_value;
#define X(word) struct rule_patterns word; /* options whose value it is */
	RULES_CONTAINER_WORDS(X)
#undef X
};

/* A command line and the expected class; NULL: not given. */
struct rule_example {
	unsigned line;
	const char *command, *parent, *working_directory, *cgroup;
	const char *role, *threads, *container, *traits[RULES_TRAIT_COUNT];
	const char *texts[TEMPLATE_TEXT_COUNT];
};

/* A command line split into words, with shell quotes: '...' and "..." (examples.c). */
struct command_line {
	char *text;
	const char *argv[256];
	struct rules_subject subject;
};
int command_line_init(struct command_line *line, const char *text); /* 0 or -ENOMEM */
void command_line_deinit(struct command_line *line);

struct rule_examples {
	struct rule_example *items;
	size_t count;
};

struct rule {
	const char *name;
	const char *file; /* as in struct rules_description */
	unsigned line;
	unsigned layer; /* number of the directory; 0: the shipped rules */
	const char *summary;
	struct rule_match match;
	bool continues; /* `continue: true`: adds texts, does not decide the role */
	enum rules_role role;
	enum rules_rank rank;
	enum rules_boundary boundary;
	bool nested;
	uint64_t expected_codes;
	bool traits[RULES_TRAIT_COUNT];
	const char *engine;
	struct template *texts[TEMPLATE_TEXT_COUNT]; /* NULL: not given */
	struct rule_patterns options_with_value;
	struct rule_patterns threads;            /* options whose value is a number of threads */
	struct rule_patterns additional_threads; /* the same, of threads besides the main thread */
	struct rule_unwrap unwrap;
	struct rule_container container;
	struct rule_examples examples;
};

/* What an entry of `versions:` says. */
struct rule_version_example {
	unsigned line;
	const char *texts[RULES_VERSION_SOURCE_COUNT];
	const char *program, *package, *version;
};

struct rule_version_examples {
	struct rule_version_example *items;
	size_t count;
};

struct rule_names {
	const char **items;
	size_t count;
};

/* Either a scheme, or the programs of packages. */
struct rule_version {
	const char *name;
	const char *file;
	unsigned line, layer;
	struct rule_regexes
		regexes[RULES_VERSION_SOURCE_COUNT]; /* with groups `package` and `version`; of one source */
	bool same_name;                              /* only of a program that the package is named after */
	struct rule_names packages, programs; /* that packages of these names have, besides those named after them */
	struct rule_version_examples examples;
};

struct rule_versions {
	struct rule_version *items;
	size_t count, capacity;
};

/* What an entry of `runtimes:` says. */
struct rule_runtime {
	const char *name;
	struct rule_regexes cgroups; /* with a group `id` */
};

struct rule_runtimes {
	struct rule_runtime *items;
	size_t count, capacity;
};

/* Rules by the base name that they match. */
struct rule_index_entry {
	const char *name;
	uint32_t rule;
};

struct rule_index {
	struct rule_index_entry *exact; /* sorted by name, then rule */
	struct rule_index_entry *globs; /* sorted by the first byte of the name, 0 for those of any name, then rule */
	size_t exact_count, glob_count;
	size_t globs_from[UCHAR_MAX + 2]; /* the first with that byte or a later one */
};

struct rules {
	struct arena arena;
	struct rule *items;
	size_t count;
	size_t capacity;
	struct secrets secrets;
	struct rule_versions versions;
	struct rule_runtimes runtimes;
	struct identity identity; /* of all texts read so far */
	uint64_t version;
	struct rule_index deciding, continuing; /* without and with `continue: true` */
	struct rules_scratch *scratch;
};

/* Parses the text of one file and appends its rules (load.c). Each directory is a
 * `layer`: a name must be unique within a layer, and a rule whose name occurred in an
 * earlier layer is skipped. */
int rules_read(struct rules *rules, const char *file, unsigned layer, const void *data, size_t size,
	       struct tree_error *ret_error);

/* Free the patterns; the rest is freed with the arena. */
void rule_deinit(struct rule *rule);
void rule_version_deinit(struct rule_version *version);
void rule_runtime_deinit(struct rule_runtime *runtime);
void rule_regexes_deinit(struct rule_regexes *regexes);

/* Call once, after all rules are read (index.c). */
int rules_index_build(struct rules *rules);

/* Iterates in order over the rules that may match a program of that base name. */
struct rule_candidates {
	const struct rules *rules;
	/* The rest of those that list the name, of globs that begin as it does, and of globs that fit any. */
	struct rule_index_range {
		const struct rule_index_entry *first, *end;
	} ranges[3];
	uint32_t next; /* rules before this one were returned */
	bool named;    /* the last returned rule lists the exact name */
};
void rule_candidates_begin(struct rule_candidates *candidates, const struct rules *rules,
			   const struct rule_index *index, const char *program);
const struct rule *rule_candidates_next(struct rule_candidates *candidates);

/* Returns 0, or -EINVAL with `*ret_error` for the first that fails (versions.c). */
int rules_check_version_examples(const struct rules *rules, const struct rule_version *version,
				 struct tree_error *ret_error);

bool rule_pattern_match(const struct rule_pattern *pattern, const char *text);
bool rule_patterns_match(const struct rule_patterns *patterns, const char *text);
