/* tracer ship --from DIR: sends files of an ndjson sink, or quarantined batches, to the lake.
 *
 * tracer-shipper does the sending; this only finds it and passes the options on. */

#include "cli/options.h"
#include "cli/process/program.h"

#define SET_MAX 16

static const char *from, *config, *url, *sets[SET_MAX];
static size_t set_count;
static bool remove_sent;

static int set_take(const struct options *options, const char *value)
{
	if (set_count == SET_MAX)
		return options_misuse(options, "more than %d --set", SET_MAX);
	sets[set_count++] = value;
	return 0;
}

static const struct option_spec option_specs[] = {
	{"from", 0, "DIR", "directory", "send the files of DIR", .text = &from},
	{"config", 0, "FILE", "file", "settings file, see tracer-shipper(8) (else " TRACER_CONFIG_DIR "/shipper.yaml)",
	 .text = &config},
	{"lake", 0, "URL", NULL, "send to this lake instead of the one in the settings", .text = &url},
	{"set", 0, "SETTING", NULL, "set any setting, as NAME=VALUE; may be repeated", .take = set_take},
	{"remove", 0, NULL, NULL, "remove each file that the lake accepted", .flag = &remove_sent},
	OPTION_SPEC_HELP,
	OPTION_SPEC_END,
};

static void add(const char **argv, size_t *count, const char *option, const char *value)
{
	argv[(*count)++] = option;
	argv[(*count)++] = value;
}

static int ship_main(const struct options *options)
{
	const char *argv[10 + 2 * SET_MAX];
	char path[PATH_MAX];
	size_t count = 1;
	int status;

	if (!from)
		return options_misuse(options, "--from is required: the files to send");
	if (program_find(PROGRAM_SHIPPER, path) < 0)
		return VERB_FAILED;
	argv[0] = path;
	add(argv, &count, "--from", from);
	if (config)
		add(argv, &count, "--config", config);
	if (url)
		add(argv, &count, "--lake", url);
	for (size_t i = 0; i < set_count; i++)
		add(argv, &count, "--set", sets[i]);
	add(argv, &count, remove_sent ? "--remove" : NULL, NULL);
	status = program_run((char *const *)argv);
	return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : say("tracer ship: %s failed", PROGRAM_SHIPPER);
}

const struct verb verb_ship = {
	.name = "ship",
	.summary = "send files from an air-gapped host to the lake",
	.description = "Sends the files that the ndjson sink of tracer-shipper wrote on a host without\n"
		       "a connection to the lake, or that it quarantined because the lake refused them.\n"
		       "Each file is one batch and is sent unchanged; sending it again is harmless.\n"
		       "Needs only permission to read DIR.",
	.options = option_specs,
	.examples = "  tracer ship --from /media/stick/outbox --lake https://lake.example.org:8443\n"
		    "  tracer ship --from " TRACER_STATE_DIR "-shipper/quarantine --remove",
	.main = ship_main,
};
