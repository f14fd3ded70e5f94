/* A question: a query with a header that says all that is to be known of it.
 *
 * The header is the comment that the text begins with, in the form of docs/queries.md: title,
 * explanation, parameters, columns. Help, completion, the documents, how values are taken and how
 * answers are shown all follow from there.
 */
#pragma once

#include "common/store/store.h"
#include "common/yaml/tree.h"

#define QUESTION_NAME_MAX 63
#define QUESTION_BYTES_MAX 65536
#define QUESTION_PARAMETERS_MAX 12
#define QUESTION_COLUMNS_MAX 24

/* T(NAME, "name", "suffix", "unit"): what a value is. A name with the suffix has that type and no
 * other, so that a column's name says the unit wherever it goes. */
#define QUESTION_TYPES(T) \
	T(TIME, "time", "_unix_ns", "ns since 1970") \
	T(BOOT, "boot", "_boot_ns", "ns of the boot clock") \
	T(DURATION, "duration", "_ns", "ns") \
	T(BYTES, "bytes", "_bytes", "bytes") \
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
/* What a column is that no header declares, by its name: QUESTION_TYPE_COUNT where the name does not
 * tell. */
enum question_type question_type_of(const char *column);

/* A parameter or a column. */
struct question_field {
	const char *name; /* of a parameter without its colon */
	enum question_type type;
	const char *meaning;
	const char *preset; /* of a parameter: its default as a person would write it; NULL: it has to be
			     * given; "none": NULL */
	const char *source; /* of a parameter: where its default comes from, NULL: it is nobody's finding */
};

struct question {
	const char *name;
	const char *file; /* NULL: shipped */
	const char *title, *explanation;
	const char *sql;
	const char *relation; /* all columns of this view besides, NULL: none */
	bool replaces;        /* the shipped one of the same name */
	struct question_field parameters[QUESTION_PARAMETERS_MAX], columns[QUESTION_COLUMNS_MAX];
	size_t parameter_count, column_count;
	void *memory;
};

/* `file` NULL: shipped. 0, -ENOMEM, or -EINVAL with the error. */
int question_parse(const char *name, const char *file, const char *text, size_t size, struct question **ret_question,
		   struct tree_error *ret_error);
void question_free(struct question *question);

/* What stands for its unit in the name goes: "started_unix_ns" is "started"; shares stay shares. `separator` is put
 * for each "_". Cut at `capacity`. Returns `text`. */
const char *question_field_title(const struct question_field *field, char separator, char *text, size_t capacity);
/* The column of that name, NULL: not declared. */
const struct question_field *question_column(const struct question *question, const char *name);

/* A value as a person writes it, for that parameter; texts are borrowed. A run stays the text it is
 * (STORE_TEXT): whoever asks knows which run is meant. 0, or -EINVAL: question_type_example() says
 * what is taken. */
int question_parse_value(const struct question_field *parameter, const char *text, struct store_parameter *ret_value);
const char *question_type_example(enum question_type type);

/* Asks it: shipped, or within the limits of a site's. */
#define QUESTION_SITE_LIMIT_S 60
int question_ask(const struct question *question, struct store *store, const struct store_parameter *parameters,
		 struct store_result **ret_result);
