/* tracer ship --from DIR: sends files of an ndjson sink, or what was set aside, to the lake.
 *
 * The sending is tracer-shipper's; this only finds it and hands the options on. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "cli/options.h"
#include "cli/program.h"

enum { OPTION_FROM = 1, OPTION_CONFIG, OPTION_URL, OPTION_SET, OPTION_REMOVE };

#define SET_MAX 16

static const struct option_spec option_specs[] = {
	{OPTION_FROM, "from", 'f', "DIR", "directory", "send the files of DIR"},
	{OPTION_CONFIG, "config", 'c', "FILE", "file",
	 "settings, as tracer-shipper(8) has them (else " TRACER_CONFIG_DIR "/shipper.yaml)"},
	{OPTION_URL, "url", 'u', "URL", NULL, "the lake, instead of the one in the settings"},
	{OPTION_SET, "set", 0, "SETTING", NULL, "NAME=VALUE, any setting; may be repeated"},
	{OPTION_REMOVE, "remove", 0, NULL, NULL, "remove each file that the lake took"},
	OPTION_SPEC_HELP,
	OPTION_SPEC_END,
};

struct ship {
	char path[PATH_MAX];
	const char *argv[16 + 2 * SET_MAX];
	size_t count;
	const char *from;
};

static void add(struct ship *ship, const char *option, const char *value)
{
	ship->argv[ship->count++] = option;
	if (value)
		ship->argv[ship->count++] = value;
}

static int ship_take(struct ship *ship, const struct options *options, int option, const char *value)
{
	static const size_t most = sizeof(ship->argv) / sizeof(ship->argv[0]) - 1;

	if (ship->count + 2 > most)
		return options_misuse(options, "too many options");
	switch (option) {
	case OPTION_FROM: ship->from = value; add(ship, "--from", value); break;
	case OPTION_CONFIG: add(ship, "--config", value); break;
	case OPTION_URL: add(ship, "--url", value); break;
	case OPTION_SET: add(ship, "--set", value); break;
	default: add(ship, "--remove", NULL); break;
	}
	return 0;
}

static int ship_run(struct ship *ship)
{
	char *output = NULL;
	int status;

	if (program_find(PROGRAM_SHIPPER, ship->path) < 0)
		return VERB_FAILED;
	ship->argv[0] = ship->path;
	status = program_read((char *const *)ship->argv, 0, &output);
	free(output);
	if (status >= 0 && WIFEXITED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, "tracer ship: %s did not end well\n", PROGRAM_SHIPPER);
	return VERB_FAILED;
}

static int ship_main(const struct verb *verb, int argc, char **argv)
{
	struct ship ship = {.count = 1};
	struct options options;
	const char *value;
	int option, status;

	options_init(&options, verb, argc, argv);
	while ((option = options_next(&options, &value)) > 0) {
		status = ship_take(&ship, &options, option, value);
		if (status)
			return status;
	}
	if (option < 0)
		return options_exit(option);
	if (options_check_operands(&options, 0, 0))
		return VERB_USAGE;
	if (!ship.from)
		return options_misuse(&options, "--from says which files to send");
	return ship_run(&ship);
}

const struct verb verb_ship = {
	.name = "ship",
	.operands = "",
	.summary = "send files of an air-gapped host to the lake",
	.description =
		"Sends the files that the ndjson sink of tracer-shipper wrote on a host without\n"
		"a way to the lake, or that the shipper set aside because the lake refused them.\n"
		"Each file is one batch and is sent as it is; sending it again is harmless.\n"
		"Needs only to read DIR.",
	.options = option_specs,
	.examples = "  tracer ship --from /media/stick/outbox --url https://lake.example.org:8443\n"
		    "  tracer ship --from " TRACER_STATE_DIR "-shipper/set-aside --remove",
	.completion = "",
	.main = ship_main,
};
