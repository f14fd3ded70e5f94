/* What is left of a run in a page that is given to others: figures and kinds, but no arguments, paths, hosts and users,
 * and pseudonyms in place of names.
 *
 * A pseudonym is the same in all pages that a user shares: it is made with a key that stays in the user's home
 * (~/.local/state/tracer/share.key), so that a name cannot be guessed and tried.
 */
#pragma once

#include <jansson.h>

#include "analysis/query/finding_text.h"

/* Reads the key, or makes one. Returns 0 or, after printing an error, VERB_FAILED. */
int share_begin(const char *verb);

/* The pseudonym of a name: "~" and 10 hexadecimal digits. Valid until the next call. */
const char *share_pseudonym(const char *name);

/* Replaces the texts of answers of commands (docs/json.md): those that are known to be names by pseudonyms, those that are
 * known to be words of ours not at all, others by null. `made_by_us` has members whose texts were made with
 * share_format(), separated by spaces. */
void share_scrub(json_t *value, const char *made_by_us);

/* finding_value() with pseudonyms. */
char *share_format(const struct store_value *value, const struct question_field *column);
