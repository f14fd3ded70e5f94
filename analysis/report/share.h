/* What is left of a run in a page that is given to others: figures and kinds, but no arguments, paths, hosts and users,
 * and pseudonyms in place of names.
 *
 * A pseudonym is the same in all pages that a user shares: it is made with a key that stays in the user's home
 * (cli/page/share_key.h), so that a name cannot be guessed and tried.
 */
#pragma once

#include <jansson.h>

#include "analysis/query/finding_text.h"

#define SHARE_KEY_BYTES 32

/* Call it first. */
void share_set_key(const unsigned char key[SHARE_KEY_BYTES]);

/* The pseudonym of a name: "~" and 10 hexadecimal digits. Valid until the next call. */
const char *share_pseudonym(const char *name);

/* Replaces the texts of answers of commands (docs/json.md): those that are known to be names by pseudonyms, those that are
 * known to be words of ours not at all, others by null. `made_by_us` has members whose texts were made with
 * share_format(), separated by spaces. */
void share_scrub(json_t *value, const char *made_by_us);

/* finding_value() with pseudonyms. */
char *share_format(const struct store_value *value, const struct question_field *column);
