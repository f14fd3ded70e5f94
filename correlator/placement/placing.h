/* What is known about a process when it is placed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"
#include "correlator/model/reason.h"

/* Determines where a process belongs: place.c. */
struct placing {
	const struct rules_class *class; /* NULL: it forked and has executed nothing itself */
	bool is_found;                   /* first seen by a process scan */
	uint64_t boot_ns;                /* start of the period that its figures cover */
	const struct record_context *context;
};

/* Where it belongs, and why. */
struct placement {
	struct group *group; /* NULL: that is not decided yet, or out of memory */
	enum reason reason;
};
