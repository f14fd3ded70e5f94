/* Settings of tracer-shipper: its command line over the environment over /etc/tracer/shipper.yaml; docs/man/tracer-shipper.8.scd describes them.
 *
 * One table (settings.c) lists all keys with their types and bounds. Texts are owned
 * copies. Secrets are not stored here, only the names of files that hold them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/config.h"
#include "common/http/access.h"

#define SETTINGS_LEAVE_OUT_MAX 128
#define SHIPPER_NAME "tracer-shipper"
#define SETTINGS_FILE_DEFAULT TRACER_CONFIG_DIR "/shipper.yaml"

enum settings_cloud { CLOUD_OFF, CLOUD_AUTO, CLOUD_AWS, CLOUD_GCP, CLOUD_AZURE };

struct settings {
	char *store; /* the correlator's database */
	char *state; /* the shipper's directory: cursor, frozen batches, quarantine, status */
	char *sink;  /* a name of sink.c */

	struct access lake;
	uint64_t lake_timeout_s; /* without data in either direction */

	char *ndjson_directory;
	uint64_t ndjson_bytes_max; /* of the files in the directory */

	uint64_t interval_s;  /* approximate maximum wait of a row */
	uint64_t batch_rows;  /* send earlier at this number of rows */
	uint64_t batch_bytes; /* before compression */
	uint64_t quarantine_bytes_max;
	char *leave_out[SETTINGS_LEAVE_OUT_MAX]; /* ENTITY or ENTITY.COLUMN */
	size_t leave_out_count;

	enum settings_cloud cloud;
	char *cloud_endpoint; /* replaces the provider's, for tests; or NULL */

	struct config config; /* what was set, and from where */
};

struct settings_error {
	char text[512]; /* FILE:LINE: reason */
};

/* Sets the defaults. Call settings_deinit() even after failure. Returns 0 or -ENOMEM. */
int settings_init(struct settings *settings);
void settings_deinit(struct settings *settings);

/* Applies the settings of a file. Returns 0; -ENOENT; -EINVAL (`ret_error` holds file, line and
 * reason); -errno. */
int settings_load(struct settings *settings, const char *path, struct settings_error *ret_error);
int settings_parse(struct settings *settings, const char *file, const char *data, size_t size,
		   struct settings_error *ret_error);

/* Applies those of the environment: $TRACER_SHIPPER_LAKE_URL for lake.url. */
int settings_load_environment(struct settings *settings, struct settings_error *ret_error);

/* Applies one setting by its key, such as "lake.url". `source`: see config.h. */
int settings_set(struct settings *settings, const char *key, const char *value, const char *source,
		 struct settings_error *ret_error);

/* Checks consistency: the sink exists and has a target, nothing is sent over a network in
 * clear text, entities and columns to leave out exist. Returns 0 or -EINVAL. */
int settings_check(const struct settings *settings, struct settings_error *ret_error);

/* Returns true if this entity or, with `column` not NULL, this column is to be left out. */
bool settings_leave_out(const struct settings *settings, const char *entity, const char *column);
/* Returns a hash of everything that is left out; 0 if nothing is. */
int64_t settings_hash_left_out(const struct settings *settings);
