/* The number of threads that a command line asks for, by the options that its rule declares. */
#pragma once

#include "common/rules/view.h"

/* Returns that number, or 0 if no declared option has a value from 1 to RULES_THREADS_MAX. The last option counts: if
 * its value is no such number ("auto", "0"), the request is unknown. */
unsigned threads_requested(const struct rule *rule, const struct view *view);
