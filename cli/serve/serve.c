/* tracer serve: the dashboard and the API. This file has its options, and opens its sockets; server.h does the rest. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "analysis/lake/lake.h"
#include "cli/serve/sandbox.h"
#include "cli/serve/server.h"
#include "cli/source.h"
#include "common/http/secret_file.h"
#include "common/log.h"

#define LISTEN_DEFAULT "127.0.0.1:7070"
#define QUEUE_LENGTH 128
#define DESCRIPTORS_MAX 8192
#define TOKEN_BYTES_LEAST 16

static const char *listen_address, *socket_path, *token_file, *host_name, *trusted_header;
static int ready_fd = -1;

static const struct option_spec option_specs[] = {
	{"listen", 0, "ADDRESS:PORT", NULL, "serve there (" LISTEN_DEFAULT ", unless --socket is given)",
	 .text = &listen_address},
	{"socket", 0, "PATH", "file", "serve on a Unix socket, to each user what ran as them", .text = &socket_path},
	{"token-file", 0, "FILE", "file", "the token that --listen asks for (else a new one, which is printed)",
	 .text = &token_file},
	{"host-name", 0, "NAME", NULL, "a name of this host in browsers, besides localhost", .text = &host_name},
	{"trusted-header", 0, "NAME", NULL, "a proxy says in this header for whom it asks", .text = &trusted_header},
	{"ready-fd", 0, "FD", NULL, "write a byte to FD once it serves", .descriptor = &ready_fd, .least = 3},
	OPTION_SPEC_SOURCE,
	OPTION_SPEC_HELP,
	OPTION_SPEC_END,
};

/* ---- sockets */

/* Returns the socket, or -1 after printing an error. */
static int unix_open(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
	mode_t mask;

	if (strlen(path) >= sizeof(address.sun_path)) {
		close(fd);
		say("tracer serve: %s: the path is too long for a socket", path);
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	/* Left by a server that was killed; any other file is kept. */
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		error = EADDRINUSE;
	else if (errno == ECONNREFUSED && lstat(path, &status) == 0 && S_ISSOCK(status.st_mode))
		unlink(path);
	mask = umask(0111); /* everybody may connect: answers depend on who asks */
	if (error == 0 && (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, QUEUE_LENGTH) < 0))
		error = errno;
	umask(mask);
	if (error == 0)
		return fd;
	close(fd);
	say("tracer serve: cannot listen on %s: %s", path, strerror(error));
	return -1;
}

/* Splits "ADDRESS:PORT"; an address of IPv6 is in brackets. */
static bool address_split(const char *text, char host[256], const char **ret_port)
{
	const char *colon = strrchr(text, ':');
	size_t size = colon ? (size_t)(colon - text) : 0;

	if (!colon || size == 0 || size >= 256 || !colon[1] || strtoul(colon + 1, NULL, 10) > UINT16_MAX)
		return false;
	if (text[0] == '[' && text[size - 1] == ']') {
		text++;
		size -= 2;
	}
	memcpy(host, text, size);
	host[size] = '\0';
	*ret_port = colon + 1;
	return true;
}

static int tcp_open(const char *text)
{
	static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	struct addrinfo *found = NULL;
	const char *port;
	char host[256];
	int fd, error, yes = 1;

	if (!address_split(text, host, &port)) {
		say("tracer serve: --listen takes ADDRESS:PORT, not '%s'", text);
		return -1;
	}
	error = getaddrinfo(host, port, &hints, &found);
	if (error) {
		say("tracer serve: --listen %s: %s", text, gai_strerror(error));
		return -1;
	}
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	error = bind(fd, found->ai_addr, found->ai_addrlen) < 0 || listen(fd, QUEUE_LENGTH) < 0 ? errno : 0;
	freeaddrinfo(found);
	if (error == 0)
		return fd;
	close(fd);
	say("tracer serve: cannot listen on %s: %s", text, strerror(error));
	return -1;
}

/* The port may be 0: any. */
static unsigned tcp_port(int fd)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		return 0;
	return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
						   : ((struct sockaddr_in *)&address)->sin_port);
}

static bool sockets_open(struct server_options *options)
{
	const char *address = listen_address ? listen_address : socket_path ? NULL : LISTEN_DEFAULT;

	options->sockets[0] = address ? tcp_open(address) : -1;
	if (address && options->sockets[0] < 0)
		return false;
	options->sockets[1] = socket_path ? unix_open(socket_path) : -1;
	return !socket_path || options->sockets[1] >= 0;
}

