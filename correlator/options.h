/* Options and settings of tracer-correlator: its command line over the environment (TRACER_CORRELATOR_STORE_MAX for
 * --store-max) over /etc/tracer/correlator.yaml over the defaults. One table (options.c) has all of them.
 */
#pragma once

#include "common/config.h"
#include "common/log.h"
#include "common/redact/redact.h"
#include "correlator/stream/server.h"

#define CORRELATOR_NAME "tracer-correlator"
#define RULES_DIRECTORIES_MAX 16

struct rules_directories {
	const char *path[RULES_DIRECTORIES_MAX + 1]; /* ends with NULL */
	int count;
};

struct options {
	const char *socket, *sampler_socket, *store, *replay, *record, *hostname;
	struct rules_directories rules;
	int arguments;              /* enum redact_mode */
	const char *keep_arguments; /* NULL: of no program */
	struct option_user user;
	gid_t socket_group;
	struct server_options server;
	int log_level; /* enum */

	const char *file; /* NULL: the default, which need not exist */
	bool check, show;
	struct config config; /* owns the texts above */
};

/* `*ret_options` is borrowed: there is one. Returns 0, or what option_parse_program() returns, also after --check and --show.
 * Call options_deinit() in any case. */
int options_load(int argc, char **argv, const struct options **ret_options);
void options_deinit(void);
