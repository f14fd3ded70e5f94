/* Packages of rpm, from its database (rpmdb.sqlite, since rpm 4.16): without rpm's library, which locks it. */
#pragma once

#include <stdbool.h>

#include "analysis/versions/package_owner.h"

/* Whether a package has the file; `real` is its path without links. `root` is "" but in tests. */
bool rpm_find(const char *root, const char *real, struct package_owner *owner);
