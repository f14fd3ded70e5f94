/* Whether a lake is as this release wants it, as far as the user who asks may see. */
#ifndef TRACER_CLI_LAKE_CHECK_H
#define TRACER_CLI_LAKE_CHECK_H

#include "cli/findings.h"
#include "common/lake/client.h"

/* Every fact is a finding; a lake that does not answer is one. */
void lake_check(struct lake_client *client, const struct lake_settings *settings,
		struct findings *findings);

#endif
