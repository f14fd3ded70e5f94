/* The routes of the API: each is a command of `tracer`, and answers what that prints.
 *
 * A request becomes the words of a command line: the route's verb, its operands from the path, and options from the
 * query string. Only options that the route names are taken, so no request can name a file, a store or a lake.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/verb.h"

#define ROUTE_WORDS_MAX 48
#define ROUTE_WORD_BYTES 1024 /* of a value in a path or query string */

struct route {
	const char
		*path; /* "/api/v1/runs/{run}": {NAME} is the option of that name if the verb has it, else an operand */
	const char *verb;    /* NULL: ROUTE_OPENAPI or ROUTE_ROWS */
	const char *words;   /* further words of the command line */
	const char *options; /* those a request may set */
	enum route_kind {
		ROUTE_VERB,
		ROUTE_QUESTION, /* any parameter of a question as well */
		ROUTE_ROWS,     /* the rows of a query by name, for `tracer` itself */
		ROUTE_OPENAPI,  /* the description of all this */
	} kind;
	const char *type;     /* content type; NULL: that of its format */
	bool needs_all;       /* wrong for those who see one user's work only */
	bool is_check;        /* its exit status 1 is bad news, and still an answer */
	bool is_of_one_host;  /* of a lake with several, one has to be chosen */
	const char *describe; /* its summary; NULL: the verb's */
};

/* All routes, ending with a NULL path. */
extern const struct route routes[];

struct route_parameter {
	const char *name, *value;
};

/* The words of a command line, NULL-terminated. */
struct route_command {
	const struct route *route;
	const char *type; /* content type of the answer */
	int word_count;
	char *words[ROUTE_WORDS_MAX + 1];
};

/* Makes the command that answers a path with these parameters; the last has a NULL name. `source` is the option that
 * names the store or lake. Returns 0; -ENOENT if there is no such route; -EINVAL with one line for the client in
 * `ret_problem`; -ENOMEM. */
int route_resolve(const char *path, const struct route_parameter *parameters, const char *source,
		  struct route_command *ret_command, char *ret_problem, size_t capacity);
void route_command_free(struct route_command *command);

/* Whether a space-separated list has that word. */
bool route_lists(const char *list, const char *word);

/* Finds the next {NAME} of a path. Returns it, without the brace, and its length; NULL if there is none. */
const char *route_next_name(const char *path, size_t *ret_size);

/* The option of a verb, or NULL. */
const struct option_spec *route_option(const struct verb *verb, const char *name);