/* ---- who may see what */

static int token_get(struct secret_file *token)
{
	char reason[512];

	if (!token_file)
		return scope_make_token(token->text) < 0 ? say("tracer serve: no random numbers") : 0;
	if (secret_file_read(token_file, token, reason, sizeof(reason)) < 0)
		return say("tracer serve: %s", reason);
	return strlen(token->text) >= TOKEN_BYTES_LEAST
		       ? 0
		       : say("tracer serve: %s: a token of at least %d characters is needed, such as the output of "
			     "openssl rand -hex 32",
			     token_file, TOKEN_BYTES_LEAST);
}

static gid_t group_find(void)
{
	const struct group *group = getgrnam(TRACER_CORRELATOR_USER);

	return group ? group->gr_gid : SCOPE_NO_GROUP;
}

/* ---- the server */

/* The answers' children find the same errors, but now somebody reads them. */
static bool source_works(const struct options *options)
{
	struct store *store = source_open(options);

	source_close(store);
	return store != NULL;
}

static void descriptors_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max < DESCRIPTORS_MAX ? limit.rlim_max : DESCRIPTORS_MAX;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void announce(const struct server_options *options)
{
	char host[256] = "";
	const char *port;

	printf("Tracer serves %s", strchr(options->source, '=') + 1);
	if (options->sockets[0] >= 0) {
		address_split(listen_address ? listen_address : LISTEN_DEFAULT, host, &port);
		printf("%s at http://%s%s%s:%u/", options->sockets[1] >= 0 ? "," : "", strchr(host, ':') ? "[" : "",
		       host, strchr(host, ':') ? "]" : "", tcp_port(options->sockets[0]));
		if (!token_file)
			printf("#token=%s", options->policy.token);
	}
	if (options->sockets[1] >= 0)
		printf("%s on %s", options->sockets[0] >= 0 ? " and" : "", socket_path);
	printf("\n");
	fflush(stdout);
}

static int serve(const struct options *options, struct server_options *server)
{
	bool has_lake = options_use_lake(options);
	const char *what =
		has_lake ? options->lake_url ? options->lake_url : getenv("TRACER_LAKE") : options_store_path(options);
	char source[PATH_MAX + sizeof("--store=")];

	snprintf(source, sizeof(source), "--%s=%s", has_lake ? "lake" : "store", what);
	server->source = source;
	server->store_path = has_lake ? NULL : what;
	log_init("tracer serve", LOG_LEVEL_INFO);
	descriptors_raise();
	if (!sockets_open(server) || sandbox_enter(has_lake, socket_path) < 0)
		return VERB_FAILED;
	return server_run(server) < 0 ? VERB_FAILED : VERB_OK;
}

static int serve_main(const struct options *options)
{
	static struct secret_file token;
	struct server_options server = {
		.policy = {.token = token.text,
			   .trusted_header = trusted_header,
			   .host_name = host_name,
			   .group = group_find()},
		.sockets = {-1, -1},
		.ready_fd = ready_fd,
		.announce = announce,
	};
	int status = VERB_FAILED;

	if (token_get(&token) == 0 && source_works(options))
		status = serve(options, &server);
	if (socket_path && server.sockets[1] >= 0)
		unlink(socket_path);
	return status;
}

const struct verb verb_serve = {
	.name = "serve",
	.summary = "show runs, hosts, waste and cost in a browser, and as an API",
	.description = "Serves what the other commands print: in a browser, live, and for programs, as\n"
		       "JSON or CSV (docs/serve.md; /api/v1/openapi.json describes it). It only reads.\n"
		       "\n"
		       "--listen  a client with the token sees everything: open the link that is printed\n"
		       "--socket  the kernel says who asks: members of the group " TRACER_CORRELATOR_USER " see\n"
		       "          everything, all others what ran as them\n"
		       "\n"
		       "A proxy that authenticates users can use either, as one who sees everything, and\n"
		       "name the user in the header that --trusted-header says.",
	.options = option_specs,
	.examples = "  tracer serve\n"
		    "  tracer serve --lake https://lake.example:8443 --listen 0.0.0.0:7070 \\\n"
		    "    --host-name tracer.example --token-file /etc/tracer/serve-token",
	.main = serve_main,
};
