/* What is known of a process when its place is to be found. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Decides where a process belongs: place.c. */
struct placing {
	const struct rules_verdict *verdict; /* NULL: it forked and executed nothing itself */
	bool is_found;                       /* running before the probe */
	uint64_t boot_ns;
	uint64_t cgroup_id;
	uint32_t pgid;
	uint32_t stdin_pipe, stdout_pipe;
};
