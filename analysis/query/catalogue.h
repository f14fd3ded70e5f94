/* All questions that can be asked: the shipped ones, and those that a site has put into a directory.
 *
 * A site's question is parsed and tried on an empty store, so that errors in it are found before
 * anyone asks it. A question with an error is reported and skipped; the others are loaded.
 */
#pragma once

#include <jansson.h>

#include "analysis/query/question.h"

struct catalogue;

typedef void catalogue_refused(const struct tree_error *error, void *data);

/* If `directory` is NULL or does not exist, loads only the shipped questions. Returns 0 or -ENOMEM. */
int catalogue_load(const char *directory, catalogue_refused *refused, void *data, struct catalogue **ret_catalogue);
void catalogue_free(struct catalogue *catalogue);

/* Returns a question by index, in order of name, or NULL past the last. */
const struct question *catalogue_get(const struct catalogue *catalogue, size_t index);
/* Returns NULL if there is no question of that name. */
const struct question *catalogue_find(const struct catalogue *catalogue, const char *name);
/* The columns of a question with their units and meanings, as an array (docs/json.md, tracer query). */
json_t *catalogue_columns_to_json(const struct question *question);
/* All of them, as an array (docs/json.md, tracer query --list). */
json_t *catalogue_to_json(const struct catalogue *catalogue);
