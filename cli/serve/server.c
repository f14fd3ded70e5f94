/* See server.h. */
#include "cli/serve/server.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>
#include <microhttpd.h>

#include "cli/serve/answers.h"
#include "common/grow.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/ready.h"
#include "web/assets.h"

#define CHILDREN_MOST 4
#define CONNECTIONS_MAX 1000
#define CONNECTIONS_PER_USER_MAX 100
#define CONNECTION_BYTES 32768 /* of a request's line and headers */
#define SILENT_S 30            /* a connection that neither asks nor reads */
#define PARAMETERS_MAX 32
#define POLICY \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " \
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* Connections of each user to the Unix socket. */
struct user_connections {
	uid_t uid;
	unsigned count; /* 0: the entry is free */
};

struct listener {
	struct server *server;
	struct MHD_Daemon *daemon;
	bool is_unix;
	uv_poll_t poll;
	uv_timer_t timer;
};

/* Between its headers and the end of its answer. */
struct request {
	struct request *next, **link;
	struct MHD_Connection *connection;
	struct answer *answer; /* held; NULL: none yet */
	bool is_suspended;
};

struct server {
	struct server_options options;
	uv_loop_t loop;
	uv_signal_t terminate, interrupt;
	struct listener listeners[SERVER_LISTENERS_MAX];
	size_t listener_count;
	struct answers *answers;
	struct request *requests;
	struct user_connections users[CONNECTIONS_MAX];
};

/* ---- responses */

static enum MHD_Result respond(struct MHD_Connection *connection, int status, struct MHD_Response *response,
			       const char *type)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	if (type)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
	MHD_add_response_header(response, "Content-Security-Policy", POLICY);
	MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, MHD_HTTP_METHOD_GET);
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (status == MHD_HTTP_TOO_MANY_REQUESTS || status == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
	result = MHD_queue_response(connection, (unsigned)status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result respond_problem(struct MHD_Connection *connection, int status, const char *reason)
{
	json_t *document = json_pack("{s:s+}", "error", reason, "");
	char *text = document ? json_dumps(document, JSON_ENSURE_ASCII) : NULL;

	json_decref(document);
	if (!text)
		text = strdup("{\"error\": \"not UTF-8\"}");
	return text ? respond(connection, status,
			      MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE),
			      "application/json")
		    : MHD_NO;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool has_already(struct MHD_Connection *connection, const char *etag)
{
	const char *known = header(connection, MHD_HTTP_HEADER_IF_NONE_MATCH);

	return known && strstr(known, etag) != NULL;
}

static enum MHD_Result respond_known(struct MHD_Connection *connection, const char *etag)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

	if (response)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, etag);
	return respond(connection, MHD_HTTP_NOT_MODIFIED, response, NULL);
}

static enum MHD_Result respond_answer(struct MHD_Connection *connection, const struct answer *answer)
{
	struct MHD_Response *response;
	int body;

	if (answer->status != MHD_HTTP_OK)
		return respond_problem(connection, answer->status, answer->reason);
	if (has_already(connection, answer->etag))
		return respond_known(connection, answer->etag);
	body = dup(answer->body);
	response = body >= 0 ? MHD_create_response_from_fd64(answer->size, body) : NULL;
	if (!response) {
		if (body >= 0)
			close(body);
		return respond_problem(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "out of descriptors or memory");
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, answer->etag);
	return respond(connection, MHD_HTTP_OK, response, answer->type);
}

static enum MHD_Result respond_asset(struct MHD_Connection *connection, const struct web_asset *asset)
{
	struct MHD_Response *response;
	char etag[ANSWER_ETAG_BYTES];

	if (answer_make_etag(asset->bytes, asset->size, etag) < 0)
		return MHD_NO;
	if (has_already(connection, etag))
		return respond_known(connection, etag);
	response = MHD_create_response_from_buffer(asset->size, (void *)asset->bytes, MHD_RESPMEM_PERSISTENT);
	if (response)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, etag);
	return respond(connection, MHD_HTTP_OK, response, asset->content_type);
}

/* ---- requests */

struct parameters {
	struct route_parameter items[PARAMETERS_MAX + 1];
	size_t count;
	bool is_wrong; /* too many, or with a NUL */
};

static enum MHD_Result parameter_take(void *context, enum MHD_ValueKind kind, const char *name, size_t name_size,
				      const char *value, size_t value_size)
{
	struct parameters *parameters = context;

	if (parameters->count == PARAMETERS_MAX || strlen(name) != name_size ||
	    (value && strlen(value) != value_size)) {
		parameters->is_wrong = true;
		return MHD_NO;
	}
	parameters->items[parameters->count++] = (struct route_parameter){name, value ? value : ""};
	return MHD_YES;
}

static bool is_data(const char *path)
{
	return strncmp(path, "/api/", 5) == 0 || strcmp(path, "/metrics") == 0;
}

static int unix_socket_of(const struct listener *listener, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		listener->is_unix ? MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD) : NULL;

	return info ? info->connect_fd : -1;
}

