/* The command of an exec image. See command.h. */
#include "correlator/model/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"
#include "correlator/model/model.h"

/* The end of a longer path is not known, and so its base name. */
static bool path_is_whole(const char *path)
{
	size_t size = strlen(path), mark = strlen(RECORD_PATH_MARK);

	return size > 0 && (size <= mark || strcmp(path + size - mark, RECORD_PATH_MARK) != 0);
}

const char *command_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Returns a copy, NULL if out of memory. A name ends at its first NUL, whatever the record claims. */
static char *text_of(const struct wire_bytes *text)
{
	return strndup(text->data ? text->data : "", text->size);
}

/* Joins the arguments in one buffer, each terminated by NUL. An argument that holds a
 * NUL cannot come from a kernel; it is cut there, so that the count stays right. */
static int join_arguments(const struct record_arguments *argv, char **ret_data, size_t *ret_size)
{
	size_t size = 0;

	for (uint32_t i = 0; i < argv->count; i++)
		size += argv->item[i].size + 1;
	char *data = malloc(size + 1);

	if (!data)
		return -1;
	char *end = data;

	for (uint32_t i = 0; i < argv->count; i++) {
		size_t length = strnlen(argv->item[i].data, argv->item[i].size);

		memcpy(end, argv->item[i].data, length);
		end[length] = '\0';
		end += length + 1;
	}
	*ret_data = data;
	*ret_size = (size_t)(end - data);
	return 0;
}

static int set_arguments(struct command *command, const struct record_arguments *argv, const struct secrets *secrets,
			 enum redact_mode mode)
{
	bool cut = command->flags & RECORD_ARGV_TRUNCATED;
	size_t size;
	char *raw;
	int r;

	if (join_arguments(argv, &raw, &size) < 0)
		return -1;
	/* program-only is applied when rows are written: names still need the other arguments. */
	if (mode == REDACT_PROGRAM_ONLY)
		mode = REDACT_SECRETS;
	if (!redact_is_needed(secrets, mode, raw, size, cut)) {
		command->arguments = raw;
		command->arguments_size = size;
		return 0;
	}
	r = redact_arguments(secrets, mode, raw, size, cut, &command->arguments, &command->arguments_size,
			     &command->redacted_count);
	free(raw);
	return r;
}

static void set_program(struct command *command, const struct wire_bytes *comm)
{
	if (!command->path)
		return;
	/* A program without a file (memfd) has only the root as its path. */
	if (strcmp(command->path, "/") == 0)
		command->path[0] = '\0';
	if (path_is_whole(command->path))
		command->program = strdup(command_base_name(command->path));
	else if (comm->size > 0 && comm->data[0])
		command->program = text_of(comm);
	else
		command->program = strdup("unknown"); /* a process may remove its name */
}

static bool has_terminal(const struct record_context *context)
{
	return context->tty != 0 && context->stdin_pipe == 0 && !(context->flags & RECORD_STDIN_ELSEWHERE);
}

/* A #! script runs its interpreter, which the kernel put into argv[0]. */
static bool is_script(const struct record *record)
{
	return record->exec.context.flags & RECORD_SCRIPT && record->argv.count > 0;
}

/* ---- one allocation for all of a command, which a host has by the ten thousand */

static size_t arguments_count(const struct command *command)
{
	size_t count = 0;

	for (size_t i = 0; i < command->arguments_size; i++)
		count += command->arguments[i] == '\0';
	return count;
}

static size_t command_bytes(const struct command *command)
{
	return sizeof(*command) + strlen(command->path) + strlen(command->working_directory) + command->arguments_size +
	       (command->subject.argc + 1) * sizeof(*command->subject.argv);
}

/* Keeps whole arguments, or the beginning of the first. */
static void arguments_shorten(struct command *command)
{
	size_t size = COMMAND_SHORT_BYTES;

	while (size > 0 && command->arguments[size - 1] != '\0')
		size--;
	if (size == 0) {
		size = COMMAND_SHORT_BYTES;
		command->arguments[size - 1] = '\0';
	}
	command->arguments_size = size;
	command->flags |= RECORD_ARGV_TRUNCATED;
	command->subject.argc = arguments_count(command);
}

/* A program is named like its file, with few exceptions. */
static bool has_file_name(const struct command *command)
{
	return strcmp(command->program, command_base_name(command->path)) == 0;
}

static char *put(char **end, const char *data, size_t size)
{
	char *at = *end;

	*end = mempcpy(at, data, size);
	*(*end)++ = '\0';
	return at;
}

static char *put_text(char **end, const char *text)
{
	return text ? put(end, text, strlen(text)) : NULL;
}

static void index_arguments(struct command *command, const char **argv)
{
	const char *argument = command->arguments;

	for (size_t i = 0; i < command->subject.argc; i++) {
		argv[i] = argument;
		argument += strlen(argument) + 1;
	}
	command->subject.argv = argv;
}

static struct command *copy_parts(const struct command *parts)
{
	size_t argv_bytes = (parts->subject.argc + 1) * sizeof(*parts->subject.argv);
	size_t text_bytes = strlen(parts->path) + strlen(parts->program) + strlen(parts->working_directory) +
			    (parts->script ? strlen(parts->script) : 0) + parts->arguments_size + 5;
	struct command *command = malloc(sizeof(*command) + argv_bytes + text_bytes);
	const char **argv;
	char *end;

