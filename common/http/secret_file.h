/* A password or token from a file. It is read when needed, so that it can be changed without
 * a restart, and wiped afterwards. It never appears in a message. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SECRET_BYTES_MAX 8192

struct secret_file {
	char text[SECRET_BYTES_MAX];
};

/* Returns true if `name` is a systemd credential, not a path. */
bool secret_file_is_credential(const char *name);

/* `name` is a path or, without a slash, a systemd credential (LoadCredential=). Returns 0; -EACCES if
 * others could read the file; -EINVAL if it is empty, too long or not one line; -errno. `ret_reason`
 * then holds one line that says what is wrong and how to fix it. */
int secret_file_read(const char *name, struct secret_file *ret_secret, char *ret_reason, size_t capacity);
void secret_file_wipe(struct secret_file *secret);
