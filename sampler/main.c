/* tracer-sampler-nvidia: reports what NVIDIA's GPUs do for each process to tracer-correlator.
 *
 * A process of its own, so that no vendor's library is in the probe or the correlator. It needs the devices, /proc and
 * the correlator's socket; no privilege, no network, and no file to write.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/option.h"
#include "common/ready.h"
#include "sampler/link.h"
#include "sampler/nvidia.h"

#define KIND "nvidia" /* its devices are nvidia0, nvidia1, … */
#define ERRORS_MAX 16 /* of a round; a broken device may report many */
#define EXIT_NO_DEVICE 3

static struct options {
	const char *socket;
	int64_t period_ns;
	int64_t duration_ns;
	int log_level; /* enum */
} options = {.period_ns = 500000000, .log_level = LOG_LEVEL_INFO};

static const struct option_program program = {
	.name = "tracer-sampler-nvidia",
	.purpose = "Reports what NVIDIA GPUs do for each process to tracer-correlator.",
	.exit_text = "Exit status: 0 stopped, 1 failure, 2 usage error, 3 no driver or no device.",
	/* clang-format off */
	.specs = (const struct option_spec[]){
		{"socket", 0, "PATH", NULL, "the correlator's socket for samplers (default " TRACER_RUN_DIR "/sampler.sock)",
		 .text = &options.socket},
		{"period", 0, "TIME", NULL, "interval between samples (default 0.5s)",
		 .duration_ns = &options.period_ns, .least = 200000000, .most = 5000000000},
		{"duration", 0, "TIME", NULL, "stop after this time", .duration_ns = &options.duration_ns},
		{"log-level", 0, "LEVEL", LOG_LEVEL_WORDS, "least level to log: error, warning, info (default) or debug",
		 .choice = &options.log_level},
		OPTION_SPECS_OF_DAEMON},
	/* clang-format on */
};

static volatile sig_atomic_t is_stopped;

static void stop(int number)
{
	is_stopped = 1;
}

struct round {
	struct link *link;
	uint64_t boot_ns;
};

static void report(void *context, const struct nvidia_use *use)
{
	const struct round *round = context;
	char device[16];
	int size = snprintf(device, sizeof(device), KIND "%u", use->minor);

	link_add(round->link, &(struct wire_message){.type = WIRE_DEVICE_USE,
						     .device_use = {
							     .boot_ns = round->boot_ns,
							     .interval_ns = use->interval_ns,
							     .pid = use->pid,
							     .start_boot_ns = use->start_boot_ns,
							     .known = (use->has_busy ? DEVICE_USE_BUSY : 0U) |
								      (use->has_memory ? DEVICE_USE_MEMORY : 0U) |
								      (use->has_energy ? DEVICE_USE_ENERGY : 0U) |
								      (use->has_throttled ? DEVICE_USE_THROTTLED : 0U),
							     .busy_ns = use->busy_ns,
							     .memory_bytes = use->memory_bytes,
							     .energy_uj = use->energy_uj,
							     .throttled_ns = use->throttled_ns,
							     .device = {.data = device, .size = (uint32_t)size},
						     }});
}

static void report_error(void *context, const struct nvidia_error *error)
{
	struct link *link = context;
	char device[16];
	int size = snprintf(device, sizeof(device), KIND "%u", error->minor);

	if (link->fd >= 0)
		link_add(link, &(struct wire_message){.type = WIRE_DEVICE_ERROR,
						      .device_error = {
							      .boot_ns = clock_boot_ns(),
							      .pid = error->pid,
							      .start_boot_ns = error->start_boot_ns,
							      .code = error->xid,
							      .holder_count = error->holder_count,
							      .device = {.data = device, .size = (uint32_t)size},
						      }});
}

static void sleep_until(uint64_t boot_ns)
{
	uint64_t now_ns = clock_boot_ns();
	struct timespec left = {0};

	if (now_ns >= boot_ns)
		return;
	left.tv_sec = (time_t)((boot_ns - now_ns) / 1000000000);
	left.tv_nsec = (long)((boot_ns - now_ns) % 1000000000);
	ppoll(NULL, 0, &left, NULL); /* a signal ends it */
}

/* An error is reported at once: the process that it concerns may fail before the next round. */
static void report_errors_until(struct nvidia *nvidia, uint64_t boot_ns, struct link *link)
{
	uint64_t now_ns = clock_boot_ns();

	for (int i = 0; i < ERRORS_MAX && !is_stopped && now_ns < boot_ns; i++) {
		if (!nvidia_wait_error(nvidia, (unsigned)((boot_ns - now_ns) / 1000000), report_error, link))
			break;
		link_send(link);
		now_ns = clock_boot_ns();
	}
	sleep_until(boot_ns);
}

static void sample_until_stopped(struct nvidia *nvidia)
{
	const char *driver = nvidia_driver(nvidia);
	const struct wire_message hello = {
		.type = WIRE_SAMPLER,
		.sampler = {.version = SAMPLER_VERSION,
			    .name = {.data = KIND, .size = sizeof(KIND) - 1},
			    .driver = {.data = driver, .size = (uint32_t)strlen(driver)}},
	};
	struct link link = {.path = options.socket ? options.socket : TRACER_RUN_DIR "/sampler.sock", .fd = -1};
	uint64_t period_ns = (uint64_t)options.period_ns, duration_ns = (uint64_t)options.duration_ns;
	uint64_t began_ns = clock_boot_ns(), next_ns = began_ns;

	while (!is_stopped && (duration_ns == 0 || next_ns - began_ns <= duration_ns)) {
		struct round round = {.link = &link, .boot_ns = clock_boot_ns()};

		if (link_open(&link, &hello)) {
			nvidia_sample(nvidia, round.boot_ns, clock_unix_ns(), report, &round);
			link_send(&link);
		}
		ready_notify_alive(round.boot_ns);
		next_ns = next_ns + period_ns > round.boot_ns ? next_ns + period_ns : round.boot_ns + period_ns;
		report_errors_until(nvidia, next_ns, &link);
	}
	link_close(&link);
}

int main(int argc, char **argv)
{
	struct nvidia *nvidia;

	log_init(program.name, LOG_LEVEL_INFO);
	int r = option_parse_program(&program, argc, argv, NULL, NULL);

	if (r < 0)
		return option_exit(r);
	log_init(program.name, (enum log_level)options.log_level);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, stop);
	signal(SIGINT, stop);
	nvidia = nvidia_open();
	if (!nvidia)
		return EXIT_NO_DEVICE;
	ready_notify_manager();
	sample_until_stopped(nvidia);
	nvidia_close(nvidia);
	return EXIT_SUCCESS;
}
