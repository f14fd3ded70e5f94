/* tracer-correlator: turns the probe's stream into the model, in SQLite.
 *
 * It needs neither privileges nor a network: it listens on a Unix socket for one probe,
 * writes one database and reads its rules. Privileges it was started with (to bind the
 * socket in a protected directory) are dropped before the first byte is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "common/log.h"
#include "common/wire/wire.h"
#include "correlator/confine.h"
#include "correlator/options.h"
#include "correlator/stream/listen.h"
#include "correlator/stream/replay.h"
#include "correlator/stream/server.h"

/* An invalid rules file of a site must not stop collection: it is ignored until it is corrected. */
static void rules_file_refused(const struct tree_error *error, void *data)
{
	if (error->line)
		log_error("%s:%u: %s", error->file, error->line, error->reason);
	else
		log_error("%s: %s", error->file, error->reason);
	log_error("%s is not used: correct it, then restart tracer-correlator", error->file);
}

static int load_rules(const struct options *options, struct rules **ret_rules)
{
	int r = rules_load_valid(options->rules.path, rules_file_refused, NULL, ret_rules);

	if (r < 0)
		log_error("cannot load rules: %s", strerror(-r));
	return r;
}

static int open_recording(const char *path, int *ret_fd)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0 && write(fd, WIRE_RECORDING_MAGIC, WIRE_RECORDING_MAGIC_SIZE) == WIRE_RECORDING_MAGIC_SIZE) {
		*ret_fd = fd;
		return 0;
	}
	log_error("cannot write the recording %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -EIO;
}

static int serve(const struct options *options, struct server_options *server, struct session *session,
		 struct store *store)
{
	int r = options->record ? open_recording(options->record, &server->record_fd) : 0;

	/* All files except those of the store are open, and no input has been read yet. */
	if (r == 0)
		r = confine_enter(options->store, options->socket, options->sampler_socket);
	if (r == 0)
		r = server_run(server, session, store);
	if (server->record_fd >= 0)
		close(server->record_fd);
	return r;
}

static int run(const struct options *options, struct server_options *server)
{
	struct store_error store_error;
	struct rules *rules = NULL;
	struct store *store = NULL;
	struct model *model = NULL;
	static struct session session; /* contains a 17 KiB message buffer */
	int r = load_rules(options, &rules);

	if (r < 0)
		return r;
	r = store_open_writer(options->store, &store, &store_error);
	if (r < 0) {
		log_error("%s", store_error.text);
		goto end;
	}
	r = apply_begin(&(struct model_options){.rules = rules,
						.arguments = (enum redact_mode)options->arguments,
						.keep_arguments = options->keep_arguments,
						.hostname = options->hostname,
						.keep_states = !options->replay},
			store, &model);
	if (r == 0)
		r = session_init(&session, model, store);
	if (r < 0)
		log_error("cannot load the model from the store %s: %s", options->store, strerror(-r));
	else if (options->replay)
		r = confine_enter(options->store, NULL, NULL) < 0 ? -EPERM : replay_file(&session, options->replay);
	else
		r = serve(options, server, &session, store);
	apply_end(model);
	store_close(store);
end:
	rules_free(rules);
	return r;
}

static int listen_at(const char *path, gid_t group, uid_t uid)
{
	int fd = listen_open(path, group, uid);

	if (fd < 0)
		log_error(fd == -EADDRINUSE ? "%s is in use by another correlator or is not a socket: %s"
					    : "cannot listen on %s: %s",
			  path, strerror(-fd));
	return fd;
}

/* Returns 0 or -errno. */
static int sockets_open(const struct options *options, struct server_options *server)
{
	server->listen_fd = listen_at(options->socket, options->socket_group, server->probe.uid);
	if (server->listen_fd < 0 || !options->sampler_socket)
		return server->listen_fd < 0 ? server->listen_fd : 0;
	server->samplers_fd = listen_at(options->sampler_socket, options->socket_group, server->sampler.uid);
	return server->samplers_fd < 0 ? server->samplers_fd : 0;
}

static int listen_and_run(const struct options *options)
{
	struct server_options server = options->server;
	int r = options->replay ? 0 : sockets_open(options, &server);

	if (r == 0)
		r = confine_drop(&options->user);
	if (r == 0)
		r = run(options, &server);
	if (server.listen_fd >= 0)
		unlink(options->socket);
	if (server.samplers_fd >= 0)
		unlink(options->sampler_socket);
	return r;
}

int main(int argc, char **argv)
{
	const struct options *options;
	int status;

	log_init(CORRELATOR_NAME, LOG_LEVEL_INFO);
	int r = options_load(argc, argv, &options);
	if (r < 0) {
		status = option_exit(r);
	} else {
		log_init(CORRELATOR_NAME, (enum log_level)options->log_level);
		signal(SIGPIPE, SIG_IGN);
		status = listen_and_run(options) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	options_deinit();
	return status;
}
