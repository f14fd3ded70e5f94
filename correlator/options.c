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

static const char *take_programs(void *field, const char *text, const struct option_rule *rule)
{
	*(const char **)field = text;
	return strchr(text, '/') || strstr(text, ",,") || *text == ',' || !*text || text[strlen(text) - 1] == ','
		       ? "expected file names of programs, separated by commas"
		       : NULL;
}

#define AT(field) offsetof(struct options, field)

static const struct option_program program = {
	.name = CORRELATOR_NAME,
	.purpose = "Turns the stream of tracer-probe into runs, tasks, tools and processes in SQLite.",
	.exit_text = "Exit status: 0 success, 1 failure (reported in one line), 2 usage error.",
	/* clang-format off */
	.rules = (const struct option_rule[]){
		{"config", "FILE", "settings, named like these options (default\n" FILE_DEFAULT ", if it exists)",
		 option_take_text, AT(file), .no_setting = true},
		{"check", NULL, "check the settings and exit", option_take_flag, AT(check)},
		{"show", NULL, "print the settings and where each is from, and exit", option_take_flag, AT(show)},
		{"socket", "PATH", "socket to listen on for the probe\n", option_take_text, AT(socket),
		 .initial = TRACER_RUN_DIR "/tracer.sock"},
		{"socket-group", "NAME", "group that may connect (default: the probe's user only)",
		 option_take_group, AT(socket_group)},
		{"store", "FILE", "database to write", option_take_text, AT(store),
		 .initial = TRACER_STATE_DIR "/tracer.db"},
		{"rules", "DIR", "additional rules, *.yaml; may be repeated\n", take_rules, AT(rules),
		 .initial = TRACER_CONFIG_DIR "/rules.d"},
		{"arguments", "MODE", "full, redacted or program-only", take_arguments, AT(arguments),
		 .initial = "redacted"},
		{"keep-arguments", "PROGRAMS", "program-only: file names, separated by commas, of programs\n"
		 "whose arguments are kept, redacted", take_programs, AT(keep_arguments)},
		{"probe-user", "USER", "accept a probe of this user, besides root and the user of\n"
		 "the correlator (default nobody)", option_take_user, AT(probe)},
		{"sampler-socket", "PATH", "socket to listen on for samplers of GPUs (default: none)",
		 option_take_text, AT(sampler_socket)},
		{"sampler-user", "USER", "accept samplers of this user, besides root and the user of\n"
		 "the correlator (default nobody)", option_take_user, AT(sampler)},
		{"user", "USER", "become this user once the socket is bound",
		 option_take_user, AT(user), .no_setting = true},
		{"retain", "DAYS", "delete runs DAYS after their end, 0: never",
		 option_take_number, AT(retention.days), 0, 36500, .initial = "30"},
		{"store-max", "SIZE", "delete above this size, sent or not, from users above\n"
		 "their share first; 0: never", option_take_size, AT(retention.bytes_max), 0, INT64_MAX, .initial = "10G"},
		{"shipper", "DIR", "state directory of tracer-shipper; rows not sent yet\n"
		 "are kept", option_take_text, AT(retention.shipper), .initial = SHIPPER_STATE_DEFAULT},
		{"host-period", "SECONDS", "interval between host samples, 0: never",
		 option_take_number, AT(host_period_s), 0, 3600, .initial = "10"},
		{"cluster", "NAME", "cluster of this host; job ids are unique within it\n"
		 "(default: " TRACER_CONFIG_DIR "/cluster, else ClusterName of slurm.conf)",
		 take_cluster, AT(cluster)},
		{"once", NULL, "exit when the first probe disconnects",
		 option_take_flag, AT(once)},
		{"replay", "FILE", "read a recording instead of listening, then exit",
		 option_take_text, AT(replay), .no_setting = true},
		{"record", "FILE", "also write every message to a recording",
		 option_take_text, AT(record), .no_setting = true},
		{"ready-fd", "N", "write '1' to this descriptor when listening",
		 option_take_descriptor, AT(ready_fd), .no_setting = true},
		{"log-level", "LEVEL", "error, warning, info or debug",
		 option_take_log_level, AT(log_level), .initial = "info"},
		{0}},
	/* clang-format on */
};

