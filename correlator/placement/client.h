/* Which client asked for a container: client.c. */
#pragma once

#include <stdbool.h>

struct container;
struct model;
struct process;

/* Returns the client for which `keeper`, of root's or of the client's user, started `process` in `container`, and marks
 * it as served. Returns NULL if none asked for it. `is_entering`: the container already has processes. */
struct process *client_take(struct model *model, const struct process *process, const struct process *keeper,
			    const struct container *container, bool is_entering);
