/* See options.h. */
#include "correlator/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/print.h"
#include "common/privilege.h"
#include "common/shipper_status.h"
#include "common/yaml/entries.h"
#include "common/yaml/suggest.h"
#include "correlator/host/host.h"

#define NOBODY 65534
#define FILE_DEFAULT TRACER_CONFIG_DIR "/correlator.yaml"

static struct options options = {
	.socket_group = PRIVILEGE_NO_GROUP,
	.server = {.listen_fd = -1,
		   .samplers_fd = -1,
		   .probe = {.uid = NOBODY},
		   .sampler = {.uid = NOBODY},
		   .record_fd = -1,
		   .ready_fd = -1},
};

static const char *parse_rules(const struct option_spec *spec, const char *text)
{
	struct rules_directories *rules = &options.rules;

	if (rules->count == RULES_DIRECTORIES_MAX)
		return "fewer directories";
	rules->path[rules->count++] = text;
	return NULL;
}

static const char *parse_cluster(const struct option_spec *spec, const char *text)
{
	options.server.cluster = text;
	return host_cluster_is_valid(text) ? NULL : "1 to 64 letters, digits, '.', '_' and '-'";
}

static const char *parse_hostname(const struct option_spec *spec, const char *text)
{
	options.hostname = text;
	return host_name_is_valid(text) ? NULL : "1 to 253 letters, digits, '.', '_' and '-'";
}

static const char *parse_programs(const struct option_spec *spec, const char *text)
{
	options.keep_arguments = text;
	return strchr(text, '/') || strstr(text, ",,") || *text == ',' || !*text || text[strlen(text) - 1] == ','
		       ? "file names of programs, separated by commas"
		       : NULL;
}

static const struct option_program program = {
	.name = CORRELATOR_NAME,
	.purpose = "Turns the stream of tracer-probe into runs, tasks, tools and processes in SQLite.",
	.exit_text = "Exit status: 0 success, 1 failure (reported in one line), 2 usage error.",
	/* clang-format off */
	.specs = (const struct option_spec[]){
		{"config", 0, "FILE", NULL, "settings, named like these options (default " FILE_DEFAULT ", if it exists)",
		 .text = &options.file, .no_setting = true},
		{"check", 0, NULL, NULL, "check the settings and exit", .flag = &options.check},
		{"show", 0, NULL, NULL, "print the settings and where each is from, and exit", .flag = &options.show},
		{"socket", 0, "PATH", NULL, "socket to listen on for the probe", .text = &options.socket,
		 .initial = TRACER_RUN_DIR "/tracer.sock"},
		{"socket-group", 0, "NAME", NULL, "group that may connect (default: the probe's user only)",
		 .group = &options.socket_group},
		{"store", 0, "FILE", NULL, "database to write", .text = &options.store,
		 .initial = TRACER_STATE_DIR "/tracer.db"},
		{"rules", 0, "DIR", NULL, "additional rules, *.yaml; may be repeated", .parse = parse_rules,
		 .initial = TRACER_CONFIG_DIR "/rules.d"},
		{"arguments", 0, "MODE", REDACT_MODE_WORDS, "how to store command lines: full, redacted or program-only",
		 .choice = &options.arguments, .initial = "redacted"},
		{"keep-arguments", 0, "PROGRAMS", NULL, "with program-only: file names, separated by commas, of programs "
		 "whose arguments are kept, redacted", .parse = parse_programs},
		{"probe-user", 0, "USER", NULL, "accept a probe of this user, besides root and the user of "
		 "the correlator (default nobody)", .user = &options.server.probe},
		{"sampler-socket", 0, "PATH", NULL, "socket to listen on for samplers of GPUs (default: none)",
		 .text = &options.sampler_socket},
		{"sampler-user", 0, "USER", NULL, "accept samplers of this user, besides root and the user of "
		 "the correlator (default nobody)", .user = &options.server.sampler},
		{"user", 0, "USER", NULL, "become this user once the socket is bound",
		 .user = &options.user, .no_setting = true},
		{"retain", 0, "DAYS", NULL, "delete runs DAYS after their end, 0: never",
		 .number = &options.server.retention.days, .most = 36500, .initial = "30"},
		{"store-max", 0, "SIZE", NULL, "delete above this size, sent or not, from users above "
		 "their share first; 0: never", .bytes = &options.server.retention.bytes_max, .initial = "10G"},
		{"shipper", 0, "DIR", NULL, "state directory of tracer-shipper; rows not sent yet are kept",
		 .text = &options.server.retention.shipper, .initial = SHIPPER_STATE_DEFAULT},
		{"host-period", 0, "SECONDS", NULL, "interval between host samples, 0: never",
		 .number = &options.server.host_period_s, .most = 3600, .initial = "10"},
		{"cluster", 0, "NAME", NULL, "cluster of this host; job ids are unique within it "
		 "(default: " TRACER_CONFIG_DIR "/cluster, else ClusterName of slurm.conf)", .parse = parse_cluster},
		{"hostname", 0, "NAME", NULL, "name of this host (default: what the probe finds, in a container that "
		 "container's)", .parse = parse_hostname},
		{"once", 0, NULL, NULL, "exit when the first probe disconnects", .flag = &options.server.once},
		{"replay", 0, "FILE", NULL, "read a recording instead of listening, then exit",
		 .text = &options.replay, .no_setting = true},
		{"record", 0, "FILE", NULL, "also write every message to a recording",
		 .text = &options.record, .no_setting = true},
		{"ready-fd", 0, "N", NULL, "write '1' to this descriptor when listening",
		 .descriptor = &options.server.ready_fd, .most = 65535, .no_setting = true},
		{"log-level", 0, "LEVEL", LOG_LEVEL_WORDS, "least level to log: error, warning, info or debug",
		 .choice = &options.log_level, .initial = "info"},
		OPTION_SPECS_OF_DAEMON},
	/* clang-format on */
};

