/* The memory to request for a task whose input is known, from the inputs and the needs of others.
 *
 * Two rules: that of right_size.h, which knows no inputs, and a line through the 20 tasks whose inputs are nearest, with a
 * margin from its residuals that widens away from them. The request is their mean, weighed by the inverse square of what
 * they would have wasted on each task if it had been left out. Beyond the largest input the line counts if it requests
 * more; it reaches up to ten times as far, if the inputs differ enough. docs/right-sizing.md has the measurements.
 */
#pragma once

#include <stddef.h>

/* A task that succeeded. */
struct right_size_point {
	double input_bytes, memory_bytes;
};

enum right_size_input {
	RIGHT_SIZE_INPUT_NONE, /* no input was given */
	RIGHT_SIZE_INPUT_SEEN,
	RIGHT_SIZE_INPUT_LARGER, /* than all that were seen: extrapolated */
	/* Unknown: */
	RIGHT_SIZE_INPUT_FEW,     /* fewer than 5 tasks with known input */
	RIGHT_SIZE_INPUT_ALIKE,   /* larger, and the largest that was seen is less than twice the smallest */
	RIGHT_SIZE_INPUT_TOO_FAR, /* more than ten times the largest that was seen */
};

struct right_size_for_input {
	enum right_size_input basis;
	double memory_bytes;          /* to request, not rounded; NAN: unknown */
	size_t task_count;            /* with known input */
	size_t left_out_failed_count; /* of these, those that would have failed with the request that the others give */
};

/* Sorts the points. */
struct right_size_for_input right_size_for_input(struct right_size_point *points, size_t count, double input_bytes);
