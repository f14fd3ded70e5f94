/* The route of rows: no verb of the command line, but it runs as one. */
#pragma once

#include "cli/verb.h"

extern const struct verb rows_verb;
