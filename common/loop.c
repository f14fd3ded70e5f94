/* See loop.h. */
#include "common/loop.h"

static void close_handle(uv_handle_t *handle, void *argument)
{
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

void loop_end(uv_loop_t *loop)
{
	uv_walk(loop, close_handle, NULL);
	uv_run(loop, UV_RUN_DEFAULT);
	uv_loop_close(loop);
}
