/* tracer-shipper: sends what the store has to the datalake.
 *
 * The only process of Tracer with a network. It reads the store and never writes it, keeps
 * its cursor in a directory of its own, and needs no privilege at all.
 */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "shipper/sandbox.h"
#include "shipper/settings.h"
#include "shipper/shipper.h"

enum { EXIT_USAGE = 2 };

static const char help[] =
	"Usage: tracer-shipper [OPTION]...\n"
	"Sends what tracer-correlator stored to the datalake, or into files.\n"
	"\n"
	"  --config FILE       settings (default /etc/tracer/shipper.yaml, where there is one)\n"
	"  --store FILE        the correlator's database (default /var/lib/tracer/tracer.db)\n"
	"  --state DIR         cursor, status and what was set aside; must be writable\n"
	"                      (default /var/lib/tracer-shipper)\n"
	"  --sink NAME         clickhouse (default) or ndjson\n"
	"  --url URL           the lake: https://HOST:PORT\n"
	"  --insecure-http     send in clear text to an http:// URL that is not this host\n"
	"  --directory DIR     where the ndjson sink writes; implies --sink ndjson\n"
	"  --interval TIME     rows wait at most about that long: 30, 30s, 5m (default 60s)\n"
	"  --set NAME=VALUE    any setting of the configuration: lake.user=shipper\n"
	"  --check             check the settings and end\n"
	"  --dry-run           print what would be sent now, and send nothing\n"
	"  --from DIR          send the files that an ndjson sink wrote, then end\n"
	"  --remove            with --from: remove each file that the lake took\n"
	"  --once              send what there is, then end\n"
	"  --user USER         become this user first\n"
	"  --ready-fd N        write '1' to this descriptor when at work\n"
	"  --log-level LEVEL   error, warning, info (default) or debug\n"
	"  --help, --version\n"
	"\n"
	"Secrets are never options: the settings name files that hold them.\n"
	"Exit status: 0 ended as asked, 1 failure (told in one line), 2 wrong usage or settings.\n";

struct options {
	const char *config; /* NULL: the default, which need not be there */
	const char *from, *user;
	bool check, dry_run, remove;
	struct shipper_options shipper;
	enum log_level log_level;
};

enum option_id {
	OPTION_CONFIG = 256, OPTION_STORE, OPTION_STATE, OPTION_SINK, OPTION_URL, OPTION_INSECURE_HTTP,
	OPTION_DIRECTORY, OPTION_INTERVAL, OPTION_SET, OPTION_CHECK, OPTION_DRY_RUN, OPTION_FROM,
	OPTION_REMOVE, OPTION_ONCE, OPTION_USER, OPTION_READY_FD, OPTION_LOG_LEVEL, OPTION_HELP,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{"config", required_argument, NULL, OPTION_CONFIG},
	{"store", required_argument, NULL, OPTION_STORE},
	{"state", required_argument, NULL, OPTION_STATE},
	{"sink", required_argument, NULL, OPTION_SINK},
	{"url", required_argument, NULL, OPTION_URL},
	{"insecure-http", no_argument, NULL, OPTION_INSECURE_HTTP},
	{"directory", required_argument, NULL, OPTION_DIRECTORY},
	{"interval", required_argument, NULL, OPTION_INTERVAL},
	{"set", required_argument, NULL, OPTION_SET},
	{"check", no_argument, NULL, OPTION_CHECK},
	{"dry-run", no_argument, NULL, OPTION_DRY_RUN},
	{"from", required_argument, NULL, OPTION_FROM},
	{"remove", no_argument, NULL, OPTION_REMOVE},
	{"once", no_argument, NULL, OPTION_ONCE},
	{"user", required_argument, NULL, OPTION_USER},
	{"ready-fd", required_argument, NULL, OPTION_READY_FD},
	{"log-level", required_argument, NULL, OPTION_LOG_LEVEL},
	{"help", no_argument, NULL, OPTION_HELP},
	{"version", no_argument, NULL, OPTION_VERSION},
	{0},
};

static const char options_end[] = "; see tracer-shipper --help";

/* ---- options ----------------------------------------------------------------------- */

static int setting(struct settings *settings, const char *key, const char *value)
{
	struct settings_error error;
	int result = settings_set(settings, key, value, &error);

	if (result < 0)
		log_error("%s%s", error.text, options_end);
	return result;
}

static int setting_pair(struct settings *settings, const char *pair)
{
	const char *equals = strchr(pair, '=');
	char key[64];

	if (!equals || (size_t)(equals - pair) >= sizeof(key)) {
		log_error("--set takes NAME=VALUE%s", options_end);
		return -EINVAL;
	}
	snprintf(key, sizeof(key), "%.*s", (int)(equals - pair), pair);
	return setting(settings, key, equals + 1);
}

static int parse_level(const char *text, enum log_level *ret)
{
	static const struct {
		const char *name;
		enum log_level level;
	} levels[] = {{"error", LOG_LEVEL_ERROR}, {"warning", LOG_LEVEL_WARNING},
		      {"info", LOG_LEVEL_INFO}, {"debug", LOG_LEVEL_DEBUG}};

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (strcmp(text, levels[i].name) == 0) {
			*ret = levels[i].level;
			return 0;
		}
	log_error("'%s' is not a log level%s", text, options_end);
	return -EINVAL;
}

