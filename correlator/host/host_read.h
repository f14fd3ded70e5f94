/* Reads what host.h parses: world-readable files, without privileges.
 *
 * Never used in a replay. If a file is missing or hidden, its figures stay unknown.
 */
#pragma once

#include "correlator/host/host.h"
#include "correlator/host/mounts.h"

/* Reads the facts of the host. To be called once: some of the files are long. */
void host_read_facts(struct host_facts *ret_facts);
/* Reads the host's cluster from the administrator's file, or else from Slurm's. */
void host_read_cluster(struct host_facts *facts);

/* Calls `visit` for each container in the directory of the kubelet, if there is one. */
void host_read_pods(void (*visit)(void *context, const struct host_pod_container *found), void *context);

/* Reads the current figures. Takes about a quarter of a millisecond. */
void host_read_figures(struct row_host_sample *ret_figures);

/* Reads the mounts of this process' namespace, which a service manager makes of the host's. Returns as mounts_parse(). */
int host_read_mounts(struct mounts *ret_mounts);
