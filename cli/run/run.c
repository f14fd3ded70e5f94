/* tracer run -- COMMAND: like time(1), for everything that a command starts.
 *
 * If the daemons are running, they record the command like everything else; its run
 * is recognised by this process as its parent. We wait until it is stored and
 * show it. If no daemons are running, watch.c starts a pair for this command only. Without root, tree.c takes the
 * place of the probe, and the run is partial.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include "analysis/query/run_started.h"
#include "cli/page/page.h"
#include "cli/process/child.h"
#include "cli/process/daemons.h"
#include "cli/process/program.h"
#include "cli/report/sample_options.h"
#include "cli/report/views.h"
#include "cli/run/tree.h"
#include "cli/run/watch.h"
#include "cli/source.h"
#include "common/clock.h"
#include "common/pid_namespace.h"
#include "common/print.h"
#include "common/progress.h"
#include "correlator/store/copy.h"

#define COMMIT_TIMEOUT_MS 10000 /* for the daemons; a commit takes under a second */
#define COMMIT_POLL_MS 100
#define SETTLE_NS 400000000LL /* the stream must have advanced this far past the end */

#define KEEP_PERIOD_MS 1000

#define OWN_BYTES_MAX (256LL << 20) /* above it, the oldest runs in the user's own store are deleted */

/* The store in which the command's run is kept: of --store FILE, of $TRACER_STORE, or the user's own.
 *
 * The correlator records everything on the host in a temporary store, from which only the command's run is copied,
 * each second and as a whole in the end. The store belongs to the invoking user (0600), is accessed with that user's
 * rights and migrated if it is of an older release. */
struct keep {
	const char *path;
	bool is_own; /* the default, not asked for: a failure is only a warning */
	const struct user *user;
	struct store *store; /* NULL: the run is not kept */
	struct store *from;  /* NULL: not copied from yet */
	struct row_run run;  /* id, host and start only */
	int64_t rev;         /* of what was copied last; 0: nothing, or all */
	uint64_t copied_boot_ns;
};

static struct run {
	const struct options *options;
	struct report_style style;
	int by; /* enum report_view from REPORT_TABLE on; -1: a tree */
	const char *keep_path;
	const char *output_path;
	const char *page_path;
	const char *as;
	bool quiet;

	struct user invoking; /* owns the files */
	struct user user;     /* runs the command */
	struct child_signals signals;
	struct child child;
	struct watch watch;
	struct tree tree;  /* if the watch is partial */
	bool is_recorded;  /* by services, whose store this user cannot read */
	bool end_reported; /* a daemon's end was reported */
	struct keep keep;
	FILE *output; /* NULL if no report is printed */
	int exit_code;
} command = {.by = -1, .exit_code = VERB_OURS};

static const struct option_spec option_specs[] = {
	{"store", 0, "FILE", "file", "keep the run in FILE (yours, 0600), adding to it (else $TRACER_STORE)",
	 .text = &command.keep_path},
	{"output", 'o', "FILE", "file", "write the report to FILE, not standard error", .text = &command.output_path},
	{"report", 0, "FILE", "file", "also write the run as a page for a browser to FILE, as tracer report does",
	 .text = &command.page_path},
	OPTION_SPECS_OF_FORMAT,
	{"by", 'b', "KEY", REPORT_KEYS, REPORT_KEYS_HELP, .choice = &command.by},
	{"processes", 'p', NULL, NULL, "also show processes, below their tools", .flag = &command.style.with_processes},
	{"quiet", 'q', NULL, NULL, "print no report, only record", .flag = &command.quiet},
	{"as", 0, "USER", "user", "run COMMAND as USER (root only); files stay yours", .text = &command.as},
	OPTION_SPEC_RAW,
	OPTION_SPECS_LAST,
};

/* ---- the store in which the run is kept ---------------------------------------- */

/* Returns 0 if the command may run, or continue, without it. */
static int refuse(struct keep *keep, const char *words, int error)
{
	say("tracer run: %s%s", keep->is_own ? "the run will not be kept: " : "", words);
	return keep->is_own ? 0 : error;
}

