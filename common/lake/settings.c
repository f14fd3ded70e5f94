/* Where a lake is and who we are there. See settings.h. */
#include "common/lake/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/security.h"
#include "common/rules/tree.h"

#define DATABASE_DEFAULT "tracer"
#define FILE_BYTES_MAX 65536

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

static int entry_take(struct lake_settings *settings, const char *path, const struct tree_node *key,
		      char *ret_reason, size_t capacity)
{
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		if (strcmp(key->text, settings_table[i].key) != 0)
			continue;
		if (key->value->kind == TREE_TEXT)
			return text_set(text_of(settings, &settings_table[i]), key->value->text, key->text,
					ret_reason, capacity);
		snprintf(ret_reason, capacity, "%s:%u: lake.%s takes a text", path, key->line, key->text);
		return -EINVAL;
	}
	snprintf(ret_reason, capacity, "%s:%u: there is no setting lake.%.64s: see tracer-lake(1)", path,
		 key->line, key->text);
	return -EINVAL;
}

static int tree_take(struct lake_settings *settings, const char *path, const struct tree_node *root,
		     char *ret_reason, size_t capacity)
{
	const struct tree_node *section = root && root->kind == TREE_MAPPING ? root->first : NULL;
	int error = 0;

	if (!root)
		return 0;
	if (!section || section->next || strcmp(section->text, "lake") != 0 ||
	    section->value->kind != TREE_MAPPING) {
		snprintf(ret_reason, capacity, "%s: expected `lake:` and settings below it", path);
		return -EINVAL;
	}
	for (const struct tree_node *key = section->value->first; key && error == 0; key = key->next)
		error = entry_take(settings, path, key, ret_reason, capacity);
	return error;
}

static int file_parse(struct lake_settings *settings, const char *path, FILE *file, char *ret_reason,
		      size_t capacity)
{
	static char data[FILE_BYTES_MAX];
	struct arena arena = {0};
	struct rules_error fault;
	struct tree_node *root = NULL;
	size_t size = fread(data, 1, sizeof(data), file);
	int error;

	if (size == sizeof(data)) {
		snprintf(ret_reason, capacity, "%s: larger than %d bytes", path, FILE_BYTES_MAX);
		return -EFBIG;
	}
	error = tree_parse(&arena, path, data, size, &root, &fault);
	if (error == 0)
		error = tree_take(settings, path, root, ret_reason, capacity);
	else
		snprintf(ret_reason, capacity, "%s:%u: %s", path, fault.line,
			 error == -EINVAL ? fault.reason : "out of memory");
	arena_deinit(&arena);
	return error;
}

static int file_load(struct lake_settings *settings, char *ret_reason, size_t capacity)
{
	const char *home = getenv("HOME"), *given = getenv("TRACER_LAKE_CONFIG");
	char path[4096];
	FILE *file;
	int error;

	given = given && *given ? given : NULL;
	if (given)
		snprintf(path, sizeof(path), "%s", given);
	else
		snprintf(path, sizeof(path), "%s/.config/tracer/lake.yaml", home ? home : "");
	file = fopen(path, "re");
	if (!file && errno == ENOENT && !given) {
		snprintf(path, sizeof(path), "%s", LAKE_SETTINGS_FILE);
		file = fopen(path, "re");
	}
	if (!file && errno == ENOENT && !given)
		return 0;
	if (!file) {
		snprintf(ret_reason, capacity, "%.300s: %s", path, strerror(errno));
		return -errno;
	}
	error = file_parse(settings, path, file, ret_reason, capacity);
	fclose(file);
	return error;
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

bool lake_settings_wanted(void)
{
	const char *url = getenv("TRACER_LAKE");

	return url && *url;
}
