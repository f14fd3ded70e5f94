/* What all samplers do: options, a connection to the correlator, and rounds until they are stopped. */
#pragma once

#include "common/option.h"
#include "sampler/link.h"

struct rounds_options {
	const char *socket;
	int64_t period_ns, duration_ns;
	int log_level; /* enum */
};

extern struct rounds_options rounds_options;

/* clang-format off */
#define ROUNDS_OPTION_SPECS(period_text, most_ns) \
	{"socket", 0, "PATH", NULL, "the correlator's socket for samplers (default " TRACER_RUN_DIR "/sampler.sock)", \
	 .text = &rounds_options.socket}, \
	{"period", 0, "TIME", NULL, "interval between samples (default " period_text ")", \
	 .duration_ns = &rounds_options.period_ns, .least = 200000000, .most = (most_ns)}, \
	{"duration", 0, "TIME", NULL, "stop after this time", .duration_ns = &rounds_options.duration_ns}, \
	{"log-level", 0, "LEVEL", LOG_LEVEL_WORDS, "least level to log: error, warning, info (default) or debug", \
	 .choice = &rounds_options.log_level}
/* clang-format on */

struct rounds {
	const struct option_program *program;
	const char *kind;  /* of its devices: see link.h */
	int64_t period_ns; /* unless the option says otherwise */
	/* Returns NULL, logged, if there is no device. */
	void *(*open)(void);
	/* Sets the driver and the devices of the link. */
	void (*describe)(const void *devices, struct link *link);
	/* Adds to the link what the devices did since the round before. */
	void (*sample)(void *devices, uint64_t now_boot_ns, struct link *link);
	/* Waits at most that long for an error, and adds it. Returns false if there was none, perhaps at once. NULL: the
	 * kind has no errors. */
	bool (*wait_error)(void *devices, unsigned most_ms, struct link *link);
	void (*close)(void *devices);
};

/* Returns the exit status of the program. */
int rounds_main(const struct rounds *rounds, int argc, char **argv);
