/* Cloud identity of this host, from the provider's metadata service.
 *
 * Only if configured: users would not expect requests to a link-local
 * address by default. Bounded in time; plain HTTP, since the services use it;
 * no proxy; answers are untrusted text, checked and truncated.
 */
#pragma once

#include "shipper/http.h"
#include "shipper/settings.h"

#define CLOUD_TEXT_BYTES 128

/* Columns cloud_NAME of hosts. "" if the provider has no such fact. */
#define CLOUD_FIELDS(F) \
	F(provider) /* aws, gcp, azure */ \
	F(instance_id) \
	F(instance_type) \
	F(region) \
	F(zone) \
	F(lifecycle) /* on-demand, spot, scheduled, or another term of the provider */

struct cloud_identity {
#define F(name) char name[CLOUD_TEXT_BYTES];
	CLOUD_FIELDS(F)
#undef F
};

struct cloud;

/* `found` is NULL if no metadata service answered. */
typedef void (*cloud_done)(const struct cloud_identity *found, void *data);

/* Queries the provider, or with CLOUD_AUTO all of them in turn. Calls `done` once from the loop,
 * within 12 s. Returns 0 or -errno. */
int cloud_ask(uv_loop_t *loop, enum settings_cloud provider, const char *endpoint, cloud_done done, void *data,
	      struct cloud **ret_cloud);
void cloud_free(struct cloud *cloud);

/* Returns the value of the column of that name; NULL if unknown or not a cloud_NAME. */
const char *cloud_column(const struct cloud_identity *identity, const char *name);

/* Validates the answer of a metadata service for one field: only printable ASCII of names and ids; of
 * a path (GCP: projects/1/zones/europe-west1-b) the last component. Otherwise the field is "". */
void cloud_take_field(char ret_field[CLOUD_TEXT_BYTES], const char *text, size_t size);
