/* The command of an exec image. See command.h. */
#include "correlator/model/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"

/* The end of a longer path is not known, and so its base name. */
static bool ends_with_mark(const char *path)
{
	size_t size = strlen(path), mark = strlen(RECORD_PATH_MARK);

	return size > mark && strcmp(path + size - mark, RECORD_PATH_MARK) == 0;
}

const char *command_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Moves `*room` past the copy. A name ends at its first NUL, whatever the record claims. */
static char *put_text(char **room, const struct wire_bytes *text)
{
	char *copy = *room;
	size_t size = text->data ? strnlen(text->data, text->size) : 0;

	if (size > 0)
		memcpy(copy, text->data, size);
	copy[size] = '\0';
	*room = copy + size + 1;
	return copy;
}

/* Allocates the command and all its texts except the arguments. `script` is NULL if there is none. */
static struct command *command_alloc(const struct wire_bytes *comm, const struct wire_bytes *path,
				     const struct wire_bytes *script, const struct wire_bytes *working_directory)
{
	size_t size = comm->size + path->size + (script ? script->size : 0) + working_directory->size;
	struct command *command = calloc(1, sizeof(*command) + size + 4);
	char *room;

	if (!command)
		return NULL;
	room = command->texts;
	command->references = 1;
	command->working_directory = put_text(&room, working_directory);
	command->path = put_text(&room, path);
	command->script = script ? put_text(&room, script) : NULL;
	/* A program without a file (memfd) has only the root as its path. */
	if (strcmp(command->path, "/") == 0)
		command->path[0] = '\0';
	bool is_whole = command->path[0] && !ends_with_mark(command->path);

	command->program = is_whole ? command_base_name(command->path) : put_text(&room, comm);
	if (command->program[0] == '\0')
		command->program = "unknown"; /* a process may remove its name */
	command->subject.path = is_whole ? command->path : command->program;
	command->subject.script = command->script;
	command->subject.working_directory = command->working_directory;
	command->subject.cgroup = "";
	return command;
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

/* Sets argv, pointers into `arguments`, for the rules. */
static int index_arguments(struct command *command)
{
	size_t count = 0;

	for (size_t i = 0; i < command->arguments_size; i++)
		count += command->arguments[i] == '\0';
	const char **argv = calloc(count + 1, sizeof(*argv));

	if (!argv)
		return -1;
	const char *argument = command->arguments;

	for (size_t i = 0; i < count; i++) {
		argv[i] = argument;
		argument += strlen(argument) + 1;
	}
	command->subject.argc = count;
	command->subject.argv = argv;
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

struct command *command_new(const struct record *record, const struct secrets *secrets, enum redact_mode mode)
{
	const struct record_context *context = &record->exec.context;
	const struct wire_bytes *path = &record->path, *script = NULL;
	struct command *command;

	/* A #! script runs its interpreter, which the kernel put into argv[0]. */
	if (context->flags & RECORD_SCRIPT && record->argv.count > 0) {
		script = &record->path;
		path = &record->argv.item[0];
	}
	command = command_alloc(&record->comm, path, script, &record->cwd);
	if (!command)
		return NULL;
	command->flags = context->flags;
	command->subject.has_terminal =
		context->tty != 0 && context->stdin_pipe == 0 && !(context->flags & RECORD_STDIN_ELSEWHERE);
	if (set_arguments(command, &record->argv, secrets, mode) < 0 || index_arguments(command) < 0) {
		command_unref(command);
		return NULL;
	}
	return command;
}

static struct wire_bytes bytes_of(const char *text)
{
	return (struct wire_bytes){.data = text, .size = (uint32_t)strlen(text)};
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

struct command *command_restore(const struct command *stored)
{
	const struct wire_bytes program = bytes_of(stored->program), path = bytes_of(stored->path),
				script = bytes_of(stored->script ? stored->script : ""),
				directory = bytes_of(stored->working_directory);
	struct command *command = command_alloc(&program, &path, stored->script ? &script : NULL, &directory);

	if (!command)
		return NULL;
	command->flags = stored->flags;
	command->redacted_count = stored->redacted_count;
	command->arguments = malloc(stored->arguments_size + 1);
	command->arguments_size = stored->arguments_size;
	if (command->arguments) {
		memcpy(command->arguments, stored->arguments, stored->arguments_size);
		command->arguments[stored->arguments_size] = '\0';
		if (index_arguments(command) == 0)
			return command;
	}
	command_unref(command);
	return NULL;
}

/* Keeps whole arguments, or the beginning of the first. */
static int arguments_shorten(struct command *command)
{
	size_t size = COMMAND_SHORT_BYTES;

	while (size > 0 && command->arguments[size - 1] != '\0')
		size--;
	if (size == 0) {
		size = COMMAND_SHORT_BYTES;
		command->arguments[size - 1] = '\0';
	}
	char *arguments = realloc(command->arguments, size);

	if (arguments)
		command->arguments = arguments;
	command->arguments_size = size;
	command->flags |= RECORD_ARGV_TRUNCATED;
	free((void *)command->subject.argv);
	command->subject.argv = NULL;
	return index_arguments(command);
}

static size_t command_bytes(const struct command *command)
{
	return sizeof(*command) + strlen(command->path) + strlen(command->working_directory) + command->arguments_size +
	       (command->subject.argc + 1) * sizeof(*command->subject.argv);
}

int command_charge(struct command *command, uint32_t user_id, struct command_account **accounts)
{
	struct command_account *account;

	HASH_FIND(hh, *accounts, &user_id, sizeof(user_id), account);
	if (!account) {
		account = calloc(1, sizeof(*account));
		if (!account)
			return -ENOMEM;
		account->user_id = user_id;
		account->accounts = accounts;
		HASH_ADD(hh, *accounts, user_id, sizeof(user_id), account);
	}
	if (account->bytes + command_bytes(command) > COMMANDS_OF_USER_MAX &&
	    command->arguments_size > COMMAND_SHORT_BYTES && arguments_shorten(command) < 0)
		return -ENOMEM;
	command->account = account;
	account->bytes += command_bytes(command);
	return 0;
}

static void command_discharge(struct command *command)
{
	struct command_account *account = command->account;

	if (!account)
		return;
	account->bytes -= command_bytes(command);
	if (account->bytes == 0) {
		HASH_DELETE(hh, *account->accounts, account);
		free(account);
	}
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
	command_discharge(command);
	free(command->arguments);
	free((void *)command->subject.argv);
	free(command);
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
