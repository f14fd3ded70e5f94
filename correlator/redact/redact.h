/* Secrets taken out of command lines before anything is stored.
 *
 * On by default, because a command line is the one field we collect in which
 * people put passwords. docs/privacy.md lists what is recognised.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum redact_mode {
	REDACT_FULL,         /* arguments: full -- nothing is taken out */
	REDACT_SECRETS,      /* arguments: redacted -- the default */
	REDACT_PROGRAM_ONLY, /* arguments: program-only -- argv[0] alone is kept */
};

#define REDACT_MARK "[redacted]"

/* Text form ("full", "redacted", "program-only") to mode: 0 or -EINVAL. */
int redact_mode_parse(const char *text, enum redact_mode *ret_mode);

/* Rewrites the NUL-separated arguments `argv` (argc of them, `size` bytes with the
 * last NUL) into a new NUL-separated buffer the caller frees. Arguments of any
 * bytes pass through untouched unless they look like a secret. `*ret_redacted` is
 * how many values were replaced. 0 or -ENOMEM. */
int redact_arguments(enum redact_mode mode, const char *argv, size_t size, char **ret_argv, size_t *ret_size,
		     uint32_t *ret_redacted);

/* A fast test: false means that redact_arguments would only copy. */
bool redact_is_needed(enum redact_mode mode, const char *argv, size_t size);
