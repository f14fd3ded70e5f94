/* The shipper: from the store to a sink, round after round.
 *
 * A round looks at every entity in turn: gather a batch, send it, and after the answer save
 * the cursor; until nothing is new. Rounds begin when the oldest row has waited for the
 * interval (a tenth more or less), or as soon as a batch's worth of rows has come
 * together. One batch is under way at a time, whatever happens: memory does not depend on
 * how much there is to send or how long the lake is away.
 */
#pragma once

#include "shipper/settings.h"

struct shipper_options {
	bool once;    /* end when everything is sent, or at the third failure in a row */
	int ready_fd; /* -1, or where '1' is written once the loop runs; closed */
};

/* Until SIGTERM, SIGINT or (`once`) the end. 0, or -errno (logged). */
int shipper_run(const struct settings *settings, const struct shipper_options *options);

/* Prints to standard output what would be sent now, and changes nothing. 0 or -errno (logged). */
int shipper_dry_run(const struct settings *settings);

/* Sends the batches in `directory`; `remove` those that the lake took. 0; -EBADMSG: some were
 * refused and are still there; -errno (logged). */
int shipper_resend(const struct settings *settings, const char *directory, bool remove);
