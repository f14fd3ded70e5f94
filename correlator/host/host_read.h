/* Reading what host.h parses: files that everybody may read, no privilege.
 *
 * Never used in a replay. A file that is missing or hidden leaves its figures unknown.
 */
#pragma once

#include "correlator/host/host.h"

/* What the host is. Once: some of the files are long. */
void host_read_facts(struct host_facts *ret_facts);
/* The cluster that the host is in, as its files say: the administrator's, or Slurm's. */
void host_read_cluster(struct host_facts *facts);

/* How it is now: about a quarter of a millisecond. */
void host_read_figures(struct host_figures *ret_figures);
