/* Classification rules, which determine what an exec image is from its observable properties.
 *
 * Rules only refine names and boundaries: an image that no rule matches is a
 * tool named after its program. Rules are YAML files (rules/, /etc/tracer/rules.d;
 * docs/rules.md describes the format). Evaluation is deterministic: site rules before
 * shipped ones, files in byte order of their names, rules in file order, the
 * first match wins. An interpreter is unwrapped (`python x.py` is x.py) and the
 * result matched again, at most RULES_UNWRAP_MAX times.
 *
 * A rule set has its own working memory: only one thread at a time may classify with it.
 * Used by tracer-correlator (classification) and tracer (rules check, explain).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/yaml/tree.h"

#define RULES_UNWRAP_MAX 4
#define RULES_ANCESTORS_MAX 32 /* ancestors further up are ignored */
#define RULES_EXPECTED_CODE_MAX 63
#define RULES_THREADS_MAX 65536 /* requested by a command line; more is not a number of threads */
#define RULES_NAME_MAX 256      /* bytes of a tool, run or task name; truncated between characters */

/* X(NAME, text in YAML and in the store, what it means) */
#define RULES_ROLES(X) \
	X(TOOL, "tool", "a program in its own right")           /* the default */ \
	X(ORIGIN, "origin", "runs begin below it")              /* init, sshd, cron, container shims */ \
	X(ORCHESTRATOR, "orchestrator", "tasks begin below it") /* engines, make, xargs */ \
	X(SHELL, "shell", "runs the commands of a script")      /* an origin if interactive, otherwise a driver */ \
	X(INTERPRETER, "interpreter", "named after what it runs") \
	X(WRAPPER, "wrapper", "stands for the command that it runs")     /* env, nice, time, sudo */ \
	X(COMPONENT, "component", "part of its parent's tool")           /* cc1, ld, conmon */ \
	X(CLIENT, "client", "waits for a container that runs elsewhere") /* docker run */ \
	X(HELPER, "helper", "set-up and glue, does not begin a task")    /* mkdir, cat */ \
	X(IGNORE, "ignore", "not stored") \
	X(STARTER, "starter", "part of its parent until it executes another program")

enum rules_role {
#define X(NAME, text, meaning) RULES_ROLE_##NAME,
	RULES_ROLES(X)
#undef X
		RULES_ROLE_COUNT
};

const char *rules_role_text(enum rules_role role);
/* "tool: a program in its own right"; a role that is not in the table as it is. */
const char *rules_role_meaning(const char *role);

/* How runs are delimited beneath an origin. X(NAME, text) */
#define RULES_BOUNDARIES(X) \
	X(CHILD, "child")                 /* each child subtree is a run */ \
	X(PROCESS_GROUP, "process-group") /* a job of an interactive shell */ \
	X(CGROUP, "cgroup")               /* each cgroup: services, batch steps */ \
	X(CONTAINER, "container")         /* each container; processes outside one belong to its manager */ \
	X(COMMAND, "command")             /* its child is one run, whatever it is: tracer run */

enum rules_boundary {
#define X(NAME, text) RULES_BOUNDARY_##NAME,
	RULES_BOUNDARIES(X)
#undef X
};

/* Traits: what rules say with `KEY: true`, and what any rule that matches adds. X(NAME, key, what it means) */
#define RULES_TRAITS(X) \
	X(HOUSEKEEPING, "housekeeping", "the host's own, not work") \
	X(FAILS_WITH_COMMANDS, "fails_with_commands", "exits with a code of its own if a command of it failed") \
	X(SCHEDULES, "schedules", "runs below it are cron jobs") \
	X(LIMITS_TIME, "limits_time", "ends its command after a time, and exits with 124 then") \
	X(KILLS_FOR_OTHERS, "kills_for_others", "sends signals on behalf of its caller") \
	X(PRINTS_TRACEBACKS, "prints_tracebacks", "reads the source of what failed, then exits with 1") \
	X(STOPS_AT_FAILURE, "stops_at_failure", "begins nothing more once a command has failed") \
	X(IGNORES_CAPTURED, "ignores_captured", "does not mind if a command fails whose output it reads") \
	X(CANCELS_JOBS, "cancels_jobs", "cancels the batch jobs whose numbers are its arguments") \
	X(CHANGES_ROOT, "changes_root", "its command sees other files than the host's") \
	X(CHANGES_USER, "changes_user", "its command runs as another user")

