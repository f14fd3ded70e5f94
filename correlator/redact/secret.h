/* Recognises secrets: names of keys, shapes of tokens. Used by redact.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether it is a key such as DB_PASSWORD, clientSecret or api-key, without the dashes
 * of an option. Names that are about a secret without holding it do not count:
 * password-file, max-tokens, no-password, sort-key. */
bool secret_is_key(const char *name, size_t size);

/* Whether `value` can be the secret of such a key: a path, a small number, a
 * shell variable or true/false cannot. */
bool secret_is_value(const char *value, size_t size);

/* Returns the size of a well-known token (AKIA..., ghp_..., a JWT, ...) at `text`, or 0
 * if there is none. `size` is the size of the rest of the text. */
size_t secret_token_size(const char *text, size_t size);

/* A fast test: false means that nothing here can be a secret. */
bool secret_is_suspected(const char *data, size_t size);
