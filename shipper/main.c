/* tracer-shipper: sends the rows of the store to the data lake.
 *
 * The only process of Tracer with network access. It only reads the store, keeps
 * its cursor in its own directory, and needs no privileges.
 */
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/option.h"
#include "common/print.h"
#include "common/privilege.h"
#include "shipper/sandbox.h"
#include "shipper/shipper.h"

#define GIVEN_MAX 64 /* settings on one command line */

/* Settings given as options: applied after the file, since the command line takes
 * precedence. */
struct given {
	struct {
		char key[64];
		const char *value;
		char source[64];
	} setting[GIVEN_MAX];
	int count;
};

static struct options {
	const char *config; /* NULL: the default, which need not exist */
	const char *from;
	struct option_user user;
	bool check, show, dry_run, remove;
	struct given given;
	struct shipper_options shipper;
	int log_level; /* enum */
} options = {.log_level = LOG_LEVEL_INFO, .shipper.ready_fd = -1};

/* ---- options ----------------------------------------------------------------------- */

static const char *give(const struct option_spec *spec, const char *key, size_t size, const char *value)
{
	struct given *given = &options.given;

	if (given->count == GIVEN_MAX)
		return "fewer settings (put them into the file of --config)";
	if (size >= sizeof(given->setting[0].key))
		return "a shorter name";
	memcpy(given->setting[given->count].key, key, size);
	snprintf(given->setting[given->count].source, sizeof(given->setting[0].source), "--%s", spec->name);
	given->setting[given->count++].value = value;
	return NULL;
}

static const char *parse_setting(const struct option_spec *spec, const char *text)
{
	return give(spec, spec->parameter, strlen(spec->parameter), text ? text : "true");
}

static const char *parse_directory(const struct option_spec *spec, const char *text)
{
	const char *takes = give(spec, "sink", strlen("sink"), "ndjson");

	return takes ? takes : parse_setting(spec, text);
}

static const char *parse_pair(const struct option_spec *spec, const char *text)
{
	const char *equals = strchr(text, '=');

	return equals ? give(spec, text, (size_t)(equals - text), equals + 1) : "NAME=VALUE";
}

static const struct option_program program = {
	.name = SHIPPER_NAME,
	.purpose = "Sends the rows of tracer-correlator to the datalake, or writes them to files.",
	.exit_text = "Secrets are never passed as options: the settings name files that contain them.\n"
		     "Exit status: 0 success, 1 failure (reported in one line), 2 usage error or\ninvalid settings.",
	/* clang-format off */
	.specs = (const struct option_spec[]){
		{"config", 0, "FILE", NULL, "settings (default " TRACER_CONFIG_DIR "/shipper.yaml, if it exists)",
		 .text = &options.config},
		{"store", 0, "FILE", NULL, "the correlator's database (default " TRACER_STATE_DIR "/tracer.db)",
		 .parse = parse_setting, .parameter = "store"},
		{"state", 0, "DIR", NULL, "cursor, status and quarantined batches; must be writable "
		 "(default " TRACER_STATE_DIR "-shipper)", .parse = parse_setting, .parameter = "state"},
		{"sink", 0, "NAME", NULL, "where to send rows: clickhouse (default), ndjson or otlp", .parse = parse_setting, .parameter = "sink"},
		{"lake", 0, "URL", NULL, "the lake: https://HOST:PORT", .parse = parse_setting, .parameter = "lake.url"},
		{"insecure-http", 0, NULL, NULL, "send in clear text to an http:// URL that is not this host",
		 .parse = parse_setting, .parameter = "lake.insecure-http"},
		{"directory", 0, "DIR", NULL, "where the ndjson sink writes; implies --sink ndjson",
		 .parse = parse_directory, .parameter = "ndjson.directory"},
		{"interval", 0, "TIME", NULL, "rows wait at most about this long: 30, 30s, 5m (default 60s)",
		 .parse = parse_setting, .parameter = "send.interval"},
		{"set", 0, "NAME=VALUE", NULL, "any setting of the configuration, e.g. lake.user=shipper",
		 .parse = parse_pair},
		{"check", 0, NULL, NULL, "check the settings and exit", .flag = &options.check},
		{"show", 0, NULL, NULL, "print the settings and where each is from, and exit", .flag = &options.show},
		{"dry-run", 0, NULL, NULL, "print what would be sent now, without sending it", .flag = &options.dry_run},
		{"from", 0, "DIR", NULL, "send files that an ndjson sink wrote or that were quarantined, then exit",
		 .text = &options.from},
		{"remove", 0, NULL, NULL, "with --from: remove each file that the lake accepted", .flag = &options.remove},
		{"once", 0, NULL, NULL, "send all pending rows, then exit", .flag = &options.shipper.once},
		{"user", 0, "USER", NULL, "become this user first", .user = &options.user},
		{"ready-fd", 0, "N", NULL, "write '1' to this descriptor when ready",
		 .descriptor = &options.shipper.ready_fd, .most = 65535},
		{"log-level", 0, "LEVEL", LOG_LEVEL_WORDS, "least level to log: error, warning, info (default) or debug",
		 .choice = &options.log_level},
		OPTION_SPECS_OF_DAEMON},
	/* clang-format on */
};