enum rules_trait {
#define X(NAME, key, meaning) RULES_TRAIT_##NAME,
	RULES_TRAITS(X)
#undef X
		RULES_TRAIT_COUNT
};

/* Sets of them: RULES_HOUSEKEEPING, ... */
enum {
#define X(NAME, key, meaning) RULES_##NAME = 1 << RULES_TRAIT_##NAME,
	RULES_TRAITS(X)
#undef X
};

/* Ranks of engines: the innermost orchestrator of the highest rank on a path decides what
 * a task is. 0 means "not an orchestrator". */
enum rules_rank {
	RULES_RANK_NONE = 0,
	RULES_RANK_PARALLEL = 1, /* make, parallel, xargs, ninja */
	RULES_RANK_WORKFLOW = 2, /* nextflow, snakemake, cwltool */
};

/* The input of a rule. Borrowed; strings are NUL-terminated and may contain any
 * other byte. */
struct rules_subject {
	const char *path;   /* of the program as executed (argv[0] for a #! script) */
	const char *script; /* #! script path, or NULL */
	size_t argc;
	const char *const *argv;
	const char *working_directory; /* "": unknown */
	const char *cgroup;            /* path, "": unknown */
	bool has_terminal;             /* a controlling terminal, and it is not known that descriptor 0 is another */
	const struct rules_subject *parent; /* its current image; NULL at the top or if unknown */
};

/* What the rules say about a program. */
struct rules_class {
	const char *rule;                /* name of the rule; NULL: none matched */
	enum rules_role role;            /* never INTERPRETER, which becomes TOOL */
	enum rules_rank rank;            /* orchestrators */
	enum rules_boundary boundary;    /* origins */
	bool nested;                     /* origins: starts runs even within another run (slurmstepd, sshd) */
	uint64_t expected_codes;         /* bit n: exit code n is not a failure */
	uint32_t traits;                 /* RULES_* */
	unsigned requested_thread_count; /* threads that its options ask for; 0: unknown */
	bool interactive;                /* shells: has a terminal, and no script or -c operand */
	const char *command;             /* the code after -c or -e, borrowed from the subject; NULL: none */
	const char *path;                /* of what an interpreter runs, else of the program; borrowed likewise */
	char name[RULES_NAME_MAX];       /* tool name: never empty */
	char run_name[RULES_NAME_MAX];   /* "" unless a rule names the run it drives */
	char run_key[RULES_NAME_MAX];    /* "" unless a rule derives one (job id); for any role */
	size_t run_key_cgroup_size;      /* of the cgroup's path up to what the key is from; 0: not from a cgroup */
	char task_name[RULES_NAME_MAX];  /* "" unless a rule names the task that the process is in */
	char task_label[RULES_NAME_MAX]; /* "" unless a rule labels that task */
	char sample[RULES_NAME_MAX];     /* "" unless a rule names the sample that it works on; never stored */
	char engine[RULES_NAME_MAX];     /* "" or run.engine: "snakemake", "make" */
};

struct rules;

/* Loads every *.yaml of `directories` (a NULL-terminated list; a missing directory
 * counts as empty; later directories are searched first), then the rules compiled into the
 * program from rules/ (always valid: the build checks them). Returns 0 and `*ret_rules`;
 * -EINVAL with `*ret_error` for an invalid file; -errno with `*ret_error` if a file
 * cannot be read. A rule replaces rules of the same name in directories searched
 * later and in the shipped rules. */
int rules_load(const char *const *directories, struct rules **ret_rules, struct tree_error *ret_error);

