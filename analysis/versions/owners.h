/* Packages that own files of this host: from the data of dpkg, rpm and conda, which every user may read. No program is run, and no
 * file but these is read.
 *
 * Packages are known as they are installed now. A file that has changed since the program began is not the one that ran, and
 * has no owner here.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/versions/package_owner.h"

struct owners;

/* `root` is "" but in tests. Returns NULL if out of memory. */
struct owners *owners_new(const char *root);
void owners_free(struct owners *owners);

/* The id of this host (hosts.id), 0: unknown. */
int64_t owners_host_id(const struct owners *owners);

/* Returns false if it is not known: also if the file is gone, or has changed since that time. */
bool owners_find(struct owners *owners, const char *path, int64_t began_unix_ns, struct package_owner *ret_owner);
