/* The end of a program's event loop (libuv). */
#pragma once

#include <uv.h>

/* Closes every handle that is still open, waits until they are, and frees the loop. */
void loop_end(uv_loop_t *loop);
