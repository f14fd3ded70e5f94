/* tracer config: checks and shows the settings of the daemons.
 *
 * Each daemon reads its own settings, and is asked for them: nothing here knows the names.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/process/program.h"
#include "cli/screen/table.h"

#define OUTPUT_BYTES_MAX (1 << 20)

/* A daemon with settings. */
struct daemon {
	const char *name;
	const char *needs; /* it is not used without this file; NULL: always used */
};

static const struct daemon daemons[] = {
	{PROGRAM_CORRELATOR, NULL},
	{PROGRAM_SHIPPER, TRACER_CONFIG_DIR "/shipper.yaml"},
};

#define DAEMON_COUNT (sizeof(daemons) / sizeof(daemons[0]))

static const struct option_spec option_specs[] = {
	OPTION_SPECS_OF_FORMAT,
	OPTION_SPECS_LAST,
};

static bool is_used(const struct daemon *daemon)
{
	return !daemon->needs || access(daemon->needs, F_OK) == 0;
}

/* Asks a daemon; `ret_text` gets what it prints, or why it failed (to free). Returns whether it succeeded. What cannot
 * be started is said by program_find(). */
static bool ask(const struct daemon *daemon, const char *option, char **ret_text)
{
	char path[PATH_MAX];
	char *argv[] = {path, (char *)option, NULL};
	int status = -1, fd = memfd_create("answer", MFD_CLOEXEC);
	pid_t pid = fd < 0 || program_find(daemon->name, path) < 0 ? -1 : program_spawn(argv, fd, -1);
	off_t size;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	size = size > OUTPUT_BYTES_MAX ? OUTPUT_BYTES_MAX : size;
	*ret_text = calloc(1, (size_t)size + 1);
	if (!*ret_text || pread(fd, *ret_text, (size_t)size, 0) != size)
		status = -1;
	if (fd >= 0)
		close(fd);
	return status == 0;
}

/* ---- check --------------------------------------------------------------------------- */

/* Prints what is found about a daemon, or adds it to an array of JSON. Returns whether it is good. */
static bool daemon_check(const struct daemon *daemon, json_t *array)
{
	bool used = is_used(daemon), valid = true;
	char *text = NULL;

	if (used)
		valid = ask(daemon, "--check", &text);
	if (text)
		text[strcspn(text, "\n")] = '\0';
	if (array)
		json_array_append_new(array, json_pack("{ss, sb, sb, ss?}", "daemon", daemon->name, "used", used,
						       "valid", valid, "reason", valid ? NULL : text));
	else if (!used)
		printf("%s: not used: there is no %s\n", daemon->name, daemon->needs);
	else if (valid)
		printf("%s: %s\n", daemon->name, text);
	else if (text && *text)
		say("%s", text);
	free(text);
	return valid;
}

static int check(const struct options *options)
{
	json_t *array = options->format ? json_array() : NULL;
	int status = VERB_OK;

	for (size_t i = 0; i < DAEMON_COUNT; i++)
		if (!daemon_check(&daemons[i], array))
			status = VERB_FAILED;
	if (array && document_print(json_pack("{so}", "daemons", array), "daemons", NULL, options->format) < 0)
		status = VERB_FAILED;
	return status;
}

/* ---- show ---------------------------------------------------------------------------- */

/* What is shown, as a table or as JSON. */
struct shown {
	struct table *table;
	json_t *array;
};

/* Takes a line "NAME<tab>VALUE<tab>SOURCE". */
static void line_show(struct shown *shown, const char *daemon, char *line)
{
	char *value = strchr(line, '\t'), *source = strrchr(line, '\t');

	if (!value || value == source)
		return;
	*value++ = '\0';
	*source++ = '\0';
	table_add_all(shown->table, daemon, line, NULL);
	table_add_name(shown->table, STYLE_PLAIN, "", value);
	table_add_name(shown->table, STYLE_DIM, "", source);
	json_array_append_new(shown->array, json_pack("{ss, ss, ss, ss}", "daemon", daemon, "setting", line, "value",
						      value, "source", source));
}

static int daemon_show(struct shown *shown, const struct daemon *daemon)
{
	char *text = NULL, *rest = NULL;
	int status = VERB_OK;

	if (!ask(daemon, "--show", &text)) {
		status = VERB_FAILED;
		if (text && *text)
			say("%.*s", (int)strcspn(text, "\n"), text);
	} else
		for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			line_show(shown, daemon->name, line);
	free(text);
	return status;
}

static int show(const struct options *options)
{
	static const struct table_column columns[] = {
		{.title = "daemon"}, {.title = "setting"}, {.title = "value"}, {.title = "from"}};
	struct shown shown = {table_new(columns, sizeof(columns) / sizeof(columns[0])), json_array()};
	struct output output;
	int status = shown.table && shown.array ? VERB_OK : say("out of memory");

	output_init(&output, stdout, options->color);
	for (size_t i = 0; i < DAEMON_COUNT && status == VERB_OK; i++)
		if (is_used(&daemons[i]))
			status = daemon_show(&shown, &daemons[i]);
	json_t *root = json_pack("{so}", "settings", shown.array);
	if (status == VERB_OK && options->format)
		status = document_print(json_incref(root), "settings", NULL, options->format) < 0 ? VERB_FAILED
												  : VERB_OK;
	else if (status == VERB_OK)
		status = table_print(shown.table, &output, NULL) < 0 ? VERB_FAILED : VERB_OK;
	table_free(shown.table);
	json_decref(root);
	return status;
}

static int config_main(const struct options *options)
{
	const char *action = options->operands[0];

	if (strcmp(action, "check") == 0)
		return check(options);
	if (strcmp(action, "show") == 0)
		return show(options);
	return options_misuse(options, "unknown action '%s': use check or show", action);
}

const struct verb verb_config = {
	.name = "config",
	.operands = "check | show",
	.operands_least = 1,
	.operands_most = 1,
	.summary = "check or show the settings of the daemons",
	.description = "check   checks the settings of tracer-correlator and, if there is a\n"
		       "        shipper.yaml, tracer-shipper; shows file, line, reason\n"
		       "show    shows each setting and where it is from: a file, the environment or the\n"
		       "        default\n"
		       "\n"
		       "They are those that the daemons would use if they were started now, except for\n"
		       "options in the drop-ins of their units. The files are correlator.yaml and\n"
		       "shipper.yaml in " TRACER_CONFIG_DIR "; the probe has options only.",
	.options = option_specs,
	.examples = "  tracer config check && systemctl restart tracer-correlator",
	.completion = "check show",
	.main = config_main,
};
