/* tracer-correlator: turns the probe's stream into the model, in SQLite.
 *
 * Unprivileged and without network: it listens on a Unix socket for one probe,
 * writes one database and reads its rules. Privileges it was started with (to bind
 * the socket in a protected directory) are dropped before the first byte is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/log.h"
#include "common/shipping.h"
#include "correlator/confine.h"
#include "correlator/replay.h"
#include "correlator/server.h"

#define RULES_DIRECTORIES_MAX 16

enum { EXIT_USAGE = 2 };

struct options {
	const char *socket, *store, *replay, *record;
	const char *rules[RULES_DIRECTORIES_MAX + 1];
	int rules_count;
	enum redact_mode arguments;
	uid_t probe_uid;
	bool drop;
	uid_t uid;
	gid_t gid, socket_group;
	const char *user_name;
	int ready_fd;
	struct retention_options retention;
	int host_period_s;
	bool once;
	enum log_level log_level;
};

static const char help[] =
	"Usage: tracer-correlator [OPTION]...\n"
	"Turns the stream of tracer-probe into runs, tasks, tools and processes in SQLite.\n"
	"\n"
	"  --socket PATH       listen here for the probe, mode 0660\n"
	"                      (default /run/tracer/tracer.sock)\n"
	"  --socket-group NAME group of the socket (default: the one we run as)\n"
	"  --store FILE        database to write (default /var/lib/tracer/tracer.db)\n"
	"  --rules DIR         further rules, *.yaml; may be repeated\n"
	"                      (default /etc/tracer/rules.d)\n"
	"  --arguments MODE    full, redacted (default) or program-only\n"
	"  --probe-user USER   accept a probe of this user, besides root's and our own\n"
	"                      (default nobody)\n"
	"  --user USER         become this user once the socket is bound\n"
	"  --retain DAYS       delete runs that ended longer ago (default 30, 0: never)\n"
	"  --store-max SIZE    delete the oldest beyond that, sent or not (default 10G, 0: never)\n"
	"  --shipper DIR       where tracer-shipper says how far it is; what it has still to send\n"
	"                      is kept (default /var/lib/tracer-shipper)\n"
	"  --host-period SECONDS\n"
	"                      between samples of the host itself (default 10, 0: never)\n"
	"  --once              end when the first probe has come and gone\n"
	"  --replay FILE       read a recording instead of listening, then end\n"
	"  --record FILE       also write every message to a recording\n"
	"  --ready-fd N        write '1' to this descriptor when listening\n"
	"  --log-level LEVEL   error, warning, info (default) or debug\n"
	"  --help, --version\n"
	"\n"
	"Exit status: 0 ended as asked, 1 failure (told in one line), 2 wrong usage.\n";

static int usage(const char *format, const char *value)
{
	char text[256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), format, value);
#pragma GCC diagnostic pop
	log_error("%s; see tracer-correlator --help", text);
	return -EINVAL;
}

static int parse_number(const char *text, long least, long most, int *ret)
{
	char *end;

	errno = 0;
	long value = strtol(text, &end, 10);

	if (errno || end == text || *end || value < least || value > most)
		return usage("'%s' is not a number in the range that this option takes", text);
	*ret = (int)value;
	return 0;
}

/* "500M", "10G". */
static int parse_size(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;

	if (errno || end == text || *text == '-' || end[shift > 0] || value > UINT64_MAX >> (shift + 1))
		return usage("'%s' is not a size: bytes, or with K, M or G behind them", text);
	*ret = value << shift;
	return 0;
}

static int parse_user(const char *text, uid_t *ret_uid, gid_t *ret_gid)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);
	const struct passwd *entry = *text && !*end ? getpwuid((uid_t)number) : getpwnam(text);

	if (entry) {
		*ret_uid = entry->pw_uid;
		*ret_gid = entry->pw_gid;
		return 0;
	}
	if (!*text || *end)
		return usage("there is no user '%s'", text);
	*ret_uid = (uid_t)number;
	*ret_gid = (gid_t)number;
	return 0;
}

static int parse_level(const char *text, enum log_level *ret)
{
	static const struct {
		const char *name;
		enum log_level level;
	} levels[] = {{"error", LOG_LEVEL_ERROR},
		      {"warning", LOG_LEVEL_WARNING},
		      {"info", LOG_LEVEL_INFO},
		      {"debug", LOG_LEVEL_DEBUG}};

	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		if (strcmp(text, levels[i].name) == 0) {
			*ret = levels[i].level;
			return 0;
		}
	return usage("'%s' is not a log level", text);
}

