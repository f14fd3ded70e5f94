/* Names of samples that a user gives, so that none is inferred (samples.h): a list, a pattern, or a site's rules.
 *
 * Lists and patterns are looked for in whole words of command lines, with the folders of paths. No I/O.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/rules/rules.h"

#define SAMPLE_NAMES_BYTES_MAX 256 /* of a name */
#define SAMPLE_NAMES_REASON_SIZE 160

struct sample_names;

/* An empty list: there are no samples. Returns NULL if out of memory. */
struct sample_names *sample_names_new(void);
/* Adds a name to a list; again does no harm. Returns 0, -EINVAL if it is too long or has no letter or digit, or -ENOMEM.
 */
int sample_names_add(struct sample_names *names, const char *name);
size_t sample_names_count(const struct sample_names *names);
/* The name is what the only group of a regular expression (PCRE2, bytes) matches. Returns 0, -EINVAL with `reason`, or
 * -ENOMEM. */
int sample_names_compile(const char *pattern, struct sample_names **ret_names, char reason[SAMPLE_NAMES_REASON_SIZE]);
/* The name is what a rule says of a process; where none says any in a run, its samples are inferred. Takes the rules over.
 * Returns NULL if out of memory. */
struct sample_names *sample_names_of_rules(struct rules *rules);
/* Returns NULL unless the names come from rules. */
const struct rules *sample_names_rules(const struct sample_names *names);
void sample_names_free(struct sample_names *names);

/* Finds the next name of a list or pattern in the word, from `*at` on. Returns false if there is none; else sets the name, which is a part of
 * the word, and where to continue. */
bool sample_names_next(const struct sample_names *names, const char *word, size_t *at, const char **ret_name,
		       size_t *ret_size);

/* Why a run in whose command lines no name was found has no samples. */
const char *sample_names_misfit(const struct sample_names *names);
