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

struct options {
	const char *config; /* NULL: the default, which need not exist */
	const char *from;
	struct option_user user;
	bool check, show, dry_run, remove;
	struct given given;
	struct shipper_options shipper;
	enum log_level log_level;
};

/* ---- options ----------------------------------------------------------------------- */

static const char *give(struct given *given, const struct option_rule *rule, const char *key, size_t size,
			const char *value)
{
	if (given->count == GIVEN_MAX)
		return "more settings than a command line may have: put them into the file of --config";
	if (size >= sizeof(given->setting[0].key))
		return "unknown setting: the name is too long";
	memcpy(given->setting[given->count].key, key, size);
	snprintf(given->setting[given->count].source, sizeof(given->setting[0].source), "--%s", rule->name);
	given->setting[given->count++].value = value;
	return NULL;
}

static const char *take_setting(void *field, const char *text, const struct option_rule *rule)
{
	return give(field, rule, rule->parameter, strlen(rule->parameter), text ? text : "true");
}

static const char *take_directory(void *field, const char *text, const struct option_rule *rule)
{
	const char *problem = give(field, rule, "sink", strlen("sink"), "ndjson");

	return problem ? problem : take_setting(field, text, rule);
}

static const char *take_pair(void *field, const char *text, const struct option_rule *rule)
{
	const char *equals = strchr(text, '=');

	return equals ? give(field, rule, text, (size_t)(equals - text), equals + 1) : "not NAME=VALUE";
}

#define AT(field) offsetof(struct options, field)

static const struct option_program program = {
	.name = SHIPPER_NAME,
	.purpose = "Sends the rows of tracer-correlator to the datalake, or writes them to files.",
	.exit_text = "Secrets are never passed as options: the settings name files that contain them.\n"
		     "Exit status: 0 success, 1 failure (reported in one line), 2 usage error or\ninvalid settings.",
	/* clang-format off */
	.rules = (const struct option_rule[]){
		{"config", "FILE", "settings (default " TRACER_CONFIG_DIR "/shipper.yaml, if it exists)",
		 option_take_text, AT(config)},
		{"store", "FILE", "the correlator's database (default " TRACER_STATE_DIR "/tracer.db)",
		 take_setting, AT(given), .parameter = "store"},
		{"state", "DIR", "cursor, status and quarantined batches; must be writable\n"
				 "(default " TRACER_STATE_DIR "-shipper)",
		 take_setting, AT(given), .parameter = "state"},
		{"sink", "NAME", "clickhouse (default) or ndjson",
		 take_setting, AT(given), .parameter = "sink"},
		{"lake", "URL", "the lake: https://HOST:PORT",
		 take_setting, AT(given), .parameter = "lake.url"},
		{"insecure-http", NULL, "send in clear text to an http:// URL that is not this host",
		 take_setting, AT(given), .parameter = "lake.insecure-http"},
		{"directory", "DIR", "where the ndjson sink writes; implies --sink ndjson",
		 take_directory, AT(given), .parameter = "ndjson.directory"},
		{"interval", "TIME", "rows wait at most about this long: 30, 30s, 5m (default 60s)",
		 take_setting, AT(given), .parameter = "send.interval"},
		{"set", "NAME=VALUE", "any setting of the configuration, e.g. lake.user=shipper",
		 take_pair, AT(given)},
		{"check", NULL, "check the settings and exit", option_take_flag, AT(check)},
		{"show", NULL, "print the settings and where each is from, and exit", option_take_flag, AT(show)},
		{"dry-run", NULL, "print what would be sent now, without sending it",
		 option_take_flag, AT(dry_run)},
		{"from", "DIR", "send files that an ndjson sink wrote or that were\n"
				"quarantined, then exit",
		 option_take_text, AT(from)},
		{"remove", NULL, "with --from: remove each file that the lake accepted",
		 option_take_flag, AT(remove)},
		{"once", NULL, "send all pending rows, then exit", option_take_flag, AT(shipper.once)},
		{"user", "USER", "become this user first", option_take_user, AT(user)},
		{"ready-fd", "N", "write '1' to this descriptor when ready",
		 option_take_descriptor, AT(shipper.ready_fd)},
		{"log-level", "LEVEL", "error, warning, info (default) or debug",
		 option_take_log_level, AT(log_level)},
		{0}},
	/* clang-format on */
};

static int load_settings(struct settings *settings, const struct options *options)
{
	struct settings_error error = {"out of memory"};
	int result = settings_init(settings);

	if (result == 0)
		result = settings_load(settings, options->config ? options->config : SETTINGS_FILE_DEFAULT, &error);
	if (result == -ENOENT && !options->config)
		result = 0;
	if (result == 0)
		result = settings_load_environment(settings, &error);
	for (int i = 0; i < options->given.count && result == 0; i++)
		result = settings_set(settings, options->given.setting[i].key, options->given.setting[i].value,
				      options->given.setting[i].source, &error);
	if (result == 0 && !options->show)
		result = settings_check(settings, &error);
	if (result < 0)
		log_error("%s", error.text);
	return result;
}

/* ---- running -------------------------------------------------------------------------- */

static int run_with_scratch(const struct settings *settings, const struct options *options)
{
	const char *parent = getenv("TMPDIR");
	char scratch[PATH_MAX];
	int error;

	snprintf(scratch, sizeof(scratch), "%s/tracer-shipper-XXXXXX", parent && *parent ? parent : "/tmp");
	if (!mkdtemp(scratch)) {
		log_error("%s: cannot create a directory: %s", scratch, strerror(errno));
		return -errno;
	}
	error = sandbox_enter(settings, options->from, scratch) < 0 ? -EPERM : 0;
	if (error == 0)
		error = options->from ? shipper_resend(settings, options->from, options->remove, scratch)
				      : shipper_dry_run(settings, scratch);
	rmdir(scratch);
	return error;
}

static int run(const struct settings *settings, const struct options *options)
{
	if (options->show)
		return config_print(&settings->config);
	if (options->check) {
		puts("settings are valid");
		return print_finish(stdout);
	}
	if (options->dry_run || options->from)
		return run_with_scratch(settings, options);
	if (sandbox_enter(settings, NULL, NULL) < 0)
		return -EPERM;
	return shipper_run(settings, &options->shipper);
}

int main(int argc, char **argv)
{
	struct options options = {.log_level = LOG_LEVEL_INFO, .shipper.ready_fd = -1};
	const struct option_user *user = &options.user;
	struct settings settings = {0};

	log_init(program.name, LOG_LEVEL_INFO);
	int result = option_parse(&program, &options, argc, argv, NULL);
	if (result < 0)
		return option_exit(result);
	if (options.remove && !options.from) {
		log_error("--remove requires --from; see tracer-shipper --help");
		return OPTION_EXIT_USAGE;
	}
	log_init(program.name, options.log_level);
	signal(SIGPIPE, SIG_IGN);
	/* One arena: name resolution uses a thread, and another arena would cost 64 MiB of address
	 * space and some hundred KiB of memory. */
	mallopt(M_ARENA_MAX, 1);
	if (user->name && privilege_become(user->uid, user->gid, user->name, PRIVILEGE_NO_GROUP) < 0)
		return EXIT_FAILURE;
	if (load_settings(&settings, &options) < 0) {
		settings_deinit(&settings);
		return OPTION_EXIT_USAGE;
	}
	result = run(&settings, &options);
	settings_deinit(&settings);
	return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