static int check(const struct listener *listener, struct MHD_Connection *connection, const char *path,
		 struct scope *ret_scope, const char **ret_reason)
{
	const struct scope_policy *policy = &listener->server->options.policy;
	const char *mode = header(connection, "Sec-Fetch-Mode");
	const struct scope_request request = {
		.unix_socket = unix_socket_of(listener, connection),
		.has_data = is_data(path),
		.is_navigation = mode && strcmp(mode, "navigate") == 0,
		.host = header(connection, MHD_HTTP_HEADER_HOST),
		.origin = header(connection, MHD_HTTP_HEADER_ORIGIN),
		.fetch_site = header(connection, "Sec-Fetch-Site"),
		.authorization = header(connection, MHD_HTTP_HEADER_AUTHORIZATION),
		.user = policy->trusted_header ? header(connection, policy->trusted_header) : NULL,
	};

	return scope_find(policy, &request, ret_scope, ret_reason);
}

/* Asks for the answer to a request: it may be there at once, else the connection waits for it. */
static enum MHD_Result ask(struct server *server, struct request *request, struct route_command *command,
			   const struct scope *scope)
{
	int status = 0;

	request->answer = answers_ask(server->answers, command, scope, &status);
	if (!request->answer)
		return respond_problem(request->connection, status,
				       status == MHD_HTTP_TOO_MANY_REQUESTS
					       ? "too many requests of this user wait for an answer"
					       : "too many requests: ask again in a moment");
	if (request->answer->is_ready)
		return respond_answer(request->connection, request->answer);
	request->is_suspended = true;
	MHD_suspend_connection(request->connection);
	return MHD_YES;
}

/* Returns 0; or the status of HTTP with which to refuse, and why, in `ret_reason`. */
static int resolve(struct server *server, struct MHD_Connection *connection, const char *path,
		   const struct scope *scope, struct route_command *ret_command, char ret_reason[ANSWER_REASON_BYTES])
{
	struct parameters parameters = {0};
	int error;

	MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, parameter_take, &parameters);
	snprintf(ret_reason, ANSWER_REASON_BYTES, "too many parameters, or one with a NUL");
	error = parameters.is_wrong ? -EINVAL
				    : route_resolve(path, parameters.items, server->options.source, ret_command,
						    ret_reason, ANSWER_REASON_BYTES);
	if (error == -ENOENT)
		snprintf(ret_reason, ANSWER_REASON_BYTES, "there is no such answer: /api/v1/openapi.json lists them");
	if (error < 0)
		return error == -ENOENT   ? MHD_HTTP_NOT_FOUND
		       : error == -EINVAL ? MHD_HTTP_BAD_REQUEST
					  : MHD_HTTP_SERVICE_UNAVAILABLE;
	/* A lake does not know which of its hosts' users are the same. */
	if (scope->everything || (!ret_command->route->needs_all && server->options.store_path))
		return 0;
	route_command_free(ret_command);
	snprintf(ret_reason, ANSWER_REASON_BYTES,
		 "this needs to see the work of all users: ask a member of the group " TRACER_CORRELATOR_USER);
	return MHD_HTTP_FORBIDDEN;
}

static enum MHD_Result begin(struct listener *listener, struct request *request, const char *path)
{
	struct route_command command;
	struct scope scope;
	const char *refused = NULL;
	char reason[ANSWER_REASON_BYTES];
	int status = check(listener, request->connection, path, &scope, &refused);

	if (status)
		return respond_problem(request->connection, status, refused);
	if (!is_data(path)) {
		const struct web_asset *asset = web_asset_find(path);

		return asset ? respond_asset(request->connection, asset)
			     : respond_problem(request->connection, MHD_HTTP_NOT_FOUND, "there is no such page");
	}
	status = resolve(listener->server, request->connection, path, &scope, &command, reason);
	return status ? respond_problem(request->connection, status, reason)
		      : ask(listener->server, request, &command, &scope);
}

static struct request *request_new(struct server *server, struct MHD_Connection *connection)
{
	struct request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	request->connection = connection;
	request->next = server->requests;
	request->link = &server->requests;
	if (request->next)
		request->next->link = &request->next;
	server->requests = request;
	return request;
}

/* Called when the headers are there, for each part of a body, when all is there, and again after a suspension. Only from
 * the second call on can there be a response after which the connection is kept. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path, const char *method,
			      const char *version, const char *upload, size_t *upload_size, void **memory)
{
	struct listener *listener = context;
	struct request *request = *memory;

	if (!request) {
		*memory = request_new(listener->server, connection);
		return *memory ? MHD_YES : MHD_NO;
	}
	if (*upload_size > 0) { /* nothing that we answer has a body */
		*upload_size = 0;
		return MHD_YES;
	}
	if (request->answer)
		return respond_answer(connection, request->answer);
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0)
		return respond_problem(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is answered");
	return begin(listener, request, path);
}

static void request_completed(void *context, struct MHD_Connection *connection, void **memory,
			      enum MHD_RequestTerminationCode code)
{
	struct listener *listener = context;
	struct request *request = *memory;

	if (!request)
		return;
	if (request->answer)
		answers_release(listener->server->answers, request->answer);
	*request->link = request->next;
	if (request->next)
		request->next->link = request->link;
	free(request);
	*memory = NULL;
}