static int parse_fd(const char *text, int *ret_fd)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text || *end || number < 0 || number > 65535) {
		log_error("'%s' is not a descriptor%s", text, options_end);
		return -EINVAL;
	}
	*ret_fd = (int)number;
	return 0;
}

/* Those that are settings come after the file: the command line has the last word. */
static int take_setting(struct settings *settings, int id)
{
	switch (id) {
	case OPTION_STORE: return setting(settings, "store", optarg);
	case OPTION_STATE: return setting(settings, "state", optarg);
	case OPTION_SINK: return setting(settings, "sink", optarg);
	case OPTION_URL: return setting(settings, "lake.url", optarg);
	case OPTION_INSECURE_HTTP: return setting(settings, "lake.insecure-http", "true");
	case OPTION_INTERVAL: return setting(settings, "send.interval", optarg);
	case OPTION_SET: return setting_pair(settings, optarg);
	case OPTION_DIRECTORY:
		if (setting(settings, "sink", "ndjson") < 0)
			return -EINVAL;
		return setting(settings, "ndjson.directory", optarg);
	default: return 0;
	}
}

static int take_option(struct options *options, int id)
{
	switch (id) {
	case OPTION_CONFIG: options->config = optarg; return 0;
	case OPTION_CHECK: options->check = true; return 0;
	case OPTION_DRY_RUN: options->dry_run = true; return 0;
	case OPTION_FROM: options->from = optarg; return 0;
	case OPTION_REMOVE: options->remove = true; return 0;
	case OPTION_ONCE: options->shipper.once = true; return 0;
	case OPTION_USER: options->user = optarg; return 0;
	case OPTION_READY_FD: return parse_fd(optarg, &options->shipper.ready_fd);
	case OPTION_LOG_LEVEL: return parse_level(optarg, &options->log_level);
	case OPTION_HELP: fputs(help, stdout); exit(EXIT_SUCCESS);
	case OPTION_VERSION: puts("tracer-shipper " TRACER_VERSION); exit(EXIT_SUCCESS);
	case '?': return -EINVAL; /* getopt has said what is wrong */
	default: return 0;
	}
}

static int parse(struct options *options, int argc, char **argv)
{
	int id;

	while ((id = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		if (take_option(options, id) < 0)
			return -EINVAL;
	if (optind < argc) {
		log_error("unexpected argument '%s'%s", argv[optind], options_end);
		return -EINVAL;
	}
	if (options->remove && !options->from) {
		log_error("--remove goes with --from%s", options_end);
		return -EINVAL;
	}
	return 0;
}

static int load_settings(struct settings *settings, const struct options *options, int argc,
			 char **argv)
{
	struct settings_error error;
	int id, result = settings_init(settings);

	if (result == 0)
		result = settings_load(settings, options->config ? options->config : SETTINGS_FILE_DEFAULT,
				       &error);
	if (result == -ENOENT && !options->config)
		result = 0;
	if (result < 0) {
		log_error("%s", error.text);
		return result;
	}
	optind = 1;
	while ((id = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		if (take_setting(settings, id) < 0)
			return -EINVAL;
	result = settings_check(settings, &error);
	if (result < 0)
		log_error("%s", error.text);
	return result;
}

/* ---- running -------------------------------------------------------------------------- */

static int become(const char *name)
{
	const struct passwd *user = getpwnam(name);

	if (!user) {
		log_error("there is no user '%s'", name);
		return -ENOENT;
	}
	if (initgroups(name, user->pw_gid) < 0 ||
	    setresgid(user->pw_gid, user->pw_gid, user->pw_gid) < 0 ||
	    setresuid(user->pw_uid, user->pw_uid, user->pw_uid) < 0) {
		log_error("cannot become user %s: %s", name, strerror(errno));
		return -EPERM;
	}
	return 0;
}

static int run(const struct settings *settings, const struct options *options)
{
	if (options->check) {
		puts("the settings are well");
		return 0;
	}
	if (options->dry_run)
		return shipper_dry_run(settings);
	if (options->from)
		return shipper_resend(settings, options->from, options->remove);
	if (sandbox_enter(settings) < 0)
		return -EPERM;
	return shipper_run(settings, &options->shipper);
}

int main(int argc, char **argv)
{
	struct options options = {.log_level = LOG_LEVEL_INFO, .shipper.ready_fd = -1};
	struct settings settings = {0};
	int result;

	log_init("tracer-shipper", LOG_LEVEL_INFO);
	if (parse(&options, argc, argv) < 0)
		return EXIT_USAGE;
	log_init("tracer-shipper", options.log_level);
	signal(SIGPIPE, SIG_IGN);
	/* One arena: name resolution has a thread, and an arena each costs 64 MiB of address
	 * space and some hundred KiB of memory. */
	mallopt(M_ARENA_MAX, 1);
	if (options.user && become(options.user) < 0)
		return EXIT_FAILURE;
	if (load_settings(&settings, &options, argc, argv) < 0) {
		settings_deinit(&settings);
		return EXIT_USAGE;
	}
	result = run(&settings, &options);
	settings_deinit(&settings);
	return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
