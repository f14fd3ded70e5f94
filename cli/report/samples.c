/* Samples as several verbs show them. See samples.h. */
#include "cli/report/samples.h"

void samples_print_misfit(const char *misfit, const struct output *output)
{
	if (*misfit)
		output_print(output, STYLE_DIM, "No sample structure found: %s\n", misfit);
}
