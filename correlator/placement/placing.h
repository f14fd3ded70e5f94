/* What is known about a process when it is placed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Determines where a process belongs: place.c. */
struct placing {
	const struct rules_class *class; /* NULL: it forked and has executed nothing itself */
	bool is_found;                   /* first seen by a process scan */
	uint64_t boot_ns;
	uint64_t cgroup_id;
	uint32_t pgid;
	uint32_t stdin_pipe, stdout_pipe;
};
