/* The text of a finding: its sentence or advice (question.h), with the values of a row in place of {COLUMN}. */
#pragma once

#include "analysis/query/question.h"

/* Formats a value of a sentence, not yet safe to print; to be freed. NULL if out of memory. */
typedef char *finding_format(const struct store_value *value, const struct question_field *column);
finding_format finding_value; /* as it is, or with a unit */

/* Fills a template with a row's values, in the order of the question's columns. Returns text to be freed, or NULL if out of
 * memory. */
char *finding_text(const struct question *question, const char *template, const struct store_value *values,
		   finding_format *format);