static int parse_group(const char *text, gid_t *ret)
{
	const struct group *entry = getgrnam(text);

	if (!entry)
		return usage("there is no group '%s'", text);
	*ret = entry->gr_gid;
	return 0;
}

enum option_id {
	OPTION_SOCKET = 256, OPTION_SOCKET_GROUP, OPTION_STORE, OPTION_RULES, OPTION_ARGUMENTS,
	OPTION_PROBE_USER, OPTION_USER, OPTION_RETAIN, OPTION_STORE_MAX,
	OPTION_SHIPPER, OPTION_HOST_PERIOD, OPTION_ONCE, OPTION_REPLAY, OPTION_RECORD,
	OPTION_READY_FD, OPTION_LOG_LEVEL, OPTION_HELP, OPTION_VERSION,
};

static const struct option long_options[] = {
	{"socket", required_argument, NULL, OPTION_SOCKET},
	{"socket-group", required_argument, NULL, OPTION_SOCKET_GROUP},
	{"store", required_argument, NULL, OPTION_STORE},
	{"rules", required_argument, NULL, OPTION_RULES},
	{"arguments", required_argument, NULL, OPTION_ARGUMENTS},
	{"probe-user", required_argument, NULL, OPTION_PROBE_USER},
	{"user", required_argument, NULL, OPTION_USER},
	{"retain", required_argument, NULL, OPTION_RETAIN},
	{"store-max", required_argument, NULL, OPTION_STORE_MAX},
	{"shipper", required_argument, NULL, OPTION_SHIPPER},
	{"host-period", required_argument, NULL, OPTION_HOST_PERIOD},
	{"once", no_argument, NULL, OPTION_ONCE},
	{"replay", required_argument, NULL, OPTION_REPLAY},
	{"record", required_argument, NULL, OPTION_RECORD},
	{"ready-fd", required_argument, NULL, OPTION_READY_FD},
	{"log-level", required_argument, NULL, OPTION_LOG_LEVEL},
	{"help", no_argument, NULL, OPTION_HELP},
	{"version", no_argument, NULL, OPTION_VERSION},
	{0},
};

static int parse_option(struct options *options, int id)
{
	gid_t ignored;

	switch (id) {
	case OPTION_SOCKET: options->socket = optarg; return 0;
	case OPTION_SOCKET_GROUP: return parse_group(optarg, &options->socket_group);
	case OPTION_STORE: options->store = optarg; return 0;
	case OPTION_RULES:
		if (options->rules_count == RULES_DIRECTORIES_MAX)
			return usage("too many --rules: %s", optarg);
		options->rules[options->rules_count++] = optarg;
		return 0;
	case OPTION_ARGUMENTS:
		return redact_mode_parse(optarg, &options->arguments) < 0
			       ? usage("--arguments takes full, redacted or program-only, not '%s'", optarg)
			       : 0;
	case OPTION_PROBE_USER: return parse_user(optarg, &options->probe_uid, &ignored);
	case OPTION_USER:
		options->drop = true;
		options->user_name = optarg;
		return parse_user(optarg, &options->uid, &options->gid);
	case OPTION_RETAIN: return parse_number(optarg, 0, 36500, &options->retention.days);
	case OPTION_STORE_MAX: return parse_size(optarg, &options->retention.bytes_most);
	case OPTION_SHIPPER: options->retention.shipper = optarg; return 0;
	case OPTION_HOST_PERIOD: return parse_number(optarg, 0, 3600, &options->host_period_s);
	case OPTION_ONCE: options->once = true; return 0;
	case OPTION_REPLAY: options->replay = optarg; return 0;
	case OPTION_RECORD: options->record = optarg; return 0;
	case OPTION_READY_FD: return parse_number(optarg, 0, 65535, &options->ready_fd);
	case OPTION_LOG_LEVEL: return parse_level(optarg, &options->log_level);
	case OPTION_HELP: fputs(help, stdout); exit(EXIT_SUCCESS);
	case OPTION_VERSION: puts("tracer-correlator " TRACER_VERSION); exit(EXIT_SUCCESS);
	default: return usage("%s", "wrong usage");
	}
}

