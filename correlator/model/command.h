/* What an exec image was started as: program, arguments, working directory.
 *
 * Shared by an image and the children that it forks, so it is counted. Arguments
 * are redacted on the way in: nothing later ever sees the secret.
 */
#pragma once

#include "correlator/redact/redact.h"
#include "common/rules/rules.h"
#include "correlator/record/event.h"

struct command {
	unsigned references;
	struct rules_subject subject; /* borrows from below; `parent` is set per classification */
	const char *program;          /* base name, comm where the path is unknown */
	char *path;                   /* "" unknown */
	char *script;                 /* NULL: not a #! script */
	char *working_directory;      /* "" unknown */
	char *arguments;              /* NUL-separated, redacted */
	size_t arguments_size;
	uint32_t redacted_count;
	uint32_t flags; /* RECORD_* of the record */
	char texts[];   /* what the four names above are in */
};

/* What an exec and a sample, which is `event`, both say of it. */
struct command_source {
	const struct wire_bytes *comm, *filename, *cwd;
	const struct event_strings *argv;
	uint64_t flags, uid, tty, stdin_pipe;
};
#define COMMAND_SOURCE(event) \
	(&(const struct command_source){&(event)->comm, &(event)->filename, &(event)->cwd, &(event)->argv, \
					(event)->flags, (event)->uid, (event)->tty, (event)->stdin_pipe})

/* A command with one reference, or NULL: out of memory. */
struct command *command_new(const struct command_source *source, enum redact_mode mode);
struct command *command_ref(struct command *command);
void command_unref(struct command *command);

/* What it was asked to do, as a hash: its arguments, without what each attempt at the same work has
 * of its own (the number of the attempt, the path of its directory), and its directory, if
 * wanted. 0: it says too little. */
int64_t command_work(const struct command *command, bool with_directory);

/* Bytes of its arguments that may be stored. */
size_t command_stored_size(const struct command *command, enum redact_mode mode);

/* From stored fields (a restart): takes copies. */
struct command *command_restore(const char *program, const char *path, const char *script,
				const char *working_directory, const void *arguments, size_t arguments_size,
				uint32_t redacted_count, uint32_t flags);
