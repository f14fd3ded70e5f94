/* Configuration: one table of keys. See settings.h. */
#include "shipper/settings.h"

#include <stdlib.h>
#include <string.h>

#include "common/identity.h"
#include "common/parse.h"
#include "common/yaml/entries.h"
#include "common/yaml/suggest.h"
#include "shipper/sink.h"

#define VALUE_BYTES_MAX 4096
#define LIST_KEY "send.leave-out"
#define LAKE_SECTION "lake."

#define refuse(error, ...) (snprintf((error)->text, sizeof((error)->text), __VA_ARGS__), -EINVAL)

/* ---- types of values --------------------------------------------------------------- */

static const char *const cloud_words[] = {
	/* clang-format off */
	[CLOUD_OFF] = "off", [CLOUD_AUTO] = "auto", [CLOUD_AWS] = "aws",
	[CLOUD_GCP] = "gcp", [CLOUD_AZURE] = "azure", NULL,
	/* clang-format on */
};

enum kind { KIND_TEXT, KIND_NUMBER, KIND_CLOUD };

struct key {
	const char *name;
	enum kind kind;
	size_t offset;
	const struct parse_unit *units;
	uint64_t least, most;
};

/* clang-format off */
#define TEXT(name, member) {name, KIND_TEXT, offsetof(struct settings, member), NULL, 0, 0}
#define NUMBER(name, member, units, least, most) \
	{name, KIND_NUMBER, offsetof(struct settings, member), units, least, most}
/* clang-format on */

