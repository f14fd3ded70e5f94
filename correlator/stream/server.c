/* The correlator's socket. See server.h. */
#include "correlator/stream/server.h"

#include <poll.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/ready.h"
#include "correlator/host/file_systems.h"
#include "correlator/host/host_read.h"
#include "correlator/stream/listen.h"
#include "correlator/stream/samplers.h"

/* With the 200 ms of the probe, a row follows its event within a second. Fewer commits cost less. */
#define COMMIT_PERIOD_MS 500
#define RETRY_PERIOD_MS 1000
#define EXPIRE_PERIOD_MS (60 * 60 * 1000)
#define BOUND_PERIOD_MS (60 * 1000)
#define DELETE_FIRST_MS 5000 /* for what is already too old or too much at the start */
#define DELETE_PAUSE_MS 200  /* between two steps, for the stream */
#define PENDING_ROWS_MAX 20000
/* Records stay in the ring until they are committed. In a storm a ring of 16 MiB would be full before the next period. */
#define PENDING_BYTES_MAX (2 << 20)
#define HOST_FIRST_MS 1000 /* gives the probe time to say hello */
#define READ_SIZE (256 * 1024)
#define HELLO_TIMEOUT_MS 5000 /* a silent peer keeps the probe out */
/* A probe that works sends a scan every second, of 100,000 processes once in this time. */
#define SILENT_MS (60 * 1000)
/* Connections can be made thousands of times a second: of the messages about them, so many are logged each period. */
#define CONNECTION_LINES_MAX 20
#define CONNECTION_LINES_PERIOD_MS (60 * 1000)

struct server {
	struct server_options options;
	struct session *session;
	struct store *store;
	uv_loop_t loop;
	uv_pipe_t listener;
	uv_pipe_t peer;
	struct samplers *samplers; /* NULL: none are served */
	struct file_systems *file_systems;
	bool has_peer;           /* until its handle is closed */
	bool has_next;           /* a peer waits until the previous one is gone */
	uint64_t heard_ms;       /* latest bytes of a greeted peer, or when reading began, on the loop's clock */
	bool is_silent;          /* for SILENT_MS: this was logged */
	uint64_t lines_until_ms; /* end of the period, on the loop's clock */
	unsigned line_count;     /* messages about connections in this period */
	bool paused;             /* the store cannot be written */
	int failure;
	struct wire_input input;
	struct retention retention;
	uv_timer_t commit_timer, expire_timer, bound_timer, host_timer;
	uv_signal_t terminate, interrupt;
};

/* ---- the connection */

static void connection_lines_renew(struct server *server)
{
	if (uv_now(&server->loop) < server->lines_until_ms)
		return;
	if (server->line_count > CONNECTION_LINES_MAX)
		log_warning("%u more messages about connections were left out",
			    server->line_count - CONNECTION_LINES_MAX);
	server->line_count = 0;
	server->lines_until_ms = uv_now(&server->loop) + CONNECTION_LINES_PERIOD_MS;
}

#define connection_log(server, level, ...) \
	do { \
		if (++(server)->line_count <= CONNECTION_LINES_MAX) \
			log_line(level, __VA_ARGS__); \
	} while (0)

static void peer_accept(struct server *server);

static void peer_closed(uv_handle_t *handle)
{
	struct server *server = handle->data;

	server->has_peer = false;
	server->input.size = server->input.position = 0;
	if (server->options.once && server->session->greeted) {
		uv_stop(&server->loop);
	} else if (server->has_next) {
		server->has_next = false;
		peer_accept(server);
	}
}

static bool peer_is_open(const struct server *server)
{
	return server->has_peer && !uv_is_closing((const uv_handle_t *)&server->peer);
}

static void peer_close(struct server *server)
{
	if (peer_is_open(server))
		uv_close((uv_handle_t *)&server->peer, peer_closed);
}