static int parse(struct options *options, int argc, char **argv)
{
	int id, r;

	while ((id = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		r = parse_option(options, id);
		if (r < 0)
			return r;
	}
	if (optind < argc)
		return usage("unexpected argument '%s'", argv[optind]);
	if (options->rules_count == 0)
		options->rules[0] = "/etc/tracer/rules.d";
	return 0;
}

/* From here on: no way back to root, no new privileges, no core with what we saw. */
static int drop_privileges(const struct options *options)
{
	confine_bounds();
	if (options->drop) {
		const struct passwd *entry = getpwuid(options->uid);
		int r = entry ? initgroups(entry->pw_name, options->gid) : setgroups(0, NULL);

		if (r < 0 || setresgid(options->gid, options->gid, options->gid) < 0 ||
		    setresuid(options->uid, options->uid, options->uid) < 0) {
			r = -errno;
			log_error("cannot become user %s: %s", options->user_name, strerror(-r));
			return r;
		}
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	return confine_capabilities();
}

/* Once all files but those of the store are open: nobody's bytes have been read yet. */
static int confine(const struct options *options)
{
	int r = confine_enter(options->store, options->replay ? NULL : options->socket);

	if (r < 0)
		log_error("cannot give up what is not needed: %s", strerror(-r));
	return r;
}

static int load_rules(const struct options *options, struct rules **ret_rules)
{
	struct rules_error error;
	int r = rules_load(options->rules, ret_rules, &error);

	if (r == -EINVAL && error.line)
		log_error("%s:%u: %s", error.file, error.line, error.reason);
	else if (r < 0)
		log_error("cannot load rules: %s: %s", error.file, r == -EINVAL ? error.reason : strerror(-r));
	return r;
}

static int open_recording(const char *path, int *ret_fd)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, WIRE_RECORDING_MAGIC, WIRE_RECORDING_MAGIC_SIZE) != WIRE_RECORDING_MAGIC_SIZE) {
		log_error("cannot write the recording %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -EIO;
	}
	*ret_fd = fd;
	return 0;
}

static int serve(const struct options *options, struct session *session, struct store *store, int listen_fd)
{
	struct server_options server = {
		.listen_fd = listen_fd,
		.probe_uid = options->probe_uid,
		.once = options->once,
		.record_fd = -1,
		.retention = options->retention,
		.host_period_s = options->host_period_s,
		.ready_fd = options->ready_fd,
	};
	int r = options->record ? open_recording(options->record, &server.record_fd) : 0;

	if (r == 0)
		r = confine(options);
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
	static struct session session; /* holds a message of 17 KiB */
	int r = load_rules(options, &rules);

	if (r < 0)
		return r;
	r = store_open_writer(options->store, &store, &store_error);
	if (r < 0) {
		log_error("%s", store_error.text);
		goto end;
	}
	r = model_new(&(struct model_options){.rules = rules,
					      .arguments = options->arguments,
					      .checkpoints = !options->replay},
		      store, &model);
	if (r == 0)
		r = session_init(&session, model, store);
	if (r < 0)
		log_error("cannot take up the store %s: %s", options->store, strerror(-r));
	else if (options->replay)
		r = confine(options) < 0 ? -EPERM : replay_file(&session, options->replay);
	else
		r = serve(options, &session, store, listen_fd);
	model_free(model);
	store_close(store);
end:
	rules_free(rules);
	return r;
}

int main(int argc, char **argv)
{
	struct options options = {
		.socket = "/run/tracer/tracer.sock",
		.store = "/var/lib/tracer/tracer.db",
		.arguments = REDACT_SECRETS,
		.probe_uid = 65534,
		.socket_group = (gid_t)-1,
		.ready_fd = -1,
		.retention = {.days = 30, .bytes_most = 10ULL << 30, .shipper = SHIPPING_STATE_DEFAULT},
		.host_period_s = 10,
		.log_level = LOG_LEVEL_INFO,
	};
	int listen_fd = -1;

	log_init("tracer-correlator", LOG_LEVEL_INFO);
	opterr = 1;
	if (parse(&options, argc, argv) < 0)
		return EXIT_USAGE;
	log_init("tracer-correlator", options.log_level);
	signal(SIGPIPE, SIG_IGN);
	if (!options.replay) {
		listen_fd = server_listen(options.socket, options.socket_group);
		if (listen_fd < 0) {
			log_error(listen_fd == -EADDRINUSE
					  ? "another correlator listens on %s: %s"
					  : "cannot listen on %s: %s",
				  options.socket, strerror(-listen_fd));
			return EXIT_FAILURE;
		}
	}
	if (drop_privileges(&options) < 0)
		return EXIT_FAILURE;
	int r = run(&options, listen_fd);

	if (!options.replay)
		unlink(options.socket);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
