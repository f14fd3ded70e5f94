/* See assets.h. */
#include "web/assets.h"

#include <stdbool.h>
#include <string.h>

#include "web-assets.h" /* web_asset_…: the texts */

#define HTML "text/html; charset=utf-8"
#define RUN_PREFIX "/runs/"

#define ASSET(path, type, text) \
	{ \
		path, type, text, sizeof(text) - 1 \
	}

/* The dashboard's views have paths of their own, so that each can be linked to; its script reads the path. */
static const struct web_asset assets[] = {
	ASSET("/", HTML, web_asset_dashboard_html),
	ASSET("/compare", HTML, web_asset_dashboard_html),
	ASSET("/hosts", HTML, web_asset_dashboard_html),
	ASSET("/sweep", HTML, web_asset_dashboard_html),
	ASSET("/cost", HTML, web_asset_dashboard_html),
	ASSET("/trends", HTML, web_asset_dashboard_html),
	ASSET("/status", HTML, web_asset_dashboard_html),
	ASSET("/assets/dashboard.css", "text/css; charset=utf-8", web_asset_dashboard_css),
	ASSET("/assets/dashboard.js", "text/javascript; charset=utf-8", web_asset_dashboard_js),
	ASSET("/assets/page.js", "text/javascript; charset=utf-8", web_asset_page_js),
	ASSET("/assets/style.css", "text/css; charset=utf-8", web_asset_style_css),
};

static const struct web_asset run = ASSET(RUN_PREFIX, HTML, web_asset_run_html);

static bool is_run(const char *path)
{
	const char *id = path + strlen(RUN_PREFIX);

	return strncmp(path, RUN_PREFIX, strlen(RUN_PREFIX)) == 0 && *id && !strchr(id, '/');
}

const struct web_asset *web_asset_find(const char *path)
{
	const struct web_asset *asset = is_run(path) ? &run : NULL;

	for (size_t i = 0; !asset && i < sizeof(assets) / sizeof(assets[0]); i++)
		if (strcmp(assets[i].path, path) == 0)
			asset = &assets[i];
	return asset && asset->size > 0 ? asset : NULL;
}
