/* The daemons that run on this host now, from /proc; and whether they are at work on a store. */
#pragma once

#include "cli/findings.h"
#include "common/store/store.h"

#define DAEMONS_MAX 16

struct daemon_info {
	const char *name; /* PROGRAM_PROBE, PROGRAM_CORRELATOR or PROGRAM_SHIPPER */
	pid_t pid;
	uid_t user_id;
	int64_t rss_bytes;
	int64_t since_boot_ns;
	bool stopped; /* by a signal or a debugger: it does nothing */
};

/* How many were found, at most DAEMONS_MAX; -errno. A process is known by the name
 * that the kernel has for it. */
int daemons_find(struct daemon_info daemons[DAEMONS_MAX]);

/* Whether /sys/fs/bpf is a BPF file system: without one the probe's service does not start. */
bool daemons_have_bpffs(void);

enum freshness {
	FRESHNESS_FRESH,      /* something was committed within the last seconds */
	FRESHNESS_STALE,      /* no store, or nobody writes it */
	FRESHNESS_UNREADABLE, /* the daemons' socket is there, the store is not for us */
};

#define FRESHNESS_LIMIT_NS 15000000000LL /* of an idle host it moves every ten seconds */

/* How far behind now the store is; INT64_MAX: of another boot. */
int64_t freshness_lag_ns(const struct store_stream *stream);

/* A finding where the store is behind: which daemon is silent, and for how long. */
void freshness_tell(const struct store_stream *stream, struct findings *findings);

/* Says nothing: it is no failure that no daemon runs. */
enum freshness freshness_read(const char *store_path);
