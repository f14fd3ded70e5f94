/* See worker.h. */
#include "cli/serve/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/serve/openapi.h"
#include "cli/serve/rows.h"
#include "cli/source.h"
#include "common/log.h"

#define MEMORY_BYTES_MAX (4ULL << 30) /* address space, of which little is used */
#define TEXT_BYTES_MAX (128ULL << 20)
#define PROCESSOR_S_MAX 60

static void limits_set(void)
{
	const struct {
		int resource;
		rlim_t most;
	} limits[] = {{RLIMIT_AS, MEMORY_BYTES_MAX},
		      {RLIMIT_FSIZE, TEXT_BYTES_MAX},
		      {RLIMIT_CPU, PROCESSOR_S_MAX},
		      {RLIMIT_CORE, 0}};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const struct rlimit limit = {limits[i].most, limits[i].most};

#ifdef __SANITIZE_ADDRESS__
		if (limits[i].resource == RLIMIT_AS) /* its shadow memory is larger */
			continue;
#endif
		setrlimit(limits[i].resource, &limit);
	}
}

/* Leaves nothing of the server's: no connection, no signal handler, and no life after it. */
static int leave_server(pid_t server, int output, int errors)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != server)
		return -ESRCH;
	for (int number = 1; number < NSIG; number++)
		signal(number, number == SIGPIPE ? SIG_IGN : SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(output, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0)
		return -errno;
	return close_range(STDERR_FILENO + 1, ~0U, 0) < 0 ? -errno : 0;
}

static int answer(const struct route_command *command, const struct scope *scope)
{
	const struct verb *verb = command->route->verb ? verb_find(command->route->verb) : NULL;
	int status;

	if (!scope->everything)
		source_restrict(scope->uid);
	switch (command->route->kind) {
	case ROUTE_OPENAPI: return openapi_print() < 0 ? VERB_FAILED : VERB_OK;
	case ROUTE_ROWS: verb = &rows_verb; /* fall through */
	default:
		status = verb ? verb_main(verb, command->word_count, (char **)command->words) : VERB_USAGE;
		return status == VERB_FAILED && source_is_missing() ? WORKER_NO_STORE : status;
	}
}

pid_t worker_start(const struct route_command *command, const struct scope *scope, int output, int errors)
{
	pid_t server = getpid(), child = fork();
	int status;

	if (child != 0)
		return child < 0 ? -errno : child;
	if (leave_server(server, output, errors) < 0)
		_exit(VERB_FAILED);
	limits_set();
	log_init("tracer", LOG_LEVEL_ERROR);
	status = answer(command, scope);
	if (fflush(stdout) != 0)
		status = VERB_FAILED;
	_exit(status);
}
