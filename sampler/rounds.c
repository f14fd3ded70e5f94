/* See rounds.h. */
#include "sampler/rounds.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/ready.h"

#define ERRORS_MAX 16 /* of a round; a broken device may report many */
#define EXIT_NO_DEVICE 3

struct rounds_options rounds_options = {.log_level = LOG_LEVEL_INFO};

static volatile sig_atomic_t is_stopped;

static void stop(int number)
{
	is_stopped = 1;
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
static void report_errors_until(const struct rounds *rounds, void *devices, uint64_t boot_ns, struct link *link)
{
	uint64_t now_ns = clock_boot_ns();

	for (int i = 0; rounds->wait_error && i < ERRORS_MAX && !is_stopped && now_ns < boot_ns; i++) {
		if (!rounds->wait_error(devices, (unsigned)((boot_ns - now_ns) / 1000000), link))
			break;
		link_send(link);
		now_ns = clock_boot_ns();
	}
	if (!is_stopped)
		sleep_until(boot_ns);
}

static void sample_until_stopped(const struct rounds *rounds, void *devices)
{
	struct link link = {.path = rounds_options.socket ? rounds_options.socket : TRACER_RUN_DIR "/sampler.sock",
			    .kind = rounds->kind,
			    .fd = -1};
	uint64_t period_ns = (uint64_t)rounds_options.period_ns, duration_ns = (uint64_t)rounds_options.duration_ns;
	uint64_t began_ns = clock_boot_ns(), next_ns = began_ns;

	rounds->describe(devices, &link);
	while (!is_stopped && (duration_ns == 0 || next_ns - began_ns <= duration_ns)) {
		uint64_t boot_ns = clock_boot_ns();

		if (link_open(&link)) {
			rounds->sample(devices, boot_ns, &link);
			link_send(&link);
		}
		ready_notify_alive(boot_ns);
		next_ns = next_ns + period_ns > boot_ns ? next_ns + period_ns : boot_ns + period_ns;
		report_errors_until(rounds, devices, next_ns, &link);
	}
	link_close(&link);
}

int rounds_main(const struct rounds *rounds, int argc, char **argv)
{
	void *devices;

	log_init(rounds->program->name, LOG_LEVEL_INFO);
	rounds_options.period_ns = rounds->period_ns;
	int r = option_parse_program(rounds->program, argc, argv, NULL, NULL);

	if (r < 0)
		return option_exit(r);
	log_init(rounds->program->name, (enum log_level)rounds_options.log_level);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, stop);
	signal(SIGINT, stop);
	devices = rounds->open();
	if (!devices)
		return EXIT_NO_DEVICE;
	ready_notify_manager();
	sample_until_stopped(rounds, devices);
	rounds->close(devices);
	return EXIT_SUCCESS;
}
