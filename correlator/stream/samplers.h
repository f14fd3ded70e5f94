/* The socket of the samplers: several connections, each a stream of its own (sampler.h). Nothing is answered. */
#pragma once

#include <uv.h>

#include "correlator/stream/sampler.h"

#define SAMPLERS_MAX 8

struct samplers;

/* Listens on `fd`, bound and listening, of which ownership is taken. Peers are root, our own user and `uid`.
 * Returns NULL if out of memory. After the loop has ended, free it. */
struct samplers *samplers_new(uv_loop_t *loop, int fd, uid_t uid, struct model *model);
void samplers_free(struct samplers *samplers);
