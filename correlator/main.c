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
#include "common/privilege.h"
#include "common/shipping.h"
#include "common/wire/recording.h"
#include "correlator/confine.h"
#include "correlator/stream/replay.h"
#include "correlator/stream/server.h"

#define RULES_DIRECTORIES_MAX 16
#define NOBODY 65534

struct rules_directories {
	const char *path[RULES_DIRECTORIES_MAX + 1];
	int count;
};

struct options {
	const char *socket, *store, *replay, *record, *cluster;
	struct rules_directories rules;
	enum redact_mode arguments;
	struct option_user probe, user;
	gid_t socket_group;
	int ready_fd;
	struct retention_options retention;
	uint64_t host_period_s;
	bool once;
	enum log_level log_level;
};

static const char *take_rules(void *field, const char *text, const struct option_rule *rule)
{
	struct rules_directories *rules = field;

	if (rules->count == RULES_DIRECTORIES_MAX)
		return "too many directories";
	rules->path[rules->count++] = text;
	return NULL;
}

static const char *take_cluster(void *field, const char *text, const struct option_rule *rule)
{
	*(const char **)field = text;
	return host_cluster_is_valid(text) ? NULL : "expected 1 to 64 letters, digits, '.', '_' and '-'";
}

static const char *take_arguments(void *field, const char *text, const struct option_rule *rule)
{
	return redact_mode_parse(text, field) < 0 ? "expected full, redacted or program-only" : NULL;
}

#define AT(field) offsetof(struct options, field)

static const struct option_program program = {
	.name = "tracer-correlator",
	.purpose = "Turns the stream of tracer-probe into runs, tasks, tools and processes in SQLite.",
	.exit_text = "Exit status: 0 success, 1 failure (reported in one line), 2 usage error.",
	/* clang-format off */
	.rules = (const struct option_rule[]){
		{"socket", "PATH", "socket to listen on for the probe, mode 0660\n"
		 "(default " TRACER_RUN_DIR "/tracer.sock)", option_take_text, AT(socket)},
		{"socket-group", "NAME", "group of the socket (default: the group of the process)",
		 option_take_group, AT(socket_group)},
		{"store", "FILE", "database to write (default " TRACER_STATE_DIR "/tracer.db)",
		 option_take_text, AT(store)},
		{"rules", "DIR", "additional rules, *.yaml; may be repeated\n"
		 "(default " TRACER_CONFIG_DIR "/rules.d)", take_rules, AT(rules)},
		{"arguments", "MODE", "full, redacted (default) or program-only",
		 take_arguments, AT(arguments)},
		{"probe-user", "USER", "accept a probe of this user, besides root and the user of\n"
		 "the correlator (default nobody)", option_take_user, AT(probe)},
		{"user", "USER", "become this user once the socket is bound",
		 option_take_user, AT(user)},
		{"retain", "DAYS", "delete runs DAYS after their end (default 30, 0: never)",
		 option_take_number, AT(retention.days), 0, 36500},
		{"store-max", "SIZE", "delete the oldest rows above this size, sent or not\n"
		 "(default 10G, 0: never)", option_take_size, AT(retention.bytes_max), 0, INT64_MAX},
		{"shipper", "DIR", "state directory of tracer-shipper; rows not sent yet\n"
		 "are kept (default " TRACER_STATE_DIR "-shipper)",
		 option_take_text, AT(retention.shipper)},
		{"host-period", "SECONDS", "interval between host samples (default 10, 0: never)",
		 option_take_number, AT(host_period_s), 0, 3600},
		{"cluster", "NAME", "cluster of this host; job ids are unique within it\n"
		 "(default: " TRACER_CONFIG_DIR "/cluster, else ClusterName of slurm.conf)",
		 take_cluster, AT(cluster)},
		{"once", NULL, "exit when the first probe disconnects",
		 option_take_flag, AT(once)},
		{"replay", "FILE", "read a recording instead of listening, then exit",
		 option_take_text, AT(replay)},
		{"record", "FILE", "also write every message to a recording",
		 option_take_text, AT(record)},
		{"ready-fd", "N", "write '1' to this descriptor when listening",
		 option_take_descriptor, AT(ready_fd)},
		{"log-level", "LEVEL", "error, warning, info (default) or debug",
		 option_take_log_level, AT(log_level)},
		{0}},
	/* clang-format on */
};

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

	int r = fd < 0 ? -errno : recording_write_magic(fd);

	if (r == 0) {
		*ret_fd = fd;
		return 0;
	}
	log_error("cannot write the recording %s: %s", path, strerror(-r));
	if (fd >= 0)
		close(fd);
	return -EIO;
}

static int serve(const struct options *options, struct session *session, struct store *store, int listen_fd)
{
	struct server_options server = {
		.listen_fd = listen_fd,
		.probe_uid = options->probe.uid,
		.once = options->once,
		.record_fd = -1,
		.retention = options->retention,
		.host_period_s = options->host_period_s,
		.cluster = options->cluster,
		.ready_fd = options->ready_fd,
	};
	int r = options->record ? open_recording(options->record, &server.record_fd) : 0;

	/* All files except those of the store are open, and no input has been read yet. */
	if (r == 0)
		r = confine_enter(options->store, options->socket);
	if (r == 0)
		r = server_run(&server, session, store);
	if (server.record_fd >= 0)
		close(server.record_fd);
	return r;
}

static int run(const struct options *options, int listen_fd)
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
						.arguments = options->arguments,
						.keep_states = !options->replay},
			store, &model);
	if (r == 0)
		r = session_init(&session, model, store);
	if (r < 0)
		log_error("cannot load the model from the store %s: %s", options->store, strerror(-r));
	else if (options->replay)
		r = confine_enter(options->store, NULL) < 0 ? -EPERM : replay_file(&session, options->replay);
	else
		r = serve(options, &session, store, listen_fd);
	apply_end(model);
	store_close(store);
end:
	rules_free(rules);
	return r;
}

int main(int argc, char **argv)
{
	struct options options = {
		.socket = TRACER_RUN_DIR "/tracer.sock",
		.store = TRACER_STATE_DIR "/tracer.db",
		.rules = {.path = {TRACER_CONFIG_DIR "/rules.d"}},
		.arguments = REDACT_SECRETS,
		.probe = {.uid = NOBODY},
		.socket_group = PRIVILEGE_NO_GROUP,
		.ready_fd = -1,
		.retention = {.days = 30, .bytes_max = 10ULL << 30, .shipper = SHIPPING_STATE_DEFAULT},
		.host_period_s = 10,
		.log_level = LOG_LEVEL_INFO,
	};
	int listen_fd = -1;

	log_init(program.name, LOG_LEVEL_INFO);
	int r = option_parse(&program, &options, argc, argv);
	if (r < 0)
		return option_exit(r);
	log_init(program.name, options.log_level);
	signal(SIGPIPE, SIG_IGN);
	if (!options.replay) {
		listen_fd = server_listen(options.socket, options.socket_group);
		if (listen_fd < 0) {
			log_error(listen_fd == -EADDRINUSE ? "%s is in use by another correlator or is not a socket: %s"
							   : "cannot listen on %s: %s",
				  options.socket, strerror(-listen_fd));
			return EXIT_FAILURE;
		}
	}
	if (confine_drop(&options.user) < 0)
		return EXIT_FAILURE;
	r = run(&options, listen_fd);
	if (!options.replay)
		unlink(options.socket);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
