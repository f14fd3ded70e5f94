/* See samplers.h. */
#include "correlator/stream/samplers.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/wire/wire.h"
#include "correlator/stream/listen.h"

#define READ_SIZE 4096

struct peer {
	uv_pipe_t pipe;
	struct samplers *samplers;
	bool is_open; /* until its handle is closed */
	struct wire_input input;
	struct sampler sampler;
};

struct samplers {
	uv_pipe_t listener;
	uid_t uid;
	struct model *model;
	bool is_refusing; /* logged once until a connection is accepted */
	struct peer peers[SAMPLERS_MAX];
};

static void closed(uv_handle_t *handle)
{
	struct peer *peer = handle->data;

	wire_input_deinit(&peer->input);
	peer->is_open = false;
}

static void peer_close(struct peer *peer)
{
	if (!uv_is_closing((uv_handle_t *)&peer->pipe))
		uv_close((uv_handle_t *)&peer->pipe, closed);
}

static void read_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct peer *peer = handle->data;
	char *data;

	*buffer = wire_input_reserve(&peer->input, READ_SIZE, &data) < 0 ? uv_buf_init(NULL, 0)
									 : uv_buf_init(data, READ_SIZE);
}

static int take_frames(struct peer *peer, const char **ret_reason)
{
	const char *data;
	size_t size;
	int r;

	while ((r = wire_input_next(&peer->input, &data, &size)) == 1) {
		bool is_first = !peer->sampler.name[0];

		r = sampler_feed(&peer->sampler, peer->samplers->model, data, size, clock_boot_ns(), ret_reason);
		if (r < 0)
			return r;
		if (is_first)
			log_info("sampler %s connected, driver %s", peer->sampler.name, peer->sampler.driver);
	}
	return r;
}

static void read_ready(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	struct peer *peer = stream->data;
	const char *reason = "a frame of invalid size";

	if (size == 0)
		return;
	if (size < 0) {
		log_info("sampler %s disconnected", peer->sampler.name);
		peer_close(peer);
		return;
	}
	wire_input_filled(&peer->input, (size_t)size);
	if (take_frames(peer, &reason) == 0)
		return;
	log_warning("connection of a sampler closed: it sent %s", reason);
	peer_close(peer);
}

static struct peer *free_peer(struct samplers *samplers)
{
	for (size_t i = 0; i < SAMPLERS_MAX; i++)
		if (!samplers->peers[i].is_open)
			return &samplers->peers[i];
	return NULL;
}

static void connected(uv_stream_t *listener, int status)
{
	struct samplers *samplers = listener->data;
	struct peer *peer = free_peer(samplers);
	uid_t uid;

	if (status < 0)
		return;
	if (!peer) {
		if (!samplers->is_refusing)
			log_warning("connection of a sampler refused: %d are connected", SAMPLERS_MAX);
		samplers->is_refusing = true;
		listen_refuse(listener);
		return;
	}
	*peer = (struct peer){.samplers = samplers, .is_open = true};
	uv_pipe_init(listener->loop, &peer->pipe, 0);
	peer->pipe.data = peer;
	if (uv_accept(listener, (uv_stream_t *)&peer->pipe) < 0 || !listen_admits(&peer->pipe, samplers->uid, &uid) ||
	    uv_read_start((uv_stream_t *)&peer->pipe, read_room, read_ready) < 0) {
		peer_close(peer);
		return;
	}
	samplers->is_refusing = false;
}

struct samplers *samplers_new(uv_loop_t *loop, int fd, uid_t uid, struct model *model)
{
	struct samplers *samplers = calloc(1, sizeof(*samplers));

	if (!samplers)
		return NULL;
	samplers->uid = uid;
	samplers->model = model;
	uv_pipe_init(loop, &samplers->listener, 0);
	samplers->listener.data = samplers;
	uv_pipe_open(&samplers->listener, fd);
	uv_listen((uv_stream_t *)&samplers->listener, SAMPLERS_MAX, connected);
	return samplers;
}

void samplers_free(struct samplers *samplers)
{
	for (size_t i = 0; samplers && i < SAMPLERS_MAX; i++)
		wire_input_deinit(&samplers->peers[i].input);
	free(samplers);
}
