/* Removes secrets from command lines before anything is stored.
 *
 * On by default, because a command line is the one collected field in which people
 * put passwords. docs/privacy.md lists what is recognised; the patterns are rules (docs/rules.md).
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

#define REDACT_MODE_WORDS "full redacted program-only" /* of enum redact_mode */
#define REDACT_MARK "[redacted]"

struct secrets;

/* Copies the NUL-separated arguments `argv` (`size` bytes with the last NUL) to a new
 * NUL-separated buffer, which the caller frees. Arguments may hold any bytes and are
 * unchanged unless they look like a secret. With `cut`, the last argument is incomplete, and what may be the
 * beginning of a secret is one. `*ret_redacted` is the number of values
 * replaced, or of arguments dropped. Returns 0 or -ENOMEM. Not for two threads at once with the same patterns. */
int redact_arguments(const struct secrets *secrets, enum redact_mode mode, const char *argv, size_t size, bool cut,
		     char **ret_argv, size_t *ret_size, uint32_t *ret_redacted);

/* A fast test, which redact_arguments() leaves to the caller: false means that it would only copy. */
bool redact_is_needed(const struct secrets *secrets, enum redact_mode mode, const char *argv, size_t size, bool cut);
