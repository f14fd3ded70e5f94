/* Runs of a name in time order, and where their wall time changed: tracer tune --trend NAME. */
#pragma once

#include "cli/source.h"

#define TREND_RUNS_MAX 100 /* the latest; the others are counted */

/* `name` is that of a run, or a part of it. Prints text or JSON. Returns as a verb's `show` (cli/source.h). */
int trend_show(struct view *view, const char *name);