/* ---- the file and the environment ---------------------------------------------------- */

static int unknown(const char *name, char *ret_reason, size_t capacity)
{
	const char *names[OPTION_MAX + 1] = {0};
	char hint[96];
	size_t count = 0;

	for (const struct option_rule *rule = program.rules; rule->name; rule++)
		if (config_find_option(&program, rule->name))
			names[count++] = rule->name;
	suggest_nearest(name, names, hint, sizeof(hint));
	snprintf(ret_reason, capacity, "unknown setting %.60s%s", name, hint);
	return -EINVAL;
}

/* Returns 0 or -EINVAL with a reason. */
static int set(struct options *options, const struct option_rule *rule, const char *text, const char *source,
	       char *ret_reason, size_t capacity)
{
	const char *problem = config_set_option(&options->config, options, rule, text, source);

	if (problem)
		snprintf(ret_reason, capacity, "%s: %.80s: %s", rule->name, text, problem);
	return problem ? -EINVAL : 0;
}

static int entry_take(void *target, const char *name, const struct tree_node *value, char *ret_reason, size_t capacity)
{
	const struct option_rule *rule = config_find_option(&program, name);
	const struct tree_node *item = value->kind == TREE_LIST ? value->first : value;
	struct options *options = target;
	int error = rule ? 0 : unknown(name, ret_reason, capacity);
	char source[300];

	/* What the command line or the environment says, counts. */
	if (error < 0 || config_find(&options->config, name))
		return error;
	for (; error == 0 && item; item = item->next) {
		snprintf(source, sizeof(source), "%.256s:%u", options->file ? options->file : FILE_DEFAULT, item->line);
		if (item->kind == TREE_TEXT && (item == value || rule->take == take_rules)) {
			error = set(options, rule, item->text, source, ret_reason, capacity);
		} else {
			snprintf(ret_reason, capacity, "%s: expected text, found %s", name,
				 tree_kind_text(value->kind));
			error = -EINVAL;
		}
	}
	return error;
}

static int take_environment(struct options *options, char *ret_reason, size_t capacity)
{
	char variable[128], reason[256];
	int error = 0;

	for (const struct option_rule *rule = program.rules; error == 0 && rule->name; rule++) {
		const char *text = config_environment(program.name, rule->name, variable);

		if (text && config_find_option(&program, rule->name) && !config_find(&options->config, rule->name))
			error = set(options, rule, text, variable, reason, sizeof(reason));
	}
	if (error < 0)
		snprintf(ret_reason, capacity, "%s: %s", variable, reason);
	return error;
}

static int take_settings(struct options *options)
{
	char reason[1024];
	int error = take_environment(options, reason, sizeof(reason));

	if (error == 0)
		error = entries_load(options->file ? options->file : FILE_DEFAULT, entry_take, options, reason,
				     sizeof(reason));
	if (error == -ENOENT && !options->file)
		error = 0;
	if (error == 0)
		error = config_set_initial(&options->config, options, &program);
	if (error == 0 && options->keep_arguments && options->arguments != REDACT_PROGRAM_ONLY) {
		snprintf(reason, sizeof(reason), "keep-arguments is only for arguments: program-only");
		error = -EINVAL;
	}
	if (error == 0 || error == -ENOMEM)
		return error;
	log_error("%s", reason);
	return -EINVAL;
}

static int note(void *target, const struct option_rule *rule, const char *text)
{
	struct options *options = target;
	char source[128];

	snprintf(source, sizeof(source), "--%s", rule->name);
	return config_add(&options->config, rule->name, text, source);
}

int options_load(struct options *options, int argc, char **argv)
{
	*options = (struct options){.probe = {.uid = NOBODY},
				    .sampler = {.uid = NOBODY},
				    .socket_group = PRIVILEGE_NO_GROUP,
				    .ready_fd = -1};
	int error = option_parse(&program, options, argc, argv, note);

	if (error == 0)
		error = take_settings(options);
	if (error < 0 || (!options->check && !options->show))
		return error;
	if (options->show)
		error = config_print(&options->config);
	else {
		puts("settings are valid");
		error = print_finish(stdout);
	}
	return error < 0 ? error : -ECANCELED;
}

void options_deinit(struct options *options)
{
	config_deinit(&options->config);
}
