/* Messages over a TCP connection on loopback, between two processes.
 *
 *   network request MESSAGE_BYTES COUNT   each message is answered by one of the same size
 *   network bulk MESSAGE_BYTES COUNT      one way
 *   network drain MESSAGE_BYTES COUNT     one way, with many messages in one send
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static struct {
	bool answered;
	long at_once; /* messages in one send */
	size_t message_bytes;
	long count;
	char *messages;
} load;

static void messages_send(int fd, long count)
{
	size_t bytes = (size_t)count * load.message_bytes;

	for (size_t sent = 0; sent < bytes;) {
		ssize_t size = send(fd, load.messages + sent, bytes - sent, 0);

		if (size <= 0)
			err(1, "send");
		sent += (size_t)size;
	}
}

static void message_receive(int fd)
{
	for (size_t received = 0; received < load.message_bytes;) {
		ssize_t size = recv(fd, load.messages + received, load.message_bytes - received, 0);

		if (size < 0)
			err(1, "recv");
		if (size == 0)
			errx(1, "the other side is gone");
		received += (size_t)size;
	}
}

/* Listens on a port chosen by the kernel, which is stored in the address. */
static int listener_open(struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(*address);

	if (fd < 0 || bind(fd, (struct sockaddr *)address, size) < 0 || listen(fd, 1) < 0 ||
	    getsockname(fd, (struct sockaddr *)address, &size) < 0)
		err(1, "cannot listen");
	return fd;
}

static int connection_open(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		err(1, "cannot connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return fd;
}

static void serve(int listener)
{
	int fd = accept(listener, NULL, NULL), yes = 1;

	if (fd < 0)
		err(1, "accept");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	for (long i = 0; i < load.count; i++) {
		message_receive(fd);
		if (load.answered)
			messages_send(fd, 1);
	}
}

static void ask(const struct sockaddr_in *address)
{
	int fd = connection_open(address);

	for (long left = load.count; left > 0; left -= load.at_once) {
		messages_send(fd, left < load.at_once ? left : load.at_once);
		if (load.answered)
			message_receive(fd);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int listener, status;
	pid_t server;

	if (argc != 4 || (strcmp(argv[1], "request") && strcmp(argv[1], "bulk") && strcmp(argv[1], "drain")))
		errx(2, "usage: network request|bulk|drain MESSAGE_BYTES COUNT");
	load.answered = !strcmp(argv[1], "request");
	load.at_once = strcmp(argv[1], "drain") ? 1 : 65536;
	load.message_bytes = (size_t)atol(argv[2]);
	load.count = atol(argv[3]);
	load.messages = calloc((size_t)load.at_once, load.message_bytes);
	if (!load.messages)
		err(1, "cannot hold the messages");
	listener = listener_open(&address);
	server = fork();
	if (server < 0)
		err(1, "fork");
	if (!server) {
		serve(listener);
		return 0;
	}
	ask(&address);
	if (waitpid(server, &status, 0) < 0 || status)
		errx(1, "the other side failed");
	return 0;
}
