/* Cloud identity. See cloud.h.
 *
 * All providers offer each fact as plain text under its own path, so there is no
 * document to parse, and nothing is requested that is not needed (the documents also
 * contain keys and start-up scripts). The first fact, the instance id, decides whether this
 * is the provider; the others may be missing.
 *
 * AWS: IMDSv2, with a session token. GCP, Azure: with a header that browsers do not send.
 */
#include "shipper/cloud.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LINK_LOCAL "http://169.254.169.254"
#define CONNECT_TIMEOUT_MS 1000
#define TOTAL_TIMEOUT_MS 1500 /* per request; there are at most 8, usually answered at once */
#define FACTS_MAX 5
#define TOKEN_BYTES_MAX 256
#define AZURE(path) "/metadata/instance/compute/" path "?api-version=2021-02-01&format=text"

struct fact {
	const char *path;
	size_t offset;
};

struct provider {
	const char *name;
	const char *header;
	const char *token_path; /* or NULL */
	struct fact facts[FACTS_MAX];
};

/* clang-format off */
#define FACT(path, field) {path, offsetof(struct cloud_identity, field)}

static const struct provider providers[] = {
	[CLOUD_AWS] = {"aws", "X-aws-ec2-metadata-token-ttl-seconds: 60", "/latest/api/token",
		       {FACT("/latest/meta-data/instance-id", instance_id),
			FACT("/latest/meta-data/instance-type", instance_type),
			FACT("/latest/meta-data/placement/region", region),
			FACT("/latest/meta-data/placement/availability-zone", zone),
			FACT("/latest/meta-data/instance-life-cycle", lifecycle)}},
	[CLOUD_GCP] = {"gcp", "Metadata-Flavor: Google", NULL,
		       {FACT("/computeMetadata/v1/instance/id", instance_id),
			FACT("/computeMetadata/v1/instance/machine-type", instance_type),
			FACT("/computeMetadata/v1/instance/zone", zone),
			FACT("/computeMetadata/v1/instance/scheduling/provisioning-model", lifecycle)}},
	[CLOUD_AZURE] = {"azure", "Metadata: true", NULL,
			 {FACT(AZURE("vmId"), instance_id), FACT(AZURE("vmSize"), instance_type),
			  FACT(AZURE("location"), region), FACT(AZURE("zone"), zone),
			  FACT(AZURE("priority"), lifecycle)}},
};
/* clang-format on */

struct cloud {
	struct http *http;
	enum settings_cloud wanted, provider;
	size_t fact;
	const char *endpoint;
	cloud_done done;
	void *data;
	char token_header[TOKEN_BYTES_MAX + 32];
	struct cloud_identity identity;
};

/* ---- facts ---------------------------------------------------------------------------- */

void cloud_take_field(char ret_field[CLOUD_TEXT_BYTES], const char *text, size_t size)
{
	static const char punctuation[] = "-_.: ";
	size_t begin = size;

	ret_field[0] = '\0';
	while (begin > 0 && text[begin - 1] != '/')
		begin--;
	if (size - begin >= CLOUD_TEXT_BYTES)
		return;
	for (size_t i = begin; i < size; i++)
		if (!text[i] || !(isalnum((unsigned char)text[i]) || strchr(punctuation, text[i])))
			return;
	memcpy(ret_field, text + begin, size - begin);
	ret_field[size - begin] = '\0';
}

/* Unifies the providers' terms for spot and on-demand. */
static void lifecycle_unify(struct cloud_identity *identity)
{
	static const char *const words[][2] = {
		/* clang-format off */
		{"SPOT", "spot"}, {"Spot", "spot"}, {"Low", "spot"},
		{"STANDARD", "on-demand"}, {"Regular", "on-demand"},
		/* clang-format on */
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(identity->lifecycle, words[i][0]) == 0)
			strcpy(identity->lifecycle, words[i][1]);
}

/* GCP reports only the zone: europe-west1-b is in europe-west1. */
static void region_from_zone(struct cloud_identity *identity)
{
	char *dash;

	if (identity->region[0])
		return;
	memcpy(identity->region, identity->zone, sizeof(identity->region));
	dash = strrchr(identity->region, '-');
	if (dash)
		*dash = '\0';
}

