/* The command of an exec image: program, arguments, working directory.
 *
 * Reference-counted, because an image shares it with the children that it forks.
 * Arguments are redacted on creation: nothing later ever sees a secret.
 */
#pragma once

#include "common/redact/redact.h"
#include "common/rules/rules.h"
#include "correlator/model/account.h"
#include "correlator/record/record.h"

struct latest_command;

/* Memory that the commands of one user's processes take. Above the bound, a command keeps only the beginning of its
 * arguments: one user's processes do not take the memory for those of others. */
#define COMMANDS_OF_USER_MAX (16 << 20)
#define COMMAND_SHORT_BYTES 256

/* In one allocation with its texts. */
struct command {
	unsigned references;
	struct rules_subject subject; /* borrows from the fields below; `parent` is set per classification */
	char *program;                /* base name, or comm if the path is unknown */
	char *path;                   /* "" unknown */
	char *script;                 /* NULL: not a #! script */
	char *working_directory;      /* "" unknown */
	char *arguments;              /* NUL-separated, redacted */
	size_t arguments_size;
	size_t stored_size; /* of these, what is stored: set for each time */
	uint32_t redacted_count;
	uint32_t flags; /* RECORD_* of the record */
	struct account *account;
};

/* Makes a command of its parts: program, path, script, working directory, arguments, each on the heap, with flags; charged to
 * the user of its process. Returns 0 with one reference; -EINVAL if a part is missing; -ENOMEM. Frees the parts in any case. */
int command_make(struct command *parts, uint32_t user_id, struct account **accounts, struct command **ret_command);
/* Returns the command of an exec or sample with one reference, or NULL if out of memory. */
struct command *command_new(const struct record *record, const struct secrets *secrets, enum redact_mode mode,
			    struct account **accounts);
/* Whether the record of an exec would make the same command again, charged to the same user. */
bool command_is_of(const struct command *command, const struct record *record);
/* What follows the last slash; all of a path that ends with one. */
const char *command_base_name(const char *path);
struct command *command_ref(struct command *command);
/* To be called when what the class depends on changes without a classification: an ancestor, or the cgroup. */
void command_forget_latest(struct latest_command *latest);
void command_unref(struct command *command);

/* Hash of the work that it was asked to do: its arguments without what differs between attempts at the
 * same work (the number of the attempt, the path of its directory), and its directory if
 * `with_directory`. Returns 0 if that is not distinctive enough. */
int64_t command_work(const struct command *command, bool with_directory);

/* Returns how many bytes of its arguments may be stored. `keep_arguments` is that of struct model_options. */
size_t command_stored_size(const struct command *command, enum redact_mode mode, const char *keep_arguments);
