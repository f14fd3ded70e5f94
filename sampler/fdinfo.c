/* See fdinfo.h. */
#include "sampler/fdinfo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_MAX (UINT64_C(1) << 62) /* more is none that a driver counts to */

/* How drivers say how much memory is resident, the best last. */
enum memory_kind { MEMORY_TOTAL, MEMORY_LEGACY, MEMORY_RESIDENT, MEMORY_KINDS };

struct memory {
	bool is_known, has_own; /* memory of the device's own */
	uint64_t all_bytes, own_bytes;
};

/* "290 MiB" */
static bool parse_value(const char *text, uint64_t *ret_value)
{
	static const struct {
		const char *unit;
		unsigned shift;
	} units[] = {{" KiB", 10}, {" MiB", 20}, {" GiB", 30}};
	unsigned shift = 0;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*ret_value = strtoull(text, &end, 10);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strncmp(end, units[i].unit, strlen(units[i].unit)) == 0)
			shift = units[i].shift;
	if (*ret_value > VALUE_MAX >> shift)
		return false;
	*ret_value <<= shift;
	return true;
}

/* Returns NULL if there is no room. */
static struct fdinfo_engine *engine_named(struct fdinfo *info, const char *name)
{
	char text[FDINFO_NAME_SIZE] = "";

	memcpy(text, name, strnlen(name, sizeof(text) - 1));
	for (unsigned i = 0; i < info->engine_count; i++)
		if (strcmp(info->engines[i].name, text) == 0)
			return &info->engines[i];
	if (info->engine_count == FDINFO_ENGINES_MAX)
		return NULL;
	struct fdinfo_engine *engine = &info->engines[info->engine_count++];

	*engine = (struct fdinfo_engine){.capacity = 1};
	memcpy(engine->name, text, sizeof(text));
	return engine;
}

static const char *after(const char *text, const char *prefix)
{
	size_t size = strlen(prefix);

	return strncmp(text, prefix, size) == 0 ? text + size : NULL;
}

static void take_engine(struct fdinfo *info, const char *key, uint64_t value)
{
	enum { CAPACITY, BUSY_NS, ALL_CYCLES, BUSY_CYCLES, KINDS } kind = 0;
	/* drm-engine-capacity- begins as drm-engine- does. */
	static const char *const prefixes[KINDS] = {"drm-engine-capacity-", "drm-engine-", "drm-total-cycles-",
						    "drm-cycles-"};
	const char *name = NULL;

	while (kind < KINDS && !(name = after(key, prefixes[kind])))
		kind++;
	struct fdinfo_engine *engine = name ? engine_named(info, name) : NULL;

	if (!engine)
		return;
	if (kind == CAPACITY && value)
		engine->capacity = value;
	if (kind == BUSY_NS) {
		engine->busy_ns = value;
		engine->has_ns = true;
	}
	if (kind == ALL_CYCLES) {
		engine->all_cycles = value;
		engine->has_cycles = true;
	}
	if (kind == BUSY_CYCLES)
		engine->busy_cycles = value;
}

/* Regions are called vram, vram0 (amdgpu, xe, nouveau) or local0 (i915) if they are the device's own. */
static void take_memory(struct memory *memories, const char *key, uint64_t bytes)
{
	static const char *const prefixes[MEMORY_KINDS] = {
		[MEMORY_TOTAL] = "drm-total-", [MEMORY_LEGACY] = "drm-memory-", [MEMORY_RESIDENT] = "drm-resident-"};

	for (int kind = 0; kind < MEMORY_KINDS; kind++) {
		const char *region = after(key, prefixes[kind]);
		struct memory *memory = &memories[kind];

		if (!region || after(region, "cycles-"))
			continue;
		bool is_own = after(region, "vram") || after(region, "local");

		memory->is_known = true;
		memory->has_own |= is_own;
		if (memory->all_bytes + bytes < VALUE_MAX)
			memory->all_bytes += bytes;
		if (is_own && memory->own_bytes + bytes < VALUE_MAX)
			memory->own_bytes += bytes;
	}
}

static void take(struct fdinfo *info, struct memory *memories, const char *key, const char *value)
{
	uint64_t number;

	if (strcmp(key, "drm-driver") == 0)
		snprintf(info->driver, sizeof(info->driver), "%s", value);
	if (strcmp(key, "drm-pdev") == 0)
		snprintf(info->pci_address, sizeof(info->pci_address), "%s", value);
	if (!parse_value(value, &number))
		return;
	if (strcmp(key, "drm-client-id") == 0) {
		info->client_id = number;
		info->has_client_id = true;
	}
	take_engine(info, key, number);
	take_memory(memories, key, number);
}

bool fdinfo_parse(const char *text, struct fdinfo *ret)
{
	struct memory memories[MEMORY_KINDS] = {0};
	char line[256];

	*ret = (struct fdinfo){0};
	for (const char *at = text; *at;) {
		size_t size = strcspn(at, "\n");
		char *value;

		snprintf(line, sizeof(line), "%.*s", (int)(size < sizeof(line) ? size : sizeof(line) - 1), at);
		at += size + (at[size] == '\n');
		value = strchr(line, ':');
		if (!value)
			continue;
		*value++ = '\0';
		take(ret, memories, line, value + strspn(value, " \t"));
	}
	for (int kind = 0; kind < MEMORY_KINDS; kind++)
		if (memories[kind].is_known) {
			ret->has_memory = true;
			ret->memory_bytes =
				memories[kind].has_own ? memories[kind].own_bytes : memories[kind].all_bytes;
		}
	return ret->driver[0] && ret->has_client_id;
}
