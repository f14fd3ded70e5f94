/* Which client asked for a container: client.c. */
#pragma once

#include <stdbool.h>

struct container;
struct model;
struct process;

/* Returns the client for which a daemon started `process` in `container`, and marks it as served. Returns NULL
 * if none asked for it. `is_entering`: the container already has processes. */
struct process *client_take(struct model *model, const struct process *process, const struct container *container,
			    bool is_entering);
