/* Facts found about this host or the daemons, each with what to do about it.
 * Printed by `tracer status` and `tracer doctor`.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "cli/screen/document.h"
#include "cli/screen/output.h"

enum check_level {
	CHECK_OK,
	CHECK_LIMITED, /* works with limitations */
	CHECK_MISSING, /* does not work */
};

#define CHECKS_MAX 48

struct check {
	enum check_level level;
	char topic[32];
	char text[320]; /* safe to print */
	char fix[320];  /* safe to print: what to do, "" if nothing */
};

struct checks {
	struct check items[CHECKS_MAX];
	size_t count; /* checks beyond CHECKS_MAX are dropped */
};

/* Adds a check and returns it for check_fix(); both sanitize their text. */
struct check *checks_add(struct checks *checks, enum check_level level, const char *topic, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

void check_fix(struct check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether nothing is CHECK_MISSING. */
bool checks_work(const struct checks *checks);

/* Prints the checks as text, or as the last member of `json`: [{"level", "topic", "text", "fix"}]. Takes ownership of
 * `json`. */
void checks_show(const struct checks *checks, enum output_color color, enum format format, json_t *json);
