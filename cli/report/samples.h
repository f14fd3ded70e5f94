/* Samples as several verbs show them. */
#pragma once

#include "cli/screen/output.h"

/* Prints why no sample is named, unless `misfit` is "". */
void samples_print_misfit(const char *misfit, const struct output *output);
