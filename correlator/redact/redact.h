/* Removes secrets from command lines before anything is stored.
 *
 * On by default, because a command line is the one collected field in which people
 * put passwords. docs/privacy.md lists what is recognised.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum redact_mode {
	REDACT_FULL,         /* arguments: full -- nothing is removed */
	REDACT_SECRETS,      /* arguments: redacted -- the default */
	REDACT_PROGRAM_ONLY, /* arguments: program-only -- only argv[0] is kept */
};

#define REDACT_MARK "[redacted]"

/* Parses the text form ("full", "redacted", "program-only"). Returns 0 or -EINVAL. */
int redact_mode_parse(const char *text, enum redact_mode *ret_mode);

/* Copies the NUL-separated arguments `argv` (`size` bytes with the last NUL) to a new
 * NUL-separated buffer, which the caller frees. Arguments may hold any bytes and are
 * unchanged unless they look like a secret. `*ret_redacted` is the number of values
 * replaced, or of arguments dropped. Returns 0 or -ENOMEM. */
int redact_arguments(enum redact_mode mode, const char *argv, size_t size, char **ret_argv, size_t *ret_size,
		     uint32_t *ret_redacted);

/* A fast test: false means that redact_arguments() would only copy. */
bool redact_is_needed(enum redact_mode mode, const char *argv, size_t size);
