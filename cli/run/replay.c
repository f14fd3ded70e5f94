/* tracer replay FILE: builds a store from a recording and lists its runs. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/process/program.h"

static const char *keep, *rules;

static const struct option_spec option_specs[] = {
	{"store", 0, "FILE", "file", "keep the store in FILE, adding to it if it exists", .text = &keep},
	{"rules", 'r', "DIR", "directory", "use the site rules in DIR", .text = &rules},
	OPTION_SPECS_OF_FORMAT,
	OPTION_SPECS_LAST,
};

static int correlator_replay(const char *file, const char *store)
{
	char path[PATH_MAX];
	const char *argv[] = {path,       "--replay", file,          "--store", store,
			      "--retain", "0",        "--log-level", "warning", rules ? "--rules" : NULL,
			      rules,      NULL};
	int status;

	if (program_find(PROGRAM_CORRELATOR, path) < 0)
		return VERB_FAILED;
	status = program_run((char *const *)argv);
	if (status == 0)
		return VERB_OK;
	if (status < 0 || WIFSIGNALED(status))
		say("tracer replay: %s failed", PROGRAM_CORRELATOR);
	return VERB_FAILED;
}

static int runs_list(const struct options *options, const char *store)
{
	static const char *const colors[] = {"auto", "always", "never"};
	static const char *const formats[] = {"table", "json", "ndjson", "csv"};
	/* clang-format off */
	const char *argv[] = {"runs", "--all", "--limit", "0", "--store", store, "--color", colors[options->color],
			      "--format", formats[options->format], NULL};
	/* clang-format on */

	return verb_main(&verb_runs, 10, (char **)argv);
}

static void store_remove(const char *directory, const char *store)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", store, suffixes[i]);
		unlink(path);
	}
	rmdir(directory);
}

static int replay_for_now(const struct options *options)
{
	const char *parent = getenv("TMPDIR");
	char directory[PATH_MAX / 2], store[PATH_MAX];
	int status;

	snprintf(directory, sizeof(directory), "%s/tracer-replay-XXXXXX", parent && *parent ? parent : "/tmp");
	if (!mkdtemp(directory))
		return say("tracer replay: cannot create a directory in $TMPDIR: %s", strerror(errno));
	snprintf(store, sizeof(store), "%s/tracer.db", directory);
	status = correlator_replay(options->operands[0], store);
	if (status == VERB_OK)
		status = runs_list(options, store);
	store_remove(directory, store);
	if (status == VERB_OK && isatty(STDERR_FILENO))
		fprintf(stderr, "tracer replay: to keep the store for tracer show, use --store FILE\n");
	return status;
}

static int replay_main(const struct options *options)
{
	int status;

	if (!keep)
		return replay_for_now(options);
	status = correlator_replay(options->operands[0], keep);
	return status == VERB_OK ? runs_list(options, keep) : status;
}

const struct verb verb_replay = {
	.name = "replay",
	.operands = "FILE",
	.operands_least = 1,
	.operands_most = 1,
	.summary = "build a store from a recording and list its runs",
	.description = "Feeds a recording of tracer record to the correlator in place of a probe, and\n"
		       "lists the resulting runs. The same recording and rules give the same store.\n"
		       "Without --store, nothing is kept. Needs only permission to read FILE.",
	.options = option_specs,
	.examples = "  tracer replay build.rec\n"
		    "  tracer replay build.rec --store build.db && tracer show --store build.db",
	.completion = "file",
	.main = replay_main,
};