/* Opens or creates the store. Returns 0, or -errno after printing the error. */
static int keep_begin(struct keep *keep)
{
	struct user_saved saved;
	struct store_error text;
	mode_t mask = umask(0077);
	int error = keep->is_own ? user_make_directories(keep->user, keep->path) : 0;

	snprintf(text.text, sizeof(text.text), "%s: %s", keep->path, strerror(-error));
	if (error == 0)
		error = user_enter(keep->user, &saved);
	if (error == 0) {
		error = store_open_shared(keep->path, keep->is_own ? OWN_BYTES_MAX : INT64_MAX, &keep->store, &text);
		user_leave(keep->user, &saved);
	}
	umask(mask);
	return error < 0 ? refuse(keep, text.text, error) : 0;
}

/* Copies the run, or what changed of it. Returns 0, or -errno. */
static int keep_run(struct keep *keep, struct store *from, const struct row_run *run, bool is_end)
{
	struct user_saved saved;
	int error = user_enter(keep->user, &saved);

	if (error < 0)
		return error;
	error = store_copy_run(keep->store, from, run, &keep->rev, is_end);
	if (error == 0 && is_end)
		error = store_checkpoint(keep->store);
	if (error == 0 && is_end)
		keep->rev = 0;
	user_leave(keep->user, &saved);
	return error;
}

static void keep_end(struct keep *keep)
{
	struct user_saved saved;

	if (!keep->store || user_enter(keep->user, &saved) < 0)
		return;
	store_close(keep->store);
	keep->store = NULL;
	user_leave(keep->user, &saved);
}

/* For the guard, once all others have ended: the next writer that opens the store closes the run. */
static void keep_abandon(void)
{
	if (command.keep.path && keep_begin(&command.keep) == 0)
		keep_end(&command.keep);
}

/* ---- the report -------------------------------------------------------------- */