static void timer_fired(uv_timer_t *timer);

static void answer_ready(void *context, struct answer *answer)
{
	struct server *server = context;

	for (struct request *request = server->requests; request; request = request->next)
		if (request->answer == answer && request->is_suspended) {
			request->is_suspended = false;
			MHD_resume_connection(request->connection);
		}
	for (size_t i = 0; i < server->listener_count; i++) /* in its next turn */
		uv_timer_start(&server->listeners[i].timer, timer_fired, 0, 0);
}

/* ---- connections */

/* Returns the entry of a user, or a free one: there are as many as connections. */
static struct user_connections *user_find(struct server *server, uid_t uid)
{
	struct user_connections *unused = NULL;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct user_connections *user = &server->users[i];

		if (user->count > 0 && user->uid == uid)
			return user;
		if (user->count == 0 && !unused)
			unused = user;
	}
	return unused;
}

/* One user cannot take all connections of the Unix socket. */
static void connection_changed(void *context, struct MHD_Connection *connection, void **memory,
			       enum MHD_ConnectionNotificationCode code)
{
	struct listener *listener = context;
	struct user_connections *user = *memory;
	int fd;

	if (user) {
		user->count--;
		*memory = NULL;
		return;
	}
	fd = unix_socket_of(listener, connection);
	if (fd < 0 || code != MHD_CONNECTION_NOTIFY_STARTED)
		return;
	user = *memory = user_find(listener->server, scope_peer(fd));
	if (!user)
		return;
	user->uid = scope_peer(fd);
	if (++user->count > CONNECTIONS_PER_USER_MAX && user->uid != 0)
		shutdown(fd, SHUT_RDWR);
}

/* ---- the loop */

static void listener_turn(struct listener *listener)
{
	unsigned long long wait_ms;

	MHD_run(listener->daemon);
	if (MHD_get_timeout(listener->daemon, &wait_ms) == MHD_YES)
		uv_timer_start(&listener->timer, timer_fired, wait_ms, 0);
	else
		uv_timer_stop(&listener->timer);
}

static void timer_fired(uv_timer_t *timer)
{
	listener_turn(timer->data);
}

static void socket_ready(uv_poll_t *poll, int status, int events)
{
	listener_turn(poll->data);
}

static int listener_start(struct server *server, int socket)
{
	struct listener *listener = &server->listeners[server->listener_count];
	const union MHD_DaemonInfo *info;
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);

	if (getsockname(socket, (struct sockaddr *)&address, &size) < 0)
		return -errno;
	*listener = (struct listener){.server = server, .is_unix = address.ss_family == AF_UNIX};
	listener->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, listener, MHD_OPTION_LISTEN_SOCKET,
		socket, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)SILENT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_NOTIFY_COMPLETED, request_completed, listener, MHD_OPTION_NOTIFY_CONNECTION,
		connection_changed, listener, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	info = listener->daemon ? MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info)
		return -ENOMEM;
	server->listener_count++;
	uv_poll_init(&server->loop, &listener->poll, info->epoll_fd);
	uv_timer_init(&server->loop, &listener->timer);
	listener->poll.data = listener->timer.data = listener;
	return uv_poll_start(&listener->poll, UV_READABLE, socket_ready);
}

static void stop(uv_signal_t *handle, int signal_number)
{
	uv_stop(handle->loop);
}

static int start(struct server *server)
{
	const struct answers_options answers_options = {
		.loop = &server->loop,
		.store_path = server->options.store_path,
		.children_most = CHILDREN_MOST,
		.context = server,
		.on_ready = answer_ready,
	};
	int error = 0;

	server->answers = answers_new(&answers_options);
	if (!server->answers)
		return -ENOMEM;
	uv_signal_init(&server->loop, &server->terminate);
	uv_signal_init(&server->loop, &server->interrupt);
	uv_signal_start(&server->terminate, stop, SIGTERM);
	uv_signal_start(&server->interrupt, stop, SIGINT);
	for (size_t i = 0; error == 0 && i < SERVER_LISTENERS_MAX; i++)
		if (server->options.sockets[i] >= 0)
			error = listener_start(server, server->options.sockets[i]);
	return error;
}

int server_run(const struct server_options *options)
{
	struct server server = {.options = *options};
	int error = uv_loop_init(&server.loop);

	if (error < 0)
		return error;
	signal(SIGPIPE, SIG_IGN);
	error = start(&server);
	if (error == 0) {
		options->announce(options);
		ready_notify(&server.options.ready_fd);
		ready_notify_manager();
		uv_run(&server.loop, UV_RUN_DEFAULT);
	} else {
		log_error("cannot serve: %s", uv_strerror(error));
	}
	for (struct request *request = server.requests; request; request = request->next)
		if (request->is_suspended)
			MHD_resume_connection(request->connection);
	for (size_t i = 0; i < server.listener_count; i++)
		MHD_stop_daemon(server.listeners[i].daemon);
	loop_end(&server.loop);
	answers_free(server.answers);
	return error;
}
