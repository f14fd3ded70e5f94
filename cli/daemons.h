/* The daemons that run on this host now, from /proc. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

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