	if (!command)
		return NULL;
	argv = (const char **)(command + 1);
	end = (char *)argv + argv_bytes;
	*command = *parts;
	command->references = 1;
	command->path = put_text(&end, parts->path);
	command->program =
		has_file_name(parts) ? (char *)command_base_name(command->path) : put_text(&end, parts->program);
	command->script = put_text(&end, parts->script);
	command->working_directory = put_text(&end, parts->working_directory);
	command->arguments = put(&end, parts->arguments, parts->arguments_size);
	argv[command->subject.argc] = NULL;
	index_arguments(command, argv);
	command->subject.path = path_is_whole(command->path) ? command->path : command->program;
	command->subject.script = command->script;
	command->subject.working_directory = command->working_directory;
	command->subject.cgroup = "";
	return command;
}

static void free_parts(const struct command *parts)
{
	free(parts->program);
	free(parts->path);
	free(parts->script);
	free(parts->working_directory);
	free(parts->arguments);
}

int command_make(struct command *parts, uint32_t user_id, struct account **accounts, struct command **ret_command)
{
	struct account *account = account_get(accounts, user_id);
	struct command *command = NULL;
	bool is_whole = parts->program && parts->path && parts->working_directory && parts->arguments;

	if (account && is_whole) {
		parts->subject.argc = arguments_count(parts);
		if (account->command_bytes + command_bytes(parts) > COMMANDS_OF_USER_MAX &&
		    parts->arguments_size > COMMAND_SHORT_BYTES)
			arguments_shorten(parts);
		command = copy_parts(parts);
	}
	free_parts(parts);
	if (!command) {
		if (account)
			account_release(account);
		return is_whole ? -ENOMEM : -EINVAL;
	}
	command->account = account;
	account->command_bytes += command_bytes(command);
	*ret_command = command;
	return 0;
}

struct command *command_new(const struct record *record, const struct secrets *secrets, enum redact_mode mode,
			    struct account **accounts)
{
	const struct record_context *context = &record->exec.context;
	struct command parts = {.flags = context->flags, .subject.has_terminal = has_terminal(context)};
	struct command *command = NULL;

	parts.working_directory = text_of(&record->cwd);
	parts.path = text_of(is_script(record) ? &record->argv.item[0] : &record->path);
	parts.script = is_script(record) ? text_of(&record->path) : NULL;
	set_program(&parts, &record->comm);
	if (set_arguments(&parts, &record->argv, secrets, mode) < 0 || (is_script(record) && !parts.script))
		free_parts(&parts);
	else
		command_make(&parts, context->uid, accounts, &command);
	return command;
}

static bool text_is(const char *text, const struct wire_bytes *bytes)
{
	size_t size = strlen(text);

	return size == bytes->size && (size == 0 || memcmp(text, bytes->data, size) == 0);
}

static bool arguments_are(const struct command *command, const struct record_arguments *argv)
{
	const char *argument = command->arguments, *end = argument + command->arguments_size;

	for (uint32_t i = 0; i < argv->count; i++) {
		const struct wire_bytes *item = &argv->item[i];

		if (item->size >= (size_t)(end - argument) || memcmp(argument, item->data, item->size) != 0 ||
		    argument[item->size] != '\0')
			return false;
		argument += item->size + 1;
	}
	return argument == end;
}

bool command_is_of(const struct command *command, const struct record *record)
{
	const struct record_context *context = &record->exec.context;
	const char *path = is_script(record) ? command->script : command->path;

	/* What was redacted is not known, and a name without a path may differ. */
	return command->redacted_count == 0 && command->subject.path == command->path &&
	       command->flags == context->flags && command->subject.has_terminal == has_terminal(context) &&
	       command->account->user_id == context->uid && path && text_is(path, &record->path) &&
	       text_is(command->working_directory, &record->cwd) && arguments_are(command, &record->argv);
}

static bool is_listed(const char *program, const char *programs)
{
	size_t size = strlen(program);

	for (const char *item = programs; item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL)
		if (strncmp(item, program, size) == 0 && (item[size] == ',' || item[size] == '\0'))
			return true;
	return false;
}

size_t command_stored_size(const struct command *command, enum redact_mode mode, const char *keep_arguments)
{
	if (command->arguments_size == 0 || mode != REDACT_PROGRAM_ONLY || is_listed(command->program, keep_arguments))
		return command->arguments_size;
	return strlen(command->arguments) + 1;
}

struct command *command_ref(struct command *command)
{
	command->references++;
	return command;
}

void command_unref(struct command *command)
{
	if (!command || --command->references > 0)
		return;
	command->account->command_bytes -= command_bytes(command);
	account_release(command->account);
	free(command);
}

void command_forget_latest(struct latest_command *latest)
{
	command_unref(latest->command);
	latest->command = NULL;
}

/* The argument without the working directory, or what follows the generated part of a name in a hidden folder, where
 * engines keep copies of scripts (.snakemake/scripts/tmpXXXXXXXX.NAME). */
static const char *lasting_part(const struct command *command, const char *argument)
{
	size_t size = strlen(command->working_directory);
	const char *base = command_base_name(argument);
	const char *name = strncmp(base, "tmp", 3) == 0 ? strchr(base, '.') : NULL;

	if (name && (argument[0] == '.' || strstr(argument, "/.")))
		return name;
	if (size > 1 && strncmp(argument, command->working_directory, size) == 0 && argument[size] == '/')
		return argument + size + 1;
	return argument;
}

int64_t command_work(const struct command *command, bool with_directory)
{
	const char *argument = command->arguments, *end = argument + command->arguments_size;
	struct identity identity;
	bool skip = false;
	int count = 0;

	identity_begin(&identity, "work");
	if (with_directory)
		identity_add_bytes(&identity, command->working_directory, strlen(command->working_directory));
	for (; argument < end; argument += strlen(argument) + 1, count++) {
		const char *part = lasting_part(command, argument);

		if (!skip)
			identity_add_bytes(&identity, part, strlen(part));
		skip = strcmp(argument, "--attempt") == 0;
	}
	return count > 1 || (with_directory && count > 0) ? identity_end(&identity) : 0;
}
