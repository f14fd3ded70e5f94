/* tracer top: tasks and tools that are running, with their current usage.
 *
 * Like all verbs it reads the store: figures are those of the probe's latest process
 * scans, at most a few seconds old, and of the processes that have ended since.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "analysis/query/live.h"
#include "analysis/query/report.h"
#include "analysis/query/units.h"
#include "cli/process/daemons.h"
#include "cli/report/living.h"
#include "cli/screen/table.h"
#include "cli/source.h"
#include "common/clock.h"
#include "common/progress.h"

#define WINDOW_NS 3500000000LL /* "now": a few process scans */
#define PROCESSES_MAX 20000
#define CORES_LEAST 5000000                  /* billionths: less is shown as 0.00 */
#define WARNINGS_MAX 5                       /* on a screen */
#define LIVE_PERIOD_NS UINT64_C(10000000000) /* warnings and expected ends change slowly */

enum sort_key { SORT_CPU, SORT_MEMORY, SORT_READ, SORT_WRITE, SORT_GPU, SORT_GPU_MEMORY };

static const char *const sort_names[] = {"cpu", "memory", "read", "write", "gpu", "gpu-memory"};

static int sort; /* enum sort_key */
static bool all, once;
static int64_t limit;
static int64_t period_ns = 1000000000;

static const struct option_spec option_specs[] = {
	{"once", '1', NULL, NULL, "print one snapshot and exit", .flag = &once},
	{"sort", 0, "KEY", "cpu memory read write gpu gpu-memory",
	 "sort by cpu, memory, read, write, gpu or gpu-memory", .choice = &sort},
	{"all", 'a', NULL, NULL, "include idle tools and the system's own", .flag = &all},
	OPTION_SPEC_HOST("show this host, if a lake has several"),
	OPTION_SPEC_USER("show tools of USER (name or number)"),
	{"limit", 'n', "N", NULL, "show at most N lines (0: all, the default)", .number = &limit, .most = INT32_MAX},
	{"period", 0, "TIME", NULL, "refresh interval (1s)", .duration_ns = &period_ns, .least = 1000000000},
	OPTION_SPECS_OF_VIEW,
};

/* Each line is a tool of a task, or the sum of all ended tools of the same name in a run. */
struct snapshot {
	struct rows lines;
	int64_t process_count, memory_bytes, cores; /* of all, shown or not */
	int64_t gpus, gpu_memory_bytes;             /* likewise; ROW_NULL: no sampler reports them */
	int64_t lag_ns;
	int64_t now_boot_ns;
	int64_t rev; /* the store's; ROW_NULL: unknown */
	const struct live *live;
};

#define SNAPSHOT_LINE(snapshot, index) ROWS_ITEM(&(snapshot)->lines, top, index)

/* ---- a snapshot -------------------------------------------------------------- */

static int64_t sort_value(const struct row_top *line)
{
	const int64_t values[] = {
		[SORT_CPU] = line->cores,
		[SORT_MEMORY] = line->memory_bytes,
		[SORT_READ] = line->read_bytes_per_second,
		[SORT_WRITE] = line->write_bytes_per_second,
		[SORT_GPU] = line->gpus,
		[SORT_GPU_MEMORY] = line->gpu_memory_bytes,
	};

	return values[sort];
}

static int compare_lines(const void *left, const void *right)
{
	const struct row_top *a = left, *b = right;
	int64_t first = sort_value(a), second = sort_value(b);

	if (first != second)
		return first > second ? -1 : 1;
	return a->tool_id < b->tool_id ? -1 : a->tool_id > b->tool_id;
}

