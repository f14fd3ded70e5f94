/* The correlator's socket: one probe at a time, whose identity the kernel vouches
 * for. Commits on a timer and acknowledges what is committed.
 *
 * When the store cannot be written (disk full), reading stops until it can: the
 * backlog stays in the kernel's ring, and nothing here grows.
 */
#pragma once

#include "correlator/rows/retention.h"
#include "correlator/stream/session.h"

struct server_options {
	int listen_fd;   /* bound and listening; taken over */
	uid_t probe_uid; /* whose probe is accepted, besides root's and our own */
	bool once;       /* end when the first peer that greeted has gone */
	int record_fd;   /* -1, or where every frame is copied to */
	struct retention_options retention;
	uint64_t host_period_s; /* between samples of the host, 0: none, and nothing is read of it */
	const char *cluster;    /* the host's; NULL: as its files say */
	int ready_fd;           /* -1, or where '1' is written once peers and signals are served; closed */
};

/* A listening socket at `path`, mode 0660. A stale socket file is replaced; -EADDRINUSE:
 * somebody answers there. The descriptor or -errno. */
int server_listen(const char *path, gid_t group);

/* Until SIGTERM, SIGINT, or (`once`) the connection's end. 0 or -errno (logged). */
int server_run(const struct server_options *options, struct session *session, struct store *store);