/* A peer that does not read misses acknowledgements: the next one covers them. */
static void answer(struct server *server, enum wire_type type)
{
	struct wire_output output = {0};

	if (peer_is_open(server) && session_answer(server->session, type, &output) == 0) {
		uv_buf_t buffer = uv_buf_init(output.data, (unsigned)output.size);

		uv_try_write((uv_stream_t *)&server->peer, &buffer, 1);
	}
	wire_output_deinit(&output);
}

static void read_ready(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer);
static void read_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer);

static void peer_listen(struct server *server)
{
	server->heard_ms = uv_now(&server->loop);
	server->is_silent = false;
	uv_read_start((uv_stream_t *)&server->peer, read_room, read_ready);
}

static void commit(struct server *server)
{
	struct session *session = server->session;
	int r;

	if (!session->changed)
		return;
	r = session_commit(session, clock_unix_ns());
	if (r < 0) {
		if (!server->paused)
			log_error("cannot write the store: %s; retrying, new records stay in the "
				  "probe's ring",
				  store_error_text(server->store));
		server->paused = true;
		if (peer_is_open(server))
			uv_read_stop((uv_stream_t *)&server->peer);
		return;
	}
	if (server->paused) {
		log_info("the store can be written again");
		server->paused = false;
		if (peer_is_open(server))
			peer_listen(server);
	}
	/* Not to a peer that has not said hello yet: the commit was for a previous one. */
	if (session->greeted)
		answer(server, WIRE_ACK);
}

static void record_frame(struct server *server, const char *data, size_t size)
{
	const unsigned char header[WIRE_FRAME_HEADER_SIZE] = {(unsigned char)(size >> 24), (unsigned char)(size >> 16),
							      (unsigned char)(size >> 8), (unsigned char)size};
	int fd = server->options.record_fd;

	if (fd < 0)
		return;
	if (write(fd, header, sizeof(header)) == (ssize_t)sizeof(header) && write(fd, data, size) == (ssize_t)size)
		return;
	log_error("cannot write the recording: %s; recording stopped", strerror(errno));
	server->options.record_fd = -1;
}

/* Processes the complete frames. Returns false if the peer must be disconnected. */
static bool take_frames(struct server *server)
{
	const char *data, *reason = "a frame of invalid size";
	size_t size;
	int r;

	while ((r = wire_input_next(&server->input, &data, &size)) == 1) {
		bool greeted = server->session->greeted;

		record_frame(server, data, size);
		r = session_feed(server->session, data, size, &reason);
		if (r == -ENOMEM) {
			server->failure = r;
			log_error("out of memory");
			uv_stop(&server->loop);
			return false;
		}
		if (r < 0)
			break;
		if (!greeted)
			answer(server, WIRE_WELCOME);
	}
	if (r == 0)
		return true;
	connection_log(server, LOG_LEVEL_WARNING, "connection closed: the peer sent %s", reason);
	return false;
}

static void read_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct server *server = handle->data;
	char *data;

	*buffer = wire_input_reserve(&server->input, READ_SIZE, &data) < 0 ? uv_buf_init(NULL, 0)
									   : uv_buf_init(data, READ_SIZE);
}

static void read_ready(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	struct server *server = stream->data;

	if (size > 0) {
		if (server->is_silent)
			log_info("the probe sends again");
		if (server->session->greeted)
			server->heard_ms = uv_now(&server->loop);
		server->is_silent = false;
		wire_input_filled(&server->input, (size_t)size);
		if (!take_frames(server)) {
			peer_close(server);
			return;
		}
		if (model_pending(server->session->model) > PENDING_ROWS_MAX ||
		    session_pending_bytes(server->session) > PENDING_BYTES_MAX)
			commit(server);
		return;
	}
	if (size == 0)
		return;
	if (server->input.size > server->input.position)
		connection_log(server, LOG_LEVEL_WARNING, "probe disconnected in the middle of a message");
	else
		connection_log(server, LOG_LEVEL_INFO, "probe disconnected%s%s", size == UV_EOF ? "" : ": ",
			       size == UV_EOF ? "" : uv_strerror((int)size));
	commit(server);
	peer_close(server);
}