/* Determines "now": in a lake it differs between hosts, a store has a single host. */
static int now_find(const struct view *view, struct snapshot *snapshot, struct store_parameter *ret_host_id)
{
	const struct row_host *host = NULL;
	struct store *store = view->store;
	struct store_stream stream;
	struct rows hosts = {0};
	int error = rows_load(&hosts, &row_type_cloud_host, store, "hosts", NULL);

	rows_keep_host(&hosts, view->options->host);
	if (error == 0 && hosts.count > 1)
		error = say("tracer top: there are %zu hosts: choose one with --host (see tracer status)", hosts.count);
	else if (error == 0 && hosts.count == 1)
		host = &ROWS_ITEM(&hosts, cloud_host, 0)->host;
	if (error == 0) {
		snapshot->now_boot_ns = report_now_boot_ns(store, host);
		if (store_read_stream(store, &stream) == 0) {
			snapshot->lag_ns = freshness_lag_ns(&stream);
			snapshot->rev = (int64_t)stream.rev;
		} else if (host) {
			snapshot->lag_ns = row_subtract((int64_t)clock_unix_ns(), host->last_seen_unix_ns);
		}
		if (snapshot->now_boot_ns == ROW_NULL)
			snapshot->now_boot_ns = 0;
		ret_host_id->type = host ? STORE_INTEGER : STORE_NULL;
		ret_host_id->integer = host ? host->id : 0;
	}
	rows_free(&hosts);
	return error;
}

/* Without --all, hides the system's own, what is idle and holds no GPU memory, or has ended and used too little to be visible. */
static bool line_is_shown(const struct row_top *line, const struct options *options)
{
	bool is_negligible = line->process_count == 0 && line->cores < CORES_LEAST && line->gpus < CORES_LEAST &&
			     line->read_bytes_per_second < 1 && line->write_bytes_per_second < 1;

	if (options->user_id != ROW_NULL && line->user_id != options->user_id)
		return false;
	return all || (!line->is_system && (line->gpu_memory_bytes > 0 || !(line->idle || is_negligible)));
}

/* Sums up all lines, and keeps those that are shown. */
static void lines_choose(struct snapshot *snapshot, const struct options *options)
{
	size_t count = snapshot->lines.count;

	snapshot->lines.count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct row_top *line = SNAPSHOT_LINE(snapshot, i);

		snapshot->process_count += line->process_count;
		snapshot->memory_bytes = row_add_known(snapshot->memory_bytes, line->memory_bytes);
		snapshot->cores = row_add(snapshot->cores, line->cores);
		snapshot->gpus = row_add_known(snapshot->gpus, line->gpus);
		snapshot->gpu_memory_bytes = row_add_known(snapshot->gpu_memory_bytes, line->gpu_memory_bytes);
		if (line_is_shown(line, options))
			*SNAPSHOT_LINE(snapshot, snapshot->lines.count++) = *line;
	}
}

struct whose {
	int64_t host_id, user_id; /* ROW_NULL: any */
};

static bool is_wanted(int64_t host_id, int64_t run_id, int64_t user_id, const void *data)
{
	const struct whose *whose = data;

	(void)run_id;
	return (whose->host_id == ROW_NULL || whose->host_id == host_id) &&
	       (whose->user_id == ROW_NULL || whose->user_id == user_id);
}

/* What is known about the runs, renewed now and then. */
static int live_renew(const struct view *view, const struct store_parameter *host, struct snapshot *snapshot)
{
	static struct live live;
	static uint64_t next_boot_ns;
	const struct whose whose = {host->type == STORE_INTEGER ? host->integer : ROW_NULL, view->options->user_id};
	int error = 0;

	snapshot->live = &live;
	if (clock_boot_ns() < next_boot_ns)
		return 0;
	next_boot_ns = clock_boot_ns() + LIVE_PERIOD_NS;
	live_free(&live);
	error = live_load(&live, view->store);
	live_keep(&live, is_wanted, &whose);
	return error;
}

