/* Price lists of cloud providers, converted into a list that prices_load() reads.
 *
 * What is taken: prices an hour of whole machines that run Linux without licences on shared hardware, on demand or
 * spot; of Google Cloud, which prices them so, those of a core and of a GiB of a machine. Everything else is counted and left out; nothing is guessed.
 */
#pragma once

#include <stdio.h>

#include "common/yaml/tree.h"

/* I(NAME, "name"): formats of files.
 *   aws-csv   Price List Bulk API, AmazonEC2; read row by row
 *   aws-json  the same as JSON; the whole file is in memory
 *   azure     Retail Prices API, one answer ("Items"); the whole file is in memory
 *   focus     FOCUS 1.2 CSV: what machines of a bill cost an hour; read row by row
 *   gcp       Google Cloud's detailed usage cost export, a JSON object a line; read line by line */
#define IMPORT_FORMATS(I) \
	I(AWS_CSV, "aws-csv") \
	I(AWS_JSON, "aws-json") \
	I(AZURE, "azure") \
	I(FOCUS, "focus") \
	I(GCP, "gcp")

enum import_format {
#define I(NAME, name) IMPORT_##NAME,
	IMPORT_FORMATS(I)
#undef I
};

/* JSON takes about ten times its size in memory. */
#define IMPORT_JSON_BYTES_MAX (INT64_C(1) << 30)

struct import_counts {
	size_t taken;    /* prices written */
	size_t left_out; /* rows, products or items of another kind */
	size_t repeated; /* of the same machine, region and lifecycle: the first, of bills the latest, is written */
};

/* Returns 0; -EINVAL or -errno with `*ret_error`; -ENOMEM; -EIO if `out` cannot be written. */
int import_prices(enum import_format format, const char *path, FILE *out, struct import_counts *ret_counts,
		  struct tree_error *ret_error);
