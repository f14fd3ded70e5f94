/* Where a lake is and who we are there, for those who read it.
 *
 * What is given on the command line stands before the environment ($TRACER_LAKE_USER, ...), and
 * that before the file (lake.yaml, the section `lake:` of tracer-shipper's form, so that the
 * messages of both name the same keys). Secrets are in files of their own; here are names.
 */
#pragma once

#include "common/http/access.h"

#define LAKE_SETTINGS_FILE TRACER_CONFIG_DIR "/lake.yaml" /* where ~/.config/tracer/lake.yaml is not */

/* `url` and `user` as given on the command line, NULL: not given. `default_user` asks where nobody is
 * named. Everything is checked (access_check()). 0, or -EINVAL with one line in `ret_reason`. */
int lake_settings_load(struct access *access, const char *url, const char *user, const char *default_user,
		       char *ret_reason, size_t capacity);
