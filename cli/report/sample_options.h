/* Options of verbs that tell samples apart: where the names of samples come from, if they are not to be inferred. */
#pragma once

#include "analysis/query/sample_names.h"
#include "cli/options.h"
#include "cli/screen/output.h"

/* clang-format off */
#define OPTION_SPECS_OF_SAMPLES \
	{"sample-sheet", 0, "FILE", "file", \
	 "take samples from column sample of a CSV; none: off", .text = &sample_sheet}, \
	{"sample-pattern", 0, "REGEX", NULL, \
	 "take as sample what the group in REGEX matches", .text = &sample_pattern}
/* clang-format on */

extern const char *sample_sheet, *sample_pattern;

/* Sets the names that the options or the site's rules give, NULL to infer them; free them. `by_sample` says whether the verb was asked for
 * samples at all. Returns 0 or, after a message, the exit status. */
int sample_options_read(const struct options *options, bool by_sample, struct sample_names **ret_names);

/* Prints why no sample is named, unless `misfit` is "". */
void samples_print_misfit(const char *misfit, const struct output *output);
