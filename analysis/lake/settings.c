/* Lake settings of readers. See settings.h. */
#include "analysis/lake/settings.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/yaml/entries.h"

#define SECTION "lake."

static int entry_take(void *target, const char *name, const struct tree_node *value, char *ret_reason, size_t capacity)
{
	bool is_of_section = strncmp(name, SECTION, strlen(SECTION)) == 0;
	int error = -ENOENT;

	if (is_of_section && value->kind == TREE_TEXT)
		error = access_set(target, name + strlen(SECTION), value->text, ret_reason, capacity);
	if (error == -ENOENT) {
		snprintf(ret_reason, capacity, "unknown setting %.64s%s: see tracer-lake(1)", name,
			 value->kind == TREE_TEXT ? "" : " with a single value");
		error = -EINVAL;
	}
	return error;
}

static int file_load(struct access *access, char *ret_reason, size_t capacity)
{
	const char *home = getenv("HOME"), *given = getenv("TRACER_LAKE_CONFIG");
	char path[4096];
	int error;

	if (given && *given)
		return entries_load(given, entry_take, access, ret_reason, capacity);
	snprintf(path, sizeof(path), "%s/.config/tracer/lake.yaml", home ? home : "");
	error = entries_load(path, entry_take, access, ret_reason, capacity);
	if (error == -ENOENT)
		error = entries_load(LAKE_SETTINGS_FILE, entry_take, access, ret_reason, capacity);
	return error == -ENOENT ? 0 : error;
}

/* Sets `key` if a value is given. */
static int text_take(struct access *access, const char *key, const char *value, char *ret_reason, size_t capacity)
{
	return value && *value ? access_set(access, key, value, ret_reason, capacity) : 0;
}

int lake_settings_load(struct access *access, const char *url, const char *user, const char *default_user,
		       char *ret_reason, size_t capacity)
{
	int error;

	access_init(access);
	snprintf(access->user, sizeof(access->user), "%s", default_user);
	error = file_load(access, ret_reason, capacity);
#define A(member, key, environment) \
	if (error == 0) \
		error = text_take(access, key, getenv(environment), ret_reason, capacity);
	ACCESS_TEXTS(A)
#undef A
	if (error == 0)
		error = text_take(access, "url", url, ret_reason, capacity);
	if (error == 0)
		error = text_take(access, "user", user, ret_reason, capacity);
	if (error < 0)
		return error;
	if (access->url[0])
		return access_check(access, ret_reason, capacity);
	snprintf(ret_reason, capacity,
		 "no lake specified: give its URL, or set TRACER_LAKE or lake.url in " LAKE_SETTINGS_FILE);
	return -EINVAL;
}
