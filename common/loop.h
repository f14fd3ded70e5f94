/* Teardown of a program's event loop (libuv). */
#pragma once

#include <uv.h>

/* Closes all handles that are still open, runs the loop until they are closed, and frees it. */
void loop_end(uv_loop_t *loop);