/* Buffered, separate from stderr; opened before the command can move or replace files. */
static int output_open(struct run *run)
{
	int fd;

	if (run->quiet)
		return 0;
	if (run->output_path)
		fd = user_open(&run->invoking, run->output_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	else
		fd = fcntl(run->options->format ? STDOUT_FILENO : STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0 && run->output_path)
		return -say("tracer run: --output %s: %s", run->output_path, strerror(-fd));
	run->output = fd < 0 ? NULL : fdopen(fd, "w");
	return fd < 0 || run->output ? 0 : -ENOMEM;
}

static void report_show(struct run *run, struct store *store, const struct row_run *shown)
{
	struct sample_names *names = NULL;
	struct report report;
	struct output output;
	int error = report_load(&report, store, shown, true);

	output_init(&output, run->output, run->options->color);
	run->style.format = (enum format)run->options->format;
	run->style.view = run->by < 0 ? REPORT_TREE : REPORT_TABLE + run->by;
	if (error == 0 && run->style.view == REPORT_SAMPLES)
		error = sample_options_read(run->options, true, &names);
	if (error == 0 && run->style.view == REPORT_SAMPLES)
		error = report_load_samples(&report, names);
	if (error == 0)
		error = report_load_labels(&report);
	if (error == 0)
		error = report_print(&report, &output, &run->style);
	if (!ferror(run->output))
		source_say(store, error);
	sample_names_free(names);
	report_free(&report);
	print_finish(run->output);
}

/* Writes the page with the rights of the invoking user. Returns 0, or -errno after printing the error. */
static int page_write(struct run *run, struct store *store, const struct row_run *shown)
{
	struct engine_names *names = NULL;
	const struct report_page_request request = {
		.options = run->options,
		.names = &names,
		.verb = "run",
		.output_path = run->page_path,
		.command_bytes_max = REPORT_COMMAND_BYTES_MAX,
	};
	struct user_saved saved;
	int error = user_enter(&run->invoking, &saved);

	if (error < 0)
		return -say("tracer run: --report %s: %s", run->page_path, strerror(-error));
	error = report_page_write(store, shown, &request);
	user_leave(&run->invoking, &saved);
	engine_names_free(names);
	return source_say(store, error) == 0 ? 0 : -EIO;
}

static int run_find(const struct run *run, struct store *store, struct rows *ret_runs)
{
	/* In another PID namespace our pids are not those that the kernel side sees. */
	bool is_initial = pid_namespace_is_initial("/proc/self/ns/pid");
	const struct run_started started = {
		.pid = run->watch.is_partial || is_initial ? run->child.pid : 0,
		.user_id = run->user.uid,
		.begin_unix_ns = run->child.begin_unix_ns,
		.boot_ns = {run->child.started_boot_ns[0], run->child.started_boot_ns[1]},
		.argv = run->options->operands,
	};

	return source_say(store, run_started_find(store, &started, ret_runs));
}

/* Each second: copies what changed of the run, for those who watch it. An error is reported at the end of the run. */
static void keep_changes(void)
{
	struct keep *keep = &command.keep;
	struct store_error ignored;
	struct rows runs = {0};

	if (!keep->from && store_open_reader(command.watch.store_path, &keep->from, &ignored) < 0)
		return;
	if (source_renew(keep->from) < 0)
		return;
	if (keep->run.id == 0 && run_find(&command, keep->from, &runs) == 0 && runs.count > 0) {
		keep->run = *ROWS_ITEM(&runs, run, 0);
		keep->run.end_boot_ns = ROW_NULL;
	}
	rows_free(&runs); /* with its texts, which are not used */
	if (keep->run.id != 0)
		keep_run(keep, keep->from, &keep->run, false);
	store_end_reading(keep->from);
}

/* Shows the command's run, and keeps it if requested. Returns 0, or -errno after printing the error. */
static int report_from(struct run *run, const char *store_path)
{
	struct options reading = *run->options;
	struct rows runs = {0};
	struct store *store;
	int error;

	if (!run->output && !run->keep.store && !run->page_path)
		return 0;
	reading.store_path = store_path;
	store = source_open(&reading);
	if (!store)
		return -EIO;
	error = run_find(run, store, &runs);
	if (error == 0 && runs.count == 0) {
		say("tracer run: the command's run is not in %s: see tracer status", store_path);
		error = -ENOENT;
	}
	if (error == 0 && run->keep.store)
		error = keep_run(&run->keep, store, ROWS_ITEM(&runs, run, 0), true);
	if (error < 0 && runs.count > 0)
		error = refuse(&run->keep, store_error_text(run->keep.store), error);
	if (runs.count > 0 && run->output)
		report_show(run, store, runs.items);
	if (runs.count > 0 && run->page_path && page_write(run, store, runs.items) < 0)
		error = -EIO;
	rows_free(&runs);
	source_close(store);
	return error;
}

/* `is_asked`: what was asked for beyond a report on the terminal must not fail unnoticed. */
static void report_end(struct run *run, const char *store_path, bool is_asked)
{
	if (report_from(run, store_path) < 0 && is_asked && run->exit_code == 0)
		run->exit_code = VERB_OURS;
}

/* ---- waiting ----------------------------------------------------------------- */

/* Whether the daemons' store has the run's end and everything recorded with it. */
static bool run_is_stored(const struct run *run, struct store *store)
{
	struct store_stream stream;
	struct rows runs = {0};
	bool stored = false;

	if (run_find(run, store, &runs) < 0 || store_read_stream(store, &stream) < 0)
		return false;
	if (runs.count > 0) {
		int64_t end = ROWS_ITEM(&runs, run, 0)->root_end_boot_ns;

		stored = end != ROW_NULL && (int64_t)stream.committed_boot_ns > end + SETTLE_NS;
	}
	rows_free(&runs);
	return stored;
}

static void await_stored(struct run *run)
{
	struct pollfd wake = {.fd = run->signals.fd, .events = POLLIN};
	struct store *store = source_open(run->options);
	int waited_ms = 0, error = 0;

	while (store && error == 0 && !run_is_stored(run, store)) {
		if (waited_ms >= COMMIT_TIMEOUT_MS) {
			progress_hide();
			fprintf(stderr,
				"tracer run: the daemons have not stored the end of the run "
				"after %d s: see tracer status\n",
				COMMIT_TIMEOUT_MS / 1000);
			break;
		}
		progress_show("tracer: waiting for the last records");
		if (poll(&wake, 1, COMMIT_POLL_MS) == 1)
			break; /* a signal that arrived after the command has ended */
		waited_ms += COMMIT_POLL_MS;
		error = source_say(store, source_renew(store));
	}
	progress_hide();
	source_close(store);
}

/* ---- the command ------------------------------------------------------------- */

/* Reports each daemon that has ended unexpectedly. */
static void daemons_report(const struct run *run, const char *what)
{
	for (int role = 0; role < WATCH_NEEDED_COUNT; role++) {
		const struct watch_daemon *daemon = &run->watch.daemons[role];
		char words[512];

		if (daemon->log_fd < 0 || daemon->pid || (daemon->stopping && daemon->status == 0))
			continue;
		program_log_tail(daemon->log_fd, words, sizeof(words));
		fprintf(stderr, "tracer run: %s %s%s%s\n", watch_name(role), what, *words ? ": " : "", words);
	}
}

/* What is to be done while the command runs. Returns in how many ms there is more. */
static int work(void)
{
	struct keep *keep = &command.keep;
	int wait_ms = command.watch.is_partial ? tree_scan(&command.tree, &command.child) : KEEP_PERIOD_MS;

	if (!keep->copied_boot_ns)
		keep->copied_boot_ns = clock_boot_ns();
	if (keep->store && clock_boot_ns() >= keep->copied_boot_ns + KEEP_PERIOD_MS * UINT64_C(1000000)) {
		keep_changes();
		keep->copied_boot_ns = clock_boot_ns();
	}
	return wait_ms;
}

/* Waits until the command has ended, even if the daemons end. */
static void command_await(struct run *run)
{
	bool has_work = run->watch.is_partial || run->keep.store;

	run->exit_code = child_await(&run->child, &run->signals, has_work ? work : NULL);
	source_close(run->keep.from);
	/* If the reader of the report goes away, the run is still stored and the exit status kept. */
	signal(SIGPIPE, SIG_IGN);
	/* Discards signals that the terminal sent to us as well: they are not meant to stop the report. */
	while (child_forward_signal(&(struct child){0}, &run->signals))
		;
}

static int command_run(struct run *run)
{
	char **argv = run->options->operands;
	int error = child_start(&run->child, argv, &run->user, &run->signals);

	if (error == 0) {
		command_await(run);
		return 0;
	}
	say("tracer run: cannot run %s: %s", argv[0],
	    error == -ENOENT && !strchr(argv[0], '/') ? "not found in PATH" : strerror(-error));
	run->exit_code = error == -ENOENT ? VERB_NOT_FOUND : VERB_CANNOT_RUN;
	return error;
}

/* ---- with daemons of our own ------------------------------------------------- */

static int watch_end(struct run *run)
{
	int error;

	if (run->watch.is_partial)
		tree_end(&run->tree, run->child.status, &run->child.used);
	progress_show("tracer: storing the last records");
	error = watch_stop(&run->watch, run->signals.fd);
	progress_hide();
	if (error == -EINTR)
		fprintf(stderr, "tracer run: interrupted: no report\n");
	else if (error == -ETIME)
		fprintf(stderr, "tracer run: the daemons did not exit: no report\n");
	else if (error == -EPIPE && !run->end_reported)
		daemons_report(run, "failed while exiting: the last records may be missing below");
	return error == -EPIPE ? 0 : error;
}

/* Says once that the run will not be whole, and how it would be. */
static void partial_say(const struct run *run)
{
	fputs("tracer run: partial, without a probe: processes too short to be seen are only summed up, and other\n"
	      "figures are lower bounds. ",
	      stderr);
	if (run->is_recorded)
		fprintf(stderr, "The services record all, but you cannot read %s: ask to be added to its group.\n",
			options_store_path(run->options));
	else
		fputs("For all of it: sudo tracer run, or install the services.\n", stderr);
}

/* Returns 0 or -errno after printing the error. */
static int tree_start(struct run *run)
{
	int error = tree_begin(&run->tree, run->watch.socket_path);

	if (error < 0)
		return -say("tracer run: cannot connect to its correlator: %s", strerror(-error));
	run->tree.own[0] = run->watch.guard_pid;
	run->tree.own[1] = run->watch.daemons[WATCH_CORRELATOR].pid;
	run->tree.own[2] = run->watch.daemons[WATCH_SAMPLER].pid;
	if (!run->quiet)
		partial_say(run);
	return 0;
}

static void watched_command(struct run *run)
{
	int error = run->keep.path ? keep_begin(&run->keep) : 0;

	if (error == 0)
		error = watch_start(&run->watch, run->signals.fd);
	if (error == 0 && run->watch.is_partial)
		error = tree_start(run);
	if (error < 0)
		return; /* the error is printed; exit_code is VERB_OURS */
	if (command_run(run) < 0)
		return;
	run->end_reported = watch_check(&run->watch);
	if (run->end_reported)
		daemons_report(run, "ended while the command ran: later records are missing below");
	if (watch_end(run) < 0)
		return;
	report_end(run, run->watch.store_path, run->page_path || (run->keep.store && !run->keep.is_own));
}

static int run_watched(struct run *run)
{
	run->keep.user = &run->invoking;
	run->keep.path = run->keep_path;
	if (!run->keep.path) {
		run->keep.path = *user_store_path() ? user_store_path() : NULL;
		run->keep.is_own = true;
	}
	if (watch_init(&run->watch, run->user.uid, !watch_may_probe(), keep_abandon) == 0)
		watched_command(run);
	keep_end(&run->keep);
	if (run->keep.rev) /* interrupted */
		keep_abandon();
	watch_remove(&run->watch);
	return run->exit_code;
}

/* ---- with the host's daemons ------------------------------------------------- */

static int run_marked(struct run *run)
{
	if (command_run(run) < 0)
		return run->exit_code;
	if (!run->output && !run->page_path)
		return run->exit_code;
	await_stored(run);
	report_end(run, options_store_path(run->options), run->page_path);
	return run->exit_code;
}

static int prepare(struct run *run)
{
	int error = user_read_invoking(&run->invoking);

	run->user = run->invoking;
	if (error == 0 && run->as)
		error = user_read_named(&run->user, run->as);

	if (error == -ENOENT)
		return options_misuse(run->options, "no such user: '%s'", run->as);
	if (error == -EPERM)
		return options_misuse(run->options, "only root may use --as");
	if (error == 0)
		error = output_open(run);
	if (error == 0)
		error = child_signals_init(&run->signals);
	return error < 0 ? VERB_OURS : 0;
}

static int run_main(const struct options *options)
{
	struct options own = *options;
	enum freshness freshness;
	int status;

	/* The run is recorded on this host, so it is read here, even if $TRACER_LAKE is set. */
	own.store_path = options_services_store_path(options);
	command.options = &own;
	command.style.raw = options->raw;
	status = prepare(&command);
	if (status)
		return status;
	freshness = command.keep_path ? FRESHNESS_STALE : freshness_read(own.store_path);
	if (!command.keep_path)
		command.keep_path = options_named_store_path(options);
	command.is_recorded = freshness == FRESHNESS_UNREADABLE && !options_is_served();
	if (command.is_recorded && (command.output || command.page_path))
		freshness = FRESHNESS_STALE;
	status = freshness == FRESHNESS_STALE ? run_watched(&command) : run_marked(&command);
	if (command.output)
		fclose(command.output);
	return status;
}

const struct verb verb_run = {
	.name = "run",
	.operands = "COMMAND [ARGUMENT...]",
	.operands_least = 1,
	.operands_most = SIZE_MAX,
	.summary = "run a command and show what it started and used, like time",
	.description = "Runs COMMAND in the foreground, then prints the run on standard error (as JSON:\n"
		       "on standard output): its tasks, their tools, and what each used. Nothing\n"
		       "changes for COMMAND: terminal, signals, descriptors, directory and exit status\n"
		       "are as without tracer. Under sudo, COMMAND runs as the user who called sudo.\n"
		       "\n"
		       "If the tracer daemons are running, they record the run and keep it in their\n"
		       "store. Otherwise, or with --store, a probe and a correlator are started for\n"
		       "COMMAND alone and end with it. Without root there is no probe, and the run is\n"
		       "partial: CPU time in total is exact, short processes are only summed up.",
	.options = option_specs,
	.examples = "  sudo tracer run -- make -j4\n"
		    "  tracer run --report run.html -- ./job.sh\n"
		    "  sudo tracer run --store runs.db -- nextflow run main.nf\n"
		    "  sudo tracer run --report run.html -- snakemake -j 8\n"
		    "  sudo tracer run --json --output run.json -- ./pipeline.sh",
	.completion = "command",
	.takes_command = true,
	.main = run_main,
};