static const struct key keys[] = {
	TEXT("store", store),
	TEXT("state", state),
	TEXT("sink", sink),
	NUMBER("lake.timeout", lake_timeout_s, parse_durations, 1, 3600),
	TEXT("ndjson.directory", ndjson_directory),
	NUMBER("ndjson.size", ndjson_bytes_max, parse_sizes, 1 << 20, 1ULL << 50),
	NUMBER("send.interval", interval_s, parse_durations, 1, 86400),
	NUMBER("send.rows", batch_rows, parse_counts, 1, BATCH_ROWS_MAX),
	NUMBER("send.bytes", batch_bytes, parse_sizes, 4096, BATCH_TEXT_BYTES_MAX),
	NUMBER("send.quarantine", quarantine_bytes_max, parse_sizes, 0, 1ULL << 40),
	{"cloud", KIND_CLOUD, offsetof(struct settings, cloud), NULL, 0, 0},
	TEXT("cloud-endpoint", cloud_endpoint),
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

static int set_number(const struct key *key, const char *text, uint64_t *ret_number, struct settings_error *ret_error)
{
	switch (parse_number(text, key->units, key->least, key->most, ret_number)) {
	case 0: return 0;
	case -ERANGE: return refuse(ret_error, "%s: %.40s is out of range", key->name, text);
	default:
		return refuse(ret_error, "%s: \"%.40s\" is not a number%s", key->name, text,
			      key->units == parse_durations ? " of seconds, or with suffix s, m, h or d"
			      : key->units == parse_sizes   ? " of bytes, or with suffix K, M or G"
							    : "");
	}
}

static int set_text(const struct key *key, const char *text, char **ret_text, struct settings_error *ret_error)
{
	char *copy;

	if (text[0] == '\0')
		return refuse(ret_error, "%s: a value is missing", key->name);
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return refuse(ret_error, "%s: contains a control character", key->name);
	if (strlen(text) > VALUE_BYTES_MAX)
		return refuse(ret_error, "%s: longer than %d bytes", key->name, VALUE_BYTES_MAX);
	copy = strdup(text);
	if (!copy)
		return refuse(ret_error, "out of memory");
	free(*ret_text);
	*ret_text = copy;
	return 0;
}

static int key_set(struct settings *settings, const struct key *key, const char *value,
		   struct settings_error *ret_error)
{
	void *target = (char *)settings + key->offset;

	switch (key->kind) {
	case KIND_TEXT: return set_text(key, value, target, ret_error);
	case KIND_NUMBER: return set_number(key, value, target, ret_error);
	default:
		for (int i = 0; cloud_words[i]; i++)
			if (strcmp(value, cloud_words[i]) == 0) {
				*(enum settings_cloud *)target = (enum settings_cloud)i;
				return 0;
			}
		return refuse(ret_error, "%s: expected off, auto, aws, gcp or azure, found \"%.40s\"", key->name,
			      value);
	}
}

/* Those that have one value. */
static const char *const lake_names[] = {
#define A(member, key, environment) LAKE_SECTION key,
	ACCESS_TEXTS(A)
#undef A
};

#define LAKE_COUNT (sizeof(lake_names) / sizeof(lake_names[0]))
#define NAME_COUNT (KEY_COUNT + LAKE_COUNT)

static const char *name_at(size_t index)
{
	return index < KEY_COUNT ? keys[index].name : lake_names[index - KEY_COUNT];
}

static int key_unknown(const char *name, struct settings_error *ret_error)
{
	const char *names[NAME_COUNT + 2] = {[NAME_COUNT] = LIST_KEY};
	char hint[96];

	for (size_t i = 0; i < NAME_COUNT; i++)
		names[i] = name_at(i);
	suggest_nearest(name, names, hint, sizeof(hint));
	return refuse(ret_error, "unknown setting %.60s%s", name, hint);
}

static int value_set(struct settings *settings, const char *key, const char *value, struct settings_error *ret_error)
{
	int error = -ENOENT;

	for (size_t i = 0; i < KEY_COUNT; i++)
		if (strcmp(keys[i].name, key) == 0)
			return key_set(settings, &keys[i], value, ret_error);
	if (strncmp(key, LAKE_SECTION, strlen(LAKE_SECTION)) == 0)
		error = access_set(&settings->lake, key + strlen(LAKE_SECTION), value, ret_error->text,
				   sizeof(ret_error->text));
	return error == -ENOENT ? key_unknown(key, ret_error) : error;
}

int settings_set(struct settings *settings, const char *key, const char *value, const char *source,
		 struct settings_error *ret_error)
{
	if (value_set(settings, key, value, ret_error) < 0)
		return -EINVAL;
	config_remove(&settings->config, key);
	return config_add(&settings->config, key, value, source) < 0 ? refuse(ret_error, "out of memory") : 0;
}

int settings_load_environment(struct settings *settings, struct settings_error *ret_error)
{
	struct settings_error error;
	char variable[128];

	for (size_t i = 0; i < NAME_COUNT; i++) {
		const char *value = config_environment(SHIPPER_NAME, name_at(i), variable);

		if (value && settings_set(settings, name_at(i), value, variable, &error) < 0)
			return refuse(ret_error, "%s: %.380s", variable, error.text);
	}
	return 0;
}

/* ---- leave-out --------------------------------------------------------------------- */

/* Without these columns a row has no identity, no version, or another place in the lake. */
static bool column_is_needed(const char *column)
{
	static const char *const needed[] = {"id",      "rev",     "host_id",        "process_id",
					     "boot_ns", "unix_ns", "started_unix_ns"};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (strcmp(column, needed[i]) == 0)
			return true;
	return false;
}

static int add_leave_out(struct settings *settings, const char *name, struct settings_error *ret_error)
{
	const char *dot = strchr(name, '.');

	if (settings->leave_out_count == SETTINGS_LEAVE_OUT_MAX)
		return refuse(ret_error, LIST_KEY ": more than %d entries", SETTINGS_LEAVE_OUT_MAX);
	if (dot && column_is_needed(dot + 1))
		return refuse(ret_error, LIST_KEY ": %.60s is needed to identify rows and cannot be left out", name);
	settings->leave_out[settings->leave_out_count] = strdup(name);
	if (!settings->leave_out[settings->leave_out_count])
		return refuse(ret_error, "out of memory");
	settings->leave_out_count++;
	return 0;
}

bool settings_leave_out(const struct settings *settings, const char *entity, const char *column)
{
	char name[128];

	snprintf(name, sizeof(name), "%s%s%s", entity, column ? "." : "", column ? column : "");
	for (size_t i = 0; i < settings->leave_out_count; i++)
		if (strcmp(settings->leave_out[i], name) == 0)
			return true;
	return false;
}

int64_t settings_hash_left_out(const struct settings *settings)
{
	struct identity identity;

	identity_begin(&identity, "left out");
	for (size_t i = 0; i < settings->leave_out_count; i++)
		identity_add_bytes(&identity, settings->leave_out[i], strlen(settings->leave_out[i]));
	return settings->leave_out_count > 0 ? identity_end(&identity) : 0;
}

static bool result_has(const struct store_result *result, const char *column)
{
	for (size_t i = 0; i < store_result_width(result); i++)
		if (strcmp(store_result_name(result, i), column) == 0)
			return true;
	return false;
}

/* Rejects unknown names: with a misspelled one, data would be sent that should be left out. */
static int check_left_out(struct store *store, const char *name, struct settings_error *ret_error)
{
	const char *dot = strchrnul(name, '.'), *entity;
	struct store_result *result;
	bool found;

	for (size_t i = 0; (entity = store_entity_name(i)); i++) {
		if (strlen(entity) != (size_t)(dot - name) || strncmp(entity, name, strlen(entity)) != 0)
			continue;
		if (*dot == '\0')
			return 0;
		if (store_query_entity(store, i, 0, 0, &result) < 0)
			return refuse(ret_error, "%s", store_error_text(store));
		found = result_has(result, dot + 1);
		store_result_free(result);
		if (found)
			return 0;
		return refuse(ret_error, LIST_KEY ": %.*s has no column %.60s", (int)(dot - name), name, dot + 1);
	}
	return refuse(ret_error, LIST_KEY ": unknown entity %.*s; docs/model.md lists them", (int)(dot - name), name);
}

static int check_leave_out(const struct settings *settings, struct settings_error *ret_error)
{
	struct store_error error;
	struct store *store;
	int result = 0;

	if (settings->leave_out_count == 0)
		return 0;
	if (store_open_empty(&store, &error) < 0)
		return refuse(ret_error, "%s", error.text);
	for (size_t i = 0; result == 0 && i < settings->leave_out_count; i++)
		result = check_left_out(store, settings->leave_out[i], ret_error);
	store_close(store);
	return result;
}

/* ---- the file ---------------------------------------------------------------------- */

/* A file, and where its settings go. */
struct target {
	struct settings *settings;
	const char *file;
};

static void source_of(const struct target *target, const struct tree_node *value, char source[300])
{
	snprintf(source, 300, "%.256s:%u", target->file, value->line);
}

static int list_take(const struct target *target, const struct tree_node *list, struct settings_error *ret_error)
{
	char source[300];
	int error = 0;

	if (list->kind != TREE_LIST)
		return refuse(ret_error, LIST_KEY ": expected a list");
	for (const struct tree_node *item = list->first; error == 0 && item; item = item->next) {
		if (item->kind != TREE_TEXT)
			return refuse(ret_error, LIST_KEY ": expected text in the list");
		error = add_leave_out(target->settings, item->text, ret_error);
		source_of(target, item, source);
		if (error == 0 && config_add(&target->settings->config, LIST_KEY, item->text, source) < 0)
			error = refuse(ret_error, LIST_KEY ": too many values");
	}
	return error;
}

static int entry_take(void *target, const char *name, const struct tree_node *value, char *ret_reason, size_t capacity)
{
	struct settings_error error;
	char source[300];
	int result;

	source_of(target, value, source);
	if (strcmp(name, LIST_KEY) == 0)
		result = list_take(target, value, &error);
	else if (value->kind != TREE_TEXT)
		result = refuse(&error, "%.60s: expected text, found %s", name, tree_kind_text(value->kind));
	else
		result = settings_set(((struct target *)target)->settings, name, value->text, source, &error);
	if (result < 0)
		snprintf(ret_reason, capacity, "%s", error.text);
	return result;
}

int settings_parse(struct settings *settings, const char *file, const char *data, size_t size,
		   struct settings_error *ret_error)
{
	struct target target = {settings, file};

	return entries_parse(file, data, size, entry_take, &target, ret_error->text, sizeof(ret_error->text));
}

int settings_load(struct settings *settings, const char *path, struct settings_error *ret_error)
{
	struct target target = {settings, path};

	return entries_load(path, entry_take, &target, ret_error->text, sizeof(ret_error->text));
}

/* ---- consistency --------------------------------------------------------------------- */

int settings_check(const struct settings *settings, struct settings_error *ret_error)
{
	const struct sink_type *type = sink_find(settings->sink);
	int error;

	if (!type)
		return refuse(ret_error, "sink: unknown sink %.40s: expected clickhouse, ndjson or otlp",
			      settings->sink);
	if (strcmp(settings->sink, "ndjson") == 0)
		error = settings->ndjson_directory ? 0 : refuse(ret_error, "ndjson.directory: not set");
	else if (!settings->lake.url[0])
		error = refuse(ret_error, "lake.url: not set: give the lake's URL, "
					  "https://HOST:PORT, in the configuration or with --lake");
	else
		error = access_check(&settings->lake, ret_error->text, sizeof(ret_error->text));
	return error < 0 ? error : check_leave_out(settings, ret_error);
}

/* ---- initialisation ------------------------------------------------------------------ */

int settings_init(struct settings *settings)
{
	static const char *const defaults[][2] = {
		/* clang-format off */
		{"store", TRACER_STATE_DIR "/tracer.db"}, {"state", TRACER_STATE_DIR "-shipper"},
		{"sink", "clickhouse"}, {"lake.timeout", "120s"},
		{"ndjson.size", "10G"}, {"send.interval", "60s"}, {"send.rows", "50000"},
		{"send.bytes", "64M"}, {"send.quarantine", "256M"},
		/* clang-format on */
	};
	struct settings_error error;

	*settings = (struct settings){0};
	access_init(&settings->lake);
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		if (settings_set(settings, defaults[i][0], defaults[i][1], CONFIG_DEFAULT, &error) < 0)
			return -ENOMEM;
	return 0;
}

void settings_deinit(struct settings *settings)
{
	for (size_t i = 0; i < KEY_COUNT; i++)
		if (keys[i].kind == KIND_TEXT)
			free(*(char **)((char *)settings + keys[i].offset));
	for (size_t i = 0; i < settings->leave_out_count; i++)
		free(settings->leave_out[i]);
	config_deinit(&settings->config);
	*settings = (struct settings){0};
}
