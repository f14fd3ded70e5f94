/* Settings of a daemon, with the source of each: a flag, the environment, a file or the default, the first of
 * these that has it. (How each is parsed is the daemon's: common/option.h, shipper/settings.h.)
 */
#pragma once

#include <stddef.h>

#include "common/option.h"

#define CONFIG_VALUES_MAX 192 /* per program; of the shipper 128 are columns to leave out */
#define CONFIG_DEFAULT "default"

/* Texts are owned copies. */
struct config_value {
	char *name, *text, *source;
};

struct config {
	struct config_value value[CONFIG_VALUES_MAX];
	size_t count;
};

/* Adds a value, for example {"retain", "90", "/etc/tracer/correlator.yaml:3"}; a name may have several. Returns 0 or
 * -ENOMEM. */
int config_add(struct config *config, const char *name, const char *text, const char *source);

/* Removes all values of a name. */
void config_remove(struct config *config, const char *name);

/* Returns the first value of a name, or NULL. */
const struct config_value *config_find(const struct config *config, const char *name);

/* Sets `variable` to the name of the environment variable: TRACER_SHIPPER_LAKE_URL for lake.url of tracer-shipper.
 * Returns its value; NULL if it is not set or empty. */
const char *config_environment(const char *program, const char *name, char variable[128]);

/* Prints the values in lines "NAME<tab>TEXT<tab>SOURCE", with control characters escaped; of a text at most 4 KiB. Returns 0 or -errno. */
int config_print(const struct config *config);

void config_deinit(struct config *config);

/* For daemons whose settings are named like their options. */

/* Returns NULL if no such option is a setting. */
const struct option_spec *config_find_option(const struct option_program *program, const char *name);

/* Takes a value that is not from the command line, and adds it to `config`, which its text points into. Returns 0, or
 * -EINVAL or -ENOMEM with the problem. */
int config_set_option(struct config *config, const struct option_spec *spec, const char *text, const char *source,
		      char *ret_problem, size_t capacity);

/* The same of the initial values of all options that have no value yet. Returns 0 or -ENOMEM. */
int config_set_initial(struct config *config, const struct option_program *program);
