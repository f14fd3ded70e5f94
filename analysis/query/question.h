/* A question: a query with a header that describes it completely.
 *
 * The header is the comment at the start of the text, in the format of docs/queries.md: title,
 * explanation, parameters, columns. Help, completion, documentation, parsing of parameter values
 * and display of answers are all derived from it.
 */
#pragma once

#include "common/store/store.h"
#include "common/yaml/tree.h"

#define QUESTION_NAME_MAX 63
#define QUESTION_BYTES_MAX 65536
#define QUESTION_PARAMETERS_MAX 12
#define QUESTION_COLUMNS_MAX 24

/* T(NAME, "name", "suffix", "unit"): the types of values. A name with the suffix has that type and no
 * other, so that a column's name gives its unit wherever it appears. */
#define QUESTION_TYPES(T) \
	T(TIME, "time", "_unix_ns", "ns since 1970") \
	T(BOOT, "boot", "_boot_ns", "ns of the boot clock") \
	T(DURATION, "duration", "_ns", "ns") \
	T(BYTES, "bytes", "_bytes", "bytes") \
	T(BYTE_SECONDS, "byte_seconds", "_byte_seconds", "bytes times seconds") \
	T(SHARE, "share", "_share", "0 to 1") \
	T(MONEY, "money", "_micros", "millionths of the currency") \
	T(RUN, "run", "run_id", "id") /* of parameters; brings host_id with it */ \
	T(USER, "user", "user_id", "user id") \
	T(ID, "id", NULL, "id") \
	T(COUNT, "count", NULL, "count") \
	T(NUMBER, "number", NULL, "number") \
	T(FLAG, "flag", NULL, "0 or 1") \
	T(TEXT, "text", NULL, "text") \
	T(ARGUMENTS, "arguments", NULL, "arguments")

enum question_type {
#define T(NAME, name, suffix, unit) QUESTION_##NAME,
	QUESTION_TYPES(T)
#undef T
		QUESTION_TYPE_COUNT /* none */
};

const char *question_type_name(enum question_type type);
const char *question_type_unit(enum question_type type);
/* The type of a column that no header declares, derived from its name; QUESTION_TYPE_COUNT if the name
 * implies none. */
enum question_type question_type_of(const char *column);

/* A parameter or a column. */
struct question_field {
	const char *name; /* of a parameter: without the colon */
	enum question_type type;
	const char *meaning;
	const char *preset; /* of a parameter: default as a user would write it, "none" for SQL NULL;
			     * NULL if the parameter is required */
	const char *source; /* of a parameter: paper or measurement that the default is from, or NULL */
	bool is_optional;   /* of a column: not shown where all its values are unknown or 0 */
};

/* I(NAME, "name"): what a finding says can be saved; a column that says how much. */
#define QUESTION_IMPACTS(I) \
	I(WALL, "wall")     /* wall time of a task, or of the run if the answer has no column task_id */ \
	I(CPU, "cpu")       /* time of a core, used or held */ \
	I(MEMORY, "memory") /* byte-seconds */ \
	I(GPU, "gpu")       /* time of a GPU, held */

enum question_impact {
#define I(NAME, name) QUESTION_SAVES_##NAME,
	QUESTION_IMPACTS(I)
#undef I
		QUESTION_IMPACT_COUNT,
};

/* S(NAME, "name"): how sure the impacts of a finding are, if its advice is followed. */
#define QUESTION_SAVINGS(S) \
	S(MOST, "most")     /* the most that is possible */ \
	S(LEAST, "least")   /* certain */ \
	S(BEYOND, "beyond") /* the most that is possible, with more processors than the run may use now */

enum question_saving {
#define S(NAME, name) QUESTION_SAVING_##NAME,
	QUESTION_SAVINGS(S)
#undef S
		QUESTION_SAVING_COUNT,
};

/* What the header of a finding says beyond that of a question. Texts have {COLUMN} for the value of a column. */
struct question_finding {
	const char *kind; /* "tune", "sweep" or "top" (a warning, without impacts); NULL: no finding */
	const struct question_field *subject, *impacts[QUESTION_IMPACT_COUNT];
	const char *sentence, *advice;
	enum question_saving saving;
};

struct question {
	const char *name;
	const char *file; /* NULL: shipped */
	const char *title, *explanation;
	const char *sql;
	const char *relation; /* view whose columns are selected too, or NULL */
	bool replaces;        /* the shipped one of the same name */
	bool of_account; /* no query: a finding whose rows are made from a run's account (analysis/tune/asking.h) */
	struct question_field parameters[QUESTION_PARAMETERS_MAX], columns[QUESTION_COLUMNS_MAX];
	size_t parameter_count, column_count;
	struct question_finding finding;
	void *memory;
};

/* `file` is NULL for a shipped question. Returns 0, -ENOMEM, or -EINVAL with `*ret_error` set. */
int question_parse(const char *name, const char *file, const char *text, size_t size, struct question **ret_question,
		   struct tree_error *ret_error);
void question_free(struct question *question);

/* The name without its unit: "started" for "started_unix_ns"; "_share" is kept. Replaces each "_" by `separator`.
 * Truncated to `capacity`. Returns `text`. */
const char *question_field_title(const struct question_field *field, char separator, char *text, size_t capacity);
/* Returns the column of that name, or NULL if it is not declared. */
const struct question_field *question_column(const struct question *question, const char *name);

/* Parses a time: "90s", "500ms", "15m", "2h", "3d" or "2w" before now, or a date with or without a time of day. Returns 0
 * or -EINVAL. */
int question_parse_time(const char *text, int64_t *ret_unix_ns);

/* Parses a value for that parameter as a user writes it; texts are borrowed. A run stays text
 * (STORE_TEXT): the caller resolves it. Returns 0 or -EINVAL; question_type_example() describes
 * the accepted values. */
int question_parse_value(const struct question_field *parameter, const char *text, struct store_parameter *ret_value);
const char *question_type_example(enum question_type type);

/* Gets the declared columns of a result's current row, in their order; borrowed as store_result_value() says. */
void question_row(const struct question *question, struct store_result *result,
		  struct store_value ret_values[QUESTION_COLUMNS_MAX]);

/* Runs the question; one of a site is restricted and limited to QUESTION_SITE_LIMIT_S. */
#define QUESTION_SITE_LIMIT_S 60
int question_ask(const struct question *question, struct store *store, const struct store_parameter *parameters,
		 struct store_result **ret_result);
