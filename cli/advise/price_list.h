/* The list of prices that a verb uses: the site's, or the file of --prices. */
#pragma once

#include "analysis/cost/prices.h"
#include "cli/screen/output.h"

#define PRICE_LIST_DEFAULT TRACER_CONFIG_DIR "/prices.csv"

/* An entry for a verb's table of options. */
#define OPTION_SPEC_PRICES(path) \
	{ \
		"prices", 0, "FILE", "file", "list of prices (" PRICE_LIST_DEFAULT ")", .text = path \
	}

/* Reads `path`, or if that is NULL the site's list, which may be missing. Returns NULL after printing an error. */
struct prices *price_list_load(const char *path);

/* What must be said wherever money is shown: that it is not, or not all, from the list. */
void price_doubts_print(const struct price_doubts *doubts, const struct prices *prices, const struct output *whole);
