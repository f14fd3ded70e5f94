/* Where a lake is and who we are there. See settings.h. */
#include "common/lake/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/security.h"
#include "common/yaml/entries.h"

#define DATABASE_DEFAULT "tracer"
#define SECTION "lake."

static const struct setting {
	const char *key, *environment;
	size_t offset;
} settings_table[] = {
#define L(member, key, environment) {key, environment, offsetof(struct lake_settings, member)},
	LAKE_SETTINGS(L)
#undef L
};

#define SETTING_COUNT (sizeof(settings_table) / sizeof(settings_table[0]))

static char *text_of(struct lake_settings *settings, const struct setting *setting)
{
	return (char *)settings + setting->offset;
}

static int text_set(char *text, const char *value, const char *key, char *ret_reason, size_t capacity)
{
	if (strlen(value) >= LAKE_TEXT_BYTES) {
		snprintf(ret_reason, capacity, "lake.%s is longer than %d bytes", key, LAKE_TEXT_BYTES - 1);
		return -EINVAL;
	}
	strcpy(text, value);
	return 0;
}

/* ---- the file ------------------------------------------------------------------ */

static int entry_take(void *target, const char *name, const struct tree_node *value, char *ret_reason,
		      size_t capacity)
{
	const char *key = strncmp(name, SECTION, strlen(SECTION)) == 0 ? name + strlen(SECTION) : "";

	for (size_t i = 0; i < SETTING_COUNT; i++) {
		if (strcmp(key, settings_table[i].key) != 0)
			continue;
		if (value->kind == TREE_TEXT)
			return text_set(text_of(target, &settings_table[i]), value->text, key, ret_reason,
					capacity);
		snprintf(ret_reason, capacity, "%s takes a text", name);
		return -EINVAL;
	}
	snprintf(ret_reason, capacity, "there is no setting %.64s: see tracer-lake(1)", name);
	return -EINVAL;
}

static int file_load(struct lake_settings *settings, char *ret_reason, size_t capacity)
{
	const char *home = getenv("HOME"), *given = getenv("TRACER_LAKE_CONFIG");
	char path[4096];
	int error;

	if (given && *given)
		return entries_load(given, entry_take, settings, ret_reason, capacity);
	snprintf(path, sizeof(path), "%s/.config/tracer/lake.yaml", home ? home : "");
	error = entries_load(path, entry_take, settings, ret_reason, capacity);
	if (error == -ENOENT)
		error = entries_load(LAKE_SETTINGS_FILE, entry_take, settings, ret_reason, capacity);
	return error == -ENOENT ? 0 : error;
}

/* ---- together ------------------------------------------------------------------ */

/* It becomes part of statements. */
static int database_check(const char *name, char *ret_reason, size_t capacity)
{
	size_t size = strlen(name);

	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			size = 0;
	if (size > 0 && size <= 64 && !isdigit((unsigned char)name[0]))
		return 0;
	snprintf(ret_reason, capacity, "lake.database may have letters, digits and _, and no digit first");
	return -EINVAL;
}

static int environment_take(struct lake_settings *settings, char *ret_reason, size_t capacity)
{
	int error = 0;

	for (size_t i = 0; i < SETTING_COUNT && error == 0; i++) {
		const char *value = getenv(settings_table[i].environment);

		if (value && *value)
			error = text_set(text_of(settings, &settings_table[i]), value,
					 settings_table[i].key, ret_reason, capacity);
	}
	return error;
}

int lake_settings_load(struct lake_settings *settings, const char *url, const char *user,
		       const char *default_user, char *ret_reason, size_t capacity)
{
	bool insecure_http;
	int error;

	*settings = (struct lake_settings){.database = DATABASE_DEFAULT};
	snprintf(settings->user, sizeof(settings->user), "%s", default_user);
	error = file_load(settings, ret_reason, capacity);
	if (error == 0)
		error = environment_take(settings, ret_reason, capacity);
	if (error == 0 && url)
		error = text_set(settings->url, url, "url", ret_reason, capacity);
	if (error == 0 && user)
		error = text_set(settings->user, user, "user", ret_reason, capacity);
	if (error < 0)
		return error;
	if (!settings->url[0]) {
		snprintf(ret_reason, capacity, "which lake? Give its URL, or set TRACER_LAKE or lake.url "
			 "in " LAKE_SETTINGS_FILE);
		return -EINVAL;
	}
	insecure_http = strcmp(settings->insecure_http, "true") == 0;
	error = http_security_check_url(settings->url, insecure_http, ret_reason, capacity);
	if (error == 0 && settings->proxy[0])
		error = http_security_check_proxy(settings->proxy, settings->url, insecure_http, ret_reason,
						  capacity);
	return error < 0 ? error : database_check(settings->database, ret_reason, capacity);
}
