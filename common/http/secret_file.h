/* A password or token from a file: read when it is used, so that it may be changed without
 * a restart, and wiped afterwards. It is never part of a message. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SECRET_BYTES_MAX 8192

struct secret_file {
	char text[SECRET_BYTES_MAX];
};

/* Whether that is the name of a credential of systemd, and not a path. */
bool secret_file_is_credential(const char *name);

/* `name`: a path, or without a slash a credential of systemd (LoadCredential=). 0; -EACCES:
 * others could read it; -EINVAL: empty, too long or not one line; -errno. `ret_reason`
 * says so in one line that says how to fix it. */
int secret_file_read(const char *name, struct secret_file *ret_secret, char *ret_reason, size_t capacity);
void secret_file_wipe(struct secret_file *secret);