/* ---- the file and the environment ---------------------------------------------------- */

static int unknown(const char *name, char *ret_reason, size_t capacity)
{
	const char *names[OPTION_MAX + 1] = {0};
	char hint[96];
	size_t count = 0;

	for (const struct option_spec *spec = program.specs; spec->name; spec++)
		if (config_find_option(&program, spec->name))
			names[count++] = spec->name;
	suggest_nearest(name, names, hint, sizeof(hint));
	snprintf(ret_reason, capacity, "unknown setting %.60s%s", name, hint);
	return -EINVAL;
}

static int entry_take(void *ignored, const char *name, const struct tree_node *value, char *ret_reason, size_t capacity)
{
	const struct option_spec *spec = config_find_option(&program, name);
	const struct tree_node *item = value->kind == TREE_LIST ? value->first : value;
	int error = spec ? 0 : unknown(name, ret_reason, capacity);
	char source[300];

	/* What the command line or the environment says, counts. */
	if (error < 0 || config_find(&options.config, name))
		return error;
	for (; error == 0 && item; item = item->next) {
		snprintf(source, sizeof(source), "%.256s:%u", options.file ? options.file : FILE_DEFAULT, item->line);
		if (item->kind == TREE_TEXT && (item == value || spec->parse == parse_rules)) {
			error = config_set_option(&options.config, spec, item->text, source, ret_reason, capacity);
		} else {
			snprintf(ret_reason, capacity, "%s: expected text, found %s", name,
				 tree_kind_text(value->kind));
			error = -EINVAL;
		}
	}
	return error;
}

static int take_environment(char *ret_reason, size_t capacity)
{
	char variable[128], reason[256];
	int error = 0;

	for (const struct option_spec *spec = program.specs; error == 0 && spec->name; spec++) {
		const char *text = config_environment(program.name, spec->name, variable);

		if (text && config_find_option(&program, spec->name) && !config_find(&options.config, spec->name))
			error = config_set_option(&options.config, spec, text, variable, reason, sizeof(reason));
	}
	if (error < 0)
		snprintf(ret_reason, capacity, "%s: %s", variable, reason);
	return error;
}

static int take_settings(void)
{
	char reason[1024];
	int error = take_environment(reason, sizeof(reason));

	if (error == 0)
		error = entries_load(options.file ? options.file : FILE_DEFAULT, entry_take, NULL, reason,
				     sizeof(reason));
	if (error == -ENOENT && !options.file)
		error = 0;
	if (error == 0)
		error = config_set_initial(&options.config, &program);
	if (error == 0 && options.keep_arguments && options.arguments != REDACT_PROGRAM_ONLY) {
		snprintf(reason, sizeof(reason), "keep-arguments is only for arguments: program-only");
		error = -EINVAL;
	}
	if (error == 0 || error == -ENOMEM)
		return error;
	log_error("%s", reason);
	return -EINVAL;
}

static int note(void *ignored, const struct option_spec *spec, const char *text)
{
	char source[128];

	snprintf(source, sizeof(source), "--%s", spec->name);
	return text ? config_add(&options.config, spec->name, text, source) : 0;
}

int options_load(int argc, char **argv, const struct options **ret_options)
{
	int error = option_parse_program(&program, argc, argv, note, NULL);

	*ret_options = &options;
	if (error == 0)
		error = take_settings();
	if (error < 0 || (!options.check && !options.show))
		return error;
	if (options.show)
		error = config_print(&options.config);
	else {
		puts("settings are valid");
		error = print_finish(stdout);
	}
	return error < 0 ? error : -ECANCELED;
}

void options_deinit(void)
{
	config_deinit(&options.config);
}
