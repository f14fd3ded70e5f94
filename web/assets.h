/* What a server sends to browsers beside data: the shells of the dashboard and of a run's page, their styles and
 * scripts (docs/page.md). */
#pragma once

#include <stddef.h>

struct web_asset {
	const char *path; /* of the URL */
	const char *content_type;
	const char *bytes;
	size_t size;
};

/* The asset at that path of a URL, without its query: "/", "/hosts", "/runs/3f2a", "/assets/style.css". NULL if there is
 * none, or no page in this build (-Dweb=disabled). */
const struct web_asset *web_asset_find(const char *path);
