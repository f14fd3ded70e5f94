/* What /etc/tracer/shipper.yaml says; docs/man/tracer-shipper.8.scd describes it.
 *
 * One table (settings.c) names every key, its kind and its bounds. Texts are copies that
 * the settings own. No secret is in here: only names of files that hold one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/http/access.h"

#define SETTINGS_LEAVE_OUT_MAX 128
#define SETTINGS_FILE_DEFAULT TRACER_CONFIG_DIR "/shipper.yaml"

enum settings_cloud { CLOUD_OFF, CLOUD_AUTO, CLOUD_AWS, CLOUD_GCP, CLOUD_AZURE };

struct settings {
	char *store; /* the correlator's database */
	char *state; /* our directory: cursor, the frozen batch, what was quarantined, status */
	char *sink;  /* a name of sink.c */

	struct access lake;
	uint64_t lake_timeout_s; /* without a byte in either direction */

	char *ndjson_directory;
	uint64_t ndjson_bytes_max; /* of the files that wait to be fetched */

	uint64_t interval_s;  /* rows wait at most about that long */
	uint64_t batch_rows;  /* or until they are this many */
	uint64_t batch_bytes; /* before compression */
	uint64_t quarantine_bytes_max;
	char *leave_out[SETTINGS_LEAVE_OUT_MAX]; /* ENTITY or ENTITY.COLUMN */
	size_t leave_out_count;

	enum settings_cloud cloud;
	char *cloud_endpoint; /* instead of the provider's, for tests; NULL */
};

struct settings_error {
	char text[512]; /* FILE:LINE: what is wrong */
};

/* The defaults. Free with settings_deinit in any case. 0 or -ENOMEM. */
int settings_init(struct settings *settings);
void settings_deinit(struct settings *settings);

/* Takes over what the file says. 0; -ENOENT; -EINVAL (`ret_error` says file, line and
 * reason); -errno. */
int settings_load(struct settings *settings, const char *path, struct settings_error *ret_error);
int settings_parse(struct settings *settings, const char *file, const char *data, size_t size,
		   struct settings_error *ret_error);

/* The same for one key, "lake.url", as an option of the command line gives it. */
int settings_set(struct settings *settings, const char *key, const char *value, struct settings_error *ret_error);

/* What must hold together: a sink that exists and has its target, an address that does
 * not send in clear text over a network, entities and columns that there are. 0 or -EINVAL. */
int settings_check(const struct settings *settings, struct settings_error *ret_error);

/* Whether the settings say to leave out this entity, or (`column` not NULL) this column. */
bool settings_leave_out(const struct settings *settings, const char *entity, const char *column);
/* A hash of all that is left out, 0: nothing is. */
int64_t settings_hash_left_out(const struct settings *settings);