const char *cloud_column(const struct cloud_identity *identity, const char *name)
{
#define F(field) \
	if (strcmp(name, "cloud_" #field) == 0) \
		return identity->field[0] ? identity->field : NULL;
	CLOUD_FIELDS(F)
#undef F
	return NULL;
}

/* ---- requests ------------------------------------------------------------------------- */

static void provider_ask(struct cloud *cloud);

/* Tries the next provider, if any. */
static void provider_failed(struct cloud *cloud)
{
	cloud->identity = (struct cloud_identity){0};
	if (cloud->wanted != CLOUD_AUTO || cloud->provider == CLOUD_AZURE) {
		cloud->done(NULL, cloud->data);
		return;
	}
	cloud->provider++;
	provider_ask(cloud);
}

static void ask(struct cloud *cloud, enum http_method method, const char *path, const char *header, http_done done)
{
	char url[1024], ignored[64];
	const struct http_request request = {
		.method = method,
		.url = url,
		.headers = {header},
		.body_fd = -1,
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
		.total_timeout_ms = TOTAL_TIMEOUT_MS,
		.stall_timeout_s = 1 + TOTAL_TIMEOUT_MS / 1000,
	};

	snprintf(url, sizeof(url), "%s%s", cloud->endpoint ? cloud->endpoint : LINK_LOCAL, path);
	if (http_start(cloud->http, &request, done, cloud, ignored, sizeof(ignored)) < 0)
		provider_failed(cloud);
}

static bool answered_well(const struct http_answer *answer)
{
	return answer->failure == HTTP_ANSWERED && answer->status == 200;
}

static void fact_answered(const struct http_answer *answer, void *data);

static void fact_ask(struct cloud *cloud)
{
	const struct provider *provider = &providers[cloud->provider];

	if (cloud->fact == FACTS_MAX || !provider->facts[cloud->fact].path) {
		strcpy(cloud->identity.provider, provider->name);
		lifecycle_unify(&cloud->identity);
		region_from_zone(&cloud->identity);
		cloud->done(&cloud->identity, cloud->data);
		return;
	}
	ask(cloud, HTTP_GET, provider->facts[cloud->fact].path,
	    provider->token_path ? cloud->token_header : provider->header, fact_answered);
}

static void fact_answered(const struct http_answer *answer, void *data)
{
	struct cloud *cloud = data;
	const struct fact *fact = &providers[cloud->provider].facts[cloud->fact];

	if (answered_well(answer))
		cloud_take_field((char *)&cloud->identity + fact->offset, answer->body, answer->body_size);
	if (cloud->fact == 0 && !cloud->identity.instance_id[0]) {
		provider_failed(cloud);
		return;
	}
	cloud->fact++;
	fact_ask(cloud);
}

static void token_answered(const struct http_answer *answer, void *data)
{
	struct cloud *cloud = data;

	/* The token becomes part of a header. */
	for (size_t i = 0; i < answer->body_size; i++)
		if (!isgraph((unsigned char)answer->body[i])) {
			provider_failed(cloud);
			return;
		}
	if (!answered_well(answer) || answer->body_size == 0 || answer->body_size > TOKEN_BYTES_MAX) {
		provider_failed(cloud);
		return;
	}
	snprintf(cloud->token_header, sizeof(cloud->token_header), "X-aws-ec2-metadata-token: %.*s", TOKEN_BYTES_MAX,
		 answer->body);
	fact_ask(cloud);
}

static void provider_ask(struct cloud *cloud)
{
	const struct provider *provider = &providers[cloud->provider];

	cloud->fact = 0;
	if (provider->token_path)
		ask(cloud, HTTP_PUT, provider->token_path, provider->header, token_answered);
	else
		fact_ask(cloud);
}

int cloud_ask(uv_loop_t *loop, enum settings_cloud provider, const char *endpoint, cloud_done done, void *data,
	      struct cloud **ret_cloud)
{
	struct cloud *cloud = calloc(1, sizeof(*cloud));
	int error = cloud ? http_new(loop, &cloud->http) : -ENOMEM;

	if (error < 0) {
		free(cloud);
		return error;
	}
	cloud->wanted = provider;
	cloud->provider = provider == CLOUD_AUTO ? CLOUD_AWS : provider;
	cloud->endpoint = endpoint;
	cloud->done = done;
	cloud->data = data;
	*ret_cloud = cloud;
	provider_ask(cloud);
	return 0;
}

void cloud_free(struct cloud *cloud)
{
	if (!cloud)
		return;
	http_free(cloud->http);
	free(cloud);
}
