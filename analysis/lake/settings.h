/* Address and credentials of a lake, for programs that read it.
 *
 * The command line overrides the environment ($TRACER_LAKE_USER, ...), which overrides the file
 * (lake.yaml, with a section `lake:` as in tracer-shipper's settings, so that the
 * messages of both name the same keys). Secrets are in separate files; only file names are kept here.
 */
#pragma once

#include "common/http/access.h"

#define LAKE_SETTINGS_FILE TRACER_CONFIG_DIR "/lake.yaml" /* if there is no ~/.config/tracer/lake.yaml */

/* `url` and `user` are from the command line, NULL if not given. `default_user` is used if no user is
 * set. Checks everything (access_check()). Returns 0, or -EINVAL with one line in `ret_reason`. */
int lake_settings_load(struct access *access, const char *url, const char *user, const char *default_user,
		       char *ret_reason, size_t capacity);