/* Whether the peer has disconnected, even if not everything it sent has been read. */
static bool peer_has_left(struct server *server)
{
	struct pollfd descriptor = {.events = POLLRDHUP};
	uv_os_fd_t fd;

	if (!peer_is_open(server) || uv_fileno((uv_handle_t *)&server->peer, &fd) < 0)
		return true;
	descriptor.fd = fd;
	return poll(&descriptor, 1, 0) > 0;
}

static void peer_accept(struct server *server)
{
	uid_t uid;

	uv_pipe_init(&server->loop, &server->peer, 0);
	server->peer.data = server;
	server->has_peer = true;
	session_reset(server->session);
	if (uv_accept((uv_stream_t *)&server->listener, (uv_stream_t *)&server->peer) < 0) {
		peer_close(server);
		return;
	}
	if (!listen_admits(&server->peer, server->options.probe.uid, &uid)) {
		connection_log(server, LOG_LEVEL_WARNING,
			       "connection refused: user %u is not the probe's user (see --probe-user)", uid);
		peer_close(server);
		return;
	}
	connection_log(server, LOG_LEVEL_INFO, "probe connected");
	if (!server->paused)
		peer_listen(server);
}

static void connected(uv_stream_t *listener, int status)
{
	struct server *server = listener->data;

	if (status < 0)
		return;
	/* Until it is accepted, libuv reports no further connection either. */
	if (!server->has_peer) {
		peer_accept(server);
	} else if (peer_has_left(server)) {
		server->has_next = true;
	} else { /* it would send everything twice */
		connection_log(server, LOG_LEVEL_WARNING, "connection refused: a probe is already connected");
		listen_refuse(listener);
	}
}

/* ---- timers and signals */

static void watch_peer(struct server *server)
{
	uint64_t quiet_ms = uv_now(&server->loop) - server->heard_ms;

	if (!peer_is_open(server) || server->paused)
		return;
	if (!server->session->greeted && quiet_ms > HELLO_TIMEOUT_MS) {
		connection_log(server, LOG_LEVEL_WARNING, "connection closed: no hello within %d s",
			       HELLO_TIMEOUT_MS / 1000);
		peer_close(server);
	} else if (server->session->greeted && !server->is_silent && quiet_ms > SILENT_MS) {
		server->is_silent = true;
		log_warning("the probe has sent nothing for %d s: it is stopped, or hangs", SILENT_MS / 1000);
	}
}

static void pod_found(void *model, const struct host_pod_container *found)
{
	apply_pod_container(model, found);
}

static void commit_due(uv_timer_t *timer)
{
	struct server *server = timer->data;

	if (apply_awaits_pods(server->session->model))
		host_read_pods(pod_found, server->session->model);
	commit(server);
	watch_peer(server);
	connection_lines_renew(server);
	uv_timer_set_repeat(timer, server->paused ? RETRY_PERIOD_MS : COMMIT_PERIOD_MS);
	ready_notify_alive(clock_boot_ns());
}

static void retention_due(uv_timer_t *timer)
{
	struct server *server = timer->data;
	const struct retention_now now = {.unix_ns = (int64_t)clock_unix_ns(), .boot_ns = (int64_t)clock_boot_ns()};
	bool by_size = timer == &server->bound_timer, more = false;

	commit(server);
	/* By size also while the store cannot be written for lack of space: deleting may free enough. */
	if (by_size)
		more = retention_by_size(&server->retention, &now);
	else if (!server->paused)
		more = retention_by_age(&server->retention, &now);
	uv_timer_start(timer, retention_due, more ? DELETE_PAUSE_MS : by_size ? BOUND_PERIOD_MS : EXPIRE_PERIOD_MS, 0);
}