static int snapshot_take(const struct view *view, struct snapshot *snapshot)
{
	struct store_parameter parameters[] = {
		{"since_boot_ns", STORE_INTEGER, 0, NULL},     {"window_ns", STORE_INTEGER, WINDOW_NS, NULL},
		{"limit", STORE_INTEGER, PROCESSES_MAX, NULL}, {"host_id", STORE_NULL, 0, NULL},
		{"written_rev", STORE_NULL, 0, NULL},          {0},
	};
	int error = source_renew(view->store);

	*snapshot =
		(struct snapshot){.lag_ns = INT64_MAX, .rev = ROW_NULL, .gpus = ROW_NULL, .gpu_memory_bytes = ROW_NULL};
	if (error == 0)
		error = now_find(view, snapshot, &parameters[3]);
	if (error)
		return error;
	parameters[0].integer = snapshot->now_boot_ns - WINDOW_NS;
	/* Who sees only their own rows would search those of all others for the last sample of theirs. */
	if (store_is_restricted(view->store) && snapshot->rev != ROW_NULL)
		parameters[4] = (struct store_parameter)STORE_INT("written_rev", snapshot->rev - PROCESSES_MAX);
	error = rows_load(&snapshot->lines, &row_type_top, view->store, "top", parameters);
	if (snapshot->lines.count)
		qsort(snapshot->lines.items, snapshot->lines.count, sizeof(struct row_top), compare_lines);
	lines_choose(snapshot, view->options);
	return error < 0 ? error : live_renew(view, &parameters[3], snapshot);
}

/* ---- as text ----------------------------------------------------------------- */

static const struct table_column columns[] = {
	{"tool", TABLE_LEFT, 20, 0},
	{"task", TABLE_LEFT, 0, 5, false, 28},
	{"run", TABLE_LEFT, 0, 2, false, 28},
	{"user", TABLE_LEFT, 0, 3, false, 12},
	{"processes", TABLE_RIGHT, 0, 6},
	{"ended", TABLE_RIGHT, 0, 6, true},
	{"for", TABLE_RIGHT, 0, 4},
	{"run ends in", TABLE_LEFT, 0, 3, true},
	{"cores", TABLE_RIGHT, 0, 0},
	{"memory", TABLE_RIGHT, 0, 0},
	{"GPUs", TABLE_RIGHT, 0, 0, true},
	{"GPU memory", TABLE_RIGHT, 0, 1, true},
	{"read", TABLE_RIGHT, 0, 1},
	{"written", TABLE_RIGHT, 0, 1},
	{"largest file read, ends in", TABLE_LEFT, 0, 2, true},
};

static void line_print(const struct snapshot *snapshot, const struct row_top *line, bool raw, struct table *table)
{
	char text[UNITS_SIZE], gpus[UNITS_SIZE] = "-";

	table_add_name(table, STYLE_TITLE, "", line->tool);
	snprintf(text, sizeof(text), "%lld tasks", (long long)line->tool_count);
	table_add_name(table, STYLE_PLAIN, "", line->tool_count > 1 ? text : line->task);
	table_add_name(table, STYLE_PLAIN, "", line->run);
	table_add_name(table, STYLE_PLAIN, "", units_user(line->user_id));
	snprintf(text, sizeof(text), "%.2f", (double)line->cores / 1e9);
	if (line->gpus != ROW_NULL)
		snprintf(gpus, sizeof(gpus), "%.2f", (double)line->gpus / 1e9);
	table_add_all(table, units_count(line->process_count, raw), units_count(line->ended_count, raw),
		      units_duration(row_subtract(snapshot->now_boot_ns, line->begin_boot_ns), raw),
		      living_ends_in(live_end_of(snapshot->live, line->run_id), raw), text,
		      units_bytes(line->memory_bytes, raw), gpus, units_bytes(line->gpu_memory_bytes, raw),
		      units_rate(line->read_bytes_per_second, raw), units_rate(line->write_bytes_per_second, raw),
		      living_progress(live_progress_of(snapshot->live, line->tool_id), raw), NULL);
}

static bool snapshot_has_gpus(const struct snapshot *snapshot)
{
	return snapshot->gpus != ROW_NULL || snapshot->gpu_memory_bytes != ROW_NULL;
}

