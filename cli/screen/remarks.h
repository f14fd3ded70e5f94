/* Facts found about this host or the daemons, each with what to do about it.
 * Printed by `tracer status` and `tracer doctor`.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "cli/screen/document.h"
#include "cli/screen/output.h"

enum remark_level {
	REMARK_OK,
	REMARK_LIMITED, /* works with limitations */
	REMARK_MISSING, /* does not work */
};

#define REMARKS_MAX 48

struct remark {
	enum remark_level level;
	char topic[32];
	char text[320]; /* safe to print */
	char fix[320];  /* safe to print: what to do, "" if nothing */
};

struct remarks {
	struct remark items[REMARKS_MAX];
	size_t count; /* remarks beyond REMARKS_MAX are dropped */
};

/* Adds a remark and returns it for remark_fix(); both sanitize their text. */
struct remark *remarks_add(struct remarks *remarks, enum remark_level level, const char *topic, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

void remark_fix(struct remark *remark, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether nothing is REMARK_MISSING. */
bool remarks_work(const struct remarks *remarks);

/* Prints the remarks as text, or as the last member of `json`: [{"level", "topic", "text", "fix"}]. Takes ownership of
 * `json`. */
void remarks_show(const struct remarks *remarks, enum output_color color, enum format format, json_t *json);
