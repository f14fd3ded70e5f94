/* Removes secrets from command lines. See redact.h.
 *
 * Each argument is scanned as a text (scan.c), and all are walked as the words of a command (walk.c). Both mark bytes;
 * what is marked is replaced at the end.
 */
#include "common/redact/redact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/redact/scan.h"

/* Writes the arguments with marks in place of the secrets. Returns their number. */
static uint32_t redaction_write(const struct redaction *redaction, char *out, size_t *ret_size)
{
	char *begin = out;
	uint32_t count = 0;

	for (size_t i = 0; i < redaction->size; i++) {
		if (!redaction->mask[i]) {
			*out++ = redaction->data[i];
		} else if (i == 0 || !redaction->mask[i - 1]) {
			out = stpcpy(out, REDACT_MARK);
			count++;
		}
	}
	*ret_size = (size_t)(out - begin);
	return count;
}

/* ---- interface ---- */

/* Arguments end with NUL, except one that was cut. */
static bool last_suspected(const char *argv, size_t size)
{
	size -= argv[size - 1] == '\0';
	const char *end = size ? memrchr(argv, '\0', size) : NULL;

	return secrets_suspected_cut(end ? end : argv, end ? (size_t)(argv + size - end) : size);
}

bool redact_is_needed(const struct secrets *secrets, enum redact_mode mode, const char *argv, size_t size, bool cut)
{
	return size > 0 &&
	       (mode == REDACT_PROGRAM_ONLY || (mode == REDACT_SECRETS && (secrets_suspected(secrets, argv, size) ||
									   (cut && last_suspected(argv, size)))));
}

/* Keeps argv[0]. Returns how many arguments are dropped. */
static uint32_t arguments_drop(const char *argv, size_t size, char *out, size_t *ret_size)
{
	const char *end = memchr(argv, '\0', size);
	uint32_t count = 0;

	*ret_size = end ? (size_t)(end + 1 - argv) : size;
	memcpy(out, argv, *ret_size);
	for (size_t i = *ret_size; i < size; i++)
		count += argv[i] == '\0' || i + 1 == size;
	return count;
}

int redact_arguments(const struct secrets *secrets, enum redact_mode mode, const char *argv, size_t size, bool cut,
		     char **ret_argv, size_t *ret_size, uint32_t *ret_redacted)
{
	struct redaction redaction = {.secrets = secrets, .data = argv, .size = size, .cut = cut};
	/* At worst every other byte is a secret. */
	char *out = malloc(size * (strlen(REDACT_MARK) / 2 + 1) + strlen(REDACT_MARK) + 1);

	if (!out)
		return -ENOMEM;
	if (mode == REDACT_PROGRAM_ONLY && size > 0) {
		*ret_redacted = arguments_drop(argv, size, out, ret_size);
		*ret_argv = out;
		return 0;
	}
	redaction.mask = calloc(1, size + 1);
	if (!redaction.mask) {
		free(out);
		return -ENOMEM;
	}
	if (mode == REDACT_SECRETS)
		redaction_walk(&redaction);
	*ret_redacted = redaction_write(&redaction, out, ret_size);
	*ret_argv = out;
	free(redaction.mask);
	return 0;
}