static void take_file_system(const struct row_file_system_sample *sample, void *data)
{
	apply_file_system_sample(data, sample);
}

static void watch_file_systems(struct server *server)
{
	struct model *model = server->session->model;
	struct mounts mounts;

	if (!server->file_systems || !model->host.id || host_read_mounts(&mounts) < 0)
		return;
	file_systems_step(server->file_systems, &mounts, (int64_t)clock_unix_ns(), take_file_system, model);
	mounts_deinit(&mounts);
}

/* Uses the host's own clock. Like everything that a replay must not see, it is only in this file. */
static void host_due(uv_timer_t *timer)
{
	struct server *server = timer->data;

	watch_file_systems(server);
	struct row_host_sample sample = {.boot_ns = (int64_t)clock_boot_ns(), .unix_ns = (int64_t)clock_unix_ns()};

	host_read_figures(&sample);
	session_add_host_sample(server->session, &sample);
}

static void start_timer(struct server *server, uv_timer_t *timer, uv_timer_cb due, uint64_t first_ms,
			uint64_t period_ms)
{
	uv_timer_init(&server->loop, timer);
	timer->data = server;
	uv_timer_start(timer, due, first_ms, period_ms);
}

static void stop_requested(uv_signal_t *signal, int number)
{
	uv_stop(signal->loop);
}

static void start_signal(struct server *server, uv_signal_t *signal, int number)
{
	uv_signal_init(&server->loop, signal);
	uv_signal_start(signal, stop_requested, number);
}

static void watch_host(struct server *server)
{
	struct host_facts facts;
	uint64_t period_ms = (uint64_t)server->options.host_period_s * 1000;

	host_facts_init(&facts);
	if (period_ms > 0)
		host_read_facts(&facts);
	if (server->options.cluster)
		snprintf(facts.cluster, sizeof(facts.cluster), "%s", server->options.cluster);
	else
		host_read_cluster(&facts);
	apply_host(server->session->model, &facts);
	if (period_ms == 0)
		return;
	server->file_systems = file_systems_new(file_systems_ask_kernel);
	start_timer(server, &server->host_timer, host_due, HOST_FIRST_MS, period_ms);
}

static void start(struct server *server)
{
	uv_loop_t *loop = &server->loop;

	uv_pipe_init(loop, &server->listener, 0);
	uv_pipe_open(&server->listener, server->options.listen_fd);
	server->listener.data = server;
	uv_listen((uv_stream_t *)&server->listener, 4, connected);
	if (server->options.samplers_fd >= 0)
		server->samplers = samplers_new(loop, server->options.samplers_fd, server->options.sampler.uid,
						server->session->model);
	start_timer(server, &server->commit_timer, commit_due, COMMIT_PERIOD_MS, COMMIT_PERIOD_MS);
	start_timer(server, &server->expire_timer, retention_due, DELETE_FIRST_MS, 0);
	start_timer(server, &server->bound_timer, retention_due, DELETE_FIRST_MS, 0);
	watch_host(server);
	start_signal(server, &server->terminate, SIGTERM);
	start_signal(server, &server->interrupt, SIGINT);
}

int server_run(const struct server_options *options, struct session *session, struct store *store)
{
	struct server server = {.options = *options,
				.session = session,
				.store = store,
				.retention = {.options = options->retention, .store = store}};
	int r = uv_loop_init(&server.loop);

	if (r < 0)
		return r;
	start(&server);
	ready_notify(&server.options.ready_fd);
	ready_notify_manager();
	uv_run(&server.loop, UV_RUN_DEFAULT);
	apply_note_end(session->model);
	session->changed = session->changed || session->stream.ring_epoch != 0;
	if (!server.failure)
		commit(&server);
	r = server.failure ? server.failure : server.paused ? -EIO : 0;
	server.options.once = false;
	loop_end(&server.loop);
	samplers_free(server.samplers);
	file_systems_free(server.file_systems);
	wire_input_deinit(&server.input);
	return r;
}