static void summary_print(const struct snapshot *snapshot, const struct output *whole)
{
	struct output_flow flow;
	const struct output *output = &flow.inner;

	output_flow_begin(&flow, whole);
	output_print(output, STYLE_TITLE, "%s, %.2f cores busy, %s of memory in busy tools",
		     units_counted(snapshot->process_count, false, "process", "processes"),
		     (double)snapshot->cores / 1e9, units_bytes(snapshot->memory_bytes, false));
	if (snapshot->gpus != ROW_NULL)
		output_print(output, STYLE_TITLE, ", %.2f GPUs busy", (double)snapshot->gpus / 1e9);
	if (snapshot->gpu_memory_bytes != ROW_NULL)
		output_print(output, STYLE_TITLE, ", %s of GPU memory", units_bytes(snapshot->gpu_memory_bytes, false));
	if (snapshot->lag_ns >= FRESHNESS_LIMIT_NS)
		output_print(output, STYLE_BAD, "  no new data is being stored: see tracer status");
	fputc('\n', output->file);
	if (!once)
		output_print(output, STYLE_DIM,
			     "by %s: c cpu, m memory, r read, w written%s; i %s idle; "
			     "q quits\n",
			     sort_names[sort], snapshot_has_gpus(snapshot) ? ", g GPUs, G GPU memory" : "",
			     all ? "hides" : "shows");
	fputc('\n', output->file);
	output_flow_end(&flow, 0);
	if (snapshot->live->warning_count == 0)
		return;
	living_print_warnings(snapshot->live, whole, once ? SIZE_MAX : WARNINGS_MAX);
	fputc('\n', whole->file);
}

/* Prints at most `most` lines of the table. */
static int snapshot_print(const struct view *view, const struct snapshot *snapshot, const struct output *output,
			  size_t most)
{
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	size_t count = snapshot->lines.count;
	int error;

	summary_print(snapshot, output);
	for (size_t i = 0; i < count && i < most; i++)
		line_print(snapshot, SNAPSHOT_LINE(snapshot, i), view->options->raw, table);
	error = count ? table_print(table, output, NULL) : 0;
	if (!count)
		fputs(all ? "Nothing is running.\n" : "Nothing is busy.\n", output->file);
	table_free(table);
	return error;
}

static json_t *line_to_json(const struct row_top *line)
{
	json_t *object = row_to_json(&row_type_top, line);

	json_object_set_new(object, "idle", json_boolean(line->idle));
	json_object_set_new(object, "cores", json_real((double)line->cores / 1e9));
	if (line->gpus != ROW_NULL)
		json_object_set_new(object, "gpus", json_real((double)line->gpus / 1e9));
	json_object_del(object, "tool_count");
	json_object_del(object, "is_system");
	return object;
}

static int snapshot_write(const struct snapshot *snapshot, enum format format, size_t most)
{
	json_t *array = json_array(), *root = json_object();

	for (size_t i = 0; i < snapshot->lines.count && i < most; i++)
		json_array_append_new(array, line_to_json(SNAPSHOT_LINE(snapshot, i)));
	json_set_integer(root, "boot_ns", snapshot->now_boot_ns);
	json_set_integer(root, "lag_ns", snapshot->lag_ns == INT64_MAX ? ROW_NULL : snapshot->lag_ns);
	json_object_set_new(root, "tools", array);
	json_object_set_new(root, "expected_ends", live_ends_to_json(snapshot->live));
	json_object_set_new(root, "progress", live_progress_to_json(snapshot->live));
	json_object_set_new(root, "warnings", live_warnings_to_json(snapshot->live));
	return document_print(root, "tools", line_to_json(&(const struct row_top){0}), format);
}

static int show_once(struct view *view)
{
	size_t most = limit ? (size_t)limit : SIZE_MAX;
	struct snapshot snapshot;
	int error = snapshot_take(view, &snapshot);

	if (error)
		return error;
	error = view->options->format ? snapshot_write(&snapshot, view->options->format, most)
				      : snapshot_print(view, &snapshot, &view->output, most);
	if (error == 0)
		say_cut(most, snapshot.lines.count, "tools");
	rows_free(&snapshot.lines);
	return error;
}

/* ---- live -------------------------------------------------------------------- */

static volatile sig_atomic_t ended;

static void on_signal(int signal)
{
	if (signal != SIGWINCH) /* which only wakes us up */
		ended = 1;
}

