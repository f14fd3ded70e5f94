/* All questions that can be asked: the shipped ones, and those that a site has put into a folder.
 *
 * A site's question is read and tried on an empty store, so that what is wrong with it is known
 * before anybody asks. What is wrong is reported and left out; the others go on.
 */
#pragma once

#include "query/question.h"

struct catalogue;

typedef void catalogue_refused(const struct tree_error *error, void *data);

/* `directory` may be NULL or not there: the shipped ones alone. 0 or -ENOMEM. */
int catalogue_load(const char *directory, catalogue_refused *refused, void *data, struct catalogue **ret_catalogue);
void catalogue_free(struct catalogue *catalogue);

/* In the order of their names, NULL past the last. */
const struct question *catalogue_get(const struct catalogue *catalogue, size_t index);
/* NULL: there is none. */
const struct question *catalogue_find(const struct catalogue *catalogue, const char *name);
