/* Facts found about this host or the daemons, each with what to do about it.
 * Printed by `tracer status` and `tracer doctor`.
 */
#pragma once

#include "cli/options.h"

enum finding_level {
	FINDING_OK,
	FINDING_LIMITED, /* works with limitations */
	FINDING_MISSING, /* does not work */
};

#define FINDINGS_MAX 48

struct finding {
	enum finding_level level;
	char topic[32];
	char text[320]; /* safe to print */
	char fix[320];  /* safe to print: what to do, "" if nothing */
};

struct findings {
	struct finding items[FINDINGS_MAX];
	size_t count; /* findings beyond FINDINGS_MAX are dropped */
};

/* Adds a finding and returns it for finding_fix(); both sanitize their text. */
struct finding *findings_add(struct findings *findings, enum finding_level level, const char *topic, const char *format,
			     ...) __attribute__((format(printf, 4, 5)));

void finding_fix(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum finding_level findings_worst(const struct findings *findings);

/* Prints the findings as text or, if JSON was requested, as the last member of `json`, of which it
 * takes ownership: [{"level", "topic", "text", "fix"}]. */
void findings_show(const struct findings *findings, const struct options *options, json_t *json);