/* The same for a daemon, which must work with whatever is in the directories: a file that is invalid or
 * cannot be read is skipped as a whole and reported to the callback `refused` (or the directory, if that
 * cannot be read). Returns 0 or -ENOMEM. */
typedef void (*rules_refused)(const struct tree_error *error, void *data);
int rules_load_valid(const char *const *directories, rules_refused refused, void *data, struct rules **ret_rules);

/* What the `secrets:` of all files say, for redact_arguments(). */
struct secrets;
const struct secrets *rules_secrets(const struct rules *rules);

/* Loads a site file as in use, before the shipped rules, and runs its examples. Returns 0 and the number
 * of its rules and entries of `secrets:`; errors are those of rules_load(). */
int rules_check_file(const char *path, size_t *ret_count, struct tree_error *ret_error);

/* What a command line says about the container that it starts, enters or monitors: words of it, NULL if it does not
 * say. */
enum rules_container_verb { RULES_CONTAINER_OTHER, RULES_CONTAINER_RUN, RULES_CONTAINER_EXEC, RULES_CONTAINER_START };

#define RULES_CONTAINER_WORDS(X) X(name) X(image) X(id) X(user) X(directory)

struct rules_container {
	enum rules_container_verb verb;
#define X(word) const char *word;
	RULES_CONTAINER_WORDS(X) /* without an id: any container; user and directory are those of the command */
#undef X
	size_t command_index; /* of the program that it executes in the container, in argv; argc: the image's own */
};

extern const char *const rules_container_verbs[]; /* "", "run", "exec", "start" */

/* Says nothing if the deciding rule has no `container:`. The subject's parent is not considered. */
void rules_read_container(const struct rules *rules, const struct rules_subject *subject,
			  struct rules_container *ret_container);

/* What the `versions:` of all files say: which package and version a path or the name of a container image names. */
enum rules_version_source { RULES_VERSION_PATH, RULES_VERSION_IMAGE, RULES_VERSION_SOURCE_COUNT };

struct rules_version {
	char package[128], version[64];
};

/* Returns false if it says none. `program`: the name of the program that is at the path, or in the image. */
bool rules_read_version(const struct rules *rules, enum rules_version_source source, const char *program,
			const char *text, struct rules_version *ret_version);

/* What the `runtimes:` of all files say: which container a cgroup is of. */
struct rules_cgroup {
	const char *runtime;
	const char *id; /* in the path */
	size_t id_size;
};

/* Reads the first `size` bytes of `path`. Returns false unless they are the path of a container's own cgroup, not of one
 * beneath it. */
bool rules_read_cgroup(const struct rules *rules, const char *path, size_t size, struct rules_cgroup *ret_cgroup);

/* The first entries of each list. */
struct rules_counts {
	size_t rules, secrets, versions, runtimes;
};
struct rules_counts rules_count_all(const struct rules *rules);

/* Runs the examples of these entries. Returns 0; -EINVAL with `*ret_error` for the first that fails; -ENOMEM. */
int rules_check_examples(const struct rules *rules, const struct rules_counts *counts, struct tree_error *ret_error);

/* Loads only these rules, for the tests and the fuzzer. */
int rules_load_memory(const char *name, const void *data, size_t size, struct rules **ret_rules,
		      struct tree_error *ret_error);

void rules_free(struct rules *rules);

size_t rules_count(const struct rules *rules);
/* Whether any rule names samples. */
bool rules_name_samples(const struct rules *rules);

/* Returns a hash of all rule texts. It is stored with a run, so that a reader knows which
 * rules named it. */
uint64_t rules_version(const struct rules *rules);

/* Lists all rules in order of evaluation, for `tracer rules list`. */
struct rules_description {
	const char *name;
	const char *file; /* "shipped:genomics.yaml" or a path */
	unsigned line;
	enum rules_role role;
	const char *summary; /* its match in one line */
};
bool rules_describe(const struct rules *rules, size_t index, struct rules_description *ret);

/* Always sets a class. */
void rules_classify(const struct rules *rules, const struct rules_subject *subject, struct rules_class *ret_class);