static void signals_catch(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};
	const struct sigaction action = {.sa_handler = on_signal};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
}

/* One write per frame: no flicker, and no line longer than the screen. */
static int frame_draw(const struct view *view, const struct snapshot *snapshot)
{
	struct output frame = view->output;
	struct winsize size;
	char *text = NULL;
	size_t length = 0;
	int error;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0)
		size.ws_row = 24;
	frame.file = open_memstream(&text, &length);
	if (!frame.file)
		return -ENOMEM;
	error = snapshot_print(view, snapshot, &frame, size.ws_row);
	fclose(frame.file);
	fputs("\033[H", stdout);
	for (char *line = text; line && *line && size.ws_row > 1; size.ws_row--) {
		char *end = strchrnul(line, '\n');

		printf("%.*s\033[K%s", (int)(end - line), line, *end ? "\r\n" : "");
		line = *end ? end + 1 : end;
	}
	fputs("\033[J", stdout);
	free(text);
	return fflush(stdout) == 0 ? error : -EIO;
}

static void key_take(char key)
{
	static const char sort_keys[] = "cmrwgG"; /* in the order of the enum */
	const char *found = key ? strchr(sort_keys, key) : NULL;

	if (found)
		sort = (int)(found - sort_keys);
	else if (key == 'i')
		all = !all;
	else if (key == 'q' || key == 3) /* ^C if the terminal does not send a signal */
		ended = 1;
}

static int live_loop(struct view *view)
{
	struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
	struct snapshot snapshot;
	int error = 0;
	char key;

	while (!ended && error == 0) {
		error = snapshot_take(view, &snapshot);
		if (error)
			break;
		output_measure(&view->output);
		error = frame_draw(view, &snapshot);
		rows_free(&snapshot.lines);
		if (poll(&keys, 1, period_ns / 1000000 < INT_MAX ? (int)(period_ns / 1000000) : INT_MAX) == 1) {
			if (read(STDIN_FILENO, &key, 1) != 1)
				break; /* the terminal is gone */
			key_take(key);
		}
	}
	return error;
}

static int show_live(struct view *view)
{
	struct termios saved, raw;
	int error;

	if (tcgetattr(STDIN_FILENO, &saved) < 0)
		return VERB_FAILED;
	raw = saved;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VSUSP] = _POSIX_VDISABLE; /* ^Z would leave the alternate screen on */
	signals_catch();
	progress_disable();
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	fputs("\033[?1049h\033[?25l", stdout); /* alternate screen, no cursor */
	error = live_loop(view);
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &saved);
	return error;
}

/* ---- the verb ---------------------------------------------------------------- */

static int top_show(struct view *view)
{
	once = once || view->options->format || !view->output.is_terminal || !isatty(STDIN_FILENO);
	return once ? show_once(view) : show_live(view);
}

const struct verb verb_top = {
	.name = "top",
	.summary = "show tasks and tools that are running now",
	.description = "Shows the tools that are busy now, by task and run: cores in use, memory\n"
		       "(what processes share counts once), bytes per second from and to storage, over\n"
		       "the last few seconds; where a sampler reports GPUs, how many worked for it on\n"
		       "average, and its memory on them; a tool that holds some is shown even if it is\n"
		       "idle. Processes that ended in that time count too: those of tools no longer\n"
		       "running are one line per run, with the number of tasks.\n"
		       "\n"
		       "Above them are warnings: runs and tasks that take longer than before, are\n"
		       "stuck, are near their memory limit or work on a disk that is nearly full. run\n"
		       "ends in is when the run is expected to end, from earlier runs of its name, if\n"
		       "there are enough (docs/live.md).\n"
		       "\n"
		       "Keys: c, m, r, w, g, G sort by cpu, memory, read, written, GPUs, GPU memory; i\n"
		       "shows idle tools; q quits. If output is not a terminal, it is a single snapshot,\n"
		       "as with --once.",
	.options = option_specs,
	.examples = "  tracer top\n"
		    "  tracer top --once --sort memory\n"
		    "  tracer top --json",
	.show = top_show,
};
