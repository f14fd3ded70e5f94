/* The daemons running on this host, found in /proc; and whether they are updating a store. */
#pragma once

#include "cli/screen/checks.h"
#include "common/store/store.h"

#define DAEMONS_MAX 16

#define OPTION_SPEC_SHIPPER(directory) \
	{ \
		"shipper", 0, "DIR", "directory", \
			"read the shipper's status from DIR (else " SHIPPER_STATE_DEFAULT ")", .text = &(directory) \
	}

struct daemon_info {
	const char *name; /* PROGRAM_PROBE, PROGRAM_CORRELATOR or PROGRAM_SHIPPER */
	pid_t pid;
	uid_t user_id;
	int64_t rss_bytes;
	int64_t since_boot_ns;
	bool stopped; /* by a signal or a debugger */
};

/* Returns the number found, at most DAEMONS_MAX, or -errno. A process is identified
 * by its name in the kernel (comm) and its user. */
int daemons_find(struct daemon_info daemons[DAEMONS_MAX]);

/* Devices that programs compute on: NVIDIA's. Returns their number. */
size_t daemons_count_gpus(void);
/* Whether a sampler of GPUs runs; any process of that name counts. */
bool daemons_have_sampler(void);

/* Whether /sys/fs/bpf is a BPF filesystem: without one the probe's service does not start. */
bool daemons_have_bpffs(void);

/* Adds a check if the process scans of the probe have only the processes of its own PID namespace; with `with_ok` also if they
 * have those of the whole host. Where the probe's namespace cannot be read, ours counts: in its container it is the same. */
void daemons_check_namespace(struct checks *checks, bool with_ok);

enum freshness {
	FRESHNESS_FRESH,      /* committed within FRESHNESS_LIMIT_NS */
	FRESHNESS_STALE,      /* no store, or no daemon writes it */
	FRESHNESS_UNREADABLE, /* the daemons' socket exists, but we may not read the store */
};

#define FRESHNESS_LIMIT_NS 15000000000LL /* on an idle host the stream advances every ten seconds */

/* Returns how far the store lags behind now, or INT64_MAX if it is of another boot. */
int64_t freshness_lag_ns(const struct store_stream *stream);

/* Adds a check if the store is behind: which daemon is silent, and for how long. */
void freshness_report(const struct store_stream *stream, struct checks *checks);

/* Prints no error: it is not a failure if no daemon runs. */
enum freshness freshness_read(const char *store_path);

/* Adds the contents of the shipper's status file in `directory` to the checks, and its figures as "shipper" to
 * `json` (NULL: not needed), whose "stream" has the store's current revision, since the file may be old. It is not a
 * fault if no shipper has ever run, but it is if one has stopped running. */
void daemons_check_shipper(const char *directory, bool is_running, struct checks *checks, json_t *json);
