/* The correlator's socket: one probe at a time, whose user id the kernel reports.
 * Commits on a timer and acknowledges what is committed.
 *
 * While the store cannot be written (disk full), reading stops: the backlog stays in
 * the kernel's ring, and nothing here grows.
 */
#pragma once

#include "common/option.h"
#include "correlator/store/retention.h"
#include "correlator/stream/session.h"

struct server_options {
	int listen_fd;                     /* bound and listening; ownership is taken */
	int samplers_fd;                   /* the same, for samplers; or -1 */
	struct option_user probe, sampler; /* accepted as probe and as sampler, besides root and our own */
	bool once;                         /* exit when the first peer that said hello has disconnected */
	int record_fd;                     /* gets a copy of every frame of the probe, or -1 */
	struct retention_options retention;
	int64_t host_period_s; /* between samples of the host; 0: neither samples nor facts, except the cluster */
	const char *cluster;   /* the host's; NULL: read from files */
	int ready_fd;          /* gets '1' once peers and signals are served, then is closed; or -1 */
};

/* Runs until SIGTERM, SIGINT or, with `once`, the end of the connection. Returns 0 or -errno (logged). */
int server_run(const struct server_options *options, struct session *session, struct store *store);
