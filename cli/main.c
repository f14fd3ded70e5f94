/* tracer: shows what ran on this host, and watches a command.
 *
 * There is one file per verb; this one dispatches to them. They read the store that
 * tracer-correlator writes; only `tracer run` and `tracer record` record anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

#include "cli/source.h"
#include "common/print.h"

#define V(name) &verb_##name,
const struct verb *const verbs[] = {VERBS(V) NULL};
#undef V

const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; verbs[i]; i++)
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	return NULL;
}

int verb_main(const struct verb *verb, int argc, char **argv)
{
	struct options options;
	int status;

	if (verb->choose)
		verb = verb->choose(verb, argc, argv);
	if (!verb)
		return VERB_FAILED;
	if (!options_read(&options, verb, argc, argv, &status))
		return status;
	return verb->show ? source_show(&options, verb->show) : verb->main(&options);
}

/* A standard descriptor that the caller closed must not be reused for the store: output
 * would be written into it. The replacements fail reads from stdin and writes to the others,
 * and are closed again in a command that `tracer run` starts. */
static int descriptors_fill(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
			return -EBADF;
	}
	return 0;
}

/* Returns the number of words that --lake takes with its URL, or 0 if `word` is not --lake. */
static int lake_words(const char *word)
{
	return strcmp(word, "--lake") == 0 ? 2 : strncmp(word, "--lake=", strlen("--lake=")) == 0;
}

static int unknown_verb(const char *name)
{
	if (lake_words(name) > 0)
		say("tracer: --lake takes a URL, followed by a command (see tracer help)");
	else
		say("tracer: unknown %s '%s' (see tracer help)", *name == '-' ? "option" : "command", name);
	return VERB_USAGE;
}

/* Rewrites `tracer --lake URL VERB` as `tracer VERB --lake URL`: the verb knows whether a lake
 * can answer it. */
static void lake_move(int argc, char **argv)
{
	int words = argc > 1 ? lake_words(argv[1]) : 0;
	char *verb = words > 0 && argc > words + 1 ? argv[words + 1] : NULL;

	if (!verb)
		return;
	memmove(&argv[2], &argv[1], (size_t)words * sizeof(*argv));
	argv[1] = verb;
}

static int act(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const struct verb *verb = verb_find(name);

	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		printf("tracer %s\n", TRACER_VERSION);
		return VERB_OK;
	}
	if (argc < 2 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return verb_main(&verb_help, 1, (char *[]){"help", NULL}) || argc < 2 ? VERB_USAGE : VERB_OK;
	return verb ? verb_main(verb, argc - 1, argv + 1) : unknown_verb(name);
}

int main(int argc, char **argv)
{
	int status;

	lake_move(argc, argv);
	if (descriptors_fill() < 0)
		return VERB_FAILED;
	setlocale(LC_CTYPE, ""); /* for characters and their widths; not for numbers */
	status = act(argc, argv);
	return print_finish(stdout) < 0 ? VERB_FAILED : status; /* unwritten output is a failure */
}
