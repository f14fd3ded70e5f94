/* The shipper: sends rows from the store to a sink, in rounds.
 *
 * A round handles each entity in turn: it gathers a batch, sends it, and saves the cursor
 * after the answer, until nothing is new. A round begins when the oldest row has waited for the
 * interval (plus or minus a tenth), or as soon as there are enough rows for a
 * batch. Only one batch is sent at a time, so memory does not depend on
 * how much there is to send or how long the lake is unavailable.
 */
#pragma once

#include "shipper/settings.h"

struct shipper_options {
	bool once;    /* end when everything is sent, or after three consecutive failures */
	int ready_fd; /* for ready_notify() when started; -1: none */
};

/* Runs until SIGTERM, SIGINT or, with `once`, the end. Returns 0 or -errno (logged). */
int shipper_run(const struct settings *settings, const struct shipper_options *options);

/* Both need `scratch`, an empty directory, and leave it empty. */

/* Prints to standard output what would be sent now, without side effects. Returns 0 or -errno (logged). */
int shipper_dry_run(const struct settings *settings, const char *scratch);

/* Sends the batches in `directory`, in parts if they are too large for the lake; with `remove`, removes those that
 * the lake accepted. Returns 0; -EBADMSG if some were refused and are kept; -errno (logged). */
int shipper_resend(const struct settings *settings, const char *directory, bool remove, const char *scratch);
