/* What is known about runs while they run (analysis/query/live.h), as text. */
#pragma once

#include "analysis/query/live.h"
#include "cli/screen/output.h"

/* "4m10s to 9m00s": how long a run goes on, as expected; "" if that is unknown (NULL). Valid until the next call. */
const char *living_ends_in(const struct row_expected_end *end, bool raw);

/* "43 % of 12.4 GiB, 4m10s to 9m00s": how far a file is read, and how long it goes on; likewise. */
const char *living_progress(const struct row_file_progress *progress, bool raw);

/* Prints warnings, one a line, at most so many. */
void living_print_warnings(const struct live *live, const struct output *output, size_t most);
