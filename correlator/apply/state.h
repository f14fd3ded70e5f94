/* What this room keeps beside the model, as long as the model exists. */
#pragma once

#include "correlator/host/host.h"

/* What the current process scan includes: scan.c. */
struct scan_schedule {
	bool is_for_rows;  /* it updates rows, not only samples */
	bool is_for_quiet; /* it also samples processes with little activity */
	uint64_t next_rows_boot_ns, next_quiet_boot_ns;
	bool has_initial, has_inner; /* it has reported processes of the initial PID namespace, and of others */
};

/* The texts that model->host points to: boot.c. */
struct host_texts {
	char host_key[17], hostname[256], kernel[128], machine[64], probe_version[32];
	struct host_facts facts;
};

struct scan_memory;

struct apply_state {
	struct scan_schedule scan;
	struct scan_memory *memory;      /* what the current scan has found so far */
	struct found *found;             /* hash: found by a scan and not placed yet */
	struct found_block *found_block; /* with room for the next ones, NULL: none */
	uint64_t found_settle_boot_ns;   /* later events no longer concern them */
	struct host_texts host;
};
