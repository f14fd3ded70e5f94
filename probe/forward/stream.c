/* See stream.h. */
#include "probe/forward/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"

#define RETRY_FIRST_NS 100000000ULL
#define RETRY_LAST_NS 1000000000ULL /* the ring fills meanwhile */
#define READ_BYTES 4096

void stream_init_socket(struct stream *stream, const char *path, uid_t peer_uid)
{
	*stream = (struct stream){
		.path = path,
		.peer_uid = peer_uid,
		.fd = -1,
		.retry_delay_ns = RETRY_FIRST_NS,
	};
}

/* The file holds unredacted command lines: one that existed must not be another user's, nor readable by others. */
static int file_take(int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return 0;
	if (status.st_uid != geteuid())
		return -EACCES;
	return fchmod(fd, 0600) < 0 || ftruncate(fd, 0) < 0 ? -errno : 0;
}

int stream_init_file(struct stream *stream, const char *path, const struct wire_message *hello)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	*stream = (struct stream){.fd = fd, .is_ready = true};
	int result = fd < 0 ? -errno : file_take(fd);
	if (result)
		return result;
	ssize_t written = write(fd, WIRE_RECORDING_MAGIC, WIRE_RECORDING_MAGIC_SIZE);
	if (written != WIRE_RECORDING_MAGIC_SIZE)
		return written < 0 ? -errno : -EIO;
	stream_send(stream, hello);
	return 0;
}

void stream_deinit(struct stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	stream->fd = -1;
	stream->is_ready = false;
	stream->sent = 0;
	wire_output_deinit(&stream->output);
	wire_input_deinit(&stream->input);
}

void stream_fail(struct stream *stream, const char *reason)
{
	if (!stream->failure_logged)
		log_warning("%s: %s%s", stream->path ? stream->path : "recording", reason,
			    stream->path ? "; retrying" : "");
	stream->failure_logged = true;
	stream_deinit(stream);
	stream->retry_boot_ns = clock_boot_ns() + stream->retry_delay_ns;
	stream->retry_delay_ns *= 2;
	if (stream->retry_delay_ns > RETRY_LAST_NS)
		stream->retry_delay_ns = RETRY_LAST_NS;
}

/* Events go to a correlator, not to any process that created a socket at that path. */
static bool peer_is_trusted(const struct stream *stream)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(stream->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == 0 || peer.uid == stream->peer_uid);
}

void stream_connect(struct stream *stream, const struct wire_message *hello)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char reason[128];

	if (stream->fd >= 0 || !stream->path || clock_boot_ns() < stream->retry_boot_ns)
		return;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", stream->path);
	stream->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (stream->fd < 0 || connect(stream->fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		snprintf(reason, sizeof(reason), "cannot connect: %s; is tracer-correlator running?", strerror(errno));
		stream_fail(stream, reason);
	} else if (!peer_is_trusted(stream)) {
		stream_fail(stream, "the server is neither root nor the user of --peer-uid");
	} else {
		stream_send(stream, hello);
	}
}

/* Take one message from the input. WELCOME must come first, and only once. */
static int stream_take(struct stream *stream, struct wire_message *message)
{
	const char *data, *reason = "a frame of invalid size";
	char line[128];
	size_t size;
	int result = wire_input_next(&stream->input, &data, &size);

	if (result == 0)
		return 0;
	if (result > 0)
		result = wire_decode(data, size, message, &reason);
	if (result < 0) {
		snprintf(line, sizeof(line), "the server sent an invalid message (%s)", reason);
		stream_fail(stream, line);
		return 0;
	}
	if (message->type != (stream->is_ready ? WIRE_ACK : WIRE_WELCOME)) {
		stream_fail(stream, "the server sent a message out of order");
		return 0;
	}
	if (message->type == WIRE_WELCOME && message->welcome.version != WIRE_VERSION) {
		stream_fail(stream, "the correlator uses a different protocol version; install "
				    "probe and correlator of the same release");
		return 0;
	}
	stream->is_ready = true;
	stream->failure_logged = false;
	stream->retry_delay_ns = RETRY_FIRST_NS;
	return 1;
}

int stream_receive(struct stream *stream, struct wire_message *message)
{
	char *room;

	while (stream->fd >= 0 && stream->path) {
		if (stream_take(stream, message))
			return 1;
		if (stream->fd < 0 || wire_input_reserve(&stream->input, READ_BYTES, &room))
			return 0;
		ssize_t count = recv(stream->fd, room, READ_BYTES, 0);
		if (count == 0 && stream->is_ended)
			stream_deinit(stream);
		else if (count == 0)
			stream_fail(stream, stream->is_ready
						    ? "the correlator closed the connection"
						    : "the correlator rejected this probe (is another connected?)");
		else if (count < 0 && errno != EAGAIN && errno != EINTR)
			stream_fail(stream, strerror(errno));
		if (count <= 0)
			return 0;
		wire_input_filled(&stream->input, (size_t)count);
	}
	return 0;
}

bool stream_has_output(const struct stream *stream)
{
	return stream->output.size > stream->sent;
}

void stream_send(struct stream *stream, const struct wire_message *message)
{
	int result = stream->fd < 0 ? 0 : wire_encode(&stream->output, message);

	if (result)
		stream_fail(stream, strerror(-result));
}

void stream_end(struct stream *stream)
{
	if (stream->fd >= 0 && stream->path)
		shutdown(stream->fd, SHUT_WR);
	stream->is_ended = true;
}

void stream_flush(struct stream *stream)
{
	while (stream->fd >= 0 && stream_has_output(stream)) {
		const char *data = stream->output.data + stream->sent;
		size_t size = stream->output.size - stream->sent;
		ssize_t count =
			stream->path ? send(stream->fd, data, size, MSG_NOSIGNAL) : write(stream->fd, data, size);

		if (count < 0 && errno == EAGAIN)
			return;
		if (count < 0 && errno != EINTR)
			stream_fail(stream, strerror(errno));
		if (count > 0)
			stream->sent += (size_t)count;
	}
	stream->output.size = stream->sent = 0;
}
