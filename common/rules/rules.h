/* Classification rules: what an exec image is, from what it looks like.
 *
 * Rules only sharpen names and boundaries: an image that no rule matches is a
 * tool named after its program. Rules are YAML files (rules/, /etc/tracer/rules.d;
 * docs/rules.md is the format). Evaluation is deterministic: site rules before
 * shipped ones, files in byte order of their names, rules in file order, the
 * first match wins. An interpreter is unwrapped (`python x.py` is x.py) and the
 * result matched again, at most RULES_UNWRAP_MAX times.
 *
 * A rule set works in memory of its own: one thread at a time may classify with it.
 * Shared by tracer-correlator (classifying) and tracer (rules check, explain).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/yaml/tree.h"

#define RULES_UNWRAP_MAX 4
#define RULES_ANCESTORS_MAX 32 /* what is further up is not looked at */
#define RULES_EXPECTED_CODE_MAX 63
#define RULES_NAME_MAX 256 /* bytes of a tool, run or task name, cut at a character */

/* X(NAME, text in YAML and in the store) */
#define RULES_ROLES(X) \
	X(TOOL, "tool")                 /* a program of its own: the default */ \
	X(ORIGIN, "origin")             /* runs begin beneath it: init, sshd, cron, shims */ \
	X(ORCHESTRATOR, "orchestrator") /* tasks begin beneath it: engines, make, xargs */ \
	X(SHELL, "shell")               /* a shell: origin when interactive, else a driver */ \
	X(INTERPRETER, "interpreter")   /* named after what it runs */ \
	X(WRAPPER, "wrapper")           /* seen through downwards: env, nice, time, sudo */ \
	X(COMPONENT, "component")       /* part of its parent's tool: cc1, ld, conmon */ \
	X(CLIENT, "client")             /* waits for a container that lives elsewhere: docker run */ \
	X(HELPER, "helper")             /* set-up and glue: mkdir, cat; opens no task */ \
	X(IGNORE, "ignore")             /* not stored */ \
	X(STARTER, "starter")           /* part of its parent until it becomes another program */

enum rules_role {
#define X(NAME, text) RULES_ROLE_##NAME,
	RULES_ROLES(X)
#undef X
		RULES_ROLE_COUNT
};

const char *rules_role_text(enum rules_role role);

/* How runs are told apart beneath an origin. X(NAME, text) */
#define RULES_BOUNDARIES(X) \
	X(CHILD, "child")                 /* every child subtree is a run */ \
	X(PROCESS_GROUP, "process-group") /* a job of an interactive shell */ \
	X(CGROUP, "cgroup")               /* every cgroup: services, batch steps */ \
	X(CONTAINER, "container")         /* every container; what is in none is its keeper's */ \
	X(COMMAND, "command")             /* its child is one run, whatever that is: tracer run */

enum rules_boundary {
#define X(NAME, text) RULES_BOUNDARY_##NAME,
	RULES_BOUNDARIES(X)
#undef X
};

/* Engines: the innermost orchestrator of the highest rank on a path decides what
 * a task is. 0 is "not an orchestrator". */
enum rules_rank {
	RULES_RANK_NONE = 0,
	RULES_RANK_PARALLEL = 1, /* make, parallel, xargs, ninja */
	RULES_RANK_WORKFLOW = 2, /* nextflow, snakemake, cwltool */
};

/* What a rule may look at. Borrowed; strings are NUL-terminated and may hold any
 * other byte. */
struct rules_subject {
	const char *path;   /* of the program as executed (argv[0] for a #! script) */
	const char *script; /* #! script path, or NULL */
	size_t argc;
	const char *const *argv;
	const char *working_directory;      /* "" unknown */
	const char *cgroup;                 /* path, "" unknown */
	bool has_terminal;                  /* a controlling one, and standard input is no pipe */
	const struct rules_subject *parent; /* its current image, NULL at the top or unknown */
};

struct rules_verdict {
	const char *rule;                /* name of the rule, NULL: none matched (generic) */
	enum rules_role role;            /* never INTERPRETER: what it runs is a tool */
	enum rules_rank rank;            /* orchestrators */
	enum rules_boundary boundary;    /* origins */
	bool nested;                     /* origins: starts runs even inside another run (slurmstepd, sshd) */
	uint64_t expected_codes;         /* bit n: to exit with code n is no failure */
	bool interactive;                /* shells: a terminal, and no script or -c operand */
	bool housekeeping;               /* the host's own: no run, or a service that is not work */
	const char *command;             /* shells: the operand of -c, of the subject; NULL: none */
	char name[RULES_NAME_MAX];       /* tool name: never empty */
	char run_name[RULES_NAME_MAX];   /* "" unless a rule names the run it drives */
	char run_key[RULES_NAME_MAX];    /* "" unless a rule derives one (job id); any role */
	char task_name[RULES_NAME_MAX];  /* "" unless a rule names the task that it is in */
	char task_label[RULES_NAME_MAX]; /* "" unless a rule says which of its name that task is */
	char engine[RULES_NAME_MAX];     /* "" or what run.engine says: "snakemake", "make" */
};

struct rules;

/* Rules compiled into the program from rules/ (always valid: the build checks
 * them), then every *.yaml of `directories` (NULL-terminated list; a missing
 * directory is empty; later directories are looked at first). 0 and `*ret_rules`;
 * -EINVAL with `*ret_error` for a broken file; -errno, with `*ret_error` where a file
 * cannot be read. A rule of a directory replaces one of the same name in those looked
 * at later. */
int rules_load(const char *const *directories, struct rules **ret_rules, struct tree_error *ret_error);

/* The same for a daemon, which has to work whatever somebody wrote there: a broken file, or one
 * that cannot be read, is left out as a whole, and `refused` is told of each (the directory, where
 * that cannot be read). 0 or -ENOMEM. */
typedef void (*rules_refused)(const struct tree_error *error, void *data);
int rules_load_valid(const char *const *directories, rules_refused refused, void *data, struct rules **ret_rules);

/* Reads a site's file as it would be used, before the shipped rules, and tries its examples: 0 and
 * how many rules it has; as above. */
int rules_check_file(const char *path, size_t *ret_count, struct tree_error *ret_error);

/* Tries the examples of the first `count` rules: 0; -EINVAL with `*ret_error` for the first that
 * does not hold; -ENOMEM. */
int rules_check_examples(const struct rules *rules, size_t count, struct tree_error *ret_error);

/* Only these rules, for the tests and the fuzzer. */
int rules_load_memory(const char *name, const void *data, size_t size, struct rules **ret_rules,
		      struct tree_error *ret_error);

void rules_free(struct rules *rules);

size_t rules_count(const struct rules *rules);

/* Hash of every rule text: stored with a run, so that a reader knows which rules
 * named it. */
uint64_t rules_version(const struct rules *rules);

/* Walks all rules in order of evaluation, for `tracer rules list`. */
struct rules_description {
	const char *name;
	const char *file; /* "shipped:genomics.yaml" or a path */
	unsigned line;
	enum rules_role role;
	const char *summary; /* its match in one line */
};
bool rules_describe(const struct rules *rules, size_t index, struct rules_description *ret);

/* Always gives a verdict. */
void rules_classify(const struct rules *rules, const struct rules_subject *subject, struct rules_verdict *ret_verdict);