static int load_settings(struct settings *settings)
{
	struct settings_error error = {"out of memory"};
	int result = settings_init(settings);

	if (result == 0)
		result = settings_load(settings, options.config ? options.config : SETTINGS_FILE_DEFAULT, &error);
	if (result == -ENOENT && !options.config)
		result = 0;
	if (result == 0)
		result = settings_load_environment(settings, &error);
	for (int i = 0; i < options.given.count && result == 0; i++)
		result = settings_set(settings, options.given.setting[i].key, options.given.setting[i].value,
				      options.given.setting[i].source, &error);
	if (result == 0 && !options.show)
		result = settings_check(settings, &error);
	if (result < 0)
		log_error("%s", error.text);
	return result;
}

/* ---- running -------------------------------------------------------------------------- */

static int run_with_scratch(const struct settings *settings)
{
	const char *parent = getenv("TMPDIR");
	char scratch[PATH_MAX];
	int error;

	snprintf(scratch, sizeof(scratch), "%s/tracer-shipper-XXXXXX", parent && *parent ? parent : "/tmp");
	if (!mkdtemp(scratch)) {
		log_error("%s: cannot create a directory: %s", scratch, strerror(errno));
		return -errno;
	}
	error = sandbox_enter(settings, options.from, scratch) < 0 ? -EPERM : 0;
	if (error == 0)
		error = options.from ? shipper_resend(settings, options.from, options.remove, scratch)
				     : shipper_dry_run(settings, scratch);
	rmdir(scratch);
	return error;
}

static int run(const struct settings *settings)
{
	if (options.show)
		return config_print(&settings->config);
	if (options.check) {
		puts("settings are valid");
		return print_finish(stdout);
	}
	if (options.dry_run || options.from)
		return run_with_scratch(settings);
	if (sandbox_enter(settings, NULL, NULL) < 0)
		return -EPERM;
	return shipper_run(settings, &options.shipper);
}

int main(int argc, char **argv)
{
	const struct option_user *user = &options.user;
	struct settings settings = {0};

	log_init(program.name, LOG_LEVEL_INFO);
	int result = option_parse_program(&program, argc, argv, NULL, NULL);
	if (result < 0)
		return option_exit(result);
	if (options.remove && !options.from) {
		log_error("--remove requires --from; see tracer-shipper --help");
		return OPTION_EXIT_USAGE;
	}
	log_init(program.name, (enum log_level)options.log_level);
	signal(SIGPIPE, SIG_IGN);
	/* One arena: name resolution uses a thread, and another arena would cost 64 MiB of address
	 * space and some hundred KiB of memory. */
	mallopt(M_ARENA_MAX, 1);
	if (user->name && privilege_become(user->uid, user->gid, user->name, PRIVILEGE_NO_GROUP) < 0)
		return EXIT_FAILURE;
	if (load_settings(&settings) < 0) {
		settings_deinit(&settings);
		return OPTION_EXIT_USAGE;
	}
	result = run(&settings);
	settings_deinit(&settings);
	return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
