/* Which machine of which cloud this host is: asked of the provider's metadata service.
 *
 * Only if the configuration says so: a process with network that talks to a link-local
 * address by itself would surprise. Bounded in time; plain http, since that is the
 * protocol; no proxy; what comes back is text of somebody else, checked and cut.
 */
#pragma once

#include "shipper/http.h"
#include "shipper/settings.h"

#define CLOUD_TEXT_BYTES 128

/* Columns of hosts: cloud_NAME. "" where the provider has no such thing. */
#define CLOUD_FIELDS(F) \
	F(provider) /* aws, gcp, azure */ \
	F(instance_id) \
	F(instance_type) \
	F(region) \
	F(zone) \
	F(lifecycle) /* on-demand, spot, scheduled, ... as the provider says */

struct cloud_identity {
#define F(name) char name[CLOUD_TEXT_BYTES];
	CLOUD_FIELDS(F)
#undef F
};

struct cloud;

/* `found` NULL: nobody answered as a metadata service does. */
typedef void (*cloud_done)(const struct cloud_identity *found, void *data);

/* Asks the provider, or with CLOUD_AUTO one after the other. Calls `done` once from the loop,
 * within 12 s. 0 or -errno. */
int cloud_ask(uv_loop_t *loop, enum settings_cloud provider, const char *endpoint, cloud_done done, void *data,
	      struct cloud **ret_cloud);
void cloud_free(struct cloud *cloud);

/* What is known for the column of that name, NULL: nothing, or it is no cloud_NAME. */
const char *cloud_column(const struct cloud_identity *identity, const char *name);

/* Takes what a metadata service said as one field: printable ASCII of names and ids only, of
 * a path (GCP: projects/1/zones/europe-west1-b) its last part. Anything else leaves it "". */
void cloud_take_field(char ret_field[CLOUD_TEXT_BYTES], const char *text, size_t size);
