/* tracer record FILE: records what the probe sees to a file for tracer replay. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cli/options.h"
#include "cli/process/child.h"
#include "cli/process/program.h"

#define READY_TIMEOUT_MS 20000

static const char *as;
static int64_t duration_ns = -1; /* unlimited */
static bool force;

static const struct option_spec option_specs[] = {
	{"duration", 0, "TIME", NULL, "stop after TIME: 90s, 15m, 2h", .duration_ns = &duration_ns},
	{"as", 0, "USER", "user", "run COMMAND as USER (root only)", .text = &as},
	{"force", 0, NULL, NULL, "overwrite FILE if it exists", .flag = &force},
	OPTION_SPEC_HELP,
	OPTION_SPEC_END,
};

/* Whether FILE is a regular file that is not empty; prints an error if so. */
static bool would_overwrite(const char *file)
{
	struct stat status;

	if (stat(file, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
		return false;
	say("tracer record: %s exists: name another file, or overwrite it with --force", file);
	return true;
}

/* Records everything until ^C or the end of `duration`: execs the probe. */
static int record_host(const char *probe, const char *file, const char *duration)
{
	const char *argv[] = {probe, "--record", file, duration ? "--duration" : NULL, duration, NULL};

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "tracer record: recording this host %s%s%s\n", duration ? "for " : "until ^C",
			duration ? duration : "", duration ? " s" : "");
	execv(probe, (char *const *)argv);
	return say("tracer record: cannot run %s: %s", probe, strerror(errno));
}

/* Returns 0 once the probe has scanned all running processes, -ECHILD if it ended before, or -ETIME
 * after printing the error. */
static int await_ready(int ready_fd)
{
	struct pollfd ready = {.fd = ready_fd, .events = POLLIN};
	char byte;
	int count;

	do
		count = poll(&ready, 1, READY_TIMEOUT_MS);
	while (count < 0 && errno == EINTR);
	if (count == 0) {
		say("tracer record: the probe did not start in time");
		return -ETIME;
	}
	return count > 0 && read(ready_fd, &byte, 1) == 1 ? 0 : -ECHILD;
}

static pid_t probe_start(char *probe, char *file)
{
	char *argv[] = {probe, "--record", file, "--quiet", "--ready-fd", "3", NULL};
	int ready_fd = -1;
	pid_t pid = program_launch(argv, STDERR_FILENO, &ready_fd);
	int error = pid < 0 ? pid : await_ready(ready_fd);

	if (ready_fd >= 0)
		close(ready_fd);
	if (error < 0 && pid > 0) {
		kill(pid, SIGTERM);
		waitpid(pid, NULL, 0);
	}
	return error < 0 ? error : pid;
}

static int command_run(char **argv, const struct user *user, const struct child_signals *signals)
{
	struct child child;
	int error = child_start(&child, argv, user, signals);

	if (error == 0)
		return child_await(&child, signals, NULL);
	say("tracer record: cannot run %s: %s", argv[0], strerror(-error));
	return error == -ENOENT ? VERB_NOT_FOUND : VERB_CANNOT_RUN;
}

static int record_command(const struct options *options, char *probe, const struct user *user)
{
	struct child_signals signals;
	int status, probe_status = 0;
	pid_t pid;

	if (child_signals_init(&signals) < 0)
		return VERB_OURS;
	pid = probe_start(probe, options->operands[0]);
	if (pid < 0)
		return VERB_OURS; /* the error is printed */
	status = command_run(options->operands + 1, user, &signals);
	kill(pid, SIGTERM);
	while (waitpid(pid, &probe_status, 0) < 0 && errno == EINTR)
		;
	if (probe_status != 0)
		say("tracer record: the probe failed: the recording may be incomplete");
	return status;
}

static int record_main(const struct options *options)
{
	bool has_command = options->operand_count > 1;
	char probe[PATH_MAX], seconds[24];
	struct user user;
	int error;

	if (!has_command && as)
		return options_misuse(options, "--as requires a COMMAND");
	if (has_command && duration_ns > 0)
		return options_misuse(options, "--duration cannot be used with a COMMAND");
	error = as ? user_read_named(&user, as) : user_read_invoking(&user);
	if (error == -ENOENT)
		return options_misuse(options, "no such user: '%s'", as);
	if (error < 0)
		return options_misuse(options, "only root may use --as");
	if (!force && would_overwrite(options->operands[0]))
		return has_command ? VERB_OURS : VERB_FAILED;
	if (program_find(PROGRAM_PROBE, probe) < 0)
		return has_command ? VERB_OURS : VERB_FAILED;
	if (has_command)
		return record_command(options, probe, &user);
	snprintf(seconds, sizeof(seconds), "%.15g", (double)duration_ns / 1e9);
	return record_host(probe, options->operands[0], duration_ns > 0 ? seconds : NULL);
}

const struct verb verb_record = {
	.name = "record",
	.operands = "FILE [-- COMMAND...]",
	.operands_least = 1,
	.operands_most = SIZE_MAX,
	.summary = "record what the probe sees to a file",
	.description = "Writes everything that the probe sees on this host to FILE, until ^C, for TIME,\n"
		       "or while COMMAND runs. tracer replay builds a store from it, on any host.\n"
		       "Needs root; only root can read FILE (0600), because command lines in it are not\n"
		       "redacted. With COMMAND, the exit status is as for tracer run.",
	.options = option_specs,
	.examples = "  sudo tracer record problem.rec --duration 1m\n"
		    "  sudo tracer record build.rec -- make -j4",
	.completion = "file",
	.runs_command = true,
	.main = record_main,
};
