/* tracer record FILE: what the probe sees, into a file for tracer replay. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/options.h"
#include "cli/program.h"
#include "common/text.h"

#define EXIT_OURS 125 /* we failed, not the command, as in tracer run */
#define READY_TIMEOUT_MS 20000

enum { OPTION_DURATION = 1, OPTION_AS, OPTION_FORCE };

static const struct option_spec option_specs[] = {
	{OPTION_DURATION, "duration", 'd', "TIME", NULL, "stop after TIME: 90s, 15m, 2h"},
	{OPTION_AS, "as", 0, "USER", "user", "run COMMAND as USER (for root)"},
	{OPTION_FORCE, "force", 'f', NULL, NULL, "overwrite FILE if it is there"},
	OPTION_SPEC_HELP,
	OPTION_SPEC_END,
};

/* Whether FILE holds something that a recording would take the place of; said. */
static bool would_overwrite(const char *file)
{
	struct stat status;
	char safe[512];

	if (stat(file, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
		return false;
	text_escape(file, strlen(file), safe, sizeof(safe));
	fprintf(stderr, "tracer record: %s exists: name another file, or overwrite it with --force\n", safe);
	return true;
}

/* Everything until ^C or the end of `duration`: the probe in our place. */
static int record_host(const char *probe, const char *file, const char *duration)
{
	const char *argv[] = {probe, "--record", file, duration ? "--duration" : NULL, duration, NULL};

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "tracer record: recording this host %s%s%s\n",
			duration ? "for " : "until ^C", duration ? duration : "", duration ? " s" : "");
	execv(probe, (char *const *)argv);
	fprintf(stderr, "tracer record: cannot run %s: %s\n", probe, strerror(errno));
	return VERB_FAILED;
}

/* 0 once the probe has seen everything that lives; -ECHILD where it ended instead. */
static int await_ready(int ready_fd)
{
	struct pollfd ready = {.fd = ready_fd, .events = POLLIN};
	char byte;

	while (poll(&ready, 1, READY_TIMEOUT_MS) < 0)
		if (errno != EINTR)
			return -errno;
	return read(ready_fd, &byte, 1) == 1 ? 0 : -ECHILD;
}

static pid_t probe_start(char *probe, char *file)
{
	char *argv[] = {probe, "--record", file, "--quiet", "--ready-fd", "3", NULL};
	int ends[2], error;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = program_spawn(argv, STDERR_FILENO, ends[1]);
	close(ends[1]);
	error = pid < 0 ? pid : await_ready(ends[0]);
	close(ends[0]);
	if (error < 0 && pid > 0) {
		kill(pid, SIGTERM);
		waitpid(pid, NULL, 0);
	}
	return error < 0 ? error : pid;
}

static int command_run(const struct options *options, const struct user *user,
		       const struct child_signals *signals)
{
	char **argv = options->operands + 1;
	struct child child;
	struct pollfd waits[2];
	char name[256];
	int error = child_start(&child, argv, user, signals);

	if (error < 0) {
		text_escape(argv[0], strlen(argv[0]), name, sizeof(name));
		fprintf(stderr, "tracer record: cannot run %s: %s\n", name, strerror(-error));
		return error == -ENOENT ? 127 : 126;
	}
	waits[0] = (struct pollfd){.fd = child.pid_fd, .events = POLLIN};
	waits[1] = (struct pollfd){.fd = signals->fd, .events = POLLIN};
	while (!(waits[0].revents & POLLIN)) {
		if (poll(waits, 2, -1) < 0 && errno != EINTR)
			break;
		if (waits[1].revents)
			child_forward_signal(&child, signals);
	}
	return child_finish(&child);
}

static int record_command(const struct options *options, char *probe, const struct user *user)
{
	struct child_signals signals;
	int status, probe_status = 0;
	pid_t pid;

	if (child_signals_init(&signals) < 0)
		return EXIT_OURS;
	pid = probe_start(probe, options->operands[0]);
	if (pid < 0)
		return EXIT_OURS; /* the probe has said why */
	status = command_run(options, user, &signals);
	kill(pid, SIGTERM);
	while (waitpid(pid, &probe_status, 0) < 0 && errno == EINTR)
		;
	if (probe_status != 0)
		fprintf(stderr, "tracer record: the probe did not end well: the recording may not be "
			"whole\n");
	return status;
}

static int record_main(const struct verb *verb, int argc, char **argv)
{
	char probe[PATH_MAX], seconds[24] = "";
	const char *value, *as = NULL;
	struct options options;
	struct user user;
	uint64_t duration_ns = 0;
	bool force = false;
	int option, error;

	options_init(&options, verb, argc, argv);
	while ((option = options_next(&options, &value)) > 0) {
		if (option == OPTION_AS)
			as = value;
		else if (option == OPTION_FORCE)
			force = true;
		else if (options_parse_duration(value, &duration_ns) < 0 || duration_ns == 0)
			return options_misuse(&options, "--duration takes 90s, 15m or 2h, not '%s'", value);
	}
	if (option < 0)
		return options_exit(option);
	if (options_check_operands(&options, 1, SIZE_MAX))
		return VERB_USAGE;
	if (options.operand_count == 1 && as)
		return options_misuse(&options, "--as is for a COMMAND, and there is none");
	if (options.operand_count > 1 && duration_ns)
		return options_misuse(&options, "--duration is not for a COMMAND: that ends by itself");
	error = as ? user_read_named(&user, as) : user_read_invoking(&user);
	if (error == -ENOENT)
		return options_misuse(&options, "there is no user '%s'", as);
	if (error < 0)
		return options_misuse(&options, "only root may use --as");
	if (!force && would_overwrite(options.operands[0]))
		return options.operand_count > 1 ? EXIT_OURS : VERB_FAILED;
	if (program_find(PROGRAM_PROBE, probe) < 0)
		return VERB_FAILED;
	if (options.operand_count > 1)
		return record_command(&options, probe, &user);
	snprintf(seconds, sizeof(seconds), "%llu", (unsigned long long)(duration_ns / 1000000000));
	return record_host(probe, options.operands[0], duration_ns ? seconds : NULL);
}

const struct verb verb_record = {
	.name = "record",
	.operands = "FILE [-- COMMAND...]",
	.summary = "record what the probe sees into a file",
	.description =
		"Writes everything that the probe sees on this host to FILE, until ^C, for TIME,\n"
		"or as long as COMMAND runs. tracer replay makes a store of it, on any host.\n"
		"Needs root; FILE is root's alone (0600), since command lines stand in it\n"
		"unredacted. Exit status with COMMAND: as of tracer run.",
	.options = option_specs,
	.examples = "  sudo tracer record problem.rec --duration 1m\n"
		    "  sudo tracer record build.rec -- make -j4",
	.completion = "file",
	.main = record_main,
};
